"""Verdicts: what ties do to a mean, beside the mean itself, its luck with queries and the other rerankers."""

import math

import numpy as np
import pandas as pd
import pytest
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics import Evaluation, Runs, evaluate
from metrics.evaluation import EQUAL
from metrics.measures import parse
from metrics.runs.findings import as_frame
from metrics.studies.leaderboard import (
    leaderboard,
    leaderboard_finding,
    mean_intervals,
    mean_std,
    place_range,
)
from metrics.studies.pair_findings import verdicts
from metrics.studies.prose import plain
from metrics.studies.recommendation import recommendation


def ranked(relevant, size=5, *, tied=True):
    """One list whose only relevant document stands at a place, all of one score or of falling ones."""
    return [Doc(str(n), 0 if tied else -n, int(n == relevant)) for n in range(1, size + 1)]


def board(lists, traditional="input", empty="zero"):
    runs = Runs.from_frame(frame({name: {"q": docs} for name, docs in lists.items()}))
    ties = ["expected", "optimistic", "pessimistic", traditional]
    return leaderboard(evaluate(runs, ["RR"], ties, empty=empty), "RR", traditional)


def finding(lists):
    return plain(leaderboard_finding(board(lists), "MRR"))


STRICT = ranked(2, tied=False)


def test_a_row_holds_means_gap_ties_ranks_and_verdict():
    row = board({"lucky": ranked(1), "strict": STRICT}).loc["lucky"]
    assert row["tied"] == pytest.approx(137 / 300)
    assert row["worst"] == pytest.approx(1 / 5)
    assert (row["best"], row["traditional"], row["tie_ratio"]) == (1, 1, 1)
    assert row["gap"] == pytest.approx(1 - 137 / 300)
    assert (row["tied_rank"], row["traditional_rank"], row["verdict"]) == (2, 1, "tie-inflated")


def test_means_that_differ_by_rounding_share_a_rank():
    thirds = {f"q{n}": ranked(3, tied=False) for n in range(10)}
    runs = Runs.from_frame(frame({"a": thirds, "b": {"q": ranked(3, tied=False)}}))
    evaluation = evaluate(runs, ["RR"], ["expected", "optimistic", "pessimistic", "input"])
    assert leaderboard(evaluation, "RR", "input")["tied_rank"].to_list() == [1, 1]


@given(tables())
def test_ranks_are_the_number_of_better_rerankers_plus_one(table):
    evaluation = evaluate(
        Runs.from_frame(frame(table)), ["RR"], ["expected", "optimistic", "pessimistic", "input"]
    )
    leaders = leaderboard(evaluation, "RR", "input")
    for value in ("tied", "traditional"):
        means = leaders[value].round(12)
        assert leaders[f"{value}_rank"].to_list() == [
            1 + sum(other > mean for other in means) for mean in means
        ]
    assert (leaders["worst"] <= leaders["tied"] + 1e-12).all()
    assert (leaders["tied"] <= leaders["best"] + 1e-12).all()


def test_the_finding_says_plainly_that_ties_do_not_matter():
    assert finding({"a": STRICT, "b": ranked(4, tied=False)}).startswith("No documents tie:")
    alike = [Doc("a", 1, 1), Doc("b", 1, 1), Doc("c", 0, 0)]
    assert (
        finding({"a": alike})
        == "Ties do not matter here. Documents tie, but no tie order changes any reranker's MRR."
    )


def test_the_finding_names_who_changes_place_and_both_ranks():
    text = finding({"lucky": ranked(1), "strict": STRICT})
    assert text.startswith("lucky is #1 by file order and #2 once ties are averaged: 100%")
    assert text.endswith("puts its MRR 0.543 too high, 119% above its tied score.")


@pytest.mark.parametrize(("place", "size", "direction"), [(1, "0.543", "too high"), (5, "0.257", "too low")])
def test_the_finding_says_which_way_a_value_is_off_where_the_order_stays(place, size, direction):
    assert finding({"only": ranked(place)}).startswith(f"By file order, only scores {size} MRR {direction}")


def test_the_finding_of_nothing_scored_says_so():
    table = board({"a": ranked(9)}, empty="skip")
    assert plain(leaderboard_finding(table, "MRR")).startswith("No list is scored")


def test_the_deviation_of_a_mean_is_that_of_independent_lists():
    runs = Runs.from_frame(frame({"llm": {"q1": ranked(1), "q2": ranked(2, size=3), "q3": STRICT}}))
    evaluation = evaluate(runs, ["RR"], ["std"])
    each = [np.std([1 / place for place in range(1, size + 1)]) for size in (5, 3)]
    assert mean_std(evaluation, "RR")["llm"] == pytest.approx(np.hypot(*each) / 3)


