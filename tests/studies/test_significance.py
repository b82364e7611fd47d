"""Verdicts on differences, and how often tests call chance a difference on boards where there is none.

pytest -m slow tests/studies/test_significance.py    a quarter of an hour; not part of a plain run
"""

import re
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from comparing import VALUES, scored, tied_values
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from metrics import Runs, UsageError, evaluate
from metrics.studies.comparisons import COLUMNS, stars
from metrics.studies.prose import chance, plain
from metrics.studies.significance import (
    changed_verdicts,
    compare,
    mask_untested,
    significance_finding,
    verdicts,
)
from metrics.studies.test_registry import CORRECTIONS, TESTS

TESTED = [test.name for test in TESTS]
MEANS = ["baseline", "reranker", "n", "mean_baseline", "mean", "difference", "won", "equal", "lost"]


def board(values):
    return scored(expected={f"r{at}": column for at, column in enumerate(np.asarray(values).T)})


def compared(values, **options):
    return compare(board(values), "RR", "expected", **options)


FIVE = tied_values(0, 30, 5, 0.05)


def test_a_row_says_who_is_compared_and_by_how_much():
    table = compared([(0.5, 1), (0.5, 0.5), (1, 0.5), (0, 1), (0.1 + 0.2, 0.3)], baselines="r0")
    assert table.columns.to_list() == list(COLUMNS)
    row = table.loc[0]
    assert row[MEANS].to_list() == [
        "r0",
        "r1",
        5,
        pytest.approx(0.46),
        pytest.approx(0.66),
        pytest.approx(0.2),
        2,
        2,
        1,
    ]
    differences = np.array([0.5, 0, -0.5, 1, 0])
    assert row["dz"] == pytest.approx(0.2 / differences.std(ddof=1))
    assert row["superiority"] == 0.6
    assert row["note"] == ""


def test_all_pairs_come_once_each():
    table = compared(FIVE)
    assert len(table) == comb(5, 2)
    names = [f"r{at}" for at in range(5)]
    assert list(zip(table["baseline"], table["reranker"], strict=True)) == list(combinations(names, 2))


@pytest.mark.parametrize(
    ("baselines", "pairs"),
    [
        ("r1", [("r1", "r0"), ("r1", "r2")]),
        (["r1", "r1"], [("r1", "r0"), ("r1", "r2")]),
        (["r2", "r0"], [("r2", "r0"), ("r2", "r1"), ("r0", "r1")]),
        ([], []),
    ],
)
def test_every_other_reranker_is_compared_with_each_baseline(baselines, pairs):
    table = compared(FIVE[:, :3], baselines=baselines)
    assert list(zip(table["baseline"], table["reranker"], strict=True)) == pairs


@pytest.mark.parametrize("correction", [one.name for one in CORRECTIONS])
@pytest.mark.parametrize("baselines", [None, "r2", ["r2", "r4"]])
def test_a_correction_counts_exactly_the_comparisons_made(correction, baselines):
    table = compared(FIVE, baselines=baselines, correction=correction)
    method = {"benjamini-hochberg": "fdr_bh"}.get(correction, correction)
    statsmodels_p = table["p"] if correction == "none" else multipletests(table["p"], method=method)[1]
    assert table["p_adjusted"].to_list() == pytest.approx(list(statsmodels_p))
    assert table["stars"].to_list() == [stars(p) for p in table["p_adjusted"]]


def test_nothing_is_corrected_on_top_of_tukey():
    table = compared(FIVE, test="tukey", correction="bonferroni")
    assert table["p_adjusted"].to_list() == table["p"].to_list()


@pytest.mark.parametrize(
    ("p", "mark"), [(0.0009, "***"), (0.001, "**"), (0.01, "*"), (0.0499, "*"), (0.05, "ns"), (1, "ns")]
)
def test_stars_are_those_of_the_field(p, mark):
    assert stars(p) == mark


