import math

import pytest

from metrics import evaluate
from metrics.simulation import LlmReranker, notebook_grag, notebook_llm_rerankers, notebook_synthetic, simulate
from metrics.studies.leaderboard.tie_summary import tie_summary

MEASURES = ["RR", "Hits@3", "Hits@5"]


def row(runs, second="Hits@3"):
    return tie_summary(evaluate(runs, MEASURES), "RR", second).iloc[0]


def test_the_synthetic_lists_are_described_as_in_the_notebook():
    summary = row(notebook_synthetic())
    assert (summary["n"], summary["with_ties"], summary["with_ties_share"]) == (200, 60, 0.3)
    assert summary[["first_gap_mean", "first_gap_std", "first_gap_max"]].to_list() == pytest.approx(
        [0.0252, 0.0779, 0.5092], abs=5e-5
    )
    assert summary[["second_gap_mean", "second_gap_std", "second_gap_max"]].to_list() == pytest.approx(
        [0.0291, 0.1221, 0.7500], abs=5e-5
    )
    assert summary[["r_ratio", "r_size"]].to_list() == pytest.approx([0.546, 0.596], abs=5e-4)


def test_the_mean_and_the_maximum_of_the_largest_ties_are_told_apart():
    summary = row(notebook_grag())
    assert summary["tie_groups"] == pytest.approx(0.46)
    assert summary["max_tie_size_mean"] == pytest.approx(2.26)
    assert summary["max_tie_size"] == 5


def test_rerankers_stand_in_the_order_of_the_runs():
    runs = notebook_llm_rerankers(10)
    assert list(tie_summary(evaluate(runs, MEASURES), "RR", "Hits@5").index) == runs.rerankers


def test_a_correlation_that_is_not_defined_is_missing():
    assert math.isnan(row(simulate({"all tied": LlmReranker(0, 1)}, 20))["r_ratio"])