def test_the_interval_of_a_geometric_mean_is_students_of_the_logarithms():
    lists = {"q1": ranked(1), "q2": ranked(2, size=3), "q3": ranked(9)}
    evaluation = evaluate(Runs.from_frame(frame({"llm": lists})), ["AP", "gm_map"], ["expected"])
    logs = np.log(evaluation.scores["AP", "expected"].clip(lower=1e-5))
    ends = np.exp(logs.mean() + np.array([-1, 1]) * stats.t.ppf(0.975, 2) * stats.sem(logs))
    row = mean_intervals(evaluation, "gm_map").loc["llm"]
    assert row.to_list() == pytest.approx([ends[0], min(ends[1], 1), 3])
    assert row["query_low"] < evaluation.means("gm_map")["expected"].item() < row["query_high"]


VALUES = st.one_of(st.just(math.nan), st.sampled_from([0, 0.5, 0.5 + EQUAL / 2, 0.5 + 2 * EQUAL, 1]))


@given(st.lists(st.tuples(VALUES, VALUES), max_size=9))
def test_places_are_those_of_comparing_each_with_each(ends):
    worst, best = np.array(ends, dtype=float).reshape(-1, 2).T
    rows = pd.DataFrame({"worst": worst, "best": best, "tied": worst})
    is_other = ~np.eye(len(rows), dtype=bool)
    for places, theirs, ours in zip(place_range(rows), (worst, best), (best, worst), strict=True):
        above = ((theirs > ours[:, None] + EQUAL) & is_other).sum(axis=1)
        expected = pd.Series(1 + above, dtype="Int64").mask(np.isnan(worst))
        pd.testing.assert_series_equal(places, expected)


TIES = ["expected", "input", "pessimistic", "optimistic"]


def rows_of_means(measure="RR", queries=2, spread=0.0, **means):
    """A leaderboard of rerankers that score `spread` above their means on half of the queries, else below.

    Args:
        measure: name of a measure.
        queries: even number of lists.
        spread: half the difference between two lists of a reranker.
        means: reranker → its tied, traditional, worst and best mean; without the last two, as the first two.
    """
    parts, values = [], {}
    for name, (tied, traditional, *ends) in means.items():
        worst, best = ends or sorted((tied, traditional))
        values[name] = np.outer(np.ones(queries), [tied, traditional, worst, best])
        values[name] += np.where(np.arange(queries) % 2, spread, -spread)[:, None]
        parts += [(name, f"q{query}") for query in range(queries)]
    index = pd.MultiIndex.from_tuples(parts, names=["reranker", "query_id"])
    columns = pd.MultiIndex.from_product([[measure], TIES], names=["measure", "ties"])
    counts = pd.DataFrame({"n_scored": queries}, pd.Index(list(means), name="reranker"))
    lists = pd.DataFrame({"tie_ratio": 0.5}, index)
    evaluation = Evaluation(
        pd.DataFrame(np.concatenate(list(values.values())), index, columns),
        lists,
        counts,
        (measure,),
        tuple(TIES),
    )
    return evaluation, leaderboard(evaluation, measure, "input")


def row(measure="RR", queries=2, spread=0.0, **means):
    """Verdict and reason of the first reranker named."""
    rows = rows_of_means(measure, queries, spread, **means)[1]
    return tuple(rows.loc[next(iter(means)), ["verdict", "why"]])


def verdict_words(**means):
    return plain(leaderboard_finding(rows_of_means(**means)[1], "MRR"))


def advice(measure="RR", **means):
    evaluation, rows = rows_of_means(measure, **means)
    outcome = verdicts(evaluation, measure, "input", next(iter(means)))
    return plain(recommendation(rows, outcome, parse(measure), as_frame([])))


def test_a_small_mean_is_judged_by_its_own_size():
    assert row(spread=0.001, a=(0.0014, 0.0019)) == ("tie-inflated", "36% above its tied score")
    assert row(spread=0.001, a=(0.0019, 0.0014))[0] == "tie-deflated"
    assert row(spread=0.001, a=(0.0048, 0.0021)) == (
        "tie-deflated",
        "56% below its tied score, more than the standard error over queries (0.0010)",
    )
    assert row(spread=0.001, a=(0.0021, 0.0021, 0.002, 0.0023)) == (
        "tie-sensitive",
        "its worst and best case differ by 14% of its tied score",
    )
    assert row(spread=0.001, a=(0.0048, 0.0048))[0] == "stable"


@pytest.mark.parametrize("measure", ["RR", "Div@20", "DCG"])
@pytest.mark.parametrize("scale", [1e-4, 1, 1000])
def test_a_verdict_does_not_depend_on_the_scale_of_a_measure(measure, scale):
    words = [row(measure, a=(0.3 * scale, value * scale))[0] for value in (0.3003, 0.3031, 0.29, 0.3)]
    assert words == ["stable", "tie-inflated", "tie-deflated", "stable"]


def test_a_difference_in_the_fourth_decimal_of_a_usual_mean_is_none():
    assert row(spread=0.3, queries=50, bm25=(0.3, 0.3004, 0.2996, 0.3009), other=(0.35, 0.35))[0] == "stable"
    assert "You can report the traditional score" in advice(
        bm25=(0.3, 0.3004, 0.2996, 0.3009), other=(0.35, 0.35)
    )


