"""Calls of the Query explorer into metrics, kept; keyed by what is shown."""

import pandas as pd

from dashboard.cache import ViewKey
from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.server.board_results import cached_for_board
from metrics import Evaluation
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
