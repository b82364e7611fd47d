"""The section on other tools: what they would report for the same files, and why."""

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.charts.leaderboard.tool_strip import tool_strip
from dashboard.escaping import escape_markdown
from dashboard.widgets.components import chart, heading, section_finding, table
from metrics import parse
from metrics.studies.tools.tool_comparison import by_tool, comparable_values, tool_finding
from metrics.support.shown_columns import shown_columns


def tools_section(view: session.View, leaderboard: pd.DataFrame, measure: str) -> None:
    """Draw every tool's value on the range the ties allow, and a table with the reason for each.

    Args:
        view: what the sidebar says is shown.
        leaderboard: as the study of that name returns it.
        measure: its measure.
    """
    heading(
        "What other tools would say",
        "The same files, scored as each tool breaks ties, holds scores and treats missing queries; relevant "
        f"from grade {view.scoring.relevant_from:g}.",
    )
    values = cache.tool_table(view.key, measure, view.board)
    if not len(values):
        st.caption(
            f"No tool known here computes {escape_markdown(measure)} in a way that can be told from its code."
        )
        return
    section_finding(tool_finding(values, measure))
    title = parse(measure).traditional
    comparable = comparable_values(values, measure)
    if len(comparable):
        chart(
            tool_strip(leaderboard, comparable, view.palette, title),
            "tools",
            f"{title} of each reranker as each tool reports it, on the range from worst to best.",
        )
    rows = by_tool(values)
    labels = {f"value-{position}": str(name) for position, name in enumerate(rows.columns[3:-1])}
    columns = {
        "tool": st.column_config.TextColumn("Tool", pinned=True, help="Who evaluates the files."),
        **shown_columns("version", "spelling"),
    }
    for key, name in labels.items():
        columns |= shown_columns((key, "value"), measure=name)
    table(
        rows.rename(columns={name: key for key, name in labels.items()}),
        "Tool by tool",
        "tools",
        columns | shown_columns("why"),
        download=rows,
    )
