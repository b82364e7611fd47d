"""Calls of the Leaderboard into metrics, kept; keyed by what is shown."""

import pandas as pd

from dashboard.cache import ViewKey, board_turn, restrict_to_view, segments
from dashboard.library import Board
from dashboard.server.board_results import cached_for_board
from metrics import Evaluation
from metrics.evaluation import score_runs
from metrics.studies.leaderboard.leaderboard import mean_std
from metrics.studies.leaderboard.ranks.tiers import rank_intervals
from metrics.studies.tools.tool_comparison import by_tool, tool_values


@cached_for_board(show_spinner="Asking what other tools would say …", max_entries=16)
def tool_table(view_key: ViewKey, measure: str, _board: Board) -> pd.DataFrame:
    """Return what each tool would report for a measure.

    Args:
        view_key: what is shown of the board, and how it is scored.
        measure: name of the measure.
        _board: the board.
    """
    owners = segments(view_key.key, _board)
    queries = set(owners.index[owners.isin(view_key.segments)]) if view_key.segments else None
    with board_turn(_board):
        return tool_values(_board.runs, measure, view_key.rerankers, view_key.scoring, queries)


@cached_for_board(show_spinner=False, max_entries=16)
def tool_rows(view_key: ViewKey, measure: str, _values: pd.DataFrame) -> pd.DataFrame:
    """Return what `tool_table` holds, a row a tool.

    Args:
        view_key: what is shown of the board, and how it is scored.
        measure: name of the measure.
        _values: as `tool_table` returns it.
    """
    return by_tool(_values)


@cached_for_board(show_spinner="Settling ties …", max_entries=24)
def tie_rules(
    view_key: ViewKey, measures: tuple[str, ...], traditional: str, _board: Board, _evaluation: Evaluation
) -> Evaluation:
    """Return a measure and those that settle its ties by their own rules, as `side_by_side` names them.

    Args:
        view_key: what is shown of the board, and how it is scored.
        measures: their names.
        traditional: the treatment taken as the traditional one.
        _board: the board.
        _evaluation: the values shown; its lists are those counted.
    """
    ties = ("expected", "optimistic", "pessimistic", traditional)
    with board_turn(_board):
        evaluation = score_runs(_board.runs, measures, ties, view_key.scoring)
    return restrict_to_view(evaluation, view_key, _evaluation)


@cached_for_board(show_spinner=False, max_entries=24)
def tie_std_of_means(
    view_key: ViewKey, measure: str, _board: Board, _evaluation: Evaluation
) -> "pd.Series[float]":
    """Return the standard deviation of each mean over random tie-breaking.

    Args:
        view_key: what is shown of the board, and how it is scored.
        measure: name of the measure.
        _board: the board.
        _evaluation: the values shown; its lists are those counted.
    """
    with board_turn(_board):
        evaluation = score_runs(_board.runs, measure, "std", view_key.scoring)
    return mean_std(restrict_to_view(evaluation, view_key, _evaluation), measure)


@cached_for_board(show_spinner=False, max_entries=24)
def intervals(view_key: ViewKey, measure: str, _evaluation: Evaluation) -> pd.DataFrame:
    """Return between which ranks other queries could put each reranker.

    Args:
        view_key: what is shown of the board, and how it is scored.
        measure: name of the measure.
        _evaluation: the values shown.
    """
    return rank_intervals(_evaluation, measure)