def test_equal_gaps_have_one_verdict_whatever_the_score_the_queries_and_the_ranks():
    means = {"a": (0.7, 0.706), "b": (0.55, 0.556), "c": (0.5531, 0.5531)}
    assert rows_of_means(**means)[1]["verdict"].to_dict() == dict.fromkeys("abc", "stable")
    assert row(**means, spread=0.03, queries=10_000)[0] == "stable"
    words = {name: row(**{name: (0.5, 0.507)}, z=(0.7, 0.7), **means)[0] for name in ("d", "e")}
    assert set(words.values()) == {"tie-inflated"}


def test_the_reason_compares_with_the_luck_of_queries_and_names_whom_a_gap_passes():
    assert row(spread=0.03, queries=10_000, a=(0.3, 0.304)) == (
        "tie-inflated",
        "1.3% above its tied score, more than the standard error over queries (0.00030)",
    )
    means = {"a": (0.3, 0.304), "b": (0.302, 0.302), "c": (0.2, 0.2)}
    assert row(**means) == ("tie-inflated", "1.3% above its tied score, enough to change its rank against b")
    assert row(b=means["b"], a=means["a"])[0] == "stable", "b has no gap of its own"


def test_the_size_is_that_of_the_gap_or_of_the_range_by_the_tied_score():
    sizes = rows_of_means(a=(0.5, 0.55), b=(0.4, 0.4, 0.38, 0.42), c=(0.3, 0.3))[1]["size"]
    assert sizes.to_dict() == pytest.approx({"a": 0.1, "b": 0.1, "c": math.nan}, nan_ok=True)


def test_rerankers_that_are_level_in_one_of_two_scores_do_not_swap():
    a_level = {"a": (0.4, 0.38), "b": (0.4, 0.42)}
    assert row(**a_level)[1] == "5.0% below its tied score, enough to change its rank against b"
    drawn_level = {"a": (0.4, 0.42), "b": (0.42, 0.42)}
    assert row(**drawn_level)[1] == "5.0% above its tied score, enough to change its rank against b"


def test_bounds_that_reach_past_another_reranker_count():
    near = {"a": (0.3, 0.3, 0.295, 0.305), "b": (0.304, 0.304), "c": (0.2, 0.2)}
    assert row(**near) == (
        "tie-sensitive",
        "its worst and best case differ by 3.3% of its tied score, enough to change its rank against b",
    )
    wide = {"a": (0.3, 0.3, 0.2999, 0.3001), "b": (0.5, 0.5, 0.1, 0.9)}
    assert row(**wide)[0] == "stable", "the ties of b are not those of a"


def test_rounding_zero_one_query_and_nothing_scored_are_stable_or_have_no_verdict():
    assert row(a=(0.3, 0.3 + 1e-12, 0.3 - 1e-13, 0.3 + 1e-12))[0] == "stable"
    assert row(a=(0.3, 0.3 + 1e-13), b=(0.3 + 5e-14, 0.3))[0] == "stable"
    assert row(a=(0.0, 0.0)) == ("stable", "it scores 0 in every tie order")
    assert row(a=(0.3, 0.3)) == ("stable", "no tie order changes its score")
    assert row(queries=1, a=(0.5, 1.0, 0.2, 1.0))[0] == "tie-inflated"
    assert row(a=(math.nan, math.nan, math.nan, math.nan), b=(1, 1)) == (None, "")


def test_sentences_say_beside_what_a_gap_is_large_with_figures_that_show_it():
    assert verdict_words(a=(0.0014, 0.0019)) == (
        "By file order, a scores 0.00050 MRR too high, 36% above its tied score: "
        "50% of the documents in a list tie on average. "
    )
    assert "a has a traditional MRR that is 0.00050 too high, 36% above its tied score." in advice(
        a=(0.0014, 0.0019)
    )
    assert "Tie order alone can put a anywhere from 0.0014 to 0.0019" in advice(a=(0.0014, 0.0019))
    assert verdict_words(a=(0.0021, 0.0021, 0.002, 0.0023)).endswith(
        "from 0.0020 to 0.0023: its worst and best case differ by 14% of its tied score."
    )
    close = verdict_words(a=(0.3, 0.3, 0.2998, 0.3002), b=(0.3003, 0.3003, 0.3001, 0.3005))
    assert close.startswith("Ties hardly matter here.")
    assert "2 rerankers are so close that tie order can change their ranks" in close
    assert verdict_words(a=(0.3, 0.3)).startswith("Ties do not matter here. Documents tie, but no tie order")


def test_a_reranker_with_every_list_left_out_has_no_rank():
    table = board({"strict": STRICT, "none": ranked(9)}, empty="skip")
    assert table.loc["none", ["tied", "tied_rank"]].isna().all()
    assert table.loc["strict", "tied_rank"] == 1
    assert plain(leaderboard_finding(table, "MRR")).startswith("No documents tie: ")


def test_where_nothing_relevant_is_listed_ties_are_not_said_to_be_harmless():
    nothing = [Doc("a", 1, 0), Doc("b", 1, 0)]
    assert finding({"a": nothing, "b": nothing}).startswith("Every MRR is 0: no tie order")
