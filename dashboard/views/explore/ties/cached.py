"""Calls of the page Ties vs gap into metrics, kept; keyed by what is shown."""

import pandas as pd

from dashboard import session
from dashboard.cache import ViewKey
from dashboard.server.board_results import cached_for_board
from metrics.studies.gaps.argmax import argmax_losses
from metrics.studies.gaps.complexity import list_complexity


@cached_for_board(show_spinner="Counting orderings …", max_entries=8)
def list_complexities(key: ViewKey, _view: session.View) -> dict[str, pd.DataFrame]:
    """Return reranker → the orderings of its lists.

    Args:
        key: tells the view.
        _view: what the sidebar says is shown.
    """
    lists = _view.evaluation.lists
    return {
        reranker: list_complexity(_view.ranking(reranker), lists.loc[reranker].index)
        for reranker in _view.rerankers
    }


@cached_for_board(show_spinner="Ranking by likeliest grades …", max_entries=8)
def likeliest_grades(key: ViewKey, measure: str, _view: session.View) -> pd.DataFrame:
    """Return what rerankers with probabilities of grades score by likeliest and by expected grades.

    Args:
        key: tells the view.
        measure: name of a measure.
        _view: what the sidebar says is shown.
    """
    queries = _view.key.queries(_view.evaluation)
    losses = argmax_losses(_view.board.runs, measure, queries, _view.scoring)
    return losses[losses["reranker"].isin(_view.rerankers)]
