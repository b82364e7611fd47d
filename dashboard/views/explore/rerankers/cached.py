"""A call of the Rerankers page into metrics, kept; keyed by what is shown."""

import pandas as pd

from dashboard.cache import ShownBoard
from dashboard.server.board_results import cached_by_key
from metrics.studies.gaps.gap import gaps
from metrics.studies.gaps.gap_summary import gap_summary


@cached_by_key(show_spinner=False, max_entries=8)
def gaps_and_summary(
    view: ShownBoard, first: str, second: str, traditional: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the gaps of all lists as `gaps` does, and what `gap_summary` makes of them.

    Args:
        view: what is shown.
        first: the first measure.
        second: the second measure.
        traditional: the treatment taken as the traditional one.
    """
    lists = gaps(view.evaluation, {"first": first, "second": second}, traditional)
    return lists, gap_summary(lists)
