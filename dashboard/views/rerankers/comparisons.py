"""A section that compares rerankers with the baseline, query by query."""

import streamlit as st

from dashboard import session
from dashboard.charts.deciding.win_loss import win_loss_bars
from dashboard.widgets.components import chart, heading, number, section_finding, table
from metrics.studies.significance.win_loss import win_loss, win_loss_finding


def against_baseline(view: session.View, measure: str) -> None:
    """Queries won, equal and lost, by tied and by traditional values."""
    heading(
        "Against the baseline, query by query",
        "Above: by tied values. Below, paler: by the traditional ones. The baseline is chosen here or on Runs.",
    )
    baseline = session.select("Baseline", view.rerankers, "baseline", width=320)
    rows = win_loss(view.evaluation, measure, baseline, view.traditional)
    section_finding(win_loss_finding(rows, baseline))
    chart(
        win_loss_bars(rows, view.palette),
        "duels",
        f"Queries on which each reranker is ahead of, level with or behind {baseline}.",
        wide=620,
    )
    table(
        rows.reset_index(),
        "Won, equal, lost",
        "duels",
        {
            "reranker": st.column_config.TextColumn("Reranker"),
            "won": number("Won", "%d"),
            "equal": number("Equal", "%d"),
            "lost": number("Lost", "%d"),
            "won_before": number("Won, traditional", "%d"),
            "equal_before": number("Equal, traditional", "%d"),
            "lost_before": number("Lost, traditional", "%d"),
            "changed": number("Decided by ties", "%d", "Queries whose outcome differs between the two values."),
            "n": number("Queries", "%d"),
        },
    )
