"""Calls of the page Ties vs gap into metrics, kept; keyed by what is shown."""

import pandas as pd

from dashboard.cache import ShownBoard
from dashboard.server.board_results import cached_by_key
from metrics.studies.gaps.argmax import argmax_losses
from metrics.studies.gaps.complexity import list_complexity
from metrics.studies.gaps.gap_summary import gap_summary, with_overall


@cached_by_key(show_spinner=False, max_entries=16)
def list_summary(
    view: ShownBoard, first: str, second: str, traditional: str, kind: str, _lists: pd.DataFrame
) -> pd.DataFrame:
    """Return what the notebook prints of lists, of all together and of each reranker.

    Args:
        view: what is shown.
        first: the first measure.
        second: the second measure.
        traditional: the treatment taken as the traditional one.
        kind: which lists are shown.
        _lists: those, as `gaps` returns them.
    """
    return with_overall(gap_summary(_lists), _lists).reset_index()


@cached_by_key(show_spinner="Counting orderings …", max_entries=8)
def list_complexities(view: ShownBoard) -> dict[str, pd.DataFrame]:
    """Return reranker → the orderings of its lists."""
    lists = view.evaluation.lists
    return {name: list_complexity(view.ranking(name), lists.loc[name].index) for name in view.rerankers}


@cached_by_key(show_spinner="Ranking by likeliest grades …", max_entries=8)
def likeliest_grades(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return what rerankers with probabilities of grades score by likeliest and by expected grades."""
    losses = argmax_losses(view.board.runs, measure, view.queries, view.scoring)
    return losses[losses["reranker"].isin(view.rerankers)]
