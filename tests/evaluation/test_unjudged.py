"""Documents that nobody judged: not relevant, or left out of their lists."""

import numpy as np
import pandas as pd
import pytest
from drawing import TREATMENTS
from relevance_measures import with_cutoffs

from metrics import UsageError, evaluate, read_runs

NAMES = with_cutoffs([""], ["@3"])
ALL_TIES = [*TREATMENTS, "random:1", "std"]


def drawn(seed=3, n_lists=60):
    """Lists of two rerankers with many ties, and judgments of about half of their documents."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "reranker": np.repeat(["A", "B"], n_lists * 4),
            "query_id": np.tile(np.repeat(np.arange(n_lists), 4), 2).astype(str),
            "doc_id": [str(name) for _ in range(2 * n_lists) for name in random.permutation(7)[:4]],
            "score": random.integers(0, 3, 8 * n_lists) / 2,
        }
    )
    judged = pd.DataFrame(
        [(str(query), str(doc)) for query in range(n_lists + 2) for doc in range(7) if random.random() < 0.5],
        columns=["query_id", "doc_id"],
    )
    judged["relevance"] = random.integers(-1, 4, len(judged)).astype(float)
    return rows, judged


def without_unjudged(rows, judged):
    pairs = pd.MultiIndex.from_frame(judged[["query_id", "doc_id"]])
    return rows[pd.MultiIndex.from_frame(rows[["query_id", "doc_id"]]).isin(pairs)]


@pytest.mark.parametrize("precision", ["float64", "within:0.5"])
def test_left_out_documents_are_as_if_the_run_had_none_of_them(precision):
    rows, judged = drawn()
    by = {"measures": NAMES, "ties": ALL_TIES, "relevant_from": 2, "precision": precision}
    condensed = evaluate(read_runs(rows, judged), unjudged="leave_out", **by)
    expected = evaluate(read_runs(without_unjudged(rows, judged), judged), **by)
    pd.testing.assert_frame_equal(condensed.scores, expected.scores)
    pd.testing.assert_frame_equal(condensed.lists, expected.lists)
    assert not condensed.scores.equals(evaluate(read_runs(rows, judged), **by).scores)


def test_a_list_without_a_judged_document_is_not_missing_and_counts_zero():
    rows = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})
    judged = pd.DataFrame({"query_id": ["q", "r"], "doc_id": ["b", "b"], "relevance": [1.0, 1.0]})
    evaluation = evaluate(read_runs(rows, judged), "RR", "expected", missing="skip", unjudged="leave_out")
    assert evaluation.policies["n_missing"].to_list() == [1]
    assert evaluation.scores.reset_index()["query_id"].to_list() == ["q"]
    assert evaluation.scores.to_numpy().tolist() == [[0]]


def test_what_remains_of_a_tie_stays_tied():
    rows = pd.DataFrame({"query_id": "q", "doc_id": list("abcd"), "score": [2.0, 1.0, 1.0, 1.0]})
    judged = pd.DataFrame({"query_id": "q", "doc_id": ["b", "d"], "relevance": [0.0, 1.0]})
    by = {"measures": "RR", "ties": ["expected", "pessimistic", "optimistic"], "unjudged": "leave_out"}
    evaluation = evaluate(read_runs(rows, judged), **by)
    assert evaluation.scores.to_numpy().tolist() == [[0.75, 0.5, 1]]
    assert evaluation.options.unjudged == "leave_out"
    assert "unjudged documents left out" in evaluation._repr_html_()


def test_another_word_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match="unjudged='drop': use 'nonrelevant' or 'leave_out'"):
        evaluate(read_runs(*drawn()), unjudged="drop")
