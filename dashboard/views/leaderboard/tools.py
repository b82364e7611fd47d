"""The section on other tools: what they would report for the same files, and why."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.labels import clipped, elide_text, sentence_names
from dashboard.charts.leaderboard.tool_strip import tool_strip
from dashboard.escaping import escape_markdown
from dashboard.views.leaderboard import cached
from dashboard.widgets.components import chart, heading, section_finding, table, table_head
from dashboard.widgets.figures import kept_figure
from metrics import parse
from metrics.studies.tools.tool_comparison import by_reranker, comparable_values, tool_finding
from metrics.support.shown_columns import shown_columns

_REASON_WIDTH = 330
"""Pixels across in which a reason is read with ease."""
_HEAD_COLUMNS = 16
"""Columns of a tool's name at the head of its values."""


def tools_section(
    view: session.View, leaderboard: pd.DataFrame, measure: str, drawn_rerankers: pd.Index
) -> None:
    """Draw every tool's value on the range the ties allow, and tables of the values and the reasons.

    Args:
        view: what the sidebar says is shown.
        leaderboard: as the study of that name returns it.
        measure: its measure.
        drawn_rerankers: rerankers that are drawn.
    """
    heading(
        "What other tools would say",
        "The same files, scored as each tool breaks ties, holds scores and treats missing queries; relevant "
        f"from grade {view.scoring.relevant_from:g}.",
    )
    values = cached.tool_table(view, measure)
    if not len(values):
        st.caption(
            f"No tool known here computes {escape_markdown(measure)} in a way that can be told from its code."
        )
        return
    section_finding(tool_finding(values, measure, set(drawn_rerankers)), view.rerankers)
    title = parse(measure).traditional
    comparable = comparable_values(values, measure)
    comparable = comparable[comparable["reranker"].isin(drawn_rerankers)]
    if len(comparable):
        chart(
            kept_figure(
                view.board.key, tool_strip, leaderboard.loc[drawn_rerankers], comparable, view.palette, title
            ),
            "tools",
            f"{title} of each reranker as each tool reports it, on the range from worst to best.",
        )
    _value_table(values, drawn_rerankers)
    rows = cached.tool_rows(view, measure)
    table_head("Tool by tool", "tools", rows)
    names = sentence_names(view.rerankers)
    grid = st.grid(2, min_column_width=_REASON_WIDTH, gap="medium")
    for tool in rows[["tool", "spelling", "version", "why"]].astype(str).itertuples():
        why = elide_text(tool.why, names)
        grid.cell().markdown(tool_text(tool.tool, tool.spelling, tool.version, why))


def tool_text(tool: str, spelling: str, version: str, why: str) -> str:
    """Return Markdown of why a tool's value differs from the tied one.

    Args:
        tool: its name.
        spelling: what it calls the measure.
        version: whose figures are matched.
        why: what it does otherwise.
    """
    tool, spelling, version, why = map(escape_markdown, (tool, spelling, version, why))
    return f"**{tool}** {version} · {spelling}  \n:small[{why}]"


def _value_table(values: pd.DataFrame, drawn_rerankers: pd.Index) -> None:
    """Draw a row a reranker, a column for the tools that agree on all of them."""
    rows = by_reranker(values)
    columns = {
        ", ".join(tools): st.column_config.NumberColumn(
            clipped(tools[0].partition(" · ")[0], _HEAD_COLUMNS) + f" +{len(tools) - 1}" * (len(tools) > 1),
            format="%.4f",
            help="  \n".join(tools),
        )
        for tools in rows.columns
    }
    rows = rows.set_axis(list(columns), axis=1)
    table(
        rows.loc[drawn_rerankers.intersection(rows.index, sort=False)].rename_axis("reranker").reset_index(),
        "Reranker by reranker",
        "tools-by-reranker",
        shown_columns("reranker") | columns,
        download=rows.reset_index(),
        explanation="Tools that agree on every reranker share a column; hover over its head to read which.",
    )
