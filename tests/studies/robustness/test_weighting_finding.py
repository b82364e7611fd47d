"""What is said of weights is true of the values, however odd."""

import numpy as np
import pandas as pd
import pytest

from metrics.studies.prose import plain
from metrics.studies.robustness.weighting_finding import weighting_finding
from metrics.studies.robustness.weightings import weightings

TWO = weightings(2)


def by_weight(grid=TWO, **columns):
    index = pd.MultiIndex.from_arrays(list(grid.T), names=["score", "cost:asc", "fresh"][: grid.shape[1]])
    return pd.DataFrame(columns, index=index)


WEIGHT = TWO[:, 1]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            {"A": 1 - WEIGHT, "B": 0.105 + 0 * WEIGHT},
            "A leads up to a weight of 0.89 of cost, then B does. "
            "A depends on them most: it lies between 0.000 and 1.000 RR.",
        ),
        (
            {"A": 1 - WEIGHT, "B": 0.605 + 0 * WEIGHT, "C": 1.205 * WEIGHT - 0.1},
            "A leads up to a weight of 0.39 of cost, then B up to 0.59, then C does. "
            "C depends on them most: it lies between -0.100 and 1.105 RR.",
        ),
        (
            {"A": 0.5 + 0 * WEIGHT, "B": 0.4},
            "A leads at every weighting tried. No value depends on the weights.",
        ),
        (
            {"A": 0.5 + 2e-5 * WEIGHT, "B": 0.4},
            "A leads at every weighting tried. No value depends much on the weights.",
        ),
        ({"A": 0.5 + 2e-5 * WEIGHT}, "A scores 0.500 RR at every weighting tried."),
        (
            {"A": WEIGHT, "B": WEIGHT},
            "Both are level at every weighting tried. Every value moves by 1.000 RR over them.",
        ),
        (
            {"A": WEIGHT, "B": WEIGHT, "C": WEIGHT / 2},
            "2 rerankers lead level at every weighting tried. "
            "A depends on them most: it lies between 0.000 and 1.000 RR.",
        ),
        ({"A": WEIGHT}, "A lies between 0.000 and 1.000 RR over all weightings tried."),
        ({"A": 0 * WEIGHT + 0.25}, "A scores 0.250 RR at every weighting tried."),
        (
            {"A": np.where(WEIGHT[7] == WEIGHT, 0.9, 0.5), "B": 0.6},
            "B leads at 98% of 51 weightings, A at 2%. "
            "A depends on them most: it lies between 0.500 and 0.900 RR.",
        ),
        ({"A": WEIGHT * np.nan, "B": 1.0}, "No list is scored: every query was left out."),
    ],
)
def test_a_finding_says_who_leads_where_and_whose_value_depends_most(columns, says):
    assert plain(weighting_finding(by_weight(**columns), "RR")) == says


def test_of_three_criteria_the_two_that_lead_over_most_are_named():
    grid = weightings(3)
    shares = {"A": grid[:, 0], "B": grid[:, 1] - 0.001, "C": grid[:, 2] - 0.3}
    text = plain(weighting_finding(by_weight(grid, **shares), "RR"))
    assert text.startswith("A leads at 43% of 91 weightings, B at 38% (3 rerankers lead or are level")
    assert text.endswith("Every value moves by 1.000 RR over them.")
