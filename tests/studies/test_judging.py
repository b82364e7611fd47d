"""Forms of documents to be judged."""

import numpy as np
import pandas as pd
import pytest
from boards import EXTREMES

from metrics import UsageError, parse, read_runs
from metrics.evaluation import ScoringOptions, score_runs
from metrics.evaluation.holes import joint_bounds
from metrics.runs import File, read
from metrics.studies.judging import (
    COLUMNS,
    JudgingPlan,
    closing_text,
    csv_form,
    first_to_judge,
    form_for,
    judgments_value,
    plan_depth,
    plan_finding,
    plan_judging,
    relevance_chances,
    trec_form,
    value_finding,
)
from metrics.studies.prose import plain


@pytest.mark.parametrize(
    ("query", "document", "ending"),
    [
        ("q1", "d1", "txt"),
        ("q 1", "d1", "csv"),
        ("q1", 'a,"b c', "csv"),
        ("#q", "d", "csv"),
        ("q", "مستند", "txt"),
    ],
)
def test_a_form_that_is_filled_in_is_read_as_judgments_of_the_same_documents(query, document, ending):
    documents = pd.DataFrame({"query_id": [query], "doc_id": [document]})
    text, chosen = form_for(documents)
    assert chosen == ending
    filled = text.replace("?", "2") if ending == "txt" else text[:-1] + "2\n"
    source = read(File(f"form.{ending}", filled.encode()))
    assert source.kind == "qrels"
    assert source.table.to_pandas().astype({"query_id": str}).to_dict("records") == [
        {"query_id": query, "doc_id": document, "relevance": 2.0}
    ]


def test_trec_qrels_refuse_what_they_cannot_say():
    documents = pd.DataFrame({"query_id": ["q"], "doc_id": ["a b"]})
    with pytest.raises(UsageError, match="document ID 'a b'"):
        trec_form(documents)
    assert csv_form(documents) == "query_id,doc_id,relevance\nq,a b,\n"


RUN = pd.DataFrame(
    [
        *(("A", "q", name, score) for name, score in zip("abcd", [4.0, 3, 2, 1], strict=True)),
        *(("B", "q", name, score) for name, score in zip("bxad", [2.0, 2, 1, 0], strict=True)),
        *(("A", "r", name, score) for name, score in zip("ab", [1.0, 1], strict=True)),
        ("B", "r", "b", 1.0),
        ("B", "s", "a", 1.0),
    ],
    columns=["reranker", "query_id", "doc_id", "score"],
)
QRELS = pd.DataFrame(
    [("q", "a", 0.0), ("q", "d", 3.0), ("r", "b", 1.0), ("r", "z", 1.0), ("s", "a", 2.0)],
    columns=["query_id", "doc_id", "relevance"],
)
MEASURES = ["P@2", "RR", "nDCG@3", "AP"]


def width(measure, qrels):
    """Mean width of the bounds of the means."""
    bounds = joint_bounds(read_runs(RUN, qrels), measure)[measure]
    return float((bounds["highest"] - bounds["lowest"]).groupby(level="reranker").mean().mean())


def judged(*rows):
    return pd.concat([QRELS, pd.DataFrame(rows, columns=QRELS.columns)])


@pytest.mark.parametrize("measure", MEASURES)
def test_narrowing_is_that_of_the_bounds_once_a_document_is_judged(measure):
    plan = plan_judging(read_runs(RUN, QRELS), measure, rate=0.25, depth=3)
    table = plan.documents
    assert tuple(table.columns) == COLUMNS
    assert set(zip(table["query_id"], table["doc_id"], strict=True)) == {(*"qb",), (*"qc",), (*"qx",), (*"ra",)}
    for row in table.itertuples():
        ways = [width(measure, judged([row.query_id, row.doc_id, grade])) for grade in (0.0, 3.0)]
        narrowing = width(measure, QRELS) - 0.75 * ways[0] - 0.25 * ways[1]
        assert row.narrowing == pytest.approx(2 * narrowing)
    assert table["narrowing"].is_monotonic_decreasing


