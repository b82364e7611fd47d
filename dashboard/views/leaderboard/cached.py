"""Calls of the Leaderboard into metrics, kept; keyed by what is shown."""

import pandas as pd

from dashboard.cache import ShownBoard, board_turn, segments
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.swaps_table import swapped_orders
from metrics.studies.leaderboard.leaderboard import leaderboard, mean_std
from metrics.studies.leaderboard.ranks.tiers import rank_intervals
from metrics.studies.prose import Prose
from metrics.studies.tools.tool_comparison import tool_values


@cached_by_key(show_spinner=False, max_entries=24)
def ranked_rerankers(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the rows of the leaderboard, which nobody changes.

    Args:
        view: what is shown.
        measure: what it is ranked by.
        traditional: the treatment taken as the traditional one.
    """
    return leaderboard(view.evaluation, measure, traditional)


@cached_by_key(show_spinner=False, max_entries=24)
def verdict(view: ShownBoard, measure: str, traditional: str) -> Prose:
    """Return who leads, and whether the order of ties or chance decides that, as a sentence."""
    from metrics.studies.leaderboard.verdict_sentence import (  # noqa: PLC0415 scipy.special
        leaderboard_verdict,
        same_runs,
    )

    rows, swaps = ranked_rerankers(view, measure, traditional), swapped_orders(view, measure, traditional)
    copies = same_runs(view.board.runs, view.evaluation, measure)
    return leaderboard_verdict(rows, swaps, view.evaluation, measure, traditional, copies)


@cached_by_key(show_spinner="Asking what other tools would say …", max_entries=16)
def tool_table(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return what each tool would report for a measure."""
    owners = segments(view.board)
    queries = set(owners.index[owners.isin(view.segments)]) if view.segments else None
    with board_turn(view.board):
        return tool_values(view.board.runs, measure, view.rerankers, view.scoring, queries)


@cached_by_key(show_spinner=False, max_entries=24)
def tie_std_of_means(view: ShownBoard, measure: str) -> "pd.Series[float]":
    """Return the standard deviation of each mean over random tie-breaking."""
    return mean_std(view.score(measure, "std"), measure)


@cached_by_key(show_spinner=False, max_entries=24)
def intervals(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return between which ranks other queries could put each reranker."""
    return rank_intervals(view.evaluation, measure)
