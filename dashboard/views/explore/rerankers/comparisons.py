"""A section that compares rerankers with the baseline, query by query."""

from dashboard import session
from dashboard.charts.deciding.win_loss_bars import win_loss_bars
from dashboard.widgets.components import chart, heading, section_finding, table
from dashboard.widgets.page_body import section
from metrics.studies.significance.win_loss import win_loss, win_loss_finding
from metrics.support.shown_columns import shown_columns


@section("Against the baseline")
def baseline_comparison(view: session.View, measure: str, n_drawn: int) -> None:
    """Draw the queries won, equal and lost, by tied and by traditional values.

    Args:
        view: what the sidebar says is shown.
        measure: its name.
        n_drawn: rerankers that the chart shows.
    """
    heading(
        "Against the baseline, query by query",
        "Above: by tied values. Below, paler: by the traditional ones. The baseline is chosen here or on Data.",
    )
    baseline = session.choose_baseline(view.rerankers, width=320)
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
            "reranker",
            *("won", "equal", "lost"),
            *("won_before", "equal_before", "lost_before"),
            ("changed", "changed_queries"),
            "n",
        ),
    )
