"""Comparisons a test has no answer for: each has a stated one, without a warning and without NaN."""

import numpy as np
import pytest
from comparing import scored, tied_values

from metrics.studies.significance.significance import compare
from metrics.studies.significance.test_registry import TESTS

VALUES = tied_values(0, 20, 1)[:, 0]
PAIRED = [test.name for test in TESTS if test.paired]


def compare_pair(theirs, ours, test):
    table = compare(scored(expected={"A": theirs, "B": ours}), "RR", "expected", "A", test)
    assert table.notna().all(axis=None)
    row = table.iloc[0]
    assert 0 <= row["p"] <= row["p_adjusted"] <= 1
    assert np.isfinite(
        row[["mean_baseline", "mean", "difference", "low", "high", "superiority"]].astype(float)
    ).all()
    assert row["low"] <= row["high"]
    return row


@pytest.mark.parametrize("test", PAIRED)
def test_without_a_common_query_nothing_can_be_tested(test):
    row = compare_pair({"a": 1}, {"b": 0.5}, test)
    assert (row["n"], row["difference"], row["p"], row["superiority"]) == (0, 0, 1, 0.5)
    assert (row["low"], row["high"]) == (-1, 1)
    assert row["note"] == "no query in common: nothing can be tested"


@pytest.mark.parametrize("test", PAIRED)
def test_with_one_common_query_nothing_can_be_tested(test):
    row = compare_pair({"q": 1, "a": 1}, {"q": 0.5, "b": 0}, test)
    assert (row["n"], row["difference"], row["low"], row["high"], row["p"]) == (1, -0.5, -1, 1, 1)
    assert row["note"] == "one query in common: nothing can be tested"


@pytest.mark.parametrize("test", PAIRED)
@pytest.mark.parametrize("values", [VALUES, np.zeros(20), np.ones(2)], ids=["vary", "zero", "two"])
def test_where_no_query_differs_p_is_one(test, values):
    row = compare_pair(values, values + np.resize([1e-14, -1e-14], len(values)), test)
    bound = 0 if len(values) > 5 else 1
    assert row[["difference", "low", "high", "p", "dz"]].to_list() == [0, -bound, bound, 1, 0]
    assert (row["equal"], row["superiority"], row["stars"]) == (len(values), 0.5, "ns")
    assert row["note"] == "no query differs"


@pytest.mark.parametrize("test", PAIRED)
@pytest.mark.parametrize(("n", "stars"), [(2, "ns"), (5, "ns"), (6, "*"), (20, "***")])
@pytest.mark.parametrize("shift", [0.1, -0.1])
def test_where_all_queries_differ_by_the_same_p_is_that_of_their_signs(test, n, stars, shift):
    row = compare_pair(VALUES[:n], VALUES[:n] + shift, test)
    assert row["p"] == 2 ** (1 - n)
    assert row["stars"] == stars
    ends = [shift, shift] if stars != "ns" else [-1, 1]
    assert row[["difference", "low", "high"]].to_list() == pytest.approx([shift, *ends])
    assert row["dz"] == np.copysign(np.inf, shift)
    assert row["note"].startswith("every query differs by the same: p is that of all signs agreeing by chance")


def test_without_a_residual_tukey_counts_all_pairs():
    values = {name: VALUES[:6] + at / 10 for at, name in enumerate("ABC")}
    table = compare(scored(expected=values), "RR", "expected", test="tukey")
    assert table["p"].to_list() == [3 / 32] * 3


@pytest.mark.parametrize("test", [test.name for test in TESTS])
@pytest.mark.parametrize("extra", [{}, {"c": np.nan}])
def test_two_queries_are_tested_but_prove_little(test, extra):
    row = compare_pair({"a": 0.2, "b": 0.3} | extra, {"a": 0.9, "b": 0.8} | extra, test)
    assert row["p"] > 0.05
    assert row["n"] == 2


@pytest.mark.parametrize("values", [{}, {"q": np.nan}])
@pytest.mark.parametrize("test", [test.name for test in TESTS])
def test_a_reranker_without_any_value_leaves_nothing_to_test(test, values):
    row = compare_pair(VALUES, {"q": np.nan} | values, test)
    assert (row["p"], row["difference"] <= 0) == (1, True)
    assert "nothing can be tested" in row["note"]


def test_unpaired_runs_that_score_all_alike_do_not_differ():
    row = compare_pair({"a": 0.5, "b": 0.5}, {"c": 0.5, "d": 0.5, "e": 0.5}, "mann-whitney")
    assert row[["difference", "low", "high", "p", "dz", "superiority"]].to_list() == [0, -1, 1, 1, 0, 0.5]
    assert row["note"] == "no query differs; 3 queries against 2"


def test_unpaired_runs_without_spread_still_have_a_p():
    row = compare_pair({f"a{at}": 0.5 for at in range(9)}, {f"b{at}": 1 for at in range(9)}, "mann-whitney")
    assert row["p"] < 0.001
    assert (row["low"], row["high"], row["dz"], row["superiority"]) == (0.5, 0.5, np.inf, 1)
    assert row["note"] == "every query of each has the same value, d has no bound; 9 queries against 9"


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_one_run_without_spread_is_compared_as_any(spread):
    row = compare_pair(
        {f"a{at}": 0.5 for at in range(9)}, {f"b{at}": 1 - at * spread / 9 for at in range(9)}, "mann-whitney"
    )
    assert row["low"] <= row["difference"] <= row["high"]


@pytest.mark.parametrize("test", PAIRED)
def test_differences_near_rounding_are_not_divided_by_it(test):
    row = compare_pair(VALUES, VALUES + 0.25 + np.resize([0, 4e-13], 20), test)
    assert row["p"] == 2**-19


@pytest.mark.parametrize("test", PAIRED)
def test_values_of_any_size_are_tested(test):
    row = compare_pair(VALUES * 1e6, VALUES * 1e6 + 1e5 * tied_values(1, 20, 1)[:, 0], test)
    assert row["p"] < 0.05
