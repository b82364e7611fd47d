"""What nobody judged, on a page: how much it is, what it leaves open, and what is done about it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import choices
from dashboard.cache import ShownBoard, board_turn
from dashboard.choices import View, shows_both_ways, shows_expectation
from dashboard.server.board_results import cached_by_key
from metrics import parse
from metrics.errors import UsageError
from metrics.evaluation import AS_READ, EQUAL
from metrics.evaluation.evaluation import adds_queries
from metrics.evaluation.holes import (
    expectations_at_rate,
    is_exact,
    joint_bounds,
    judged_name,
    unjudged_counts,
    unjudged_shares,
)
from metrics.measures import MeasureAt
from metrics.studies.holes import (
    QUERIES_MAY_JOIN,
    are_bounds_known,
    mean_bounds,
)


@cached_by_key(show_spinner=False, max_entries=24)
def unjudged_documents(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return how many documents within the cut-off of a measure nobody judged, whatever is done about them."""
    measure_at, scoring = parse(measure), replace(view.scoring, unjudged=AS_READ.unjudged)
    values = replace(view, scoring=scoring).score(judged_name(measure_at), "expected")
    return unjudged_counts(values, measure_at)


@cached_by_key(show_spinner="Computing bounds over judgments …", max_entries=24)
def bounds_of_lists(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return lowest and highest value over all orders of ties and all judgments of what nobody judged, by list.

    Documents that only hidden rerankers have are not among those that may be relevant, as in `judging_plan`.
    """
    with board_turn(view.board):
        bounds = joint_bounds(view.runs, measure, view.scoring)
    return bounds.loc[view.evaluation.scores.index, measure]


@cached_by_key(show_spinner="Simulating judgments …", max_entries=16)
def expected_means(view: ShownBoard, measure: str) -> "pd.Series[float]":
    """Return the mean of each reranker with unjudged documents relevant as often as judged ones tell.

    NaN where the estimate is not to be trusted, and where some segments are chosen: it is of all queries.
    """
    unknown = pd.Series(np.nan, view.rerankers)
    if view.segments:
        return unknown
    try:
        with board_turn(view.board):
            table = expectations_at_rate(view.board.runs, measure, view.scoring).set_index("reranker")
    except UsageError:  # no document is judged that tells a rate
        return unknown
    return table["expectation"].where(table["is_estimable"]).reindex(unknown.index)


def count_unjudged(view: View, measure: str) -> pd.DataFrame | None:
    """Return the unjudged documents within the cut-off of a measure, list by list; None where none is."""
    if view.board.runs.qrels is None:
        return None
    counts = unjudged_documents(view, measure)
    return counts if counts["unjudged"].sum() > EQUAL else None


def choose_unjudged(view: View, measure: str) -> pd.DataFrame | None:
    """Draw what is done about unjudged documents where any are within the cut-off; return their counts."""
    counts = count_unjudged(view, measure)
    if counts is not None:
        choices.choose_unjudged()
        if shows_both_ways() and adds_queries(view.board.runs, view.scoring):
            st.caption(QUERIES_MAY_JOIN)
    return counts


def hole_bounds(view: View, measure: MeasureAt, counts: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return the joint bounds of the lists shown; None where they are not known, or nothing is unjudged.

    They are not known either where a judgment may add a query to the means (`adds_queries`).
    """
    if counts is None or not are_bounds_known(measure) or view.scoring.unjudged == "leave_out":
        return None
    if adds_queries(view.board.runs, view.scoring):
        return None
    return bounds_of_lists(view, str(measure))


def with_holes(
    view: View, leaderboard: pd.DataFrame, measure: MeasureAt, counts: pd.DataFrame | None
) -> pd.DataFrame:
    """Return a leaderboard with the share of unjudged documents and, where asked for, the joint bounds."""
    if counts is None:
        return leaderboard
    rows = leaderboard.assign(unjudged=unjudged_shares(counts).reindex(leaderboard.index))
    bounds = hole_bounds(view, measure, counts) if shows_both_ways() else None
    if bounds is None:
        return rows
    rows = rows.join(mean_bounds(bounds)).assign(is_exact=is_exact(view.board.runs, measure))
    if not shows_expectation():
        return rows
    return rows.assign(expectation=expected_means(view, str(measure)))
