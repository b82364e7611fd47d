"""The section on other tools: what they would report for the same files, and why."""

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.cache import ShownBoard, board_turn, segments
from dashboard.charts.labels import clipped
from dashboard.charts.leaderboard import tool_strip
from dashboard.charts.palette import Palette
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.columns import Columns
from dashboard.widgets.components import chart, heading, section_finding, table_head, table_rows
from dashboard.widgets.figures import kept_elements
from dashboard.widgets.sections import section
from metrics import parse
from metrics.studies.emulation import by_reranker, comparable_values, tool_finding, tool_values
from metrics.support.shown_columns import shown_columns

_HEAD_COLUMNS = 16
"""Columns of a tool's name at the head of its values."""


@cached_by_key(show_spinner="Asking what other tools would say …", max_entries=16)
def tool_table(view: ShownBoard, measure: str, rerankers: tuple[str, ...]) -> pd.DataFrame:
    """Return what each tool would report for a measure of some rerankers."""
    owners = segments(view.board)
    queries = set(owners.index[owners.isin(view.segments)]) if view.segments else None
    with board_turn(view.board):
        return tool_values(view.board.runs, measure, rerankers, view.scoring, queries)


@section("What other tools would say")
def tools_section(view: View, leaderboard: pd.DataFrame, measure: str, drawn_rerankers: pd.Index) -> None:
    """Draw every tool's value on the range the ties allow, and tables of the values and the reasons."""
    heading(
        "What other tools would say",
        "The same files, scored as each tool breaks ties, holds scores and treats missing queries; relevant "
        f"from grade {view.scoring.relevant_from:g}.",
    )
    names = tuple(map(str, drawn_rerankers))
    if not names:
        return
    values = tool_table(view, measure, names)
    if not len(values):
        st.caption(
            f"No tool known here computes {escape_markdown(measure)} in a way that can be told from its code."
        )
        return
    key, rerankers, drawn_rows = view.board.key, view.rerankers, leaderboard.loc[drawn_rerankers]
    kept_elements(key, _draw_strip, values, measure, drawn_rows, rerankers, view.palette)
    if len(names) < len(view.rerankers):
        st.caption("The sentence is about the rerankers shown. The CSV has all.")
    table_head("Reranker by reranker", "tools-by-reranker", partial(_downloaded_values, view, measure))
    kept_elements(key, _draw_values, values, drawn_rerankers)


def _draw_strip(
    values: pd.DataFrame, measure: str, leaderboard: pd.DataFrame, rerankers: list[str], palette: Palette
) -> None:
    """Say how far tools are apart, and draw it of the rerankers of a leaderboard."""
    section_finding(tool_finding(values, measure), rerankers)
    comparable = comparable_values(values, measure)
    comparable = comparable[comparable["reranker"].isin(leaderboard.index)]
    if len(comparable):
        title = parse(measure).traditional
        chart(
            tool_strip(leaderboard, comparable, palette, title),
            "tools",
            f"{title} of each reranker as each tool reports it, on the range from worst to best.",
        )


def _value_columns(values: pd.DataFrame) -> tuple[pd.DataFrame, Columns]:
    """Return a row a reranker, a column for the tools that agree on all of them, and how these are shown."""
    rows = by_reranker(values)
    columns = {
        ", ".join(tools): st.column_config.NumberColumn(
            clipped(tools[0].partition(" · ")[0], _HEAD_COLUMNS) + f" +{len(tools) - 1}" * (len(tools) > 1),
            format="%.4f",
            help="  \n".join(tools),
        )
        for tools in rows.columns
    }
    return rows.set_axis(list(columns), axis=1), columns


def _downloaded_values(view: View, measure: str) -> pd.DataFrame:
    return _value_columns(tool_table(view, measure, tuple(view.rerankers)))[0].reset_index()


def _draw_values(values: pd.DataFrame, drawn_rerankers: pd.Index) -> None:
    st.caption("Tools that agree on every reranker share a column; hover over its head to read which.")
    rows, columns = _value_columns(values)
    drawn_rows = rows.loc[drawn_rerankers.intersection(rows.index, sort=False)]
    table_rows(
        drawn_rows.rename_axis("reranker").reset_index(),
        "tools-by-reranker",
        {**shown_columns("reranker"), **columns},
    )
