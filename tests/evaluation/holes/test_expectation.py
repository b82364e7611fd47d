"""Means where unjudged documents are relevant at a rate, against every way to judge them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from metrics import UsageError, evaluate, read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.holes import expectations_at_rate, hole_table, joint_bounds

MEASURES = ["RR", "P@2", "nDCG@3", "AP"]
RUN = pd.DataFrame(
    [
        *(("A", "q", name, score) for name, score in zip("abcd", [2.0, 1, 1, 0], strict=True)),
        *(("A", "r", name, score) for name, score in zip("abc", [1.0, 1, 1], strict=True)),
        *(("B", "q", name, score) for name, score in zip("bxa", [3.0, 2, 1], strict=True)),
        ("B", "r", "a", 1.0),
    ],
    columns=["reranker", "query_id", "doc_id", "score"],
)
QRELS = pd.DataFrame(
    [("q", "a", 0.0), ("q", "d", 1.0), ("r", "b", 1.0), ("r", "z", 1.0)],
    columns=["query_id", "doc_id", "relevance"],
)
UNJUDGED = [("q", "b"), ("q", "c"), ("q", "x"), ("r", "a"), ("r", "c")]


def completed(grades):
    added = pd.DataFrame(
        [(*pair, grade) for pair, grade in zip(UNJUDGED, grades, strict=True)], columns=QRELS.columns
    )
    return read_runs(RUN, pd.concat([QRELS, added]))


def every_way(rate):
    """Mean, deviation over judgments and deviation over ties of both rerankers' means, all ways weighed."""
    weights, means, variances = [], [], []
    for grades in product([0.0, 1.0], repeat=len(UNJUDGED)):
        scores = evaluate(completed(grades), MEASURES, ["expected", "std"]).scores
        weights.append(np.prod([rate if grade else 1 - rate for grade in grades]))
        means.append(scores.xs("expected", axis=1, level=1).groupby(level=0).mean().to_numpy().ravel())
        variances.append((scores.xs("std", axis=1, level=1) ** 2).groupby(level=0).sum().to_numpy().ravel() / 4)
    mean, of_ties = np.average(means, axis=0, weights=weights), np.average(variances, axis=0, weights=weights)
    return mean, np.sqrt(np.average((means - mean) ** 2, axis=0, weights=weights)), np.sqrt(of_ties)


def test_the_expectation_is_that_of_all_ways_to_judge_within_its_error():
    mean, sd_holes, sd_ties = every_way(0.3)
    table = expectations_at_rate(read_runs(RUN, QRELS), MEASURES, rate=0.3, draws=150)
    assert list(zip(table["reranker"], table["measure"], strict=True)) == list(product("AB", MEASURES))
    assert (abs(table["expectation"] - mean) <= 3.5 * table["error"] + 1e-12).all()
    assert (table["sd_holes"] > 0).all()
    assert table["sd_holes"].to_numpy() == pytest.approx(sd_holes, rel=0.25)
    assert table["sd_ties"].to_numpy() == pytest.approx(sd_ties, rel=0.25)


@pytest.mark.parametrize("grade", [0, 1])
def test_at_a_rate_of_0_or_1_there_is_one_way_to_judge(grade):
    runs = read_runs(RUN, QRELS)
    table = expectations_at_rate(runs, MEASURES, rate=grade, draws=2)
    expected = evaluate(completed([float(grade)] * 5), MEASURES, "expected").scores.groupby(level=0).mean()
    assert table["expectation"].to_numpy() == pytest.approx(expected.to_numpy().ravel())
    assert table["sd_holes"].to_list() == [0] * 8


def drawn_grades(run):
    documents = RankedDocuments.of(read_runs(run, QRELS))
    pairs = np.stack([documents.query_ids, documents.doc_ids], axis=1)[~documents.is_judged].tolist()
    grades = documents.draw_grades(documents.unjudged_rates(0.5, None), 1).tolist()
    return dict(zip(map(tuple, pairs), grades, strict=True))


def test_a_document_is_drawn_alike_whatever_other_rerankers_there_are():
    everyone, alone = drawn_grades(RUN), drawn_grades(RUN[RUN["reranker"] == "A"])
    assert sorted(everyone) == sorted(UNJUDGED)
    assert set(everyone.values()) == {0, 1}
    assert alone == {pair: everyone[pair] for pair in UNJUDGED if pair != ("q", "x")}


def test_drawn_grades_fall_as_those_of_judged_documents_do():
    names = [f"d{number}" for number in range(3000)]
    run = pd.DataFrame({"query_id": "q", "doc_id": names, "score": 1.0})
    judged = pd.DataFrame({"query_id": "q", "doc_id": names[:4], "relevance": [0.0, 1, 2, 3]})
    documents = RankedDocuments.of(read_runs(run, judged), ScoringOptions(relevant_from=2))
    grades = documents.draw_grades(documents.unjudged_rates(0.4, None), 5)
    shares = [float((grades == grade).mean()) for grade in range(4)]
    assert shares == pytest.approx([0.3, 0.3, 0.2, 0.2], abs=0.03)


