"""Comparisons a test has no answer for: each has a stated one, without a warning and without NaN."""

import math

import numpy as np
import pytest
from comparing import VALUES, scored, tied_values
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestIndPower, TTestPower

from metrics import Runs, UsageError, evaluate
from metrics.studies.comparisons import detectable, query_differences
from metrics.studies.significance import compare
from metrics.studies.test_registry import TESTS

DRAWN = tied_values(0, 20, 1)[:, 0]
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
    assert row["note"] == "no query in common: no test is possible"


@pytest.mark.parametrize("test", PAIRED)
def test_with_one_common_query_nothing_can_be_tested(test):
    row = compare_pair({"q": 1, "a": 1}, {"q": 0.5, "b": 0}, test)
    assert (row["n"], row["difference"], row["low"], row["high"], row["p"]) == (1, -0.5, -1, 1, 1)
    assert row["note"] == "one query in common: no test is possible"


@pytest.mark.parametrize("test", PAIRED)
@pytest.mark.parametrize("values", [DRAWN, np.zeros(20), np.ones(2)], ids=["vary", "zero", "two"])
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
    row = compare_pair(DRAWN[:n], DRAWN[:n] + shift, test)
    assert row["p"] == 2 ** (1 - n)
    assert row["stars"] == stars
    ends = [shift, shift] if stars != "ns" else [-1, 1]
    assert row[["difference", "low", "high"]].to_list() == pytest.approx([shift, *ends])
    assert row["dz"] == np.copysign(np.inf, shift)
    assert row["note"].startswith("all queries have the same difference: p is the chance that all signs agree")


def test_without_a_residual_tukey_counts_all_pairs():
    values = {name: DRAWN[:6] + at / 10 for at, name in enumerate("ABC")}
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
    row = compare_pair(DRAWN, {"q": np.nan} | values, test)
    assert (row["p"], row["difference"] <= 0) == (1, True)
    assert "no test is possible" in row["note"]


def test_unpaired_runs_that_score_all_alike_do_not_differ():
    row = compare_pair({"a": 0.5, "b": 0.5}, {"c": 0.5, "d": 0.5, "e": 0.5}, "mann-whitney")
    assert row[["difference", "low", "high", "p", "dz", "superiority"]].to_list() == [0, -1, 1, 1, 0, 0.5]
    assert row["note"] == "no query differs; 3 queries of the reranker, 2 of the baseline"


def test_unpaired_runs_without_spread_still_have_a_p():
    row = compare_pair({f"a{at}": 0.5 for at in range(9)}, {f"b{at}": 1 for at in range(9)}, "mann-whitney")
    assert row["p"] < 0.001
    assert (row["low"], row["high"], row["dz"], row["superiority"]) == (0.5, 0.5, np.inf, 1)
    assert "same value on all its queries: d is infinite" in row["note"]
    assert row["note"].endswith("; 9 queries of the reranker, 9 of the baseline")


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_one_run_without_spread_is_compared_as_any(spread):
    row = compare_pair(
        {f"a{at}": 0.5 for at in range(9)}, {f"b{at}": 1 - at * spread / 9 for at in range(9)}, "mann-whitney"
    )
    assert row["low"] <= row["difference"] <= row["high"]


@pytest.mark.parametrize("test", PAIRED)
def test_differences_near_rounding_are_not_divided_by_it(test):
    row = compare_pair(DRAWN, DRAWN + 0.25 + np.resize([0, 4e-13], 20), test)
    assert row["p"] == 2**-19


@pytest.mark.parametrize("test", PAIRED)
def test_values_of_any_size_are_tested(test):
    row = compare_pair(DRAWN * 1e6, DRAWN * 1e6 + 1e5 * tied_values(1, 20, 1)[:, 0], test)
    assert row["p"] < 0.05


TIED_VALUES = tied_values(0, 50, 3)
TIED_SCORED = scored(expected={name: TIED_VALUES[:, at] for at, name in enumerate("ABC")})


def spread(column, other_column):
    return (TIED_VALUES[:, column] - TIED_VALUES[:, other_column]).std(ddof=1)


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_t_test_finds_the_detectable_difference_with_the_power_asked_for(level, power):
    smallest = detectable(TIED_SCORED, "RR", "expected", "A", level, power)
    effect = smallest / np.median([spread(0, 1), spread(0, 2)])
    assert TTestPower().power(effect, 50, 1 - level) == pytest.approx(power, abs=1e-5)


def test_simulated_t_tests_find_it_as_often():
    random = np.random.default_rng(0)
    effect = detectable(TIED_SCORED, "RR", "expected", "B") / np.median([spread(1, 0), spread(1, 2)])
    samples = random.normal(effect, 1, size=(20_000, 50))
    t = samples.mean(axis=1) / samples.std(axis=1, ddof=1) * math.sqrt(50)
    assert np.mean(np.abs(t) > 2.0096) == pytest.approx(0.8, abs=0.012)


