"""Calls of the Query explorer into metrics, kept; keyed by what is shown."""

from contextlib import suppress

import pandas as pd

from dashboard.cache import ViewKey, board_turn, shown_runs
from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.library import Board
from dashboard.server.board_results import cached_for_board
from metrics import Evaluation, parse
from metrics.errors import UsageError
from metrics.evaluation.options import adds_queries
from metrics.studies.leaderboard.holes import are_bounds_known, can_narrow
from metrics.studies.leaderboard.judging import one_query
from metrics.studies.one_list.list_order import list_label, lists_by_gap


@cached_for_board(show_spinner=False, max_entries=16)
def ordered_lists(key: ViewKey, measure: str, traditional: str, _evaluation: Evaluation) -> pd.DataFrame:
    """Return all lists, the largest gap first, as `lists_by_gap` does.

    Args:
        key: tells the view.
        measure: which the gaps are in.
        traditional: the treatment taken as the traditional one.
        _evaluation: the values shown.
    """
    return lists_by_gap(_evaluation, measure, traditional)


@cached_for_board(show_spinner=False, max_entries=16)
def reranker_labels(key: ViewKey, measure: str, traditional: str, _lists: pd.DataFrame) -> dict[str, str]:
    """Return reranker → its label in the picker, with its largest gap and mean tie ratio, the largest first.

    Args:
        key: tells the view.
        measure: which the gaps are in.
        traditional: the treatment taken as the traditional one.
        _lists: as `ordered_lists` returns them.
    """
    rows = _lists.groupby("reranker", sort=False).agg(gap=("gap", "first"), tie_ratio=("tie_ratio", "mean"))
    return _labels(rows, short_names(rows.index.astype(str), TABLE_COLUMNS))


@cached_for_board(show_spinner=False, max_entries=16)
def query_labels(
    key: ViewKey, measure: str, traditional: str, reranker: str, _lists: pd.DataFrame
) -> dict[str, str]:
    """Return query → its label in the picker of one reranker's lists, the largest gap first.

    Args:
        key: tells the view.
        measure: which the gaps are in.
        traditional: the treatment taken as the traditional one.
        reranker: whose lists.
        _lists: as `ordered_lists` returns them.
    """
    rows = _lists[_lists["reranker"] == reranker].set_index("query_id")
    return _labels(rows, {str(query): str(query) for query in rows.index})


def _labels(rows: pd.DataFrame, names: dict[str, str]) -> dict[str, str]:
    """Return the label of each row; `names` has what each is called in it."""
    figures = zip(rows.index.astype(str), rows["gap"], rows["tie_ratio"], strict=True)
    return {name: list_label(names[name], gap, tie_ratio) for name, gap, tie_ratio in figures}


@cached_for_board(show_spinner=False, max_entries=4)
def relevance_chances(key: ViewKey, measure: str, _board: Board) -> "pd.Series[float] | None":
    """Return the chance of each unjudged document to be relevant; None where nothing says how likely that is.

    Args:
        key: tells the view.
        measure: whose cut-off is the last place that counts.
        _board: the board.
    """
    with board_turn(_board), suppress(UsageError):
        return one_query.relevance_chances(_board.runs, measure, key.scoring)
    return None


@cached_for_board(show_spinner=False, max_entries=64)
def first_to_judge(key: ViewKey, measure: str, query: str, _board: Board) -> str | None:
    """Return the document of a query to judge first, as the Leaderboard has it; None where there is none.

    Args:
        key: tells the view.
        measure: whose bounds are to narrow.
        query: id of the query.
        _board: the board.
    """
    name = parse(measure)
    if _board.runs.qrels is None or not (are_bounds_known(name) and can_narrow(name)):
        return None
    if adds_queries(_board.runs, key.scoring):
        return None
    chances = relevance_chances(key, measure, _board)
    if chances is None:
        return None
    runs = shown_runs(_board.runs, key.rerankers)
    return one_query.first_to_judge(runs, measure, key.scoring, query, chances)
