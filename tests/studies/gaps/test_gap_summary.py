import math
import statistics

import numpy as np
import pytest
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given

from metrics import Runs, evaluate
from metrics.simulation import LlmReranker, notebook_grag, notebook_llm_rerankers, notebook_synthetic, simulate
from metrics.studies.gaps.gap import (
    ALL_LISTS,
    gap_summary,
    gaps,
    gaps_by_measure,
    notebook_lines,
    notebook_table,
    with_overall,
)

LUCKY = [Doc("a", 1, 1), Doc("b", 1, 0), Doc("c", 0, 0), Doc("d", -1, 0)]
STRICT = [Doc("a", 2, 1), Doc("b", 1, 0)]


def lists_of(runs, first="RR", second="Hits@3", **policies):
    return gaps(evaluate(runs, [first, second], **policies), {"first": first, "second": second}, "input")


def row(runs, **options):
    return gap_summary(lists_of(runs), **options).iloc[0]


def test_the_synthetic_lists_are_described_as_in_the_notebook():
    summary = row(notebook_synthetic())
    assert (summary["n"], summary["with_ties"], summary["with_ties_share"]) == (200, 60, 0.3)
    assert summary["tie_ratio"] == pytest.approx(0.226, abs=5e-4)
    assert summary[["first_gap_mean", "first_gap_std", "first_gap_max"]].to_list() == pytest.approx(
        [0.0252, 0.0779, 0.5092], abs=5e-5
    )
    assert summary[["second_gap_mean", "second_gap_std", "second_gap_max"]].to_list() == pytest.approx(
        [0.0291, 0.1221, 0.7500], abs=5e-5
    )
    assert summary[["first_r_ratio", "first_r_size"]].to_list() == pytest.approx([0.546, 0.596], abs=5e-4)


def test_the_mean_largest_tie_is_1_71_as_the_notebook_counts_and_2_26_with_untied_lists_as_1():
    summary = row(notebook_grag())
    assert summary["tie_groups"] == pytest.approx(0.46)
    assert summary["tie_size_mean"] == pytest.approx(1.71)
    assert summary["max_tie_size_mean"] == pytest.approx(2.26)
    assert summary["max_tie_size"] == 5


def test_deviations_divide_by_one_less_than_the_lists_unless_told_otherwise():
    lists = lists_of(notebook_grag())
    sample, population = gap_summary(lists).iloc[0], gap_summary(lists, ddof=0).iloc[0]
    for name, column in (
        ("tie_ratio_std", lists["tie_ratio"]),
        ("first_tied_std", lists["first_tied"]),
        ("second_gap_std", lists["second_gap"].abs()),
    ):
        assert sample[name] == pytest.approx(statistics.stdev(column))
        assert population[name] == pytest.approx(statistics.pstdev(column))
    assert round(population["first_traditional_std"], 4) == 0.3818  # as the notebook's G-RAG report prints it


def test_a_row_holds_the_figures_of_both_measures():
    runs = Runs.from_frame(frame({"A": {"q1": LUCKY, "q2": STRICT}}))
    expected = {
        "tie_ratio": 1 / 4,
        "first_lists_with_gap": 1 / 2,
        "first_traditional": 1,
        "first_tied": 7 / 8,
        "first_worst": 3 / 4,
        "first_best": 1,
        "first_gap": 1 / 8,
        "first_gap_mean": 1 / 8,
        "first_gap_max": 1 / 4,
        "second_traditional": 1,
        "second_gap_max": 0,
        "tie_ratio_std": statistics.stdev([1 / 2, 0]),
        "first_traditional_std": 0,
        "first_tied_std": statistics.stdev([3 / 4, 1]),
    }
    assert row(runs)[list(expected)].to_dict() == pytest.approx(expected)