queries = st.dictionaries(st.sampled_from([f"q{at}" for at in range(9)]), VALUES, max_size=9)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomisation", "bootstrap", "mann-whitney"])
@given(rerankers=st.lists(queries, min_size=3, max_size=4))
def test_a_pair_is_told_the_same_whoever_else_is_compared(test, rerankers):
    evaluation = scored(expected={f"r{at}": values for at, values in enumerate(rerankers)} | {"x": {"q": 1.0}})
    table = compare(evaluation, "RR", "expected", test=test, correction="none")
    for position in range(1, len(rerankers)):
        two = scored(expected={"r0": rerankers[0], f"r{position}": rerankers[position], "x": {"q": 1.0}})
        alone = compare(two, "RR", "expected", "r0", test, "none").iloc[0]
        row = table[(table["baseline"] == "r0") & (table["reranker"] == f"r{position}")].iloc[0]
        assert row[MEANS].to_list() == pytest.approx(alone[MEANS].to_list(), abs=1e-12)
        assert row[["p", "low", "high"]].to_list() == pytest.approx(
            alone[["p", "low", "high"]].to_list(), abs=1e-9
        )


@pytest.mark.parametrize("test", TESTED)
def test_with_the_other_as_baseline_all_is_mirrored(test):
    values = tied_values(1, 25, 2, 0.1)
    forth, back = (compared(values, baselines=name, test=test).iloc[0] for name in ("r0", "r1"))
    assert (forth["won"], forth["equal"], forth["lost"]) == (back["lost"], back["equal"], back["won"])
    for name, mirrored in (("difference", -back["difference"]), ("low", -back["high"]), ("dz", -back["dz"])):
        assert forth[name] == pytest.approx(mirrored)
    assert forth["superiority"] == pytest.approx(1 - back["superiority"])
    assert forth["p"] == pytest.approx(back["p"])


@given(st.lists(VALUES, min_size=2, max_size=12), st.lists(VALUES, min_size=2, max_size=12))
def test_runs_on_different_queries_are_compared_unpaired(theirs, ours):
    by_name = {
        "A": {f"a{at}": one for at, one in enumerate(theirs)},
        "B": {f"b{at}": one for at, one in enumerate(ours)},
    }
    row = compare(scored(expected=by_name), "RR", "expected", "A", "mann-whitney").iloc[0]
    assert (row["n"], row["won"], row["equal"], row["lost"]) == (len(ours), 0, 0, 0)
    assert row["difference"] == pytest.approx(np.mean(ours) - np.mean(theirs), abs=1e-11)
    beats = [(one > other + 1e-9) + (abs(one - other) <= 1e-9) / 2 for one in ours for other in theirs]
    assert row["superiority"] == pytest.approx(np.mean(beats))
    assert f"{len(ours)} queries of the reranker, {len(theirs)} of" in row["note"]


def test_cohens_d_of_unpaired_runs_is_by_the_pooled_standard_deviation():
    theirs, ours = FIVE[:20, 0], FIVE[:, 1]
    by_name = {
        "A": {f"a{at}": one for at, one in enumerate(theirs)},
        "B": {f"b{at}": one for at, one in enumerate(ours)},
    }
    row = compare(scored(expected=by_name), "RR", "expected", "A", "mann-whitney").iloc[0]
    pooled = np.sqrt((19 * theirs.var(ddof=1) + 29 * ours.var(ddof=1)) / 48)
    assert row["dz"] == pytest.approx((ours.mean() - theirs.mean()) / pooled)


def test_tukey_looks_at_the_queries_all_rerankers_have():
    values = {name: {f"q{q}": one for q, one in enumerate(FIVE[:, at])} for at, name in enumerate("ABC")}
    del values["C"]["q0"], values["B"]["q1"]
    table = compare(scored(expected=values), "RR", "expected", "A", "tukey")
    assert table["n"].to_list() == [28, 28]
    assert table["mean_baseline"].to_list() == pytest.approx([FIVE[2:, 0].mean()] * 2)


