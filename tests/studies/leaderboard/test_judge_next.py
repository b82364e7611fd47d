"""Which unjudged documents narrow the bounds of the means most."""

import pandas as pd
import pytest

from metrics import UsageError, read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.holes import joint_bounds
from metrics.studies.leaderboard.judge_next import COLUMNS, judge_next

RUN = pd.DataFrame(
    [
        *(("A", "q", name, score) for name, score in zip("abcd", [4.0, 3, 2, 1], strict=True)),
        *(("B", "q", name, score) for name, score in zip("bxad", [2.0, 2, 1, 0], strict=True)),
        *(("A", "r", name, score) for name, score in zip("ab", [1.0, 1], strict=True)),
        ("B", "r", "b", 1.0),
    ],
    columns=["reranker", "query_id", "doc_id", "score"],
)
QRELS = pd.DataFrame(
    [("q", "a", 0.0), ("q", "d", 3.0), ("r", "b", 1.0), ("r", "z", 1.0)],
    columns=["query_id", "doc_id", "relevance"],
)


def width(measure, qrels):
    """Width of the bounds of the means, summed over rerankers."""
    bounds = joint_bounds(read_runs(RUN, qrels), measure)[measure]
    return float((bounds["highest"] - bounds["lowest"]).groupby(level="reranker").mean().sum())


@pytest.mark.parametrize("measure", ["P@2", "RR", "nDCG@3", "AP"])
def test_narrowing_is_that_of_the_bounds_once_a_document_is_judged(measure):
    table = judge_next(read_runs(RUN, QRELS), measure, rate=0.25, depth=3)
    assert tuple(table.columns) == COLUMNS
    assert set(zip(table["query_id"], table["doc_id"], strict=True)) == {(*"qb",), (*"qc",), (*"qx",), (*"ra",)}
    for row in table.itertuples():
        ways = [
            width(
                measure,
                pd.concat([QRELS, pd.DataFrame([[row.query_id, row.doc_id, grade]], columns=QRELS.columns)]),
            )
            for grade in (0.0, 3.0)
        ]
        assert row.narrowing == pytest.approx(width(measure, QRELS) - 0.75 * ways[0] - 0.25 * ways[1])
    assert table["narrowing"].is_monotonic_decreasing
    assert table["closed"].iloc[0] == pytest.approx(table["narrowing"].iloc[0] / width(measure, QRELS))


def test_a_candidate_is_named_with_who_has_it_and_where():
    table = judge_next(read_runs(RUN, QRELS), "P@2", rate=0.5, depth=2).set_index(["query_id", "doc_id"])
    assert table.loc[("q", "b"), ["rerankers", "best_place", "best_reranker"]].to_list() == [2, 1, "B"]
    assert table.index[0] == ("q", "b")
    assert ("q", "c") not in table.index
    assert len(judge_next(read_runs(RUN, QRELS), "P@2", rate=0.5, most=1)) == 1


def test_where_all_is_judged_there_is_nothing_to_judge_next():
    every = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1.0, 0.0]})
    run = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": 1.0})
    assert judge_next(read_runs(run, every), "RR").empty
    with pytest.raises(UsageError, match="1 or more"):
        judge_next(read_runs(run, every), "RR", depth=0)
    with pytest.raises(UsageError, match="left out"):
        judge_next(read_runs(run, every), "RR", ScoringOptions(unjudged="leave_out"))


def test_candidates_may_be_the_first_relevant_documents():
    judged = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [0]})
    run = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [1.0, 0.5]})
    assert judge_next(read_runs(run, judged), "RR", rate=0.5)["doc_id"].tolist() == ["b"]
