"""Verdicts on pairs by tied and by traditional scores, and the sentences about them."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from comparing import scored, tied_values
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.studies.pair_findings import (
    changed_verdicts,
    method_texts,
    significance_finding,
    verdicts,
)
from metrics.studies.pair_findings import p_text as written_test
from metrics.studies.pairs import compare, find_pairs
from metrics.studies.prose import chance, plain

FIVE = tied_values(0, 30, 5, 0.05)
TESTED = "sign flips, corrected for {} by the largest statistic"


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


def alike(values):
    """An evaluation whose values do not depend on ties, by name or by column."""
    by_name = values if isinstance(values, dict) else {f"r{at}": column for at, column in enumerate(values.T)}
    return scored(input=by_name, expected=by_name)


def finding(evaluation, baseline=None, traditional="input", **testing):
    return plain(significance_finding(verdicts(evaluation, "RR", traditional, baseline, **testing), "MRR"))


def test_a_verdict_changes_where_only_one_is_significant_or_the_signs_differ():
    outcome = verdicts(flipped(), "RR", "input", "A")
    assert outcome.tied["reranker"].to_list() == outcome.traditional["reranker"].to_list() == ["B", "C", "D"]
    assert outcome.changed.to_list() == [True, True, False]
    assert np.sign(outcome.traditional["difference"]).to_list() == [-1, -1, -1]


def test_the_pairs_against_a_baseline_are_rows_of_all_pairs():
    everything, against = verdicts(flipped(), "RR", "input"), verdicts(flipped(), "RR", "input", "C")
    chosen = everything.against("C")
    for name in ("tied", "traditional"):
        expected = getattr(against, name)
        pd.testing.assert_frame_equal(getattr(chosen, name)[expected.columns], expected)
    assert chosen.changed.to_list() == against.changed.to_list()
    assert chosen.method == against.method == TESTED.format("6 pairs")


def test_a_subset_is_corrected_over_the_board():
    everything = verdicts(flipped(), "RR", "input")
    chosen = everything.among(["A", "C"])
    expected = find_pairs(everything.tied, ["C"], ["A"])
    pd.testing.assert_frame_equal(chosen.tied, expected[chosen.tied.columns])
    assert (len(chosen.changed), chosen.method) == (1, everything.method)


def test_changed_verdicts_come_first_by_distance():
    outcome = verdicts(flipped(), "RR", "input", "A")
    assert outcome.changed_first(2, 2).tied["reranker"].to_list() == ["C", "B"]
    assert outcome.changed_first(2).tied["reranker"].to_list() == ["C", "B", "D"]
    best = outcome.tied.sort_values("difference", ascending=False)["reranker"].to_list()
    assert outcome.changed_first(3).tied["reranker"].to_list() == best
    unchanged = replace(outcome, changed=outcome.changed & False)
    assert unchanged.changed_first(2, 2).tied["reranker"].to_list() == best[:2]


def test_equal_tied_means_are_not_said_to_be_equal_by_the_tie_order_too():
    level = np.full(6, 0.5)
    evaluation = scored(input={"A": level + 0.1, "B": level}, expected={"A": level, "B": level})
    moved = verdicts(evaluation, "RR", "input")
    same = replace(moved, changed=moved.changed & False)
    claim = "B has the same mean as A, {}. Every difference is 0 MTRR."
    assert plain(significance_finding(same, "MRR")) == claim.format("with ties averaged")
    text = finding(alike({"A": level, "B": level}))
    assert text == claim.format("whether ties are broken or averaged")


@pytest.mark.parametrize(("p", "expected"), [((0.005, 0.049), [False]), ((0.005, 0.05), [True])])
def test_a_verdict_is_by_an_adjusted_p_below_five_percent(p, expected):
    rows = [pd.DataFrame({"difference": [0.1], "p_adjusted": [one]}) for one in p]
    assert changed_verdicts(*rows).to_list() == expected


@pytest.mark.parametrize(
    ("testing", "method", "interval"),
    [
        ({}, TESTED.format("6 pairs"), "simultaneous intervals of 6 pairs (largest statistic)"),
        (
            {"family": "baseline"},
            TESTED.format("3 pairs"),
            "simultaneous intervals of 3 pairs (largest statistic)",
        ),
        (
            {"test": "t"},
            "paired t-test, corrected for 6 pairs by Holm",
            "Student's t interval, corrected like p",
        ),
        (
            {"test": "t", "correction": " None "},
            "paired t-test, not corrected",
            "Student's t interval, of one pair",
        ),
        (
            {
                "test": "mann-whitney",
                "correction": "Benjamini-Hochberg",
                "family": "baseline",
            },
            "Mann-Whitney U test, corrected for 3 pairs by Benjamini-Hochberg",
            "Welch's t interval of the mean difference (p compares ranks), corrected like p",
        ),
    ],
)
def test_the_test_its_correction_and_its_intervals_are_said(testing, method, interval):
    assert method_texts(4, **testing) == (method, interval)


@pytest.mark.parametrize(
    ("testing", "method", "interval"),
    [
        ({}, "sign flips", "interval by sign flips"),
        ({"test": "t", "family": "baseline"}, "paired t-test", "Student's t interval"),
    ],
)
def test_of_one_pair_no_correction_is_said(testing, method, interval):
    assert method_texts(2, **testing) == (method, interval)


def test_few_differing_queries_are_said_beside_p():
    values = np.zeros((30, 2))
    values[:6, 1] = 0.1
    row = compare(alike(values), "RR").iloc[0]
    assert written_test(row) == f"{chance(row['p_adjusted'])}; 6 of 30 queries differ"
    values[:20, 1] = 0.1
    assert written_test(compare(alike(values), "RR").iloc[0]) == "p < 0.001"
    apart = scored(
        expected={"A": {f"a{at}": at / 9 for at in range(9)}, "B": {f"b{at}": 0.5 for at in range(9)}}
    )
    assert "differ" not in written_test(compare(apart, "RR", test="mann-whitney").iloc[0])


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


def test_the_finding_tells_which_verdicts_rest_on_sort_order_and_their_figures():
    outcome = verdicts(flipped(), "RR", "input", "A")
    sentence = plain(significance_finding(outcome, "MRR"))
    before, tied = outcome.traditional.loc[1], outcome.tied.loc[1]
    assert sentence.startswith(
        "1 of 3 rerankers is significantly better than A, and one is significantly worse, with ties averaged. "
        "2 of 3 verdicts depend on tie order. By file order, C trails A by 0.0"
    )
    assert f"With ties averaged, it beats A by {tied['difference']:.3f} MTRR (p < 0.001)." in sentence
    assert "−" not in sentence, "how far is said without a sign, which way in words"
    assert f"by {-before['difference']:.3f} MRR (p < 0.001)" in sentence
    assert "B trails A" in sentence


def test_the_finding_tells_of_a_difference_that_shows_only_once_ties_are_averaged():
    level = tied_values(3, 40, 1)[:, 0]
    ahead = level + 0.1 + tied_values(4, 40, 1)[:, 0] / 50
    evaluation = scored(docid_desc={"A": level, "B": level}, expected={"A": level, "B": ahead})
    sentence = finding(evaluation, traditional="docid_desc")
    assert sentence.startswith(
        "The verdict depends on tie order. By trec_eval's order, B does not differ significantly from A (0.000 "
    )
    assert "With ties averaged, it beats A by 0.1" in sentence


def test_a_reranker_that_ties_put_behind_is_said_to_be_behind_without_a_minus():
    level = tied_values(3, 40, 1)[:, 0]
    behind = level - 0.001 - level / 50
    evaluation = scored(input={"A": level, "B": level + 0.1 + level / 9}, expected={"A": level, "B": behind})
    sentence = finding(evaluation)
    assert re.search(
        r"B beats A by 0\.\d{3} MRR .*\. With ties averaged, it trails A by 0\.0\d\d MTRR \(p", sentence
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (FIVE[:, :1], "There is only one reranker, so there is nothing to compare."),
        (FIVE[:1], "No test is possible. A test needs two queries."),
        (FIVE[:, [0, 0]], "r1 has the same mean as r0, whether ties are broken or averaged."),
        (
            np.column_stack([FIVE[:, :1] + 1, FIVE[:, :1]]),
            "r0 is significantly better than r1, whether ties are broken or averaged. r0 is 1.000 MTRR ahead "
            "(p < 0.001; sign flips).",
        ),
        (FIVE[:3, [0, 1]], "is not significantly better than r"),
    ],
)
def test_the_finding_says_plainly_that_no_verdict_changes_or_why_there_is_none(values, words):
    assert words in finding(alike(values))


def test_rerankers_of_one_mean_have_the_mean_of_the_baseline():
    sentence = finding(alike(FIVE[:, [0, 0, 0]]), "r0")
    assert sentence.startswith("All rerankers have the same mean as r0, whether ties are broken or averaged.")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([-0.3, 0.0, 0.3]), min_size=2, max_size=6))
def test_the_finding_counts_who_is_better_and_who_is_worse_than_the_baseline(shifts):
    noise = tied_values(1, 40, 1)[:, 0] / 50
    by_name = {"base": noise} | {f"r{at}": noise[::-1] + shift for at, shift in enumerate(shifts)}
    outcome = verdicts(alike(by_name), "RR", "input", "base")
    sentence = plain(significance_finding(outcome, "MRR"))
    is_shown = outcome.tied["p_adjusted"] < 0.05
    n_better, n_worse = (int((is_shown & (sign * outcome.tied["difference"] > 0)).sum()) for sign in (1, -1))
    assert sentence.startswith(("No reranker is", "All rerankers have the same mean")) == (
        n_better + n_worse == 0
    )
    is_said = (
        sentence.startswith(f"{n_worse} of {len(shifts)} rerankers")
        and "none is significantly better" in sentence
    )
    assert n_better > 0 or n_worse == 0 or is_said
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


@pytest.mark.parametrize(
    ("baseline", "start"),
    [
        (None, "4 of 6 differences are significant, "),
        ("a", "2 of 3 rerankers are significantly better than a, "),
    ],
)
def test_the_finding_counts_differences_of_all_pairs_and_rerankers_better_than_a_baseline(baseline, start):
    noise = tied_values(1, 40, 1)[:, 0] / 50
    by_name = {"a": noise, "b": noise[::-1], "c": noise + 0.3, "d": noise[::-1] + 0.3}
    assert finding(alike(by_name), baseline).startswith(start)


def test_the_finding_of_all_pairs_names_both_rerankers_of_the_largest_difference():
    noise = tied_values(1, 40, 1)[:, 0] / 50
    by_name = {"a": noise + 0.2, "b": noise, "c": noise[::-1] + 0.4}
    for order in ("abc", "cba"):
        sentence = finding(alike({name: by_name[name] for name in order}))
        assert " puts c 0.4" in sentence
        assert f" ahead of b (p < 0.001; {TESTED.format('3 pairs')})" in sentence


def test_the_finding_of_all_pairs_says_that_no_difference_is_significant():
    assert finding(alike(FIVE[:4, :3])).startswith("No difference is significant, ")


@pytest.mark.parametrize(
    ("shift", "baseline", "words"),
    [
        (0.1, "a", "Of the tested rerankers, b has the highest mean: +0.100"),
        (0.1, None, "The largest puts b 0.100 MTRR ahead of a ("),
        (0, "a", "All tested rerankers have the same mean as a, "),
    ],
)
def test_the_finding_gives_no_figures_of_a_reranker_with_one_shared_query(shift, baseline, words):
    values = dict(zip("qrst", (0.1, 0.2, 0.4, 0.3), strict=True))
    by_name = {"a": values, "b": {name: x + shift * (name != "q") * 4 / 3 for name, x in values.items()}}
    assert words in finding(alike(by_name | {"c": {"q": 0.9}}), baseline)
