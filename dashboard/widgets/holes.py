"""Count and bound unjudged documents."""

from dataclasses import replace

import numpy as np
import pandas as pd

from dashboard.cache import ShownBoard, board_turn
from dashboard.choices import View, shows_both_ways, shows_expectation
from dashboard.server.board_results import cached_by_key
from metrics import parse
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EQUAL, holes
from metrics.evaluation.evaluation import adds_queries
from metrics.measures import MeasureAt
from metrics.studies.holes import are_bounds_known, mean_bounds


@cached_by_key(show_spinner=False, max_entries=24)
def unjudged_documents(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return the number of unjudged documents within the cut-off of a measure, by list."""
    measure_at, scoring = parse(measure), replace(view.scoring, unjudged=AS_READ.unjudged)
    values = replace(view, scoring=scoring).score(holes.judged_name(measure_at), "expected")
    return holes.unjudged_counts(values, measure_at)


@cached_by_key(show_spinner="Computing bounds over all tie orders and judgments …", max_entries=24)
def bounds_of_lists(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return the lowest and highest value of each list over all tie orders and judgments.

    Documents that only hidden rerankers have stay out, as in `judging_plan`.
    """
    with board_turn(view.board):
        bounds = holes.joint_bounds(view.runs, measure, view.scoring)
    return bounds.loc[view.evaluation.scores.index, measure]


@cached_by_key(show_spinner="Simulating judgments …", max_entries=16)
def expected_means(view: ShownBoard, measure: str) -> "pd.Series[float]":
    """Return the expected mean of each reranker if unjudged documents are relevant as often as judged ones.

    It is NaN where it cannot be estimated, and if only some query groups are shown.
    """
    unknown = pd.Series(np.nan, view.rerankers)
    if view.segments:
        return unknown
    try:
        with board_turn(view.board):
            means = holes.estimated_means(view.board.runs, measure, view.scoring)
    except UsageError:  # no document is judged that tells a rate
        return unknown
    return means.reindex(unknown.index)


def count_unjudged(view: View, measure: str) -> pd.DataFrame | None:
    """Return the unjudged documents within the cut-off by list, None without any."""
    if view.board.runs.qrels is None:
        return None
    counts = unjudged_documents(view, measure)
    return counts if counts["unjudged"].sum() > EQUAL else None


def hole_bounds(view: View, measure: MeasureAt, counts: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return the bounds of each list over judgments, None if unknown or if no document is unjudged.

    They are also unknown if a judgment can add a query to the means (`adds_queries`).
    """
    if counts is None or not are_bounds_known(measure) or view.scoring.unjudged == "leave_out":
        return None
    if adds_queries(view.board.runs, view.scoring):
        return None
    return bounds_of_lists(view, str(measure))


def with_holes(
    view: View, leaderboard: pd.DataFrame, measure: MeasureAt, counts: pd.DataFrame | None
) -> pd.DataFrame:
    """Return a leaderboard with the share of unjudged documents and, on request, bounds and expectation."""
    if counts is None:
        return leaderboard
    rows = leaderboard.assign(unjudged=holes.unjudged_shares(counts).reindex(leaderboard.index))
    bounds = hole_bounds(view, measure, counts) if shows_both_ways() else None
    if bounds is None:
        return rows
    rows = rows.join(mean_bounds(bounds)).assign(is_exact=holes.is_exact(view.board.runs, measure))
    if not shows_expectation():
        return rows
    return rows.assign(expectation=expected_means(view, str(measure)))
