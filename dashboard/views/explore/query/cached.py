"""Calls of Queries into metrics, kept; keyed by what is shown."""

from contextlib import suppress

import pandas as pd

from dashboard.cache import ShownBoard, board_turn
from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
from metrics import parse
from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions
from metrics.evaluation.options import adds_queries
from metrics.studies.leaderboard.holes import are_bounds_known, can_narrow
from metrics.studies.leaderboard.judging.one_query import first_to_judge, relevance_chances
from metrics.studies.leaderboard.judging.plan import plan_depth
from metrics.studies.one_list.list_order import list_label, lists_by_gap


@cached_by_key(show_spinner=False, max_entries=16)
def ordered_lists(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return all lists, the largest gap first, as `lists_by_gap` does.

    Args:
        view: what is shown.
        measure: which the gaps are in.
        traditional: the treatment taken as the traditional one.
    """
    return lists_by_gap(view.evaluation, measure, traditional)


@cached_by_key(show_spinner=False, max_entries=16)
def reranker_labels(view: ShownBoard, measure: str, traditional: str) -> dict[str, str]:
    """Return reranker → its label in the picker, with its largest gap and mean tie ratio, the largest first.

    Args:
        view: what is shown.
        measure: which the gaps are in.
        traditional: the treatment taken as the traditional one.
    """
    by_reranker = ordered_lists(view, measure, traditional).groupby("reranker", sort=False)
    rows = by_reranker.agg(gap=("gap", "first"), tie_ratio=("tie_ratio", "mean"))
    return _labels(rows, short_names(rows.index.astype(str), TABLE_COLUMNS))


@cached_by_key(show_spinner=False, max_entries=16)
def query_labels(view: ShownBoard, measure: str, traditional: str, reranker: str) -> dict[str, str]:
    """Return query → its label in the picker of one reranker's lists, the largest gap first.

    Args:
        view: what is shown.
        measure: which the gaps are in.
        traditional: the treatment taken as the traditional one.
        reranker: whose lists.
    """
    lists = ordered_lists(view, measure, traditional)
    rows = lists[lists["reranker"] == reranker].set_index("query_id")
    return _labels(rows, {str(query): str(query) for query in rows.index})


def _labels(rows: pd.DataFrame, names: dict[str, str]) -> dict[str, str]:
    """Return the label of each row; `names` has what each is called in it."""
    figures = zip(rows.index.astype(str), rows["gap"], rows["tie_ratio"], strict=True)
    return {name: list_label(names[name], gap, tie_ratio) for name, gap, tie_ratio in figures}


@cached_by_key(show_spinner=False, max_entries=4)
def _relevance_chances(board: Board, scoring: ScoringOptions, depth: int) -> "pd.Series[float] | None":
    """Return the chance of each unjudged document to be relevant; None where nothing tells how likely it is."""
    with board_turn(board), suppress(UsageError):
        return relevance_chances(board.runs, scoring, depth)
    return None


@cached_by_key(show_spinner=False, max_entries=64)
def document_to_judge(view: ShownBoard, measure: str, query: str) -> str | None:
    """Return the document of a query to judge first, as the Leaderboard has it; None where there is none.

    Args:
        view: what is shown.
        measure: whose bounds are to narrow.
        query: id of the query.
    """
    name, runs = parse(measure), view.board.runs
    if runs.qrels is None or not (are_bounds_known(name) and can_narrow(name)):
        return None
    if adds_queries(runs, view.scoring):
        return None
    chances = _relevance_chances(view.board, view.scoring, plan_depth(name))
    return None if chances is None else first_to_judge(view.runs, measure, view.scoring, query, chances)
