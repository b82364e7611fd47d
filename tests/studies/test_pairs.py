"""The table of pairs: what a row says, how p, intervals and rank intervals agree, and odd data."""

from dataclasses import replace
from itertools import combinations, permutations
from math import comb

import numpy as np
import pandas as pd
import pytest
from comparing import VALUES, scored, tied_values
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from metrics import UsageError
from metrics.studies.leaderboard import places
from metrics.studies.pair_tests import TESTS
from metrics.studies.pairs import (
    COLUMNS,
    CORRECTIONS,
    LARGEST,
    adjust_p,
    compare,
    find_pairs,
    rank_intervals,
    significant_signs,
    stars,
    with_rank_intervals,
)

TESTED = [test.name for test in TESTS]
PAIRED = [test.name for test in TESTS if test.is_paired]
METHODS = [
    (test, correction)
    for test in PAIRED
    for correction in CORRECTIONS
    if test == "flips" or correction != LARGEST
]
MEANS = ["baseline", "reranker", "n", "mean_baseline", "mean", "difference", "won", "equal", "lost"]
FIVE = tied_values(0, 30, 5, 0.05)
DRAWN = tied_values(0, 20, 1)[:, 0]


def board(values):
    return scored(expected={f"r{at}": column for at, column in enumerate(np.asarray(values).T)})


def compared(values, **options):
    return compare(board(values), "RR", "expected", **options)


def spread_values(seed, queries=40, rerankers=9, step=0.12):
    """Rerankers of falling quality: some pairs can be told apart, some cannot."""
    random = np.random.default_rng(seed)
    noise = random.normal(size=(queries, rerankers)) * random.uniform(0.1, 0.6, rerankers)
    return random.random((queries, 1)) + noise - step * np.arange(rerankers)


def test_a_row_says_who_is_compared_and_by_how_much():
    table = compared([(0.5, 1), (0.5, 0.5), (1, 0.5), (0, 1), (0.1 + 0.2, 0.3)], baseline="r0")
    assert table.columns.to_list() == list(COLUMNS)
    texts, counts = ("baseline", "reranker", "stars", "note"), ("n", "n_differ", "won", "equal", "lost")
    types = dict.fromkeys(texts, "str") | dict.fromkeys(counts, "int64")
    assert table.dtypes.astype(str).to_dict() == {name: types.get(name, "float64") for name in COLUMNS}
    row = table.loc[0]
    means = [pytest.approx(mean) for mean in (0.46, 0.66, 0.2)]
    assert row[MEANS].to_list() == ["r0", "r1", 5, *means, 2, 2, 1]
    assert (row["n_differ"], row["note"]) == (3, "too few queries: the interval is unbounded")


def test_all_pairs_come_once_each():
    table = compared(FIVE)
    assert len(table) == comb(5, 2)
    names = [f"r{at}" for at in range(5)]
    assert list(zip(table["baseline"], table["reranker"], strict=True)) == list(combinations(names, 2))


@pytest.mark.parametrize(
    ("baseline", "pairs"),
    [
        ("r1", [("r1", "r0"), ("r1", "r2")]),
        ("r2", [("r2", "r0"), ("r2", "r1")]),
    ],
)
def test_every_other_reranker_is_compared_with_a_baseline(baseline, pairs):
    table = compared(FIVE[:, :3], baseline=baseline)
    assert list(zip(table["baseline"], table["reranker"], strict=True)) == pairs


@pytest.mark.parametrize(("test", "correction"), [*METHODS, ("mann-whitney", "holm")])
def test_rows_with_a_baseline_are_those_of_all_pairs(test, correction):
    everything = compared(FIVE, test=test, correction=correction)
    rows = compared(FIVE, test=test, correction=correction, baseline="r2")
    pd.testing.assert_frame_equal(
        find_pairs(everything, rows["reranker"], rows["baseline"])[rows.columns], rows, atol=1e-12
    )


@pytest.mark.parametrize(("test", "correction"), METHODS)
def test_the_family_of_a_baseline_is_corrected_over_fewer_pairs(test, correction):
    options = {"test": test, "correction": correction, "baseline": "r2"}
    every, family = (compared(FIVE, **options, family=name) for name in ("all", "baseline"))
    assert len(family) == 4
    assert family["p"].to_list() == every["p"].to_list()
    if correction not in ("none", "benjamini-hochberg"):
        assert (family["p_adjusted"] <= every["p_adjusted"]).all()
        assert (family["p_adjusted"] < every["p_adjusted"]).any()
    if correction != LARGEST:
        assert family["p_adjusted"].to_list() == adjust_p(family["p"].to_numpy(), correction).tolist()