def test_a_value_that_is_no_number_is_left_out_and_told():
    values = FIVE[:, :2].copy()
    values[3, 0], values[4, 1], values[5, 1] = np.nan, np.nan, np.inf
    row = compared(values).iloc[0]
    assert row["n"] == 27
    assert row["note"] == "values left out because they are not finite: 3"
    assert row["p"] == pytest.approx(compared(FIVE[[0, 1, 2, *range(6, 30)], :2]).iloc[0]["p"])


@pytest.mark.parametrize("test", TESTED)
def test_the_same_seed_gives_the_same_table(test):
    first, second = (compared(FIVE, test=test, seed=7) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_rows_of_a_reordered_evaluation_are_the_same():
    shuffled = board(FIVE)
    rows = np.random.default_rng(0).permutation(len(shuffled.scores))
    again = type(shuffled)(
        shuffled.scores.iloc[rows], shuffled.lists, shuffled.policies, ("RR",), ("expected",)
    )
    first, other = (compare(each, "RR", "expected", test="bootstrap") for each in (shuffled, again))
    pd.testing.assert_frame_equal(first, other)


def test_one_reranker_has_nothing_to_be_compared_with():
    table = compared(FIVE[:, :1])
    assert (len(table), table.columns.to_list()) == (0, list(COLUMNS))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baselines": "r9"}, "no reranker 'r9'.*r0, r1, r2, r3, r4"),
        ({"measure": "AP"}, "AP was not evaluated. Choose among: RR"),
        ({"ties": "input"}, "input was not evaluated. Choose among: expected"),
        ({"test": "f"}, "no test 'f'"),
        ({"correction": "sidak"}, "no correction 'sidak'"),
        ({"level": 95}, "level=95"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_what_there_is(options, words):
    with pytest.raises(UsageError, match=words):
        compare(board(FIVE), **{"measure": "RR", "ties": "expected"} | options)


# Verdicts


def flipped(n=40):
    """A is luckily sorted: by the file it beats B and C; with ties averaged it trails C, level with B."""
    wobble = tied_values(2, n, 1)[:, 0] / 50
    level = np.full(n, 0.5)
    before = {"A": level + 0.1 + wobble, "B": level, "C": level + 0.05 - wobble, "D": level - 0.3 + wobble}
    tied = before | {
        "A": level + np.where(np.arange(n) % 2, 0.05, -0.05) + wobble / 9,
        "C": level + 0.2 - wobble,
    }
    return scored(input=before, expected=tied)


def test_a_verdict_changes_where_only_one_is_significant_or_the_signs_differ():
    outcome = verdicts(flipped(), "RR", "input", "A")
    assert outcome.tied["reranker"].to_list() == outcome.traditional["reranker"].to_list() == ["B", "C", "D"]
    assert outcome.changed.to_list() == [True, True, False]
    assert np.sign(outcome.traditional["difference"]).to_list() == [-1, -1, -1]


def test_changed_verdicts_come_first_by_distance():
    outcome = verdicts(flipped(), "RR", "input", "A")
    assert outcome.changed_first(2, 2).tied["reranker"].to_list() == ["C", "B"]
    assert outcome.changed_first(2).tied["reranker"].to_list() == ["C", "B", "D"]
    assert outcome.changed_first(3).tied.equals(outcome.best_first().tied)
    unchanged = replace(outcome, changed=outcome.changed & False)
    assert (
        unchanged.changed_first(2, 2).tied["reranker"].to_list()
        == (outcome.best_first().tied["reranker"].to_list()[:2])
    )


@pytest.mark.parametrize(("level", "expected"), [(0.95, [False]), (0.99, [True])])
def test_a_verdict_is_by_the_level_asked_for(level, expected):
    rows = [pd.DataFrame({"difference": [0.1], "p_adjusted": [p]}) for p in (0.005, 0.04)]
    assert changed_verdicts(*rows, level).to_list() == expected


def test_the_finding_tells_which_verdicts_rest_on_sort_order_and_their_figures():
    outcome = verdicts(flipped(), "RR", "input", "A")
    sentence = plain(significance_finding(outcome, "MRR", "t"))
    before, tied = outcome.traditional.loc[1], outcome.tied.loc[1]
    assert sentence.startswith("2 of 3 verdicts depend on tie order. By file order, C trails A by 0.0")
    assert f"With ties averaged, it is {tied['difference']:.3f} ahead (p < 0.001)." in sentence
    assert "−" not in sentence, "how far is said without a sign, which way in words"
    assert f"by {-before['difference']:.3f} MRR (p < 0.001)" in sentence
    assert "B trails A" in sentence


def test_the_finding_tells_of_a_difference_that_shows_only_once_ties_are_averaged():
    level = tied_values(3, 40, 1)[:, 0]
    ahead = level + 0.1 + tied_values(4, 40, 1)[:, 0] / 50
    evaluation = scored(docid_desc={"A": level, "B": level}, expected={"A": level, "B": ahead})
    sentence = plain(significance_finding(verdicts(evaluation, "RR", "docid_desc"), "MRR", "t"))
    assert sentence.startswith(
        "The verdict depends on tie order. B does not differ significantly from A by trec_eval's order (0.000"
    )
    assert "but beats A with ties averaged (+0.1" in sentence


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.00099, "p < 0.001"),
        (0.001, "p = 0.001"),
        (0.0496, "p = 0.0496"),
        (0.05, "p = 0.050"),
        (0.9994, "p = 0.999"),
        (1, "p > 0.999"),
    ],
)
def test_a_p_is_said_on_its_side_of_the_bound(p, words):
    assert chance(p) == words


