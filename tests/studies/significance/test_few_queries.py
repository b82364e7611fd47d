"""What few queries allow: p against full enumeration in exact fractions, and intervals that agree with p."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from comparing import VALUES, scored, tied_values
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

from metrics.studies.significance import rank_sums
from metrics.studies.significance.paired_tests import Comparison
from metrics.studies.significance.rank_sums import rank_sum_p, signed_rank_p
from metrics.studies.significance.significance import compare
from metrics.studies.significance.test_registry import TESTS, find_test, is_significant

FEW = st.lists(VALUES, min_size=2, max_size=7)
LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.99])
ALL_HIGHER = np.array([[0, 0.3], [0.1, 0.5], [0, 0.4], [0, 0.5], [0, 1]])
"""Values of a pair whose second is above its first on each of five queries."""
FEW_PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=9).map(np.array)


def fractions(values):
    return [Fraction(round(float(value) * 10**12), 10**12) for value in values]


def mid_ranks(values):
    below = [sum(other < value for other in values) for value in values]
    return [Fraction(2 * n + values.count(value) + 1, 2) for n, value in zip(below, values, strict=True)]


def flip_p(values):
    """Share of all flipped signs that take the sum as far from 0."""
    sums = [
        sum(map(Fraction.__mul__, map(Fraction, signs), values))
        for signs in product((1, -1), repeat=len(values))
    ]
    return Fraction(sum(abs(total) >= abs(sum(values)) for total in sums), len(sums))


def split_p(ours, theirs):
    """Twice the share of all splits whose rank sum is as small, or as large, whichever is rarer."""
    ranks = mid_ranks(ours + theirs)
    reached = sum(ranks[: len(ours)])
    sums = [sum(chosen) for chosen in combinations(ranks, len(ours))]
    tails = sum(total <= reached for total in sums), sum(total >= reached for total in sums)
    return min(Fraction(1), Fraction(2 * min(tails), len(sums)))


def compare_pair(theirs, ours, test, level=0.95):
    return compare(scored(expected={"A": theirs, "B": ours}), "RR", "expected", "A", test, level=level).iloc[0]


def compare_apart(theirs, ours, level=0.95):
    """Compare runs on different queries."""
    by_name = {name: {f"{name}{at}": v for at, v in enumerate(vs)} for name, vs in (("A", theirs), ("B", ours))}
    return compare_pair(by_name["A"], by_name["B"], "mann-whitney", level)


def test_three_halves_against_three_ones_are_as_far_apart_in_two_of_twenty_splits():
    row = compare_apart([0.5] * 3, [1] * 3)
    assert (row["p"], row["stars"]) == (pytest.approx(0.1, abs=1e-15), "ns")


@given(FEW, FEW)
@example([0.0, 0.0, 0.0], [0.0, 1.0, 0.0])
def test_mann_whitney_of_few_values_counts_all_splits(theirs, ours):
    exact = split_p(fractions(ours), fractions(theirs))
    assert compare_apart(theirs, ours)["p"] == pytest.approx(float(exact), rel=1e-12)


@given(FEW_PAIRS)
def test_wilcoxon_of_few_queries_counts_all_flips_zeros_and_ties_included(values):
    differences = [ours - theirs for theirs, ours in map(fractions, values) if abs(ours - theirs) > 1e-12]
    assume(len(set(differences)) > 1 or len(differences) < len(values))
    ranks = mid_ranks([abs(difference) for difference in differences])
    signed = [rank if difference > 0 else -rank for rank, difference in zip(ranks, differences, strict=True)]
    exact = flip_p(signed) if signed else 1
    assert compare_pair(*values.T, "wilcoxon")["p"] == pytest.approx(float(exact), rel=1e-12)


@settings(max_examples=15)
@given(LEVELS, st.lists(st.tuples(VALUES, VALUES), min_size=4, max_size=7).map(np.array))
def test_the_interval_of_randomisation_holds_the_shifts_that_flipped_signs_do_not_reject(level, values):
    theirs, ours = (fractions(column) for column in values.T)
    differences = [our - their for our, their in zip(ours, theirs, strict=True)]
    assume(len(set(differences)) > 1 and all(differences))
    pair = Comparison(np.array([theirs, ours], float).T, [(0, 1)], level)
    result = find_test("randomisation").function(pair)[0]
    for shift in [Fraction(at, 97) for at in range(-96, 97, 24)]:
        p = flip_p([difference - shift for difference in differences])
        assert (result.low <= shift <= result.high) == (p >= Fraction(str(round(1 - level, 2))))


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
@settings(max_examples=20)
@given(values=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=16).map(np.array), level=LEVELS)
@example(ALL_HIGHER, 0.95)
@example(ALL_HIGHER, 0.99)
@example(np.concatenate([np.zeros((38, 2)), ALL_HIGHER]), 0.95)
def test_an_interval_leaves_0_out_where_p_is_significant_or_the_note_says_why_not(test, values, level):
    row = compare_pair(*values.T, test.name, level)
    leaves_out = row["low"] > 1e-9 or row["high"] < -1e-9
    disagrees = "p is of ranks, the interval of means" in row["note"]
    assert (bool(is_significant(row["p"], level)) != leaves_out) == disagrees
    assert not disagrees or test.name in ("wilcoxon", "mann-whitney")
    assert test.name not in ("wilcoxon", "mann-whitney") or "of means where p is of ranks" in test.interval


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
@settings(max_examples=20)
@given(values=FEW_PAIRS)
@example(values=np.array([[0, 0.5], [0, 0.5], [0, 0.5 + 1e-6]]))
@example(values=ALL_HIGHER)
def test_no_p_is_below_what_the_data_allow_unless_it_says_what_it_assumes(test, values):
    n, row = len(values), compare_pair(*values.T, test.name)
    differing = row["won"] + row["lost"]
    smallest = (
        2.0 ** (1 - differing) if test.paired and differing else 2 / comb(2 * n, n) if not test.paired else 1
    )
    if test.name in ("t", "tukey"):
        is_told = "p assumes normal differences: the signs of" in row["note"]
        assert is_told == (row["p"] < 0.05 <= smallest)
        assert "Assumes normal" in test.summary
    else:
        assert row["p"] >= smallest * (1 - 1e-12)


def test_a_bootstrap_of_five_queries_at_99_percent_has_no_bound_and_says_so():
    row = compare_pair([0] * 5, [0.1, 0.2, 0.3, 0.4, 0.5], "bootstrap", 0.99)
    assert (row["p"], row["low"], row["high"]) == (1 / 16, -1, 1)
    assert row["note"] == (
        "only 5 queries differ: signs agree by chance in 0.0625, so no interval of 0.99 has a bound"
    )


def test_a_measure_without_a_largest_value_has_no_largest_difference():
    row = compare(
        scored("DCG", expected={"A": [0, 0], "B": [2, 3]}), "DCG", "expected", "A", "randomisation"
    ).iloc[0]
    assert (row["low"], row["high"]) == (-np.inf, np.inf)
    assert row["note"] == "so little allows any difference: no interval of 0.95 has a bound"


@pytest.mark.parametrize("n", [20, 45])
def test_without_ties_rank_tests_are_scipys_exact_ones(n):
    random = np.random.default_rng(n)
    ours, theirs = random.random(n) + 0.1, random.random(n - 3)
    assert rank_sum_p(ours, theirs) == pytest.approx(stats.mannwhitneyu(ours, theirs, method="exact").pvalue)
    differences = random.normal(0.3, 1, n)
    assert signed_rank_p(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


@pytest.mark.parametrize("share_of_zeros", [0, 0.5, 0.85])
def test_where_rank_sums_are_too_many_p_below_a_tenth_is_within_a_hundredth(monkeypatch, share_of_zeros):
    for seed in range(4):
        values = tied_values(seed, 60, 2, 0.15)
        values *= np.random.default_rng(seed).random(values.shape) > share_of_zeros
        differences = values[:, 1] - values[:, 0]
        differences = differences[differences != 0]
        exact = rank_sum_p(*values.T), signed_rank_p(differences)
        with monkeypatch.context() as patched:
            patched.setattr(rank_sums, "MAX_CELLS", 0)
            normal = rank_sum_p(*values.T), signed_rank_p(differences)
        for p, p_normal in zip(exact, normal, strict=True):
            assert p_normal == pytest.approx(p, abs=0.01 if p < 0.1 else 0.1)