@given(st.lists(st.sampled_from([0.0, 1e-9, 0.001, 0.01, 0.02, 0.05, 0.3, 1.0]), max_size=12))
def test_corrections_are_those_of_statsmodels(p):
    methods = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}
    assert adjust_p(np.array(p), "none").tolist() == p
    for correction, method in methods.items():
        adjusted = multipletests(p, method=method)[1] if p else []
        assert adjust_p(np.array(p), correction).tolist() == pytest.approx(list(adjusted))


def test_stars_are_those_of_the_field():
    assert list(stars([0.0009, 0.001, 0.01, 0.0499, 0.05, 1])) == ["***", "**", "*", "*", "ns", "ns"]
    table = compared(spread_values(0))
    assert table["stars"].to_list() == list(stars(table["p_adjusted"]))
    assert len(set(table["stars"])) > 2


@pytest.mark.parametrize(("test", "correction"), METHODS)
@settings(max_examples=15, deadline=None)
@given(
    values=st.integers(2, 4).flatmap(
        lambda k: st.lists(
            st.lists(st.one_of(VALUES, VALUES, st.just(np.nan)), min_size=k, max_size=k),
            min_size=1,
            max_size=16,
        )
    ),
    shift=st.sampled_from([0.0, 0.3]),
)
def test_an_interval_excludes_0_exactly_where_the_adjusted_p_is_significant(test, correction, values, shift):
    values = (np.array(values) + shift * np.arange(len(values[0]))) / 2
    table = compared(values, test=test, correction=correction)
    assert (table["p"].notna() == (table["n"] > 1)).all()
    table = table[table["n"] > 1]
    assert (table["p"] <= table["p_adjusted"] + 1e-12).all()
    assert (table["low"] <= table["difference"] + 1e-9).all()
    assert (table["difference"] <= table["high"] + 1e-9).all()
    excludes_0 = (table["low"] > 0) | (table["high"] < 0)
    is_significant = table["p_adjusted"] < 0.05
    disagrees = table["note"].str.contains(
        "p compares ranks, the interval compares means, and the two disagree"
    )
    assert (disagrees == (excludes_0 != is_significant)).all()
    assert test == "wilcoxon" or not disagrees.any()


@pytest.mark.parametrize("n_pairs", [1, 3, 10, 28])
@pytest.mark.parametrize("correction", [one for one in CORRECTIONS if one != LARGEST])
def test_p_and_interval_of_drawn_flips_agree_after_every_correction(n_pairs, correction):
    rerankers = int((1 + np.sqrt(1 + 8 * n_pairs)) / 2)
    table = compared(tied_values(1, 43, rerankers, 0.02), correction=correction)
    excludes_0 = (table["low"] > 0) | (table["high"] < 0)
    assert len(table) == n_pairs
    assert (excludes_0 == (table["p_adjusted"] < 0.05)).all()


@pytest.mark.parametrize("test", TESTED)
def test_with_the_other_as_baseline_all_is_mirrored(test):
    values = tied_values(1, 25, 2, 0.1)
    forth, back = (compared(values, baseline=name, test=test).iloc[0] for name in ("r0", "r1"))
    assert (forth["won"], forth["equal"], forth["lost"]) == (back["lost"], back["equal"], back["won"])
    for name, mirrored in (("difference", -back["difference"]), ("low", -back["high"]), ("high", -back["low"])):
        assert forth[name] == pytest.approx(mirrored)
    assert (forth["p"], forth["n_differ"]) == (back["p"], back["n_differ"])


def test_pairs_are_found_from_either_side():
    table = compared(FIVE)
    back = find_pairs(find_pairs(table, table["baseline"], table["reranker"]), ["r1"], ["r0"])
    pd.testing.assert_frame_equal(back[table.columns], table.head(1))
    with pytest.raises(KeyError):
        find_pairs(table, ["r9"], ["r0"])


@given(st.lists(VALUES, min_size=2, max_size=12), st.lists(VALUES, min_size=2, max_size=12))
@settings(max_examples=20, deadline=None)
def test_runs_on_different_queries_are_compared_unpaired(theirs, ours):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("metrics.studies.pair_tests.MOST_PERMUTED", 0)
        row = compare_apart(theirs, ours)
    assert row[["n", "n_differ", "won", "equal", "lost"]].to_list() == [0] * 5
    assert row["mean"] - row["mean_baseline"] == pytest.approx(row["difference"], abs=1e-11)
    assert row["difference"] == pytest.approx(np.mean(ours) - np.mean(theirs), abs=1e-11)
    assert f"{len(ours)} queries of the reranker, {len(theirs)} of the baseline" in row["note"]
    assert "no test is possible" not in row["note"]