def test_a_reranker_that_ties_put_behind_is_said_to_be_behind_without_a_minus():
    level = tied_values(3, 40, 1)[:, 0]
    behind = level - 0.001 - level / 50
    evaluation = scored(input={"A": level, "B": level + 0.1 + level / 9}, expected={"A": level, "B": behind})
    sentence = plain(significance_finding(verdicts(evaluation, "RR", "input"), "MRR", "t"))
    assert re.search(r"B beats A by 0\.\d{3} MRR .*\. With ties averaged, it is 0\.0\d\d behind \(p", sentence)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (FIVE[:, :1], "There is only one reranker, so there is nothing to compare."),
        (FIVE[:1], "No test is possible. A test needs two queries."),
        (FIVE[:, [0, 0]], "r1 has the same mean as r0, whether ties are broken or averaged."),
        (FIVE[:, [0, 0, 0]], "All rerankers have the same mean as r0, whether ties are broken or averaged."),
        (
            np.column_stack([FIVE[:, :1] + 1, FIVE[:, :1]]),
            "r0 is significantly better than r1, whether ties are broken or averaged. r0 is 1.000 MRR ahead "
            "(p < 0.001; paired t-test, 30 queries).",
        ),
        (FIVE[:3, [0, 1]], "is not significantly better than r"),
    ],
)
def test_the_finding_says_plainly_that_no_verdict_changes_or_why_there_is_none(values, words):
    by_name = {f"r{at}": column for at, column in enumerate(values.T)}
    outcome = verdicts(scored(input=by_name, expected=by_name), "RR", "input")
    assert words in plain(significance_finding(outcome, "MRR", "t"))


@pytest.mark.parametrize(
    ("test", "correction", "words"),
    [
        ("t", "holm", ", Holm correction for 2 comparisons with r0; paired t-test"),
        ("t", "none", ", not corrected for 2 comparisons with r0; paired t-test"),
        ("tukey", "holm", ", corrected for all pairs by the test; Tukey"),
    ],
)
def test_the_finding_says_how_the_p_of_several_comparisons_is_corrected(test, correction, words):
    by_name = {f"r{at}": FIVE[:, at] for at in range(3)}
    outcome = verdicts(scored(input=by_name, expected=by_name), "RR", "input", "r0", test, correction)
    assert words in plain(significance_finding(outcome, "MRR", test))


