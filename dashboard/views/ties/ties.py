"""Ties vs gap: does the share of tied documents predict how far a traditional score is off?"""

import pandas as pd
import streamlit as st

from dashboard import choices, controls
from dashboard.charts.ties_vs_gap import gap_panels, gap_scatter
from dashboard.choices import View, choose_relevant_from
from dashboard.controls import clicked_row, get_open_list, set_open_list
from dashboard.views.ties.measures import other_measures
from dashboard.views.ties.sizes import cost_section, size_section
from dashboard.widgets.columns import MOST_WRITTEN
from dashboard.widgets.components import (
    chart,
    clickable_chart,
    finding,
    follow_old_section,
    section_finding,
    table,
)
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import ROWS_IN_TABLE, shown_rows
from dashboard.widgets.list_panel import list_panel
from dashboard.widgets.sections import section
from metrics.studies.gaps import gap_finding, gaps
from metrics.studies.tie_rules import own_rule_note
from metrics.support.shown_columns import shown_columns

GAPS, MEASURES, SIZES, COST = "Gaps", "Other measures", "Tie sizes", "Cost of all orders"


def show(view: View) -> None:
    """Draw the gap of each list against its ties."""
    st.title("Ties vs gap", anchor=False)
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first = choices.measure("First measure", "first")
        choose_relevant_from(view.board)
        is_signed = controls.segmented("Gap", ("absolute", "signed"), "gap") == "signed"
        kind = controls.segmented("Lists", ("all", "with ties"), "lists")
    follow_old_section({"Summary": MEASURES, "Largest gaps": GAPS, "Cost of every order": COST})
    section = controls.segmented(
        "Section", [GAPS, MEASURES, SIZES, COST], "section", label_visibility="collapsed"
    )
    all_lists = gaps(view.evaluation, {"first": first}, view.traditional)
    is_shown = all_lists["tie_ratio"] > (-1 if kind == "all" else 0)
    with verdict:
        finding(gap_finding(all_lists, first), view.rerankers)
    if section == MEASURES:
        other_measures(view, first)
    elif section == SIZES:
        size_section(view, all_lists[is_shown])
    elif section == COST:
        cost_section(view)
    else:
        gap_section(view, first, is_shown, is_signed=is_signed)


@section("Ties against gaps")
def gap_section(view: View, first: str, is_shown: "pd.Series[bool]", *, is_signed: bool) -> None:
    """Draw one mark a list; below the first chart, the list whose mark was clicked; then the other panels."""
    above = st.container()
    second = choices.measure("Second measure", "second", "Hits@3")
    measures = first, second
    lists = gaps(view.evaluation, {"first": first, "second": second}, view.traditional)[is_shown]
    if not lists[["first_gap", "second_gap"]].any(axis=None):
        missing = f"a gap in {first} or {second}" if lists["n_tie_groups"].any() else "a tie"
        above.info(f"No list has {missing}: there is nothing to draw.", icon=":material/check:")
        return
    if note := own_rule_note(second):
        section_finding(note)
    if (row := clicked_row("gap-scatter")) is not None and row in lists.index:
        set_open_list(lists.loc[row, "reranker"], lists.loc[row, "query_id"])
    reranker, query = get_open_list()
    open_rows = lists.index[(lists["reranker"] == reranker) & (lists["query_id"] == query)]
    open_row = int(open_rows[0]) if len(open_rows) else None
    key, palette = view.board.key, view.palette
    with above:
        clickable_chart(
            kept_figure(key, gap_scatter, lists, palette, first, open_row, is_signed=is_signed),
            "gap-scatter",
            f"Tie ratio of each list against its gap in {first}, and the distribution of gaps.",
            wide=640,
        )
        st.caption(
            "Shaded: four lists or more. Dots: single lists; click one. Grey strip: share of lists without a "
            "gap. Line: mean with its 95% band."
        )
        if open_row is not None and reranker and query:
            list_panel(view, reranker, query, measures)
    chart(
        kept_figure(key, gap_panels, lists, palette, measures, open_row, is_signed=is_signed),
        "gap-panels",
        f"Largest tie against the gaps in {first} and {second}, the tie ratio against the gap in {second}, "
        "and one gap against the other.",
        wide=640,
    )
    largest_gaps_table(lists, first, second)


@section("Largest gaps")
def largest_gaps_table(lists: pd.DataFrame, first: str, second: str) -> None:
    """Draw the lists with the largest gap in the first measure, and a download of all."""
    row_range = shown_rows(len(lists), "largest", ROWS_IN_TABLE, MOST_WRITTEN)
    order = lists["first_gap"].abs().sort_values(ascending=False, kind="stable").index
    table(
        row_range.of(lists.loc[order]),
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
        download=lambda: lists.rename(columns=lambda name: _spelled_out(name, first, second)),
        explanation=row_range.left_out(),
    )
    row_range.buttons()


def _spelled_out(column: str, first: str, second: str) -> str:
    """Return the name of a column with its measure for a prefix."""
    prefix, separator, quantity = column.partition("_")
    measure = {"first": first, "second": second}.get(prefix)
    return column if measure is None else measure + separator + quantity