def compare_apart(theirs, ours):
    by_name = {name: {f"{name}{at}": v for at, v in enumerate(vs)} for name, vs in (("A", theirs), ("B", ours))}
    return compare(scored(expected=by_name), "RR", "expected", "A", test="mann-whitney").iloc[0]


def test_three_halves_against_three_ones_are_as_far_apart_in_two_of_twenty_splits():
    row = compare_apart([0.5] * 3, [1] * 3)
    assert (row["p"], row["stars"]) == (pytest.approx(0.1, abs=1e-15), "ns")


def test_a_value_that_is_not_finite_is_left_out_of_n_and_p():
    values = FIVE[:, :2].copy()
    values[3, 0], values[4, 1], values[5, 1] = np.nan, np.nan, np.inf
    row = compared(values).iloc[0]
    assert row["n"] == 27
    clean = compared(FIVE[[0, 1, 2, *range(6, 30)], :2], test="t").iloc[0]
    assert compared(values, test="t").iloc[0]["p"] == pytest.approx(clean["p"])


@pytest.mark.parametrize("test", TESTED)
def test_the_same_seed_gives_the_same_table(test):
    first, second = (compared(FIVE[:, :3], test=test, seed=7) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_rows_of_a_reordered_evaluation_are_the_same():
    shuffled = board(FIVE)
    rows = np.random.default_rng(0).permutation(len(shuffled.scores))
    again = type(shuffled)(
        shuffled.scores.iloc[rows], shuffled.lists, shuffled.policies, ("RR",), ("expected",)
    )
    first, other = (compare(each, "RR", "expected") for each in (shuffled, again))
    pd.testing.assert_frame_equal(first, other)


def test_compare_averages_ties_by_default():
    evaluation = scored(input={"a": FIVE[:, 0], "b": FIVE[:, 1]}, expected={"a": FIVE[:, 2], "b": FIVE[:, 3]})
    assert compare(evaluation, "RR").equals(compare(evaluation, "RR", "expected"))


@pytest.mark.parametrize("test", TESTED)
def test_one_reranker_has_nothing_to_be_compared_with(test):
    table = compared(FIVE[:, :1], test=test)
    assert (len(table), table.columns.to_list()) == (0, list(COLUMNS))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baseline": "r9"}, "no reranker 'r9'.*r0, r1, r2, r3, r4"),
        ({"measure": "AP"}, "AP was not evaluated. Choose among: RR"),
        ({"ties": "input"}, "input was not evaluated. Choose among: expected"),
        ({"test": "f"}, "no test 'f'"),
        ({"test": "tukey"}, "no test 'tukey'. Choose from: flips, t, wilcoxon, bootstrap, mann-whitney"),
        ({"test": "wilcoxn"}, "Choose from: flips, t, wilcoxon"),
        ({"test": "t", "correction": "largest"}, "that of sign flips. With paired t-test, choose holm"),
        ({"correction": "sidak"}, "no correction 'sidak'"),
        ({"correction": "bonferoni"}, "Choose from: largest, holm, bonferroni"),
        ({"family": "baseline"}, "Name the baseline"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused_with_what_there_is(options, words):
    with pytest.raises(UsageError, match=words):
        compare(board(FIVE), **{"measure": "RR", "ties": "expected"} | options)


# Odd data


def compare_pair(theirs, ours, test):
    table = compare(scored(expected={"A": theirs, "B": ours}), "RR", "expected", "A", test=test)
    row = table.iloc[0]
    figures = row[["p", "p_adjusted", "low", "high"]].astype(float)
    assert figures.isna().tolist() == ["no test is possible" in row["note"]] * 4
    assert figures.isna().all() or (0 <= row["p"] <= row["p_adjusted"] <= 1 and row["low"] <= row["high"])
    return row


@pytest.mark.parametrize("test", PAIRED)
def test_without_a_common_query_nothing_can_be_tested(test):
    row = compare_pair({"a": 1}, {"b": 0.5}, test)
    assert row[["n", "won", "stars"]].to_list() == [0, 0, "–"]
    assert row[["mean_baseline", "mean", "difference"]].isna().all()
    assert row["note"] == "no query in common: no test is possible"


@pytest.mark.parametrize("test", PAIRED)
def test_with_one_common_query_nothing_can_be_tested(test):
    row = compare_pair({"q": 1, "a": 1}, {"q": 0.5, "b": 0}, test)
    assert row[["n", "difference", "stars"]].to_list() == [1, -0.5, "–"]
    assert row["note"] == "one query in common: no test is possible"


@pytest.mark.parametrize("test", PAIRED)
@pytest.mark.parametrize("values", [DRAWN, np.zeros(20), np.ones(2)], ids=["vary", "zero", "two"])
def test_where_no_query_differs_p_is_one(test, values):
    row = compare_pair(values, values + np.resize([1e-14, -1e-14], len(values)), test)
    assert row[["difference", "p", "n_differ"]].to_list() == [0, 1, 0]
    assert row["low"] <= 0 <= row["high"]
    assert (row["equal"], row["stars"]) == (len(values), "ns")
    assert row["note"] == "no query differs"


@pytest.mark.parametrize("test", ["t", "flips", "wilcoxon"])
@pytest.mark.parametrize(("n", "mark"), [(2, "ns"), (5, "ns"), (6, "*"), (10, "**")])
@pytest.mark.parametrize("shift", [0.1, -0.1])
def test_where_all_queries_differ_by_the_same_p_is_that_of_their_signs(test, n, mark, shift):
    row = compare_pair(DRAWN[:n], DRAWN[:n] + shift, test)
    assert (row["p"], row["stars"]) == (2 ** (1 - n), mark)
    ends = [shift, shift] if mark != "ns" else [-1, 1]
    assert row[["difference", "low", "high"]].to_list() == pytest.approx([shift, *ends])


@pytest.mark.parametrize("test", TESTED)
@pytest.mark.parametrize("extra", [{}, {"c": np.nan}])
def test_two_queries_are_tested_but_prove_little(test, extra):
    row = compare_pair({"a": 0.2, "b": 0.3} | extra, {"a": 0.9, "b": 0.8} | extra, test)
    assert row["p"] > 0.05
    assert row["n"] == 2


@pytest.mark.parametrize("values", [{}, {"q": np.nan}])
@pytest.mark.parametrize("test", TESTED)
def test_a_reranker_without_any_value_leaves_nothing_to_test(test, values):
    row = compare_pair(DRAWN, {"q": np.nan} | values, test)
    assert np.isnan(row["p"])
    assert "no test is possible" in row["note"]


@pytest.mark.parametrize("test", TESTED)
def test_without_any_query_nothing_can_be_tested(test):
    evaluation = board(FIVE)
    table = compare(replace(evaluation, scores=evaluation.scores.head(0)), "RR", test=test)
    assert not table["n"].any()
    assert table[["difference", "p", "low", "high"]].isna().all(axis=None)
    assert table["note"].str.startswith("no query in common: no test is possible").all()


@pytest.mark.parametrize(("n_baseline", "is_tested"), [(0, False), (1, False), (2, True)])
def test_an_unpaired_test_needs_two_queries_of_the_baseline(n_baseline, is_tested):
    theirs = {"q": np.nan} | dict.fromkeys("ab"[:n_baseline], 0.5)
    evaluation = scored(expected={"A": theirs, "B": {"c": 0.1, "d": 0.4, "e": 0.2}})
    row = compare(evaluation, "RR", "expected", "A", test="mann-whitney").iloc[0]
    assert row[["low", "high", "p", "p_adjusted"]].notna().to_list() == [is_tested] * 4


def test_unpaired_runs_that_score_all_alike_do_not_differ():
    row = compare_pair({"a": 0.5, "b": 0.5}, {"c": 0.5, "d": 0.5, "e": 0.5}, "mann-whitney")
    assert row[["difference", "low", "high", "p"]].to_list() == [0, 0, 0, 1]
    assert row["note"] == "3 queries of the reranker, 2 of the baseline"


def test_unpaired_runs_without_spread_still_have_a_p():
    row = compare_pair({f"a{at}": 0.5 for at in range(9)}, {f"b{at}": 1 for at in range(9)}, "mann-whitney")
    assert row["p"] < 0.001
    assert (row["low"], row["high"]) == (0.5, 0.5)
    assert row["note"] == "9 queries of the reranker, 9 of the baseline"


@pytest.mark.parametrize("test", ["t", "flips", "wilcoxon"])
def test_differences_near_rounding_are_not_divided_by_it(test):
    row = compare_pair(DRAWN[:10], DRAWN[:10] + 0.25 + np.resize([0, 4e-13], 10), test)
    assert row["p"] == 2**-9


@pytest.mark.parametrize("test", PAIRED)
def test_values_of_any_size_are_tested(test):
    row = compare_pair(DRAWN * 1e6, DRAWN * 1e6 + 1e5 * tied_values(1, 20, 1)[:, 0], test)
    assert row["p"] < 0.05


def test_a_measure_without_a_largest_value_has_no_largest_difference():
    row = compare(scored("DCG", expected={"A": [0, 0], "B": [2, 3]}), "DCG", "expected", "A").iloc[0]
    assert (row["low"], row["high"]) == (-np.inf, np.inf)
    assert row["note"] == "too few queries: the interval is unbounded"


# Rank intervals


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda k: st.lists(st.lists(VALUES, min_size=k, max_size=k), min_size=3, max_size=9)
    )
)
def test_rank_intervals_follow_from_the_table(table):
    evaluation = board(np.repeat(table, 2, axis=0))
    pairs = compare(evaluation, "RR", "expected")
    rows = rank_intervals(evaluation, "RR").set_index("reranker")
    assert rows["place"].is_monotonic_increasing
    assert rows["place"].to_dict() == places(evaluation.means("RR")["expected"]).to_dict()
    signs = dict(
        zip(zip(pairs["reranker"], pairs["baseline"], strict=True), significant_signs(pairs), strict=True)
    )
    for name, row in rows.iterrows():
        mine = [sign for (ours, _), sign in signs.items() if ours == name]
        mine += [-sign for (_, theirs), sign in signs.items() if theirs == name]
        assert (row["lowest"], row["highest"]) == (1 + mine.count(-1), len(rows) - mine.count(1))
        assert row["lowest"] <= row["place"] <= row["highest"]


