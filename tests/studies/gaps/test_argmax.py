import numpy as np
import pytest

from metrics import evaluate, read_runs
from metrics.studies.gaps.argmax import argmax_finding, argmax_losses, graded_rerankers
from metrics.studies.prose import plain

ROWS = """query_id,doc_id,p_0,p_1,p_2,relevance
q1,a,0.1,0.3,0.6,0
q1,b,0.0,0.25,0.75,1
q1,c,0.2,0.0,0.8,0
q2,a,0.9,0.1,0.0,0
q2,b,0.8,0.1,0.1,1
"""


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "llm.csv").write_text(ROWS)
    (tmp_path / "bm25.csv").write_text("query_id,doc_id,score,relevance\nq1,a,2,0\nq1,b,1,1\nq2,b,1,1\n")
    return [tmp_path / "llm.csv", tmp_path / "bm25.csv"]


@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "AP"])
@pytest.mark.parametrize("score", ["expected_grade", "argmax_grade"])
def test_values_are_what_evaluate_says_of_either_score_whichever_is_read(paths, measure, score):
    losses = argmax_losses(read_runs(paths, columns={"score": score}), measure).set_index("reranker")
    assert list(losses.index) == ["llm"]
    for kind in ("argmax", "expected"):
        runs = read_runs(paths[0], columns={"score": f"{kind}_grade"})
        value = evaluate(runs, [measure], ["expected"]).scores.to_numpy().mean()
        assert losses.loc["llm", kind] == pytest.approx(value, rel=1e-12)
    assert losses.loc["llm", "gain"] == losses.loc["llm", "expected"] - losses.loc["llm", "argmax"]


def test_the_ties_that_grading_makes_and_what_the_measure_gains_are_said(paths):
    losses = argmax_losses(read_runs(paths), "RR")
    row = losses.iloc[0]
    assert (row["argmax_tie_ratio"], row["expected_tie_ratio"]) == (1, 0)
    assert row["argmax"] == pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + 3 / 4) / 2)
    assert row["expected"] == 1
    text = plain(argmax_finding(losses, "MRR"))
    assert text == (
        "By likeliest grades of llm, 100% of the documents of a list tie, by expected grades 0%, "
        "and the tied MRR is 1.000 in place of 0.681: +0.319."
    )


def test_only_rerankers_with_probabilities_are_asked(paths):
    assert graded_rerankers(read_runs(paths)) == ["llm"]
    assert graded_rerankers(read_runs(paths[1])) == []


def test_queries_that_do_not_count_are_left_out(paths):
    losses = argmax_losses(read_runs(paths), "RR", ["q2"])
    assert np.allclose(losses["argmax"], 0.75)
