"""The section on other tools: what they would report for the files escape_markdown, and why."""

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.charts.leaderboard.tools import tool_strip
from dashboard.escaping import escape_markdown
from dashboard.widgets.components import chart, heading, number, section_finding, table
from metrics import parse
from metrics.studies.tools.tool_comparison import by_tool, tool_finding


def what_tools_say(view: session.View, board: pd.DataFrame, measure: str) -> None:
    """Every tool's value on the range the ties allow, and a table with the reason for each."""
    heading(
        "What other tools would say",
        "The same files, scored as each tool breaks ties, holds scores and treats missing queries.",
    )
    values = cache.tool_table(view.board.key, measure, view.board)
    values = values[values["reranker"].isin(view.rerankers)]
    own = values[values["measure"] == measure]
    if not len(values):
        st.caption(
            f"No tool known here computes {escape_markdown(measure)} in a way that can be told from its code."
        )
        return
    section_finding(tool_finding(values, measure))
    title = parse(measure).traditional
    if len(own):
        chart(
            tool_strip(board, own, view.palette, title),
            "tools",
            f"{title} of each reranker as each tool reports it, on the range from worst to best.",
        )
    rows = by_tool(values)
    names = [name for name in view.rerankers if name in rows]
    table(
        rows.rename(columns={name: f"value-{at}" for at, name in enumerate(names)}),
        "Tool by tool",
        "tools",
        {
            "tool": st.column_config.TextColumn("Tool", pinned=True),
            "spelling": st.column_config.TextColumn("Calls it"),
            **{f"value-{at}": number(name) for at, name in enumerate(names)},
            "why": st.column_config.TextColumn("Why it differs from the tied value", width="large"),
        },
        download=rows,
    )