def test_five_queries_tell_nothing_apart_and_six_that_agree_do():
    five, six = (rank_intervals(board([[1, 0]] * n), "RR") for n in (5, 6))
    assert five[["lowest", "highest"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    assert six[["lowest", "highest"]].to_numpy().tolist() == [[1, 1], [2, 2]]


def test_copies_have_the_rows_of_each_other_whatever_the_order_or_shift_of_queries():
    values = spread_values(4)
    values[:, 3] = values[:, 2]
    rows = rank_intervals(board(values), "RR").set_index("reranker")
    assert rows.loc["r2"].tolist() == rows.loc["r3"].tolist()
    shifted = rank_intervals(board(values + np.arange(40)[:, None]), "RR").set_index("reranker")
    assert shifted.loc[rows.index].equals(rows)
    order = np.random.default_rng(0).permutation(9)
    by_name = {f"r{at}": values[:, at] for at in order}
    again = rank_intervals(scored(expected=by_name), "RR").set_index("reranker")
    assert again.loc[rows.index].equals(rows)


def test_an_interval_is_widened_to_the_rank_of_a_mean_over_other_queries():
    common = {f"q{number}": 0.4 + 0.01 * (number % 3) for number in range(9)}
    ahead = {query: value + 0.3 for query, value in common.items()}
    evaluation = scored(expected={"a": ahead | {f"z{number}": 0.0 for number in range(30)}, "b": common})
    assert significant_signs(compare(evaluation, "RR")).tolist() == [-1]
    rows = rank_intervals(evaluation, "RR").set_index("reranker")
    assert rows.loc["a", ["place", "lowest", "highest"]].tolist() == [2, 1, 2]
    assert rows.loc["b", ["place", "lowest", "highest"]].tolist() == [1, 1, 2]


def test_a_reranker_without_a_mean_has_no_rank():
    values = spread_values(1)
    values[:, 8] = np.nan
    rows = rank_intervals(board(values), "RR")
    assert sorted(rows["reranker"]) == [f"r{row}" for row in range(8)]
    assert rows["highest"].max() == 8
    leaderboard = pd.DataFrame(index=pd.Index(["r8", "r0"], name="reranker"))
    assert with_rank_intervals(leaderboard, rows)["rank_low"].tolist() == [pd.NA, 1]


def test_no_reranker_and_no_measure():
    empty = board(np.full((3, 2), np.nan))
    assert rank_intervals(empty, "RR").columns.tolist() == ["reranker", "place", "lowest", "highest"]
    assert not len(rank_intervals(empty, "RR"))
    with pytest.raises(UsageError, match="AP was not evaluated"):
        rank_intervals(empty, "AP")


@pytest.mark.parametrize("names", [*permutations(["leader", "steady", "wild"])])
def test_rank_intervals_do_not_depend_on_the_order_of_rerankers(names):
    values = {
        "leader": np.tile([0.6, 0.62], 60),
        "steady": np.tile([0.5, 0.52], 60),
        "wild": np.tile([0.01, 1.01], 60),
    }
    rows = rank_intervals(scored(expected={name: values[name] for name in names}), "RR").set_index("reranker")
    assert rows.loc["wild", ["lowest", "highest"]].tolist() == [1, 3]
    assert rows.loc["steady", ["lowest", "highest"]].tolist() == [2, 3]
