"""Histograms of scores, however near or far they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metrics.support.arrays import histogram

LARGEST = np.finfo(float).max
HARD = {
    "neighbours": [0.3, 0.30000000000000004],
    "a large constant": [1e15, 1e15],
    "a constant past the whole numbers": [2.0**53] * 3,
    "denormals": [0, 5e-324, 1e-310],
    "one denormal": [5e-324],
    "both ends of float64": [-LARGEST, LARGEST],
    "the largest alone": [LARGEST, LARGEST],
    "small steps between large scores": [1e15, 1e15 + 0.125, 1e15 + 0.25],
    "a denormal beside the largest": [5e-324, LARGEST],
}


@pytest.mark.parametrize("values", HARD.values(), ids=HARD)
@pytest.mark.parametrize("n_bins", [1, 24, 60])
def test_a_histogram_counts_every_value_and_its_bins_rise_within_them(values, n_bins):
    counts, middles = histogram(np.array(values), n_bins)
    assert counts.sum() == len(values)
    assert (np.diff(middles) >= 0).all()
    assert min(values) <= middles[0] <= middles[-1] <= max(values)


@given(arrays(float, st.integers(0, 20), elements=st.floats()))
def test_only_finite_values_are_counted(values):
    assert histogram(values, 24)[0].sum() == np.isfinite(values).sum()


def test_usual_values_are_counted_as_numpy_counts_them():
    values = np.random.default_rng(1).normal(size=500)
    counts, middles = histogram(values, 24)
    numpy_counts, edges = np.histogram(values, 24)
    assert counts.tolist() == numpy_counts.tolist()
    assert middles == pytest.approx((edges[1:] + edges[:-1]) / 2)


def test_neighbours_in_float64_stand_in_the_first_and_the_last_bin():
    assert np.flatnonzero(histogram(np.array([0.3, 0.30000000000000004]), 24)[0]).tolist() == [0, 23]
