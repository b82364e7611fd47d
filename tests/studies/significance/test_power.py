import math

import numpy as np
import pytest
from comparing import scored, tied_values
from statsmodels.stats.power import TTestIndPower, TTestPower

from metrics import UsageError
from metrics.studies.significance.power import detectable

VALUES = tied_values(0, 50, 3)
SCORED = scored(expected={name: VALUES[:, at] for at, name in enumerate("ABC")})


def spread(column, other_column):
    return (VALUES[:, column] - VALUES[:, other_column]).std(ddof=1)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_t_test_finds_the_detectable_difference_with_the_power_asked_for(level, power):
    smallest = detectable(SCORED, "RR", "expected", "A", level, power)
    effect = smallest / np.median([spread(0, 1), spread(0, 2)])
    assert TTestPower().power(effect, 50, 1 - level) == pytest.approx(power, abs=1e-5)


def test_simulated_t_tests_find_it_as_often():
    random = np.random.default_rng(0)
    effect = detectable(SCORED, "RR", "expected", "B") / np.median([spread(1, 0), spread(1, 2)])
    samples = random.normal(effect, 1, size=(20_000, 50))
    t = samples.mean(axis=1) / samples.std(axis=1, ddof=1) * math.sqrt(50)
    assert np.mean(np.abs(t) > 2.0096) == pytest.approx(0.8, abs=0.012)


def test_more_queries_make_less_detectable():
    twice = scored(expected={name: np.tile(VALUES[:, at], 2) for at, name in enumerate("ABC")})
    ratio = detectable(SCORED, "RR", "expected", "A") / detectable(twice, "RR", "expected", "A")
    assert ratio == pytest.approx(math.sqrt(2), rel=0.03)


@pytest.mark.parametrize(
    ("values", "smallest"),
    [
        ({"A": [1, 0]}, math.inf),
        ({"A": {"p": 1}, "B": {"q": 1}}, math.inf),
        ({"A": [1], "B": [0]}, math.inf),
        ({"A": [1, 0.5], "B": [0.75, 0.25]}, math.inf),
        ({"A": [1, 0.5] * 3, "B": [0.75, 0.25] * 3}, 0),
    ],
)
def test_what_cannot_be_tested_is_never_found_and_what_does_not_vary_where_signs_can_prove_it(values, smallest):
    assert detectable(scored(expected=values), "RR", "expected", "A") == smallest


def test_two_queries_find_only_the_huge():
    smallest = detectable(scored(expected={"A": [0, 0], "B": [0.5, 0.75]}), "RR", "expected", "A")
    assert smallest == pytest.approx(11.55 * 0.25 / math.sqrt(2), rel=1e-3)


def test_unpaired_it_is_what_a_t_test_of_both_samples_finds():
    by_name = {
        "A": {f"a{at}": value for at, value in enumerate(VALUES[:20, 0])},
        "B": {f"b{at}": value for at, value in enumerate(VALUES[:, 1])},
    }
    apart = scored(expected=by_name)
    assert detectable(apart, "RR", "expected", "A") == math.inf
    pooled = math.sqrt((19 * VALUES[:20, 0].var(ddof=1) + 49 * VALUES[:, 1].var(ddof=1)) / 68)
    effect = detectable(apart, "RR", "expected", "A", paired=False) / pooled
    assert TTestIndPower().power(effect, 20, 0.05, 50 / 20) == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baseline": "Z"}, "'Z'"),
        ({"power": 1}, "power=1"),
        ({"power": 0.04}, "0.04"),
        ({"level": 1}, "level=1"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, words):
    with pytest.raises(UsageError, match=words):
        detectable(SCORED, **{"measure": "RR", "ties": "expected", "baseline": "A"} | options)
