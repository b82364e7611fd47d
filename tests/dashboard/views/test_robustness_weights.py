"""Weights of criteria on the Compare page: what is weighed first, and where values are highest."""

import pandas as pd
import pytest

from dashboard.choices import policy_phrases
from dashboard.views.compare.tradeoffs import best_weights, default_criteria
from dashboard.widgets.one_list import bracket_text
from metrics.evaluation import ScoringOptions
from metrics.studies.weightings import weightings


@pytest.mark.parametrize(
    ("ranked", "criteria"),
    [
        ((), ["score", "cost"]),
        (("fresh:asc",), ["score", "fresh:asc"]),
        (("fresh:asc", "cost"), ["fresh:asc", "cost"]),
        (("wait_ms",), ["score", "cost"]),
        (("score", "wait_ms"), ["score", "cost"]),
    ],
)
def test_what_ranks_is_weighed_first_one_criterion_against_the_score(ranked, criteria):
    assert default_criteria(ranked, ["cost", "fresh"]) == criteria


def test_no_weight_of_none_is_named_and_any_is_said_of_values_that_are_alike():
    grid = weightings(2)
    index = pd.MultiIndex.from_arrays(list(grid.T), names=["score", "cost:asc"])
    values = pd.DataFrame({"A": grid[:, 0], "B": 0.5, "C": -((grid[:, 1] - 0.5) ** 2)}, index)
    assert best_weights(values) == ["score 1.00", "any", "score 0.50 · cost (lowest first) 0.50"]


def test_one_criterion_ranks_by_its_values_and_not_by_fronts():
    none, scoring = {"n_missing": 0, "n_empty": 0}, ScoringOptions(criteria=("cost:asc",))
    assert policy_phrases(none, scoring) == [r"ranked by cost \(lowest first\)"]
    assert bracket_text(scoring) == "shaded block: documents with the same value of cost (lowest first)"