@given(tables())
def test_means_are_those_of_the_evaluation_and_the_first_row_is_of_all_lists(table):
    evaluation = evaluate(Runs.from_frame(frame(table)), ["RR", "Hits@3"])
    lists = gaps(evaluation, {"first": "RR", "second": "Hits@3"}, "input")
    summary = gap_summary(lists)
    assert summary.index.to_list() == list(table)
    means = evaluation.scores.groupby(level="reranker", sort=False).mean()
    assert summary["first_tied"].to_list() == pytest.approx(means["RR", "expected"].to_list())
    assert summary["second_best"].to_list() == pytest.approx(means["Hits@3", "optimistic"].to_list())
    assert (summary["first_gap"].abs() <= summary["first_gap_mean"] + 1e-12).all()
    overall = with_overall(summary, lists)
    assert overall.index.to_list() == ([ALL_LISTS, *table] if len(table) > 1 else list(table))
    assert overall["n"].iloc[0] == len(lists)
    assert overall["first_gap_mean"].iloc[0] == pytest.approx(np.abs(lists["first_gap"]).mean())


def test_any_measure_can_be_summarised():
    lists = lists_of(notebook_llm_rerankers(10), "nDCG@5", "TsRR")
    summary = gap_summary(lists)
    assert (summary["first_gap_max"] > 0).all()
    assert (summary["second_gap_max"] == 0).all()
    assert summary["second_r_ratio"].isna().all()


def test_a_correlation_that_is_not_defined_is_missing():
    assert math.isnan(row(simulate({"all tied": LlmReranker(0, 1)}, 20))["first_r_ratio"])


def test_no_lists_give_no_rows():
    lists = lists_of(Runs.from_frame(frame({"A": {"q": [Doc("a", 1, 0)]}})), empty="skip")
    assert with_overall(gap_summary(lists), lists).empty


def test_a_row_a_measure_is_the_summary_of_all_lists_by_that_measure():
    evaluation = evaluate(notebook_llm_rerankers(10), ["RR", "AP", "Hits@5"])
    rows = gaps_by_measure(evaluation, ["RR", "AP", "Hits@5"], "input")
    assert rows.index.to_list() == ["RR", "AP", "Hits@5"]
    for measure, row_of in rows.iterrows():
        lists = gaps(evaluation, {"first": measure}, "input").assign(reranker="all")
        summary = gap_summary(lists).iloc[0]
        assert row_of.to_dict() == pytest.approx({name: summary[f"first_{name}"] for name in row_of.index})


def test_the_synthetic_lists_are_printed_as_in_the_notebook():
    lines = notebook_lines(lists_of(notebook_synthetic()), ("MRR", "Hits@3"))
    assert [line for line in lines if line] == [
        "Analyzed 200 synthetic scenarios",
        "Scenarios with ties: 60 (30.0%)",
        "Average tie ratio: 0.226",
        "Summary Statistics:",
        "Mean MRR difference: 0.0252 (±0.0779)",
        "Max MRR difference: 0.5092",
        "Mean Hits@3 difference: 0.0291 (±0.1221)",
        "Max Hits@3 difference: 0.7500",
        "Correlation between tie ratio and MRR diff: 0.546",
        "Correlation between max tie size and MRR diff: 0.596",
    ]


def test_the_rerankers_of_the_notebook_are_printed_with_a_deviation_beside_each_mean():
    summary = gap_summary(lists_of(notebook_llm_rerankers(100), "RR", "Hits@5"))
    rows = notebook_table(summary, ("MRR", "MTRR"), ("Hits@5", "TMHits@5"))
    assert rows.iloc[0].to_list() == [
        "GPT-4 (Low Ties)",
        f"0.5690 ± {summary['tie_ratio_std'].iloc[0]:.4f}",
        "0.6748 ± 0.3664",
        "0.6845 ± 0.3524",
        "0.0376, up to 0.3889",
        "0.9000 ± 0.3015",
        "0.8827 ± 0.2897",
        "0.0454, up to 0.8000",
    ]