@pytest.mark.parametrize("measure", MEASURES)
def test_the_curve_is_the_width_of_the_bounds_after_so_many_judgments(measure):
    plan = plan_judging(read_runs(RUN, QRELS), measure, rate=0, depth=3)
    rows = [(row.query_id, row.doc_id, 0.0) for row in plan.documents.itertuples()]
    assert plan.curve["judged"].to_list() == list(range(5))
    widths = [width(measure, judged(*rows[:n])) for n in range(5)]
    assert plan.curve["in_order"].to_list() == pytest.approx(widths)
    assert plan.curve["at_random"].iloc[[0, -1]].to_list() == pytest.approx([widths[0], widths[-1]])
    shares = (widths[0] - np.array(widths[1:])) / (widths[0] - widths[-1])
    assert plan.documents["closed"].to_list() == pytest.approx(shares)
    half = plan.halving()
    assert shares[half - 1] >= 0.5 > np.append(0, shares)[half - 1]


def test_where_gains_add_up_and_nothing_ties_narrowings_add_up_whatever_the_answers():
    run = RUN[RUN["reranker"] == "A"].assign(score=np.arange(6.0)[::-1])
    for rate in (0.0, 0.5, 1.0):
        plan = plan_judging(read_runs(run, QRELS), "P@3", rate=rate)
        totals = plan.documents["narrowing"].cumsum()
        assert plan.documents["closed"].to_list() == pytest.approx(totals / totals.iloc[-1])
        assert plan.floor == pytest.approx(0)


def test_a_candidate_is_named_with_who_has_it_and_where():
    table = plan_judging(read_runs(RUN, QRELS), "P@2", rate=0.5).documents.set_index(["query_id", "doc_id"])
    assert table.loc[("q", "b"), ["rerankers", "best_place", "best_reranker"]].to_list() == [2, 1, "B"]
    assert table.index[0] == ("q", "b")
    assert ("q", "c") not in table.index


def test_what_all_have_below_the_depth_counts_as_not_relevant():
    run = pd.DataFrame({"query_id": "q", "doc_id": [*"abc"], "score": [3.0, 2, 1]})
    first = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    plan = plan_judging(read_runs(run, first), "R@2", rate=0.5)
    assert plan.depth == 2
    assert plan.documents["doc_id"].to_list() == ["b"]
    assert plan.width == pytest.approx(1 - 1 / 1)  # of b relevant or not, the list has all that is relevant
    deeper = plan_judging(read_runs(run, first), "R@2", rate=0.5, depth=3)
    assert deeper.width == pytest.approx(1 - 1 / 2)  # c may be relevant, and a list of two lacks it


def test_queries_that_do_not_count_have_no_part_in_it():
    runs, only_q = (
        read_runs(RUN, QRELS),
        read_runs(RUN[RUN["query_id"] == "q"], QRELS[QRELS["query_id"] == "q"]),
    )
    part, alone = (
        plan_judging(*board, "AP", rate=0.5, **queries)
        for board, queries in (((runs,), {"queries": {"q"}}), ((only_q,), {}))
    )
    assert part.documents[["query_id", "doc_id", "narrowing"]].equals(
        alone.documents[["query_id", "doc_id", "narrowing"]]
    )
    assert part.width == pytest.approx(alone.width)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_first_of_a_query_is_the_first_that_the_plan_of_all_queries_has_of_it(measure):
    runs = read_runs(RUN, QRELS)
    documents = plan_judging(runs, measure).documents
    chances = relevance_chances(runs, ScoringOptions(), plan_depth(parse(measure)))
    for query, first in (("q", documents[documents["query_id"] == "q"]["doc_id"].iloc[0]), ("r", "a")):
        assert first_to_judge(runs, measure, ScoringOptions(), query, chances) == first
    assert first_to_judge(runs, measure, ScoringOptions(), "s", chances) is None


def test_where_all_is_judged_there_is_nothing_to_judge_next():
    every = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1.0, 0.0]})
    run = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": 1.0})
    plan = plan_judging(read_runs(run, every), "RR")
    assert plan.documents.empty
    assert (plan.width, plan.floor, plan.halving()) == (0.5, 0.5, 0)
    with pytest.raises(UsageError, match="1 or more"):
        plan_judging(read_runs(run, every), "RR", depth=0)
    with pytest.raises(UsageError, match="left out"):
        plan_judging(read_runs(run, every), "RR", ScoringOptions(unjudged="leave_out"))
    with pytest.raises(UsageError, match="separate file"):
        plan_judging(read_runs(run.assign(relevance=1)), "RR")


