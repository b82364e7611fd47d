"""The section of Rerankers on groups of queries, and on queries won and lost against the baseline."""

import pandas as pd

from dashboard import cache, choices
from dashboard.cache import ShownBoard
from dashboard.charts.rerankers import MOST_SEGMENTS, segment_heatmap, win_loss_bars
from dashboard.choices import View
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import chart, download_csv, heading, section_finding, table
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.sections import section
from metrics import parse
from metrics.studies.leaderboard import segment_table
from metrics.studies.query_values import win_loss, win_loss_finding
from metrics.support.shown_columns import shown_columns


@cached_by_key(show_spinner=False, max_entries=8)
def _group_gaps(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the gap of each reranker in each group of queries."""
    return segment_table(view.evaluation, cache.segments(view.board), measure, traditional)


@section("Gaps by query group")
def query_groups(view: View, measure: str, drawn_rerankers: pd.Index) -> None:
    """Draw the mean gap of rerankers in each group of queries, where the files name groups."""
    if not len(cache.segments(view.board)):
        return
    rows = _group_gaps(view, measure, view.traditional)
    n_groups = rows["segment"].nunique()
    first = f" The {MOST_SEGMENTS} largest of {n_groups:,} groups." if n_groups > MOST_SEGMENTS else ""
    heading("Gap by query group", f"Mean {measure} gap. Orange: too high; blue: too low.{first}")
    drawn = pd.concat([rows[rows["reranker"] == name] for name in drawn_rerankers])
    chart(
        kept_figure(view.board.key, segment_heatmap, drawn, view.palette, parse(measure).traditional),
        "groups",
        f"Mean {measure} gap of each reranker in each group of queries.",
        wide=560,
    )
    download_csv(rows, "groups")


@section("Against the baseline")
def baseline_comparison(view: View, measure: str, n_drawn: int) -> None:
    """Draw the queries won, equal and lost, by tied and by traditional values."""
    if len(view.rerankers) == 1:
        return
    heading("Against the baseline, query by query", "Above: by tied values. Below, paler: by traditional ones.")
    baseline = choices.choose_baseline(view.rerankers, width=320)
    rows = win_loss(view.evaluation, measure, baseline, view.traditional)
    section_finding(win_loss_finding(rows, baseline, measure), view.rerankers)
    chart(
        win_loss_bars(rows.head(n_drawn), view.palette),
        "duels",
        f"Queries on which each reranker is ahead of, level with or behind {baseline}.",
        wide=620,
    )
    table(
        rows.reset_index(),
        "Won, equal, lost",
        "duels",
        shown_columns(
            *("reranker", "won", "equal", "lost", "won_before", "equal_before", "lost_before"),
            ("changed", "changed_queries"),
            "n",
        ),
    )
