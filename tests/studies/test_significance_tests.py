"""What few queries allow: p against full enumeration in exact fractions, and intervals that agree with p."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from comparing import VALUES, scored, tied_values
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

from metrics import UsageError
from metrics.studies import resampling
from metrics.studies import significance_tests as rank_sums
from metrics.studies.query_values import round_differences
from metrics.studies.significance import compare
from metrics.studies.significance_tests import Comparison, rank_sum_p, signed_rank_p
from metrics.studies.test_registry import CORRECTIONS, TESTS, find_correction, find_test, is_significant

TIED = [tied_values(seed, n) for seed, n in enumerate([14, 20, 43, 100, 400])]
pairs = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=30).map(np.array)


def run_test(name, values, level=0.95, **options):
    results = find_test(name).function(
        Comparison(np.asarray(values, float), np.array([[0, 1]]), level, **options)
    )
    return results_by_pair(results)[0]


def results_by_pair(results):
    return [rank_sums.TestResults(*row) for row in zip(*results, strict=True)]


def differences(values):
    return round_differences(values[:, 1] - values[:, 0])


def varying(values):
    deltas = differences(values)
    assume(np.ptp(deltas) > 1e-9)
    return deltas


@given(pairs)
def test_t_is_scipys_with_its_interval(values):
    varying(values)
    result, scipys = run_test("t", values, 0.9), stats.ttest_rel(values[:, 1], values[:, 0])
    assert result.p == pytest.approx(scipys.pvalue, rel=1e-8)
    assert result[1:3] == pytest.approx(tuple(scipys.confidence_interval(0.9)), abs=1e-9)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=8).map(np.array))
def test_randomisation_of_few_queries_is_the_share_of_all_sign_flips(values):
    fractions = [Fraction(round(one * 10**12), 10**12) for one in varying(values)]
    flips = product((1, -1), repeat=len(fractions))
    sums = [sum(sign * one for sign, one in zip(signs, fractions, strict=True)) for signs in flips]
    near = Fraction(1, 10**9)
    as_far = sum(abs(one) >= abs(sum(fractions)) - near for one in sums)
    assert run_test("randomisation", values).p == float(Fraction(as_far, len(sums)))


def mean(values, axis):
    return np.mean(values, axis=axis)


@given(st.lists(st.integers(-8, 8), min_size=2, max_size=11))
def test_randomisation_of_few_queries_is_scipys(eighths):
    assume(len(set(eighths)) > 1)
    scipys = stats.permutation_test(
        (np.array(eighths) / 8,), mean, permutation_type="samples", n_resamples=np.inf
    )
    assert run_test("randomisation", [(0, one / 8) for one in eighths]).p == pytest.approx(scipys.pvalue)


def test_queries_without_a_difference_leave_randomisation_exact():
    scores = tied_values(5, 60)
    scores[12:, 1] = scores[12:, 0]
    assert run_test("randomisation", scores).p == pytest.approx(
        run_test("randomisation", scores[:12]).p, abs=1e-12
    )


def test_many_sign_flips_are_drawn_close_to_all_of_them():
    values = tied_values(8, 18)
    values[:, 1] += np.arange(18) / 100
    deltas = differences(values)
    signs = 1 - 2 * (np.arange(2**18)[:, None] >> np.arange(18) & 1)
    exact = np.mean(np.abs(signs @ deltas) >= abs(deltas.sum()) - 1e-9)
    error = np.sqrt(exact * (1 - exact) / resampling.MANY_DRAWS)
    assert run_test("randomisation", values).p == pytest.approx(exact, abs=4 * error)


@pytest.mark.parametrize("values", TIED[2:], ids=len)
def test_drawn_randomisation_is_scipys_within_its_error(values):
    options = {"permutation_type": "samples", "n_resamples": 9_999, "batch": 500, "rng": 1}
    scipys = stats.permutation_test((differences(values),), mean, **options).pvalue
    assert run_test("randomisation", values).p == pytest.approx(scipys, abs=5 * np.sqrt(scipys / 9_999) + 2e-4)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("values", TIED, ids=len)
def test_a_bootstrap_interval_is_scipys_percentile_interval_widened(values, level):
    deltas, n = differences(values), len(values)
    tail = stats.norm.cdf(np.sqrt(n / (n - 1)) * stats.t.ppf((1 - level) / 2, n - 1))
    options = {"method": "percentile", "n_resamples": 20_000, "batch": 1_000, "rng": 1}
    scipys = stats.bootstrap((deltas,), np.mean, confidence_level=1 - 2 * tail, **options).confidence_interval
    close = 0.08 * deltas.std() / np.sqrt(n) / level
    assert run_test("bootstrap", values, level)[1:3] == pytest.approx(tuple(scipys), abs=close)


@given(pairs)
def test_a_bootstrap_interval_holds_what_was_found(values):
    mean_difference = varying(values).mean()
    result = run_test("bootstrap", values, 0.9)
    assert result.low - 1e-9 <= mean_difference <= result.high + 1e-9


@given(st.lists(VALUES, min_size=2, max_size=25), st.lists(VALUES, min_size=2, max_size=25))
def test_the_interval_of_mann_whitney_is_welchs(theirs, ours):
    assume(np.ptp(theirs) > 1e-9)
    assume(np.ptp(ours) > 1e-9)
    table = np.full((len(theirs) + len(ours), 2), np.nan)
    table[: len(theirs), 0], table[len(theirs) :, 1] = theirs, ours
    result = run_test("mann-whitney", table, 0.9)
    scipys = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.9)
    assert result[1:3] == pytest.approx(tuple(scipys), abs=1e-9)


@given(pairs)
def test_tukey_of_two_rerankers_is_the_paired_t_test(values):
    varying(values)
    result, t_result = run_test("tukey", values), run_test("t", values)
    assert result[:3] == pytest.approx(t_result[:3], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "k"), [(9, 2), (3, 3), (12, 4), (43, 5), pytest.param(200, 7, marks=pytest.mark.slow)]
)
def test_tukey_is_the_studentised_range_of_statsmodels_two_way_residual(n, k):
    values = tied_values(n, n, k, 0.02)
    query, reranker = np.indices(values.shape)
    data = {"value": values.ravel(), "query": query.ravel(), "reranker": reranker.ravel()}
    fit = smf.ols("value ~ C(query) + C(reranker)", pd.DataFrame(data)).fit()
    pairs = np.array(list(combinations(range(k), 2)))
    results = find_test("tukey").function(Comparison(values, pairs, 0.9))
    error = np.sqrt(fit.mse_resid / n)
    half = stats.studentized_range.ppf(0.9, k, fit.df_resid) * error  # tenths of a second, alike for all pairs
    for (baseline, other), answer in zip(pairs, results_by_pair(results), strict=True):
        gap = values[:, other].mean() - values[:, baseline].mean()
        chance = stats.studentized_range.sf(abs(gap) / error, k, fit.df_resid)
        assert answer.p == pytest.approx(chance, abs=1e-9)
        assert answer[1:3] == pytest.approx((gap - half, gap + half))


@pytest.mark.parametrize("first", [0, *(pytest.param(place, marks=pytest.mark.slow) for place in (1, 2, 3, 4))])
def test_tukeys_p_of_many_pairs_are_interpolated_closely(first):
    values = tied_values(3, 60, 25, 0.012)
    pairs = np.array(list(combinations(range(25), 2)))
    test = find_test("tukey").function
    p_values = test(Comparison(values, pairs)).p
    integrated = test(Comparison(values, pairs[first::5])).p
    assert np.allclose(p_values[first::5], integrated, rtol=2e-3, atol=1e-7)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
@given(values=pairs)
def test_p_values_and_intervals_are_valid_and_antisymmetric(test, values):
    forth, back = run_test(test.name, values), run_test(test.name, values[:, ::-1])
    assert 0 <= forth.p <= 1
    assert forth.low <= forth.high
    assert forth.p == pytest.approx(back.p, abs=1e-9)
    assert forth[1:3] == pytest.approx((-back.high, -back.low), abs=1e-9)


@pytest.mark.parametrize("name", ["wilcoxon", "randomisation", "bootstrap"])
def test_draws_depend_on_nothing_but_the_seed(name):
    values = TIED[2]
    assert run_test(name, values, seed=3) == run_test(name, values, seed=3)
    assert run_test(name, values, seed=3)[1:3] != run_test(name, values, seed=4)[1:3]


def test_batches_of_draws_change_nothing(monkeypatch):
    values = TIED[2]
    before = resampling.resampled_means(values, 0)
    monkeypatch.setattr(resampling, "CELLS", 1)
    assert np.allclose(resampling.resampled_means(values, 0), before)
    assert len(resampling.flipped_sums(values, 7, 0)) == 7


def test_a_p_too_coarse_for_the_comparisons_made_says_so():
    values = np.column_stack([np.zeros(20), np.arange(1, 21)])
    assert run_test("bootstrap", values).note == ""
    assert "after correction for 4,950 comparisons" in run_test("bootstrap", values, comparisons=4950).note


def test_a_bootstrap_of_few_differing_queries_is_no_surer_than_their_signs():
    values = np.zeros((43, 2))
    values[:5, 1] = [0.1, 0.2, 0.3, 0.4, 0.5]
    assert run_test("bootstrap", values)[:3] == (1 / 16, -np.inf, np.inf)
    values[5, 1] = 0.6
    result = run_test("bootstrap", values)
    assert (result.p, result.low > 0) == (1 / 32, True)
    assert result.note.startswith("only 6 queries differ: the randomisation test is exact here")


def test_flips_are_more_where_many_comparisons_are_corrected_for():
    values = tied_values(0, 1_100, 2)
    values[:, 1] += 0.5
    few, many = (run_test("randomisation", values, comparisons=number).p for number in (10, 4950))
    assert (few, many) == (1e-4, 1e-5)


@pytest.mark.parametrize(
    ("alias", "name"),
    [("T", "t"), ("permutation", "randomisation"), ("randomization", "randomisation"), (" Tukey ", "tukey")],
)
def test_a_test_goes_by_other_names_too(alias, name):
    assert find_test(alias).name == name


@pytest.mark.parametrize(
    ("find", "name", "words"),
    [
        (find_test, "wilcoxn", "Did you mean wilcoxon?"),
        (find_test, "permutaton", "Did you mean randomisation?"),
        (find_test, "zzz", "Choose from: t, wilcoxon, randomisation, bootstrap, mann-whitney, tukey."),
        (find_correction, "hommel", "There is no correction 'hommel'."),
        (find_correction, "bonferoni", "Did you mean bonferroni?"),
    ],
)
def test_a_name_that_is_none_is_told_with_what_there_is(find, name, words):
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        find(name)


def test_each_test_and_correction_says_what_it_does_and_where_it_is_from():
    assert [test.name for test in TESTS if not test.paired] == ["mann-whitney"]
    assert all(test.summary.endswith(".") and test.source and test.label for test in TESTS)
    assert all(one.summary.endswith(".") and one.label for one in CORRECTIONS)
    assert find_correction("BH").name == "benjamini-hochberg"


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
def test_the_randomisation_interval_holds_the_shifts_not_rejected(level, values):
    theirs, ours = (fractions(column) for column in values.T)
    differences = [our - their for our, their in zip(ours, theirs, strict=True)]
    assume(len(set(differences)) > 1 and all(differences))
    pair = Comparison(np.array([theirs, ours], float).T, np.array([[0, 1]]), level)
    result = results_by_pair(find_test("randomisation").function(pair))[0]
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
    disagrees = "p compares ranks, the interval compares means" in row["note"]
    assert (bool(is_significant(row["p"], level)) != leaves_out) == disagrees
    assert not disagrees or test.name in ("wilcoxon", "mann-whitney")
    assert test.name not in ("wilcoxon", "mann-whitney") or "p itself compares ranks" in test.interval


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
        has_warning = "this p value assumes normal differences" in row["note"]
        assert has_warning == (row["p"] < 0.05 <= smallest)
        assert "Assumes normal" in test.summary
    else:
        assert row["p"] >= smallest * (1 - 1e-12)


def test_a_bootstrap_of_five_queries_at_99_percent_has_no_bound_and_says_so():
    row = compare_pair([0] * 5, [0.1, 0.2, 0.3, 0.4, 0.5], "bootstrap", 0.99)
    assert (row["p"], row["low"], row["high"]) == (1 / 16, -1, 1)
    assert row["note"].startswith("only 5 queries differ")
    assert "cannot give p below 0.0625" in row["note"]
    assert row["note"].endswith("the confidence interval at level 0.99 is unbounded")


def test_a_measure_without_a_largest_value_has_no_largest_difference():
    row = compare(
        scored("DCG", expected={"A": [0, 0], "B": [2, 3]}), "DCG", "expected", "A", "randomisation"
    ).iloc[0]
    assert (row["low"], row["high"]) == (-np.inf, np.inf)
    assert (
        row["note"] == "too few queries: the confidence interval of the difference at level 0.95 is unbounded"
    )


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
