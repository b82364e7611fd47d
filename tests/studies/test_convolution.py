"""Distributions of sums of independent lists, held against adding up one by one."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.studies.convolution import (
    MAX_KINDS,
    MAX_VALUES,
    ListDistributions,
    common_step,
    merge_equal,
    sum_distribution,
)
from metrics.studies.list_distributions import hypergeometric_chances

VALUES = st.lists(
    st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1 / math.log2(3), 1.0]), min_size=2, max_size=3, unique=True
)


def kinds(*rows):
    """Rows of (times, values), every value of a row equally likely."""
    value = [value for _, values in rows for value in values]
    kind = [at for at, (_, values) in enumerate(rows) for _ in values]
    chance = [1 / len(values) for _, values in rows for _ in values]
    return ListDistributions.of(
        np.array([times for times, _ in rows]), np.array(kind), np.array(value), np.array(chance)
    )


def one_by_one(rows):
    each = [[value - min(values) for value in values] for times, values in rows for _ in range(times)]
    counts = Counter(round(math.fsum(values), 9) for values in product(*each))
    return {value: times / counts.total() for value, times in counts.items()}


@given(st.lists(st.tuples(st.integers(1, 3), VALUES), min_size=1, max_size=4))
def test_a_sum_has_the_values_and_chances_of_adding_up(rows):
    values, chances = sum_distribution(kinds(*rows))
    expected = one_by_one(rows)
    assert values == pytest.approx(sorted(expected), abs=1e-8)
    assert chances == pytest.approx([expected[value] for value in sorted(expected)], abs=1e-12)


def test_many_lists_on_one_step_are_binomial():
    values, chances = sum_distribution(kinds((1000, [0, 0.1])))
    assert values == pytest.approx(np.arange(1001) / 10)
    exact = [Fraction(math.comb(1000, hits), 2**1000) for hits in range(1001)]
    assert chances == pytest.approx([float(chance) for chance in exact], rel=1e-10, abs=1e-300)


def test_values_without_a_common_step_are_told_apart_as_long_as_they_are_few():
    roots = [math.sqrt(n) for n in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)]
    rows = [(1, [0, root]) for root in roots]
    assert len(sum_distribution(kinds(*rows[:MAX_KINDS]))[0]) == 2**MAX_KINDS == MAX_VALUES
    assert sum_distribution(kinds(*rows)) is None
    assert sum_distribution(kinds((3, [0, roots[0]]), *rows[1:MAX_KINDS])) is None


def test_too_many_steps_are_too_many():
    assert len(sum_distribution(kinds((MAX_VALUES - 1, [0, 1])))[0]) <= MAX_VALUES
    assert sum_distribution(kinds((1, [0, 1, MAX_VALUES * 1.5]))) is not None
    assert sum_distribution(kinds(*[(MAX_VALUES, [0, 1, math.sqrt(2)])])) is None


@pytest.mark.parametrize(
    ("rises", "smallest", "step"),
    [
        ([0, 1], 0.1, 1),
        ([0, 0.2, 0.3], 0.05, 0.1),
        ([1 / 2, 1 / 6, 1 / 12, 1 / 20], 1e-3, 1 / 60),
        ([1, math.sqrt(2)], 1e-3, None),
        ([0, 1e-17], 1e-18, None),
        ([1, 1 + 1e-4], 1e-3, None),
        ([1 / 3, 1 / 7], 0.1, None),
        ([1, 1 / 3 + 1e-7], 1e-3, None),
    ],
)
def test_a_common_step_is_found_where_there_is_one(rises, smallest, step):
    computed_step = common_step(np.array(rises), smallest)
    assert computed_step == (None if step is None else pytest.approx(step, rel=1e-12))


def test_values_that_differ_by_rounding_are_one():
    values, chances = merge_equal(np.array([0.3, 0.1 + 0.2, 0.2]), np.array([0.25, 0.25, 0.5]))
    assert values.tolist() == [0.2, 0.3]
    assert chances.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("size", "marked", "within"), [(5, 2, 3), (5, 4, 3), (7, 7, 2), (60, 20, 10), (9, 1, 8)]
)
def test_chances_of_counts_are_hypergeometric(size, marked, within):
    fewest, largest = max(0, within - size + marked), min(marked, within)
    chances = hypergeometric_chances(
        *(np.array([n]) for n in (size, marked, within, fewest)), largest - fewest + 3
    )[0]
    exact = [
        math.comb(marked, x) * math.comb(size - marked, within - x) / math.comb(size, within)
        for x in range(fewest, largest + 1)
    ]
    assert chances == pytest.approx([*exact, 0, 0], abs=1e-13)


def test_chances_of_counts_in_a_tie_of_a_million_sum_to_one_about_the_right_mean():
    chances = hypergeometric_chances(*(np.array([n]) for n in (10**6, 1000, 500_000, 0)), 1001)[0]
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert chances @ np.arange(1001) == pytest.approx(500, rel=1e-9)
