"""Verdicts: what ties do to a mean, beside the mean itself, its luck with queries and the other rerankers."""

import math

import numpy as np
import pandas as pd
import pytest

from metrics import Evaluation
from metrics.measures import parse
from metrics.runs.findings import as_frame
from metrics.studies.leaderboard.leaderboard import leaderboard, leaderboard_finding
from metrics.studies.leaderboard.recommendation import recommendation
from metrics.studies.leaderboard.verdicts import VERDICTS
from metrics.studies.prose import plain
from metrics.studies.significance.significance import verdicts

TIES = ["expected", "input", "pessimistic", "optimistic"]


def board(measure="RR", queries=2, spread=0.0, **means):
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
    rows = board(measure, queries, spread, **means)[1]
    return tuple(rows.loc[next(iter(means)), ["verdict", "why"]])


def finding(**means):
    return plain(leaderboard_finding(board(**means)[1], "MRR"))


def advice(measure="RR", **means):
    evaluation, rows = board(measure, **means)
    outcome = verdicts(evaluation, measure, "input", next(iter(means)))
    return plain(recommendation(rows, outcome, parse(measure), as_frame([])))


def test_a_small_mean_is_judged_by_its_own_size():
    assert row(spread=0.001, a=(0.0014, 0.0019)) == ("tie-inflated", "36% above its tied value")
    assert row(spread=0.001, a=(0.0019, 0.0014))[0] == "tie-deflated"
    assert row(spread=0.001, a=(0.0048, 0.0021)) == (
        "tie-deflated",
        "56% below its tied value, more than its standard error over queries, 0.0010",
    )
    assert row(spread=0.001, a=(0.0021, 0.0021, 0.002, 0.0023)) == (
        "tie-sensitive",
        "worst to best spans 14% of its tied value",
    )
    assert row(spread=0.001, a=(0.0048, 0.0048))[0] == "stable"


@pytest.mark.parametrize("measure", ["RR", "Div@20", "DCG"])
@pytest.mark.parametrize("scale", [1e-4, 1, 1000])
def test_a_verdict_does_not_depend_on_the_scale_of_a_measure(measure, scale):
    words = [row(measure, a=(0.3 * scale, value * scale))[0] for value in (0.3003, 0.3031, 0.29, 0.3)]
    assert words == ["stable", "tie-inflated", "tie-deflated", "stable"]


def test_a_difference_in_the_fourth_decimal_of_a_usual_mean_is_none():
    assert row(spread=0.3, queries=50, bm25=(0.3, 0.3004, 0.2996, 0.3009), other=(0.35, 0.35))[0] == "stable"
    assert "may be reported as it is" in advice(bm25=(0.3, 0.3004, 0.2996, 0.3009), other=(0.35, 0.35))


def test_a_gap_larger_than_the_luck_with_many_queries_counts():
    word, why = row(spread=0.03, queries=10_000, a=(0.3, 0.3004))
    assert (word, why) == (
        "tie-inflated",
        "0.1% above its tied value, more than its standard error over queries, 0.00030",
    )
    assert row(spread=0.03, queries=100, a=(0.3, 0.3004))[0] == "stable"


def test_a_gap_that_changes_places_counts_and_names_whom_it_passes():
    means = {"a": (0.3, 0.3004), "b": (0.3002, 0.3002), "c": (0.2, 0.2)}
    assert row(**means) == ("tie-inflated", "0.1% above its tied value, enough to change places with b")
    assert row(b=means["b"], a=means["a"])[0] == "stable", "b has no gap of its own"
    joint = {"a": (0.3, 0.3003, 0.2997, 0.3003), "b": (0.3004, 0.3001, 0.3001, 0.3007)}
    assert [row(**joint)[0], row(**dict(reversed(joint.items())))[0]] == ["tie-inflated", "tie-deflated"]


def test_bounds_that_reach_past_another_reranker_count():
    near = {"a": (0.3, 0.3, 0.2995, 0.3005), "b": (0.3004, 0.3004), "c": (0.2, 0.2)}
    assert row(**near) == (
        "tie-sensitive",
        "worst to best spans 0.3% of its tied value, enough to change places with b",
    )
    assert row(**near | {"b": (0.301, 0.301)})[0] == "stable"
    wide = {"a": (0.3, 0.3, 0.2999, 0.3001), "b": (0.5, 0.5, 0.1, 0.9)}
    assert row(**wide)[0] == "stable", "the ties of b are not those of a"


def test_rounding_zero_one_query_and_nothing_scored_are_stable_or_have_no_verdict():
    assert row(a=(0.3, 0.3 + 1e-12, 0.3 - 1e-13, 0.3 + 1e-12))[0] == "stable"
    assert row(a=(0.3, 0.3 + 1e-13), b=(0.3 + 5e-14, 0.3))[0] == "stable"
    assert row(a=(0.0, 0.0)) == ("stable", "no order of its ties moves it")
    assert row(queries=1, a=(0.5, 1.0, 0.2, 1.0))[0] == "tie-inflated"
    assert row(a=(math.nan, math.nan, math.nan, math.nan), b=(1, 1)) == (None, "")


def test_what_counts_is_said_of_every_verdict():
    for word in ("stable", "tie-sensitive", "tie-inflated", "tie-deflated"):
        for beside in ("1% of the tied value", "standard error over queries", "another reranker"):
            assert beside in VERDICTS[word]


def test_sentences_say_beside_what_a_gap_is_large_with_figures_that_show_it():
    assert finding(a=(0.0014, 0.0019)) == (
        "By file order a reads 0.00050 MRR above what its scores say, 36% above its tied value: "
        "50% of the documents of a list tie on average. "
    )
    assert "a reads 0.00050 MRR too high as its ties are sorted, 36% above its tied value." in advice(
        a=(0.0014, 0.0019)
    )
    assert "Ties alone let a read anywhere from 0.0014 to 0.0019" in advice(a=(0.0014, 0.0019))
    assert finding(a=(0.0021, 0.0021, 0.002, 0.0023)).endswith(
        "from 0.0020 to 0.0023: worst to best spans 14% of its tied value."
    )
    close = finding(a=(0.3, 0.3, 0.2998, 0.3002), b=(0.3003, 0.3003, 0.3001, 0.3005))
    assert close.startswith("Ties hardly matter here.")
    assert "2 rerankers are so close that it can change their places" in close
    assert finding(a=(0.3, 0.3)).startswith("Ties do not matter here. Documents tie, but no order")
