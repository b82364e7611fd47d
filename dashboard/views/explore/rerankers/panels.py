"""The charts of the page: a row a reranker, and a panel a reranker."""

import pandas as pd
import streamlit as st

from dashboard.charts.aligned_rows import aligned_rows
from dashboard.charts.gaps.gap_multiples import ACROSS, FEW_ROWS, gap_multiples
from dashboard.session import View
from dashboard.widgets.components import chart, heading
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.page_body import section


@section("Scores, ties and gaps")
def rows_chart(view: View, rows: pd.DataFrame, lists: pd.DataFrame, measure: str) -> None:
    """Draw scores with their bounds, ties and gaps, a row a reranker.

    Args:
        view: what the sidebar says is shown.
        rows: of `aligned_rows`, those that are drawn.
        lists: gaps of all lists.
        measure: what they are of.
    """
    heading(
        "Score, ties and gap, reranker by reranker",
        "Right: lists with a gap, orange where the traditional value is too high, grey where it is too low.",
    )
    chart(
        kept_figure(view.board.key, aligned_rows, rows, lists, view.palette, measure),
        "rerankers",
        f"{measure} with tie bounds, mean tie ratio and distribution of gaps of each reranker.",
        wide=640,
    )


@section("Ties against gaps")
def gap_panels(view: View, names: pd.Index, lists: pd.DataFrame, measure: str) -> None:
    """Draw the gap of each list against its ties, a panel a reranker.

    Args:
        view: what the sidebar says is shown.
        names: rerankers that are drawn.
        lists: gaps of all lists.
        measure: what they are of.
    """
    st.caption("Each dot is a list; grey repeats the lists of all rerankers. The line is the mean gap.")
    colours = {str(reranker): view.colour(str(reranker)) for reranker in names}
    chart(
        kept_figure(view.board.key, gap_multiples, lists, view.palette, colours, measure),
        "gap-multiples",
        f"{measure} gap against tie ratio, a panel a reranker, and their means together.",
        wide=670 if len(colours) < ACROSS * FEW_ROWS else 820,
    )
