"""Mean and spread of repeats: as numpy says, score by score, whatever is missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.runs.repeats.statistics import mean_scores, score_deviations

SCORES = st.floats(-1e6, 1e6) | st.sampled_from([0.1, 0.2, 0.3, np.nan])
ROWS = st.integers(2, 5).flatmap(
    lambda n_repeats: st.lists(st.lists(SCORES, min_size=n_repeats, max_size=n_repeats), min_size=1, max_size=6)
)


@given(ROWS)
def test_mean_and_deviation_are_numpys_of_the_scores_there_are(rows):
    scores = np.array(rows)
    means = mean_scores(scores)
    deviations, errors = (score_deviations(scores, means, kind) for kind in ("run", "mean"))
    tolerance = 1e-11 * np.nanmax(np.abs(scores), initial=1.0)
    for row, mean, deviation, error in zip(rows, means, deviations, errors, strict=True):
        present = [score for score in row if not np.isnan(score)]
        if not present:
            assert np.isnan(mean)
            continue
        assert mean == pytest.approx(np.mean(present), abs=tolerance)
        if len(present) > 1:
            assert deviation == pytest.approx(np.std(present, ddof=1), rel=1e-9, abs=tolerance)
            assert error == pytest.approx(deviation / len(present) ** 0.5)


def test_a_document_of_one_repeat_has_the_pooled_deviation():
    scores = np.array([[1, 2, 3], [4, 8, np.nan], [5, np.nan, np.nan]])
    pooled = ((2 + 8) / (2 + 1)) ** 0.5
    assert score_deviations(scores, mean_scores(scores)) == pytest.approx([1, 8**0.5, pooled])


def test_means_that_are_level_in_decimals_are_level():
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.2, 0.2], [0.1, np.nan, 0.3], [0.7, -0.1, 0]])
    assert mean_scores(scores).tolist() == [0.2] * 5
    third = float(np.float32(1 / 3))
    assert mean_scores(np.array([[third] * 3])).tolist() == [third]


def test_infinite_scores_are_certain_and_none_overflows():
    scores = np.array([[np.inf, 1.0], [-np.inf, 1.0], [np.inf, -np.inf], [1e308, -1e308], [5e-324, 5e-324]])
    means = mean_scores(scores)
    np.testing.assert_array_equal(means, [np.inf, -np.inf, np.nan, 0, 5e-324])
    assert score_deviations(scores, means) == pytest.approx([0, 0, 0, 2**0.5 * 1e308, 0])
