"""The Guide's example of noise."""

import pytest

from metrics.studies.guide.noise_example import noise_example


def test_vanishing_noise_leaves_the_tied_value_and_endless_noise_one_tie():
    assert noise_example(1e-6).noisy == pytest.approx(noise_example(1e-6).tied, abs=1e-9)
    assert noise_example(1e6).noisy == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5, abs=1e-5)
    assert noise_example(0.05).one_tie == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5)


def test_the_example_starts_between_its_limits():
    example = noise_example(0.05)
    assert example.traditional == pytest.approx(1 / 4)
    assert example.tied == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    assert example.tied < example.noisy < example.one_tie


def test_chances_of_ranks_sum_to_one_and_give_the_value():
    chances = noise_example(0.2).chances
    assert chances["chance"].sum() == pytest.approx(1, abs=1e-8)
    assert (chances["chance"] / chances["rank"]).sum() == pytest.approx(noise_example(0.2).noisy, abs=1e-8)
