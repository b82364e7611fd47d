"""The sentence of noise on odd boards."""

import numpy as np
import pandas as pd
import pytest

from metrics.studies.prose import plain
from metrics.studies.robustness.noise_curves import even_point
from metrics.studies.robustness.robustness_finding import robustness_finding, written_noise


def curves(**columns):
    return pd.DataFrame(columns, index=pd.Index([0.0, 0.01, 0.1, 1.0], name="noise"))


@pytest.mark.parametrize(
    ("table", "even", "sentence"),
    [
        (
            curves(A=[0.9, 0.9, 0.8, 0.1], B=[0.8, 0.8, 0.7, 0.0]),
            None,
            "A leads under every noise up to σ = 1. "
            "The order of both holds in half of the draws or more up to σ = 1.",
        ),
        (
            curves(A=[0.9, 0.9, 0.8, 0.1], B=[0.7, 0.7, 0.7, 0.7]),
            0.05,
            "A leads until σ = 0.14, then B does. The order of both holds in half of the draws at σ = 0.05.",
        ),
        (
            curves(A=[0.9, 0.9, 0.8, 0.1], B=[0.7, 0.7, 0.7, 0.7]),
            0.01,
            "A leads until σ = 0.14, then B does. "
            "The order of both holds in fewer than half of the draws at σ = 0.01 already.",
        ),
        (
            curves(A=[0.9, 0.9, 0.8, 0.1], B=[0.8, 0.8, 0.7, 0.0], C=[0.7] * 4),
            0.05,
            "A leads until σ = 0.14, then C does. The order of all 3 holds in half of the draws at σ = 0.05.",
        ),
        (
            curves(A=[0.501, 0.5, 0.4, 0.1], B=[0.5, 0.502, 0.5, 0.3]),  # never clear of each other before
            None,
            "A leads until σ = 0.0033, then B does.",
        ),
        (curves(A=[0.5] * 4, B=[0.5] * 4), None, "2 rerankers lead level without noise: there is no leader"),
        (
            curves(A=[0.00002, 0.00002, 0.00001, 0.000004]),
            None,
            "A scores 0.000020 MTRR without noise, "
            "and 0.0000040 with noise as large as the spread of its scores.",
        ),
        (curves(A=[np.nan] * 4), None, "No list is scored"),
    ],
)
def test_the_sentence_says_what_the_curves_show(table, even, sentence):
    assert plain(robustness_finding(table, "MTRR", even)).startswith(sentence)


def test_a_chance_is_even_between_two_levels_or_nowhere():
    levels = np.array([0.01, 0.1, 1.0])
    assert even_point(levels, np.array([1.0, 0.75, 0.25])) == pytest.approx(np.sqrt(0.1))
    assert even_point(levels, np.array([0.4, 0.0, 0.0])) == pytest.approx(0.01)
    assert even_point(levels, np.array([1.0, 0.9, 0.5])) is None


def test_a_noise_is_written_with_two_figures():
    assert [written_noise(noise) for noise in (1.0, 0.01912, 0.0001, 0.35)] == ["1", "0.019", "0.0001", "0.35"]
