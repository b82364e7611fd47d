"""Figures inside sentences."""

import pytest

from metrics.studies.prose import decimal, signed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.4567, "0.457"),
        (0.0124, "0.012"),
        (0.0014, "0.0014"),
        (0.00031, "0.00031"),
        (-0.00031, "-0.00031"),
        (1.0, "1.000"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (3e-17, "0.000"),
        (float("nan"), "nan"),
    ],
)
def test_a_small_number_keeps_two_figures_and_noise_is_nothing(value, text):
    assert decimal(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.05, "+0.050"), (-0.05, "−0.050"), (-0.0004, "−0.00040"), (-1e-17, "0.000")]
)
def test_a_difference_has_its_sign_and_nothing_has_none(value, text):
    assert signed(value) == text
