"""Sections of the page Ties vs gap: one mark a list, and the lists with the largest gap."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.gaps.gap_panels import gap_panels
from dashboard.session.address import get_open_list, set_open_list
from dashboard.session.controls import clicked_row
from dashboard.widgets.columns import MOST_WRITTEN, deviation_columns, gap_columns
from dashboard.widgets.components import clickable_chart, table
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import ROWS_IN_TABLE, shown_rows
from dashboard.widgets.list_panel import list_panel
from dashboard.widgets.page_body import section
from metrics.support.shown_columns import shown_columns


@section("Ties against gaps")
def gap_chart(view: session.View, lists: pd.DataFrame, first: str, second: str) -> None:
    """Draw one mark a list; below, the list whose mark was clicked.

    Args:
        view: what the sidebar says is shown.
        lists: as `gaps` returns them, with first_size and second_size, the sizes of the gaps.
        first: the first measure.
        second: the second measure.
    """
    panels = st.container()
    st.caption(
        "Shaded cells hold four lists or more, stronger is more; dots are single lists; the grey strip is "
        "the share of lists without any gap. Line: mean with its 95% band. Click a dot to open its list."
    )
    if (row := clicked_row("gap-panels")) is not None and row in lists.index:
        set_open_list(lists.loc[row, "reranker"], lists.loc[row, "query_id"])
    reranker, query = get_open_list()
    open_rows = lists.index[(lists["reranker"] == reranker) & (lists["query_id"] == query)]
    open_row = int(open_rows[0]) if len(open_rows) else None
    with panels:
        clickable_chart(
            kept_figure(view.board.key, gap_panels, lists, view.palette, (first, second), open_row),
            "gap-panels",
            f"Tie ratio and largest tie against the gap in {first} and in {second}, the distribution of "
            "gaps, and one gap against the other.",
            wide=640,
        )
    if open_row is not None and reranker and query:
        list_panel(view, reranker, query, (first, second))


@section("The table of rerankers")
def summary_table(summary: pd.DataFrame, first: str, second: str) -> None:
    """Draw what the notebook prints of its lists, of all lists together and of each reranker.

    Args:
        summary: as `list_summary` returns it.
        first: the first measure.
        second: the second measure.
    """
    table(
        summary,
        "",
        "gap-summary",
        shown_columns("reranker", "tie_ratio")
        | gap_columns("first", first)
        | gap_columns("second", second)
        | shown_columns(("n", "n_lists"), "with_ties", "with_ties_share", "max_tie_size")
        | deviation_columns({"first_gap_std": f"|{first} gap|", "second_gap_std": f"|{second} gap|"})
        | shown_columns("max_tie_size_mean", "tie_size_mean"),
        download=summary.rename(columns=lambda name: _spelled_out(name, first, second)),
    )
    st.caption(
        "|gap|: absolute gap of a list. SD: standard deviation over lists. r: Pearson correlation with the gap."
    )


@section("Largest gaps")
def largest_gaps_table(lists: pd.DataFrame, first: str, second: str) -> None:
    """Draw the lists with the largest gap in the first measure, and a download of all.

    Args:
        lists: as `gaps` returns them, with first_size and second_size, the sizes of the gaps.
        first: the first measure.
        second: the second measure.
    """
    row_range = shown_rows(len(lists), "largest", ROWS_IN_TABLE, MOST_WRITTEN)
    ordered = row_range.of(lists.sort_values("first_size", ascending=False, kind="stable"))
    table(
        ordered,
        "Lists with the largest gap",
        "gaps",
        shown_columns(
            *("query_id", ("first_gap", "measure_gap"), "reranker", "tie_ratio", "max_tie_size"),
            ("first_traditional", "traditional"),
            ("first_tied", "tied"),
            traditional=first,
            tied=f"Tied {first}",
            measure=first,
        )
        | shown_columns(("second_gap", "measure_gap"), measure=second),
        download=lambda: lists.drop(columns=["first_size", "second_size"]).rename(
            columns=lambda name: _spelled_out(name, first, second)
        ),
        explanation=row_range.left_out(),
    )
    row_range.buttons()


def _spelled_out(column: str, first: str, second: str) -> str:
    """Return the name of a column with its measure for a prefix."""
    prefix, separator, quantity = column.partition("_")
    measure = {"first": first, "second": second}.get(prefix)
    return column if measure is None else measure + separator + quantity