def test_more_queries_make_less_detectable():
    twice = scored(expected={name: np.tile(TIED_VALUES[:, at], 2) for at, name in enumerate("ABC")})
    ratio = detectable(TIED_SCORED, "RR", "expected", "A") / detectable(twice, "RR", "expected", "A")
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
def test_untestable_differences_are_never_significant(values, smallest):
    assert detectable(scored(expected=values), "RR", "expected", "A") == smallest


def test_two_queries_find_only_the_huge():
    smallest = detectable(scored(expected={"A": [0, 0], "B": [0.5, 0.75]}), "RR", "expected", "A")
    assert smallest == pytest.approx(11.55 * 0.25 / math.sqrt(2), rel=1e-3)


def test_unpaired_it_is_what_a_t_test_of_both_samples_finds():
    by_name = {
        "A": {f"a{at}": value for at, value in enumerate(TIED_VALUES[:20, 0])},
        "B": {f"b{at}": value for at, value in enumerate(TIED_VALUES[:, 1])},
    }
    apart = scored(expected=by_name)
    assert detectable(apart, "RR", "expected", "A") == math.inf
    pooled = math.sqrt((19 * TIED_VALUES[:20, 0].var(ddof=1) + 49 * TIED_VALUES[:, 1].var(ddof=1)) / 68)
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
        detectable(TIED_SCORED, **{"measure": "RR", "ties": "expected", "baseline": "A"} | options)


BEFORE = {"A": {"p": 1, "q": 0.5, "r": 0.5, "alone": 1}, "B": {"p": 0.5, "q": 0.5, "r": 0.25}}
TIED = {"A": {"p": 0.6, "q": 0.5, "r": 0.5, "alone": 1}, "B": {"p": 0.5, "q": 0.25, "r": 0}}
SCORED = scored(input=BEFORE, expected=TIED)
COLUMNS = [
    "query_id",
    *("a", "b", "difference", "a_before", "b_before", "difference_before"),
    *("moved", "tie_ratio_a", "tie_ratio_b"),
]


def test_each_common_query_is_told_once_with_both_values():
    rows = query_differences(SCORED, "RR", "A", "B", "input")
    assert rows.columns.to_list() == COLUMNS
    assert rows.iloc[0].to_list() == ["p", 0.6, 0.5, 0.1, 1, 0.5, 0.5, 0.4, 0.5, 0.5]
    assert rows["query_id"].to_list() == ["p", "r", "q"]


def test_by_difference_the_farthest_apart_come_first():
    assert query_differences(SCORED, "RR", "A", "B", "input", sort_by="difference")["query_id"].to_list() == [
        "r",
        "q",
        "p",
    ]


def test_with_the_rerankers_swapped_differences_are_negated():
    forth, back = (
        query_differences(SCORED, "RR", "A", "B", "input"),
        query_differences(SCORED, "RR", "B", "A", "input"),
    )
    for name in ("difference", "difference_before", "moved"):
        assert forth[name].to_list() == (-back[name]).to_list()


def test_ties_are_those_of_each_list():
    strict = [Doc("a", 2, 1), Doc("b", 1, 0)]
    tied = [Doc("a", 1, 0), Doc("b", 1, 1), Doc("c", 0, 0)]
    lists = Runs.from_frame(frame({"A": {"q": strict}, "B": {"q": tied}}))
    row = query_differences(evaluate(lists, ["RR"], ["input", "expected"]), "RR", "A", "B", "input").iloc[0]
    assert row[["a", "b", "b_before", "moved"]].to_list() == [1, 0.75, 0.5, 0.25]
    assert row[["tie_ratio_a", "tie_ratio_b"]].to_list() == [0, 2 / 3]


@given(tables())
def test_rows_are_in_order_hold_no_gap_and_add_up(lists):
    lists = {"first": next(iter(lists.values()))} | lists
    evaluation = evaluate(Runs.from_frame(frame(lists)), ["RR"], ["input", "expected"])
    for other in lists:
        for sort_key in ("moved", "difference"):
            rows = query_differences(evaluation, "RR", "first", other, "input", sort_by=sort_key)
            assert rows.notna().all(axis=None)
            assert rows[sort_key].abs().is_monotonic_decreasing
            assert np.allclose(rows["moved"], rows["difference_before"] - rows["difference"], atol=1e-11)
            assert np.allclose(rows["difference"], rows["a"] - rows["b"], atol=1e-11)


@given(st.dictionaries(st.sampled_from("pqrs"), VALUES), st.dictionaries(st.sampled_from("pqrs"), VALUES))
def test_only_queries_both_have_are_told(ours, theirs):
    evaluation = scored(expected={"A": ours, "B": theirs, "C": {"x": 1}})
    rows = query_differences(evaluation, "RR", "A", "B", "expected")
    assert set(rows["query_id"]) == set(ours) & set(theirs)
    assert (rows["moved"] == 0).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"a": "Z"}, "no reranker 'Z'"),
        ({"traditional": "random:1"}, "random:1"),
        ({"sort_by": "size"}, "size"),
    ],
)
def test_what_was_not_evaluated_is_refused(options, words):
    with pytest.raises(UsageError, match=words):
        query_differences(SCORED, **{"measure": "RR", "a": "A", "b": "B", "traditional": "input"} | options)
