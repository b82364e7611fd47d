"""Which unjudged documents narrow the bounds of the means most, and what judging them settles."""

import numpy as np
import pandas as pd
import pytest
from boards import EXTREMES

from metrics import UsageError, parse, read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.holes import joint_bounds
from metrics.studies.leaderboard.judging import COLUMNS, form_for, plan_finding, plan_judging
from metrics.studies.leaderboard.judging.one_query import first_to_judge, relevance_chances
from metrics.studies.leaderboard.judging.plan import plan_depth
from metrics.studies.prose import plain

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
    plan = plan_judging(read_runs(RUN, QRELS), measure, rate=0.25, depth=3, draws=1)
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
    plan = plan_judging(read_runs(RUN, QRELS), measure, rate=0, depth=3, draws=1)
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
        plan = plan_judging(read_runs(run, QRELS), "P@3", rate=rate, draws=2)
        totals = plan.documents["narrowing"].cumsum()
        assert plan.documents["closed"].to_list() == pytest.approx(totals / totals.iloc[-1])
        assert plan.floor == pytest.approx(0)


def test_a_candidate_is_named_with_who_has_it_and_where():
    table = plan_judging(read_runs(RUN, QRELS), "P@2", rate=0.5, draws=1).documents.set_index(
        ["query_id", "doc_id"]
    )
    assert table.loc[("q", "b"), ["rerankers", "best_place", "best_reranker"]].to_list() == [2, 1, "B"]
    assert table.index[0] == ("q", "b")
    assert ("q", "c") not in table.index


def test_what_all_have_below_the_depth_counts_as_not_relevant():
    run = pd.DataFrame({"query_id": "q", "doc_id": [*"abc"], "score": [3.0, 2, 1]})
    first = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    plan = plan_judging(read_runs(run, first), "R@2", rate=0.5, draws=1)
    assert plan.depth == 2
    assert plan.documents["doc_id"].to_list() == ["b"]
    assert plan.width == pytest.approx(1 - 1 / 1)  # of b relevant or not, the list has all that is relevant
    deeper = plan_judging(read_runs(run, first), "R@2", rate=0.5, depth=3, draws=1)
    assert deeper.width == pytest.approx(1 - 1 / 2)  # c may be relevant, and a list of two lacks it


def test_queries_that_do_not_count_have_no_part_in_it():
    runs, only_q = (
        read_runs(RUN, QRELS),
        read_runs(RUN[RUN["query_id"] == "q"], QRELS[QRELS["query_id"] == "q"]),
    )
    part, alone = (
        plan_judging(*board, "AP", rate=0.5, draws=1, **queries)
        for board, queries in (((runs,), {"queries": {"q"}}), ((only_q,), {}))
    )
    assert part.documents[["query_id", "doc_id", "narrowing"]].equals(
        alone.documents[["query_id", "doc_id", "narrowing"]]
    )
    assert part.width == pytest.approx(alone.width)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_first_of_a_query_is_the_first_that_the_plan_of_all_queries_has_of_it(measure):
    runs = read_runs(RUN, QRELS)
    documents = plan_judging(runs, measure, draws=1).documents
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
    with pytest.raises(UsageError, match="apart"):
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
            plan = plan_judging(runs, measure, draws=1)
        except UsageError as error:
            assert "Give a rate" in str(error)  # noqa: PT017 nothing that is ranked is judged
            continue
        assert plain(plan_finding(plan)).endswith(".")
        assert plan.floor <= plan.width + 1e-9
        text, ending = form_for(plan.documents)
        assert text.count("\n") == len(plan.documents) + (ending == "csv")