@given(st.lists(st.sampled_from([-0.3, 0.0, 0.3]), min_size=2, max_size=6))
def test_the_finding_counts_who_is_better_and_who_is_worse_than_the_baseline(shifts):
    noise = tied_values(1, 40, 1)[:, 0] / 50
    by_name = {"base": noise} | {f"r{at}": noise[::-1] + shift for at, shift in enumerate(shifts)}
    outcome = verdicts(scored(input=by_name, expected=by_name), "RR", "input", "base")
    sentence = plain(significance_finding(outcome, "MRR", "t"))
    is_shown = outcome.tied["p_adjusted"] < 0.05
    n_better, n_worse = (int((is_shown & (sign * outcome.tied["difference"] > 0)).sum()) for sign in (1, -1))
    assert sentence.startswith(("No reranker is", "All rerankers have the same mean")) == (n_better == 0)
    assert n_better == 0 or sentence.startswith(f"{n_better} of {len(shifts)} rerankers")
    assert n_better == 0 or "significantly better than base" in sentence
    assert ("significantly worse" in sentence) == (n_worse > 0)
    assert "whether ties are broken or averaged." in sentence


def test_a_lucky_sort_of_real_lists_makes_a_verdict():
    lists = [("A", f"q{q:02}", d, 1, int(d == "a")) for q in range(40) for d in "abcd"]
    lists += [
        ("B", f"q{q:02}", d, -d.find("x"), int(d == "xx"[: 1 + q % 2])) for q in range(40) for d in ("x", "xx")
    ]
    frame = pd.DataFrame(lists, columns=["reranker", "query_id", "doc_id", "score", "relevance"])
    frame.loc[frame["reranker"] == "B", "score"] = [1, 0] * 40
    outcome = verdicts(evaluate(Runs.from_frame(frame), ["RR"], ["input", "expected"]), "RR", "input", "B")
    assert outcome.traditional.loc[0, ["mean", "mean_baseline"]].to_list() == [1, 0.75]
    assert outcome.tied.loc[0, "mean"] == pytest.approx(25 / 48)
    assert outcome.changed.to_list() == [True]


BOARDS, FEWER, QUERIES, ALPHA = 2_000, 1_000, 50, 0.05
FEW_QUERIES = [(test.name, n) for test in TESTS if test.queries == "two" for n in (5, 10, 20)]


def rejected(test, boards=BOARDS, queries=QUERIES, rerankers=2):
    """Share of boards on which any pair is significant after Holm, though all rerankers are as good."""
    n_rejected = 0
    for seed in range(boards):
        values = tied_values(seed, queries, rerankers)
        board = scored(expected={f"r{at}": column for at, column in enumerate(values.T)})
        table = compare(board, "RR", "expected", test=test, level=1 - ALPHA, seed=seed)
        n_rejected += bool((table["p_adjusted"] < ALPHA).any())
    return n_rejected / boards


@pytest.mark.slow
@pytest.mark.parametrize("test", [test.name for test in TESTS if test.paired])
def test_one_in_twenty_null_boards_is_called_significant(test):
    low, high = stats.binom.interval(0.999, BOARDS, ALPHA)
    rate = rejected(test)
    assert low / BOARDS <= rate <= high / BOARDS, rate


@pytest.mark.slow
@pytest.mark.parametrize("test", [test.name for test in TESTS if test.paired])
def test_of_all_pairs_of_four_no_more_null_boards_are_called_significant(test):
    rate = rejected(test, FEWER, rerankers=4)
    assert rate <= stats.binom.ppf(0.9995, FEWER, ALPHA) / FEWER, rate


@pytest.mark.slow
@pytest.mark.parametrize(("test", "queries"), FEW_QUERIES)
def test_few_queries_do_not_make_chance_significant(test, queries):
    rate = rejected(test, FEWER, queries)
    assert rate <= stats.binom.ppf(0.9995, FEWER, ALPHA) / FEWER, rate