def test_candidates_may_be_the_first_relevant_documents():
    first = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [0]})
    run = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [1.0, 0.5]})
    assert plan_judging(read_runs(run, first), "RR", rate=0.5).documents["doc_id"].tolist() == ["b"]


@pytest.mark.parametrize("name", [name for name in EXTREMES if name != "long lists"])
def test_on_odd_boards_the_plan_is_said_and_written_as_a_form(name):
    runs = EXTREMES[name]().runs
    if runs.qrels is None:
        return
    for measure in ("nDCG@10", "RR"):
        try:
            plan = plan_judging(runs, measure)
        except UsageError as error:
            assert "Give a rate" in str(error)  # noqa: PT017 nothing that is ranked is judged
            continue
        assert plain(plan_finding(plan)).endswith(".")
        assert plan.floor <= plan.width + 1e-9
        text, ending = form_for(plan.documents)
        assert text.count("\n") == len(plan.documents) + (ending == "csv")


def board(rows, qrels):
    """A run of (query, document, score), or several of them by name, and judgments."""
    by_name = rows if isinstance(rows, dict) else {"A": rows}
    run = pd.DataFrame(
        [(name, *row) for name, part in by_name.items() for row in part],
        columns=["reranker", "query_id", "doc_id", "score"],
    )
    judgments = pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"])
    return read_runs(run.astype({"score": float}), judgments.astype({"relevance": float}))


