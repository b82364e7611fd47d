import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import metrics
from metrics.studies.targets import Target, check_targets, targets_of, usual_baseline


@pytest.mark.parametrize(
    ("names", "baseline"),
    [
        (["monot5", "BM25", "bm25-top100-monot5"], "BM25"),
        (["monot5", "run.bm25-rm3.trec"], "run.bm25-rm3.trec"),
        (["monot5", "BM-25"], "BM-25"),
        (["pyserini_bm25"], "pyserini_bm25"),
        (["monot5", "bm256", "albm25"], "monot5"),
        (["重排序模型", "BM25基线"], "BM25基线"),
        (["b", "a"], "b"),
    ],
)
def test_the_baseline_is_the_reranker_named_bm25_else_the_first(names, baseline):
    assert usual_baseline(names) == baseline


TIES = ["expected", "optimistic", "pessimistic", "input"]


def evaluated(scores, measures=("RR",), relevant=("d1",), empty="zero"):
    """Rerankers by name, each a list of scores for d0, d1, ...; one query."""
    rows = [
        {
            "reranker": name,
            "query_id": "q",
            "doc_id": f"d{at}",
            "score": score,
            "relevance": f"d{at}" in relevant,
        }
        for name, listed in scores.items()
        for at, score in enumerate(listed)
    ]
    return metrics.evaluate(metrics.Runs.from_frame(pd.DataFrame(rows)), list(measures), TIES, empty=empty)


def check_target(evaluation, text, **options):
    table = check_targets(evaluation, targets_of([text]), **options)
    assert len(table) == 1
    return table.iloc[0]


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("MTRR>=0.8", "RR >= 0.8"),
        (" nDCG@10 >= baseline - 0.01 ", "nDCG@10 >= baseline-0.01"),
        ("P@5<baseline", "P@5 < baseline"),
        ("hits@3 > .5", "Hits@3 > 0.5"),
        ("RR<=1e-2", "RR <= 0.01"),
        ("nDCG>=0.8", "nDCG >= 0.8"),
        ("tied nDCG@10 >= 0.5", "nDCG@10 >= 0.5"),
    ],
)
def test_a_target_is_read_and_printed_back(text, spelled):
    assert str(Target.of(text)) == spelled
    assert Target.of(str(Target.of(text))) == Target.of(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("MTRR", "is not a target"),
        ("MTRR>=", "is not a target"),
        ("MTRR>=high", "is not a target"),
        ("MTRR==0.8", "is not a target"),
        ("MTRR>=0.8.1", "0.8.1 is not a number"),
        ("RR>=baseline 0.1", "baseline+N or baseline-N"),
        ("MTTR>=0.8", "Did you mean RR"),
        ("MTRR>=" + " " * 1000 + "x", "is not a target"),
    ],
)
def test_a_wrong_target_is_said_with_what_to_write(text, words):
    with pytest.raises(metrics.UsageError, match=words.replace("+", r"\+")):
        Target.of(text)


def test_an_unknown_preset_and_no_target_at_all_are_refused():
    with pytest.raises(metrics.UsageError, match="Presets: retrieval"):
        targets_of([], ["best"])
    with pytest.raises(metrics.UsageError, match="at least one target"):
        targets_of([])


# d1 of three tied documents is the relevant one: worst 1/3, mean 11/18, best 1, input order 1/2.
TIED = {"llm": [1, 1, 1]}


@pytest.mark.parametrize(
    ("text", "verdict", "passed"),
    [
        ("RR>=0.3", "met", True),
        ("RR>=0.6", "met on average", True),
        ("RR>=0.7", "missed", False),
        ("RR<=1", "met", True),
        ("RR<0.7", "met on average", True),
        ("RR<0.55", "sort order only", False),
        ("RR<0.4", "missed", False),
    ],
)
def test_a_verdict_tells_the_mean_from_the_sort(text, verdict, passed):
    row = check_target(evaluated(TIED), text)
    assert (row["verdict"], row["passed"]) == (verdict, passed)
    assert (row["missed_by"] == 0) == passed


def test_a_bound_is_met_by_the_value_that_equals_it_but_for_rounding():
    value = evaluated(TIED).scores["RR", "expected"].iloc[0]
    assert Target.of("RR>=0.6").meets(0.6 - 1e-15, 0.6)
    assert not Target.of("RR>0.6").meets(0.6 + 1e-15, 0.6)
    assert check_target(evaluated(TIED), f"RR>={11 / 18!r}")["passed"]
    assert value == pytest.approx(11 / 18)


def test_a_relative_target_holds_all_but_the_baseline_to_its_mean():
    evaluation = evaluated({"old": [3, 2, 1], "new": [2, 3, 1], "bad": [3, 1, 2]})
    table = check_targets(evaluation, targets_of(["RR>=baseline+0.1"]), baseline="old")
    assert table["reranker"].tolist() == ["new", "bad"]
    assert table["passed"].tolist() == [True, False]
    assert table["bound"].tolist() == [0.6, 0.6]


def test_a_relative_target_compares_means_over_shared_queries():
    lists = {("old", "easy"): 1, ("old", "hard"): 3, ("old", "own"): 3, ("new", "easy"): 1, ("new", "hard"): 2}
    rows = [
        {"reranker": name, "query_id": query, "doc_id": f"d{at}", "score": -at, "relevance": at == rank}
        for (name, query), rank in lists.items()
        for at in range(1, 4)
    ]
    evaluation = metrics.evaluate(metrics.Runs.from_frame(pd.DataFrame(rows)), ["RR"], TIES)
    row = check_target(evaluation, "RR>=baseline+0.1", baseline="old")
    assert (row["tied"], row["bound"], row["passed"]) == (0.75, pytest.approx(2 / 3 + 0.1), False)
    row = check_target(evaluation, "RR>=baseline-0.1", baseline="new")
    assert (row["tied"], row["bound"], row["passed"]) == (pytest.approx(2 / 3), 0.65, True)


def test_every_order_meets_a_relative_target_only_above_the_baselines_best():
    evaluation = evaluated({"old": [1, 1, 0], "new": [0, 1, 1]})
    assert check_target(evaluation, "RR>=baseline", baseline="old")["verdict"] == "met on average"
    evaluation = evaluated({"old": [2, 1, 0], "new": [0, 1, 1]})
    assert check_target(evaluation, "RR>=baseline", baseline="old")["verdict"] == "met"


def test_a_relative_target_needs_a_baseline_that_is_there():
    with pytest.raises(metrics.UsageError, match="needs a baseline"):
        check_target(evaluated(TIED), "RR>=baseline")
    with pytest.raises(metrics.UsageError, match="no reranker 'old'"):
        check_target(evaluated(TIED), "RR>=baseline", baseline="old")


def test_where_nothing_is_scored_nothing_is_reached():
    evaluation = evaluated(TIED, relevant=(), empty="skip")
    row = check_target(evaluation, "RR>=0")
    assert (row["verdict"], row["passed"]) == ("not scored", False)


@given(
    scores=st.lists(st.integers(0, 2), min_size=2, max_size=6),
    bound=st.floats(0, 1),
    sign=st.sampled_from([">", ">=", "<", "<="]),
)
def test_what_every_order_meets_the_mean_meets(scores, bound, sign):
    row = check_target(evaluated({"llm": scores}), f"RR{sign}{bound:.6f}")
    assume(row["verdict"] == "met")
    assert row["passed"]
    target = Target.of(row["target"])
    assert target.meets(row["worst"], row["bound"])
    assert target.meets(row["best"], row["bound"])