def test_the_simulated_values_tie_heavily_and_no_reranker_is_better():
    values = np.concatenate([tied_values(seed, QUERIES) for seed in range(200)])
    assert len(np.unique(values)) < 20
    assert 0.05 < np.mean(values[:, 0] == values[:, 1]) < 0.5
    assert abs(values[:, 0].mean() - values[:, 1].mean()) < 0.01


@pytest.mark.parametrize(
    ("baselines", "start"),
    [
        (None, "4 of 6 differences are significant, "),
        (["c", "a"], "3 of 5 differences are significant, "),
        ("a", "2 of 3 rerankers are significantly better than a, "),
    ],
)
def test_the_finding_counts_differences_if_pairs_have_several_baselines(baselines, start):
    noise = tied_values(1, 40, 1)[:, 0] / 50
    by_name = {"a": noise, "b": noise[::-1], "c": noise + 0.3, "d": noise[::-1] + 0.3}
    outcome = verdicts(scored(input=by_name, expected=by_name), "RR", "input", baselines)
    assert plain(significance_finding(outcome, "MRR", "t")).startswith(start)


def test_the_finding_of_all_pairs_names_both_rerankers_of_the_largest_difference():
    noise = tied_values(1, 40, 1)[:, 0] / 50
    by_name = {"a": noise + 0.2, "b": noise, "c": noise[::-1] + 0.4}
    for order in ("abc", "cba"):
        values = {name: by_name[name] for name in order}
        outcome = verdicts(scored(input=values, expected=values), "RR", "input")
        assert " puts c 0.4" in (sentence := plain(significance_finding(outcome, "MRR", "t")))
        assert " ahead of b (p < 0.001, Holm correction for 3 comparisons;" in sentence


def test_the_finding_of_all_pairs_says_that_no_difference_is_significant():
    by_name = {"a": FIVE[:4, 0], "b": FIVE[:4, 1], "c": FIVE[:4, 2]}
    outcome = verdicts(scored(input=by_name, expected=by_name), "RR", "input")
    assert plain(significance_finding(outcome, "MRR", "t")).startswith("No difference is significant, ")


@pytest.mark.parametrize(
    ("shift", "baselines", "words"),
    [
        (0.1, "a", "Of the tested rerankers, b has the highest mean: +0.100"),
        (0.1, None, "The largest puts b 0.100 RR ahead of a ("),
        (0, "a", "All tested rerankers have the same mean as a, "),
    ],
)
def test_the_finding_gives_no_figures_of_a_reranker_with_one_shared_query(shift, baselines, words):
    values = dict(zip("qrst", (0.1, 0.2, 0.4, 0.3), strict=True))
    by_name = {"a": values, "b": {name: x + shift * (name != "q") * 4 / 3 for name, x in values.items()}}
    by_name["c"] = {"q": 0.9}
    outcome = verdicts(scored(input=by_name, expected=by_name), "RR", "input", baselines)
    assert words in plain(significance_finding(outcome, "RR", "t"))


def test_compare_averages_ties_by_default():
    by_name = {"a": FIVE[:, 0], "b": FIVE[:, 1]}
    evaluation = scored(input=by_name, expected={"a": FIVE[:, 2], "b": FIVE[:, 3]})
    assert compare(evaluation, "RR").equals(compare(evaluation, "RR", "expected"))


@pytest.mark.parametrize(("n_baseline", "is_tested"), [(0, False), (1, False), (2, True)])
def test_an_unpaired_test_needs_two_queries_of_the_baseline(n_baseline, is_tested):
    theirs = {"q": np.nan} | dict.fromkeys("ab"[:n_baseline], 0.5)
    evaluation = scored(expected={"A": theirs, "B": {"c": 0.1, "d": 0.4, "e": 0.2}})
    row = mask_untested(compare(evaluation, "RR", "expected", "A", "mann-whitney")).iloc[0]
    assert (row["n"], row["mean"] > 0) == (3, True)
    assert row[["low", "high", "p", "p_adjusted", "dz"]].notna().to_list() == [is_tested] * 5
