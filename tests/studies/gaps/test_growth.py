from functools import partial

import numpy as np
import pytest

from metrics import evaluate
from metrics.simulation import LlmReranker, simulate
from metrics.studies.gaps.precisions import (
    LEVELS,
    TIE_PROBABILITIES,
    gap_by_settings,
    growth_curve,
    growth_finding,
)
from metrics.studies.prose import plain

SIMULATE = partial(simulate, n_queries=60, common=True)


@pytest.fixture(scope="module")
def curve():
    return growth_curve(SIMULATE, 10, "RR")


def test_ties_grow_with_their_probability(curve):
    assert list(curve["tie_probability"]) == list(TIE_PROBABILITIES)
    assert curve["tie_ratio"].is_monotonic_increasing


def test_a_point_of_the_curve_is_that_reranker_alone(curve):
    evaluation = evaluate(simulate({"one": LlmReranker(0.3, 10)}, 60), "RR", ["expected", "optimistic"])
    means = evaluation.scores["RR"].mean()
    row = curve[curve["tie_probability"] == 0.3].iloc[0]
    assert row[["tied", "best"]].to_list() == pytest.approx(means.to_list())
    assert row["tie_ratio"] == pytest.approx(evaluation.lists["tie_ratio"].mean())


def test_worst_shuffles_tied_and_best_stand_in_order(curve):
    ends = curve[["worst", "low", "tied", "high", "best"]].to_numpy()
    assert (np.diff(ends, axis=1) >= -1e-12).all()


def test_a_cell_of_the_grid_is_the_mean_gap_of_that_reranker():
    grid = gap_by_settings(SIMULATE, "RR")
    assert grid.shape == (len(TIE_PROBABILITIES), len(LEVELS))
    rr = evaluate(simulate({"one": LlmReranker(0.5, 5)}, 60), "RR", ["input", "expected"]).scores["RR"]
    assert grid.loc[0.5, 5] == pytest.approx((rr["input"] - rr["expected"]).abs().mean())


def test_the_finding_says_what_the_chosen_settings_leave_to_luck(curve):
    row = curve[curve["tie_probability"] == 0.3].iloc[0]
    sentence = plain(growth_finding(curve, 0.3, 10, "MRR"))
    assert sentence.startswith("With 10 score levels and a tie probability of 0.3,")
    assert f"19 in 20 shuffles of the same file give {row['low']:.3f} to {row['high']:.3f}, and" in sentence
    assert "1 score level and" in plain(growth_finding(curve, 0.3, 1, "MRR"))


def test_the_finding_of_lists_without_ties_says_so():
    curve = growth_curve(partial(SIMULATE, performance=0), 0, "RR", [0])
    assert plain(growth_finding(curve, 0, 0, "MRR")).startswith("No document ties: MRR is ")


def test_a_measure_with_its_own_rule_for_ties_is_said_to_have_one_and_not_to_be_left_to_luck():
    curve = growth_curve(SIMULATE, 10, "TsRR", [0.3])
    sentence = plain(growth_finding(curve, 0.3, 10, "TsRR"))
    assert sentence.endswith("TsRR settles ties by its own rule. ")
    assert "19 in 20" not in sentence
