"""The four demo scenarios of the notebook: five documents, d1 to d5."""

from fractions import Fraction

import pandas as pd
import pytest

from metrics import Runs, evaluate

SCENARIOS = {
    "No Ties": ([0.9, 0.8, 0.7, 0.6, 0.5], 2),
    "Simple Tie": ([0.9, 0.8, 0.8, 0.6, 0.5], 2),
    "Complex Tie": ([0.8, 0.8, 0.8, 0.6, 0.5], 2),
    "Multiple Ties": ([0.9, 0.8, 0.8, 0.6, 0.6], 3),
}
MRR = {"No Ties": 1 / 2, "Simple Tie": 1 / 2, "Complex Tie": 1 / 2, "Multiple Ties": 1 / 3}
MTRR = {
    "No Ties": Fraction(1, 2),
    "Simple Tie": (Fraction(1, 2) + Fraction(1, 3)) / 2,
    "Complex Tie": (1 + Fraction(1, 2) + Fraction(1, 3)) / 3,
    "Multiple Ties": (Fraction(1, 2) + Fraction(1, 3)) / 2,
}


@pytest.fixture(scope="module")
def evaluation():
    rows = [
        (name, f"d{place}", score, int(place == relevant))
        for name, (scores, relevant) in SCENARIOS.items()
        for place, score in enumerate(scores, 1)
    ]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"])
    return evaluate(Runs.from_frame(table), ["RR", "Hits@1", "Hits@2"], ["input", "expected"])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_mrr_and_mtrr_of_a_scenario_are_the_notebooks(evaluation, scenario):
    row = evaluation.scores.loc[("table", scenario)]
    assert row["RR", "input"] == pytest.approx(MRR[scenario], rel=1e-15)
    assert row["RR", "expected"] == pytest.approx(float(MTRR[scenario]), rel=1e-15)


def test_tmhits_at_one_and_two_are_the_share_of_the_tie_above_the_cutoff(evaluation):
    shares = evaluation.scores.xs("expected", axis=1, level="ties").loc["table"]
    assert shares["Hits@1"].to_dict() == pytest.approx(
        {"No Ties": 0, "Simple Tie": 0, "Complex Tie": 1 / 3, "Multiple Ties": 0}
    )
    assert shares["Hits@2"].to_dict() == pytest.approx(
        {"No Ties": 1, "Simple Tie": 1 / 2, "Complex Tie": 2 / 3, "Multiple Ties": 1 / 2}
    )
