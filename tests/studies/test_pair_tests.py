"""Tests of pairs: p against full enumeration in exact fractions and against scipy, and their intervals."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from comparing import tied_values
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from metrics.studies import pair_tests
from metrics.studies.pair_tests import (
    DRAWS,
    LARGEST_FLIPS,
    TESTS,
    Comparison,
    largest_statistic,
    sign_flips,
    t_test,
)

SHARES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(11, 18), Fraction(1)])
TIED = [tied_values(seed, n) for seed, n in enumerate([14, 20, 43, 100, 400])]
TESTED = {test.name: test.function for test in TESTS}
PAIRED = [test.name for test in TESTS if test.is_paired]


def boards(most_queries, rerankers=(2, 4)):
    """Lists of queries, each with a value or None of every reranker."""
    return st.integers(*rerankers).flatmap(
        lambda k: st.lists(
            st.lists(st.one_of(SHARES, SHARES, SHARES, st.none()), min_size=k, max_size=k),
            min_size=1,
            max_size=most_queries,
        )
    )


two_columns = st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=30).map(
    lambda rows: np.array(rows, float)
)


def comparison(table, seed=0):
    values = np.array([[np.nan if value is None else float(value) for value in row] for row in table])
    names = [str(column) for column in range(values.shape[1])]
    return Comparison(values, np.column_stack(np.triu_indices(len(names), 1)), seed)


def run_test(name, values, level=0.95, seed=0):
    """Return p, low and high of a test of two columns of values."""
    p, interval = TESTED[name](comparison(values, seed))
    low, high = interval(np.full(1, 1 - level))
    return p[0], low[0], high[0]


def differences(values):
    deltas = values[:, 1] - values[:, 0]
    return np.where(np.abs(deltas) < 1e-9, 0, deltas)


def varying(values):
    deltas = differences(values)
    assume(np.ptp(deltas) > 1e-9)
    return deltas


def exact_differences(table):
    """Differences of each pair over all queries; 0 where one of the two has no value."""
    return [
        [row[b] - row[a] if None not in (row[a], row[b]) else Fraction(0) for row in table]
        for a, b in combinations(range(len(table[0])), 2)
    ]


def enumerated(table):
    """All squared statistics by pair and flip of signs, those as observed first."""
    flips = list(product((1, -1), repeat=len(table)))
    return [
        [sum(map(Fraction.__mul__, map(Fraction, signs), deltas)) ** 2 / (total or 1) for signs in flips]
        for deltas in exact_differences(table)
        for total in [sum(delta**2 for delta in deltas)]
    ]


@settings(max_examples=60, deadline=None)
@given(boards(6))
def test_p_and_adjusted_p_of_few_queries_count_all_flips_in_exact_fractions(table):
    rows = enumerated(table)
    largest = [max(column) for column in zip(*rows, strict=True)]
    results = largest_statistic(comparison(table))
    assert results.p.tolist() == [sum(one >= row[0] for one in row) / len(row) for row in rows]
    assert results.p_adjusted.tolist() == [sum(one >= row[0] for one in largest) / len(row) for row in rows]
    assert sign_flips(comparison(table))[0].tolist() == results.p.tolist()


@pytest.mark.parametrize("n", [7, 8, 9, 10])
def test_all_flips_of_up_to_ten_queries_are_counted(n):
    table = np.random.default_rng(n).integers(0, 5, (n, 3)) + np.array([0, 1, 3])
    rows = enumerated([[Fraction(int(value)) for value in row] for row in table])
    largest = [max(column) for column in zip(*rows, strict=True)]
    results = largest_statistic(comparison(table))
    assert results.p.tolist() == [sum(one >= row[0] for one in row) / 2**n for row in rows]
    assert results.p_adjusted.tolist() == [sum(one >= row[0] for one in largest) / 2**n for row in rows]


@settings(max_examples=20, deadline=None)
@given(boards(6, (3, 3)))
def test_of_many_queries_of_which_few_differ_all_flips_of_these_are_counted(table):
    rows = enumerated(table)
    largest = [max(column) for column in zip(*rows, strict=True)]
    results = largest_statistic(comparison([*table, *[[Fraction(1, 3)] * 3] * 30]))
    assert results.p.tolist() == [sum(one >= row[0] for one in row) / len(row) for row in rows]
    assert results.p_adjusted.tolist() == [sum(one >= row[0] for one in largest) / len(row) for row in rows]


@settings(max_examples=40, deadline=None)
@given(boards(7))
def test_an_interval_ends_at_the_shift_whose_statistic_is_the_critical_one(table):
    columns = zip(*enumerated(table), strict=True)
    largest = sorted((max(column) for column in columns), reverse=True)
    place = int(np.ceil(0.05 * len(largest) * (1 - 1e-12)))
    critical = float(largest[place - 1]) if place > 2 else np.inf
    pairs = comparison(table)
    results, (n, *_, squares, _, _) = largest_statistic(pairs), pairs.statistics
    for low, high, count, square in zip(results.low, results.high, n, squares, strict=True):
        half = (high - low) / 2
        if critical >= count * (1 - 1e-9):
            assert not np.isfinite(half) or square == 0
        else:
            assert count * half**2 == pytest.approx(critical * square / (count - critical), rel=1e-6, abs=1e-12)


def test_many_queries_are_tested_by_drawn_flips_close_to_all_of_them():
    values = tied_values(8, 18)
    values[:, 1] += np.arange(18) / 100
    deltas = differences(values)
    signs = 1 - 2 * (np.arange(2**18)[:, None] >> np.arange(18) & 1)
    exact = np.mean(np.abs(signs @ deltas) >= abs(deltas.sum()) - 1e-9)
    drawn = {
        DRAWS: run_test("flips", values)[0],
        LARGEST_FLIPS: largest_statistic(comparison(values)).p[0],
    }
    for n_flips, p in drawn.items():
        assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / n_flips))


def test_two_rerankers_have_the_same_p_with_and_without_the_largest_statistic():
    for values in TIED:
        results = largest_statistic(comparison(values))
        assert results.p.tolist() == results.p_adjusted.tolist()


@pytest.mark.parametrize("name", ["flips", "wilcoxon"])
def test_queries_without_a_difference_leave_flips_exact(name):
    values = tied_values(5, 60)[:13]
    values[9:, 1] = values[9:, 0]
    assert run_test(name, values)[0] == run_test(name, values[:9])[0]


def test_missing_values_and_blocks_of_pairs_change_no_other_pair(monkeypatch):
    values = tied_values(3, 40, 6, 0.05)
    complete = largest_statistic(comparison(values)).p
    partly = values.copy()
    partly[::5, 5] = np.nan
    pairs = comparison(partly)
    assert largest_statistic(pairs).p[pairs.pairs[:, 1] != 5].tolist() == (
        complete[pairs.pairs[:, 1] != 5].tolist()
    )
    before = [TESTED[name](comparison(partly))[0] for name in PAIRED]
    monkeypatch.setattr(pair_tests, "_CELLS", 1)
    assert np.allclose(before, [TESTED[name](comparison(partly))[0] for name in PAIRED], atol=1e-12)


def test_a_pair_is_tested_on_the_queries_that_both_have():
    values = tied_values(3, 40, 5)
    values[np.random.default_rng(2).random(values.shape) < 0.3] = np.nan
    pairs = comparison(values)
    for (row, column), p in zip(pairs.pairs, t_test(pairs)[0], strict=True):
        tested = stats.ttest_rel(values[:, row], values[:, column], nan_policy="omit")
        assert p == pytest.approx(tested.pvalue, rel=1e-9)


def test_differences_a_millionth_of_the_values_are_tested_without_cancelling():
    values = 1000 + np.random.default_rng(5).random((30, 1)) * 500
    values = np.hstack([values, values + 1e-4 + 1e-5 * np.random.default_rng(6).random((30, 1))])
    tested = stats.ttest_rel(values[:, 0], values[:, 1])
    assert run_test("t", values)[0] == pytest.approx(tested.pvalue, rel=1e-4)


@given(two_columns)
def test_t_is_scipys_with_its_interval(values):
    varying(values)
    p, *ends = run_test("t", values, 0.9)
    scipys = stats.ttest_rel(values[:, 1], values[:, 0])
    assert p == pytest.approx(scipys.pvalue, rel=1e-8)
    assert ends == pytest.approx(list(scipys.confidence_interval(0.9)), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=9).map(lambda rows: np.array(rows, float)))
def test_wilcoxon_of_few_queries_is_scipys_over_all_flips(values):
    deltas = varying(values).round(12)
    scipys = stats.wilcoxon(deltas, method=stats.PermutationMethod(n_resamples=np.inf))
    assert run_test("wilcoxon", values)[0] == pytest.approx(scipys.pvalue, rel=1e-12)


@pytest.mark.parametrize("values", TIED[1:3], ids=len)
def test_wilcoxon_of_many_queries_is_scipys_within_the_error_of_drawn_flips(values):
    method = stats.PermutationMethod(n_resamples=1_999, rng=np.random.default_rng(1))
    scipys = stats.wilcoxon(differences(values).round(12), method=method).pvalue
    error = np.sqrt(scipys * (1 - scipys) * (1 / 2_000 + 1 / DRAWS))
    assert run_test("wilcoxon", values)[0] == pytest.approx(scipys, abs=4 * error + 1e-3)


def apart(theirs, ours):
    """Values of two rerankers on different queries."""
    table = np.full((len(theirs) + len(ours), 2), np.nan)
    table[: len(theirs), 0], table[len(theirs) :, 1] = theirs, ours
    return table


def split_p(ours, theirs):
    """Twice the share of all splits whose rank sum is as small, or as large, whichever is rarer."""
    values = ours + theirs
    ranks = [
        Fraction(2 * sum(other < value for other in values) + values.count(value) + 1, 2) for value in values
    ]
    sums = [sum(chosen) for chosen in combinations(ranks, len(ours))]
    tails = [sum(one <= sums[0] for one in sums), sum(one >= sums[0] for one in sums)]
    return min(Fraction(1), Fraction(2 * min(tails), len(sums)))


@settings(max_examples=25, deadline=None)
@given(st.lists(SHARES, min_size=2, max_size=6), st.lists(SHARES, min_size=2, max_size=6))
def test_mann_whitney_of_few_values_counts_all_splits(theirs, ours):
    p = run_test("mann-whitney", apart(np.array(theirs, float), np.array(ours, float)))[0]
    assert p == pytest.approx(float(split_p(ours, theirs)), rel=1e-12)


@pytest.mark.parametrize(("n", "method"), [(40, "permutations"), (150, "asymptotic")])
def test_mann_whitney_is_scipys(n, method):
    theirs, ours = tied_values(0, n)[: n - 3, 0], tied_values(1, n, 2, 0.1)[:, 1]
    if method == "permutations":
        method = stats.PermutationMethod(n_resamples=DRAWS, rng=np.random.default_rng(0))
    scipys = stats.mannwhitneyu(theirs.round(12), ours.round(12), method=method).pvalue
    assert run_test("mann-whitney", apart(theirs, ours))[0] == pytest.approx(scipys, rel=1e-12)


@given(st.lists(SHARES, min_size=2, max_size=25), st.lists(SHARES, min_size=2, max_size=25))
def test_the_interval_of_mann_whitney_is_welchs(theirs, ours):
    theirs, ours = np.array(theirs, float), np.array(ours, float)
    assume(np.ptp(theirs) > 1e-9)
    assume(np.ptp(ours) > 1e-9)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pair_tests, "MOST_PERMUTED", 0)
        _, *ends = run_test("mann-whitney", apart(theirs, ours), 0.9)
    scipys = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.9)
    assert ends == pytest.approx(list(scipys), abs=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("values", TIED, ids=len)
def test_a_bootstrap_interval_is_scipys_percentile_interval_widened(values, level):
    deltas, n = differences(values), len(values)
    tail = stats.norm.cdf(np.sqrt(n / (n - 1)) * stats.t.ppf((1 - level) / 2, n - 1))
    options = {"method": "percentile", "n_resamples": 20_000, "batch": 1_000, "rng": 1}
    scipys = stats.bootstrap((deltas,), np.mean, confidence_level=1 - 2 * tail, **options).confidence_interval
    close = 0.08 * deltas.std() / np.sqrt(n) / level
    assert run_test("bootstrap", values, level)[1:] == pytest.approx(tuple(scipys), abs=close)


@pytest.mark.parametrize("name", PAIRED)
@settings(max_examples=15, deadline=None)
@given(values=two_columns)
def test_p_and_interval_are_valid_and_mirrored_with_the_other_as_baseline(name, values):
    p, low, high = run_test(name, values)
    back = run_test(name, values[:, ::-1])
    assert 0 <= p <= 1
    assert low - 1e-9 <= differences(values).mean() <= high + 1e-9
    assert (p, low, high) == pytest.approx((back[0], -back[2], -back[1]), abs=1e-9)


@pytest.mark.parametrize("name", ["flips", "wilcoxon", "bootstrap"])
def test_draws_depend_on_nothing_but_the_seed(name):
    values = TIED[2]
    assert run_test(name, values, seed=3) == run_test(name, values, seed=3)
    assert run_test(name, values, seed=3) != run_test(name, values, seed=4)


def test_each_test_says_what_it_asks_and_where_it_is_from():
    assert [test.name for test in TESTS if not test.is_paired] == ["mann-whitney"]
    assert all(
        test.summary.endswith((".", "?")) and test.source and test.label and test.interval for test in TESTS
    )