def test_a_rate_by_place_is_that_of_the_highest_place_down_to_the_depth():
    names = [f"d{number}" for number in range(8)]
    run = pd.DataFrame({"query_id": "q", "doc_id": names, "score": np.arange(8.0)[::-1]})
    judged = pd.DataFrame({"query_id": "q", "doc_id": ["d1", "d2", "d7"], "relevance": [1.0, 0, 0]})
    documents = RankedDocuments.of(read_runs(run, judged))
    by_id = dict(zip(documents.doc_ids.to_pylist(), documents.places.tolist(), strict=True))
    assert by_id == {name: place + 1 for place, name in enumerate(names)}
    order = [by_id[name] for name in np.array(documents.doc_ids)[~documents.is_judged]]
    rates_to_3 = dict(zip(order, documents.unjudged_rates([0.9, 0.2], 4), strict=True))
    assert rates_to_3 == {1: 0.9, 4: 0.2, 5: 0, 6: 0, 7: 0}


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"rate": 1.5}, "chances from 0 to 1"),
        ({"rate": []}, "chances"),
        ({"rate": "a"}, "chances"),
        ({"draws": 1}, "2 or more"),
    ],
)
def test_what_is_no_rate_is_refused(choices, words):
    with pytest.raises(UsageError, match=words):
        expectations_at_rate(read_runs(RUN, QRELS), "RR", **choices)


def test_without_a_judged_document_no_rate_is_known():
    runs = read_runs(RUN, QRELS[QRELS["doc_id"] == "z"])
    with pytest.raises(UsageError, match="Give a rate"):
        expectations_at_rate(runs, "RR")


def test_the_table_holds_means_over_ties_and_over_judgments_side_by_side():
    runs = read_runs(RUN, QRELS)
    table = hole_table(runs, MEASURES, rate=0.5, draws=3)
    ends = evaluate(runs, MEASURES, ["pessimistic", "expected", "optimistic"]).scores.groupby(level=0).mean()
    for name, ties in (("worst", "pessimistic"), ("tied", "expected"), ("best", "optimistic")):
        assert table[name].to_numpy() == pytest.approx(ends.xs(ties, axis=1, level=1).to_numpy().ravel())
    bounds = joint_bounds(runs, MEASURES).groupby(level=0).mean()
    for name in ("lowest", "highest"):
        assert table[name].to_numpy() == pytest.approx(bounds.xs(name, axis=1, level=1).to_numpy().ravel())
    assert (table["lowest"] <= table["expectation"]).all()
    assert (table["expectation"] <= table["highest"]).all()
    shares = table.set_index(["reranker", "measure"])["unjudged"]
    assert shares["A", "AP"] == pytest.approx(4 / 7)
    assert shares["B", "P@2"] == pytest.approx(1)
    assert table["is_exact"].all()


def small_board(run, qrels):
    """A run of one reranker, A, and judgments, as rows."""
    frame = pd.DataFrame(run, columns=["query_id", "doc_id", "score"]).assign(reranker="A")
    return read_runs(frame, pd.DataFrame(qrels, columns=QRELS.columns).astype({"relevance": float}))


def test_what_was_in_the_pool_and_unjudged_says_nothing_of_how_many_are_relevant():
    runs = small_board([("q", "c", 3), ("q", "a", 2), ("q", "b", 1)], [("q", "a", 1), ("q", "b", -1)])
    table = expectations_at_rate(runs, ["bpref", "infAP"], rate=0)
    assert table["expectation"].iloc[0] == 0
    levels, chances = RankedDocuments.of(runs).grade_chances(np.array([0.5]))
    assert levels.tolist() == [0, 1]
    assert chances.tolist() == [[1], [0.5]]
    assert RankedDocuments.of(runs).grade_model(10).levels.min() == 0


def test_where_nobody_judged_what_is_ranked_a_rate_is_asked_for_whatever_the_pool():
    runs = small_board([("q", "a", 2), ("q", "b", 1)], [("q", "a", -1)])
    with pytest.raises(UsageError, match="Give a rate"):
        hole_table(runs, ["RR"])


def test_a_query_that_a_judgment_may_add_leaves_no_mean_to_be_expected():
    runs = small_board([("q1", "a", 2), ("q2", "c", 3)], [("q1", "a", 1), ("q2", "d", 0)])
    for study in (expectations_at_rate, hole_table):
        with pytest.raises(UsageError, match="empty='zero'"):
            study(runs, ["RR"], ScoringOptions(empty="skip"), rate=0.5)
    only = small_board([("q1", "a", 2), ("q1", "b", 1)], [("q1", "a", 1)])
    for study in (expectations_at_rate, hole_table):
        skipped, counted = (
            study(only, ["RR"], ScoringOptions(empty=way), rate=0.5) for way in ("skip", "zero")
        )
        pd.testing.assert_frame_equal(skipped, counted)


def test_names_that_say_nothing_and_seeds_that_are_none_are_refused_and_repeats_are_one():
    runs = read_runs(RUN, QRELS)
    for study in (expectations_at_rate, hole_table, joint_bounds):
        with pytest.raises(UsageError, match="at least one measure"):
            study(runs, [])
    with pytest.raises(UsageError, match="seed=-1"):
        expectations_at_rate(runs, "RR", rate=0.5, seed=-1)
    assert expectations_at_rate(runs, ["P@5", "Precision@5"], rate=0.5)["measure"].tolist() == ["P@5"] * 2


def test_a_run_that_lacks_all_queries_has_no_expectation_where_missing_lists_are_left_out():
    frame = pd.concat([RUN, pd.DataFrame([("C", "other", "a", 1.0)], columns=RUN.columns)])
    table = expectations_at_rate(read_runs(frame, QRELS), ["P@2"], ScoringOptions(missing="skip"), rate=0.5)
    assert table["expectation"].isna().tolist() == [False, False, True]