def test_a_query_whose_only_judgments_are_outside_the_lists_counts_in_the_plan():
    runs = board(
        [("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 2), ("q2", "d", 1)], [("q1", "z", 0), ("q2", "c", 1)]
    )
    assert plan_judging(runs, "Hits@1", rate=0.5).width == 0.5


def test_bpref_is_planned_with_all_that_was_judged_not_relevant():
    run = [("q1", "a", 3), ("q1", "b", 2), ("q1", "c", 1)]
    plan = plan_judging(
        board(run, [("q1", "z", 0), ("q1", "y", 0), ("q1", "b", 1), ("q1", "x", 1)]), "bpref", rate=0.5
    )
    assert plan.width == 0.5
    narrowing = plan.documents.set_index("doc_id")["narrowing"]
    assert narrowing[["a", "c"]].to_list() == pytest.approx([0.3611, 0.1389], abs=1e-4)


UNEVEN = {"A": [("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 1)], "B": [("q1", "b", 2), ("q1", "a", 1)]}


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_widths_are_those_of_the_means_that_the_leaderboard_has(missing):
    options, first = ScoringOptions(missing=missing), [("q1", "a", 1), ("q2", "d", 1)]
    before, after = board(UNEVEN, first), board(UNEVEN, [*first, ("q1", "b", 0)])
    widths = []
    for runs in (before, after):
        bars = score_runs(runs, "P@1", ["lowest", "highest"], options).means("P@1")
        widths.append(float((bars["highest"] - bars["lowest"]).mean()))
        assert plan_judging(runs, "P@1", options, rate=0.5).width == pytest.approx(widths[-1])
    value = judgments_value(before, after, "P@1", options)
    assert [value.width_before, value.width] == pytest.approx(widths)
    plan = plan_judging(before, "P@1", options, rate=0)
    row = plan.documents.set_index("doc_id").loc["b"]
    assert row["narrowing"] == pytest.approx(2 * (widths[0] - widths[1]))


def test_a_grade_above_every_earlier_one_widens_bars_and_that_is_said():
    run = [("q", name, 9 - place) for place, name in enumerate("abcdef")]
    before, after = board(run, [("q", "a", 1)]), board(run, [("q", "a", 1), ("q", "b", 3)])
    value = judgments_value(before, after, "DCG@5")
    said = plain(value_finding(value, plan_judging(after, "DCG@5", rate=0.5)))
    assert "the bounds of DCG@5 widened from" in said
    assert "Grade 3 is higher than all earlier grades" in said
    assert "-" not in said


def test_queries_first_judged_since_are_named_and_not_compared():
    run = [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 2), ("q2", "b", 1)]
    before, after = board(run, [("q1", "a", 1)]), board(run, [("q1", "a", 1), ("q2", "a", 1), ("q2", "b", 0)])
    value = judgments_value(before, after, "P@2")
    assert (value.n_judged, value.n_queries_added, value.width_before) == (0, 1, value.width)
    assert "1 new query cannot be compared." in plain(
        value_finding(value, plan_judging(after, "P@2", rate=0.5))
    )


@pytest.mark.parametrize("name", ["RBP", "ndcg@10", "MRR"])
def test_a_measure_is_known_by_any_of_its_names(name):
    run = [("q", "a", 2), ("q", "b", 1)]
    before, after = board(run, [("q", "a", 1)]), board(run, [("q", "a", 1), ("q", "b", 0)])
    assert judgments_value(before, after, name).n_judged == 1


def test_plans_are_refused_where_a_judgment_may_add_a_query():
    runs = board([("q1", "a", 1), ("q2", "b", 1)], [("q1", "a", 1), ("q2", "c", 0)])
    for study in (plan_judging, joint_bounds):
        with pytest.raises(UsageError, match="empty='zero'"):
            study(runs, "RR", ScoringOptions(empty="skip"))


def test_where_nothing_is_open_nothing_is_said_of_ties_nor_of_a_share():
    plan = plan_judging(board([("q", "a", 2), ("q", "b", 1)], [("q", "a", 1)]), "RR@10", rate=0.5)
    assert (plan.width, plan.documents["narrowing"].to_list()) == (0, [0])
    assert plain(plan_finding(plan)) == "MRR@10 is certain: neither ties nor unjudged documents change it."
    assert "%" not in closing_text(plan, 1)


def test_what_counts_judgments_is_not_narrowed_by_them_and_that_is_said():
    runs = board([("q", "a", 2), ("q", "b", 1)], [("q", "a", 1)])
    with pytest.raises(UsageError, match="do not narrow its bounds"):
        plan_judging(runs, "Judged@5", rate=0.5)


def curved(in_order, at_random):
    """A plan of five documents and these widths."""
    curve = pd.DataFrame({"judged": range(6), "in_order": in_order, "at_random": at_random})
    return JudgingPlan("infAP", 10, 1, pd.DataFrame({"doc_id": list("abcde")}), curve)


def test_widths_that_rise_again_count_as_the_narrowest_so_far():
    plan = curved([1.0, 0.4, 0.2, 0.6, 0.5, 0.3], [1.0, 0.9, 0.8, 0.6, 0.5, 0.3])
    assert plan.floor == 0.2
    assert plan.share_closed(range(6)).tolist() == pytest.approx([0, 0.75, 1, 1, 1, 1])
    assert plan.halving() == 1


def test_a_random_order_that_is_faster_is_said_to_be():
    plan = curved([1.0, 0.9, 0.8, 0.5, 0.2, 0], [1.0, 0.4, 0.2, 0.1, 0.1, 0])
    assert "3 judgments in this order halve" in plain(plan_finding(plan))
    assert "A random order needs 1 judgment." in plain(plan_finding(plan))


def test_rates_are_told_by_the_whole_board_and_bars_are_of_the_rerankers_that_count():
    rows = {"A": [("q", "a", 3), ("q", "b", 2), ("q", "c", 1)], "B": [("q", name, 9) for name in "cdefg"]}
    whole = board(rows, [("q", name, int(name != "c")) for name in "cdef"])
    shown = whole.arranged({"A": "A"})
    plan = plan_judging(shown, "RR", board=whole)
    bounds = joint_bounds(shown, "RR")["RR"]
    assert plan.width == pytest.approx(float((bounds["highest"] - bounds["lowest"]).iloc[0]))
    of_a, at_zero, at_one, alone = (
        each.documents.set_index("doc_id").loc["a", "narrowing"]
        for each in (plan, *(plan_judging(shown, "RR", rate=rate) for rate in (0, 1, None)))
    )
    chances = relevance_chances(whole, ScoringOptions(), plan_depth(parse("RR")))
    ways = [(1 - chance) * at_zero + chance * at_one for chance in chances]
    assert min(abs(of_a - way) for way in ways) < 1e-9
    assert abs(of_a - alone) > 1e-6
