"""Mean and spread of repeats: as numpy says, score by score, whatever is missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.runs.repeats import mean_scores, score_deviations

SCORES = st.floats(-1e6, 1e6) | st.sampled_from([0.1, 0.2, 0.3, np.nan])
ROWS = st.integers(2, 5).flatmap(
    lambda n_repeats: st.lists(st.lists(SCORES, min_size=n_repeats, max_size=n_repeats), min_size=1, max_size=6)
)


@given(ROWS)
def test_mean_and_deviation_are_numpys_of_the_scores_there_are(rows):
    scores = np.array(rows)
    means, lists = mean_scores(scores), np.zeros(len(rows), np.int64)
    deviations, errors = (score_deviations(scores, lists, kind) for kind in ("run", "mean"))
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
    assert score_deviations(scores, np.arange(3), "run") == pytest.approx([1, 8**0.5, pooled])


def test_means_that_are_level_in_decimals_are_level():
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.2, 0.2], [0.1, np.nan, 0.3], [0.7, -0.1, 0]])
    assert mean_scores(scores).tolist() == [0.2] * 5
    third = float(np.float32(1 / 3))
    assert mean_scores(np.array([[third] * 3])).tolist() == [third]


def test_means_that_are_level_are_level_whatever_the_scores_they_are_made_of():
    scores = np.array([[10.0, 9, 0], [6, 6, 7], [0, 0, 19], [100, -81, 0]])
    assert set(mean_scores(scores)) == {6.33333333333}


@pytest.mark.parametrize("stand_in", [-1e12, float(np.finfo(np.float32).min), -1.7e308])
@pytest.mark.parametrize("kind", ["order", "run", "mean"])
def test_a_number_in_place_of_a_score_changes_no_other_document(stand_in, kind):
    scores, lists = np.random.default_rng(2).normal(size=(12, 3)), np.repeat([0, 1, 2], 4)
    scores[5, 1:] = np.nan
    means, deviations = mean_scores(scores), score_deviations(scores, lists, kind)
    apart = ((lists > 0) | (kind != "order")) & (np.arange(12) != 5)
    for row in ([stand_in] * 3, [0.25, stand_in, 0.5]):
        beside, in_lists = np.vstack([scores, row]), np.append(lists, 0)
        assert mean_scores(beside)[:-1].tolist() == means.tolist()
        spread = score_deviations(beside, in_lists, kind)
        assert (spread[-1] > 0) == (row[0] != stand_in)
        assert spread[:-1][apart] == pytest.approx(deviations[apart])
        assert spread[5] == pytest.approx(deviations[5], rel=0.25)  # the pooled one
        assert 0.01 < spread[:4].min() <= spread[:4].max() < 5


def test_without_a_document_that_every_repeat_scored_no_shift_is_subtracted():
    scores, lists = np.array([[np.nan, 1.0, 3.0], [2.0, 2.0, np.nan]]), np.zeros(2, np.int64)
    assert score_deviations(scores, lists, "order").tolist() == score_deviations(scores, lists, "run").tolist()


def test_infinite_scores_are_certain_and_none_overflows():
    scores = np.array([[np.inf, 1.0], [-np.inf, 1.0], [np.inf, -np.inf], [1e308, -1e308], [5e-324, 5e-324]])
    means = mean_scores(scores)
    np.testing.assert_array_equal(means, [np.inf, -np.inf, np.nan, 0, 5e-324])
    assert score_deviations(scores, np.arange(5)) == pytest.approx([0, 0, 0, 2**0.5 * 1e308, 0])


COMPLETE = st.tuples(st.integers(2, 5), st.integers(2, 4)).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(-40, 40).map(lambda number: number / 8), min_size=size[1], max_size=size[1]),
        min_size=size[0],
        max_size=size[0],
    )
)


@given(COMPLETE, COMPLETE, st.floats(-5, 5))
def test_the_deviation_of_order_is_that_without_what_a_repeat_adds_to_a_list(first, second, shift):
    n_repeats = min(len(first[0]), len(second[0]))
    parts = [np.array(rows)[:, :n_repeats] for rows in (first, second)]
    lists = np.repeat([0, 1], [len(part) for part in parts])
    expected = [
        np.std(row, ddof=1) * (len(part) / (len(part) - 1)) ** 0.5
        for part in parts
        for row in part - part.mean(axis=0)
    ]
    scores = np.concatenate(parts)
    assert score_deviations(scores, lists) == pytest.approx(expected, abs=1e-9)
    scores[lists == 1] += shift * np.arange(n_repeats)
    assert score_deviations(scores, lists) == pytest.approx(expected, abs=1e-9)


def test_the_deviation_of_order_is_unbiased_for_independent_scatter():
    scores = np.random.default_rng(1).normal(size=(40_000, 3))
    lists = np.repeat(np.arange(10_000), 4)
    assert (score_deviations(scores, lists) ** 2).mean() == pytest.approx(1, abs=0.03)
