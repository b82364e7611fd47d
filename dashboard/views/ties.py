"""Ties vs gap: the gap of a list against its tie ratio."""

import pandas as pd
import streamlit as st

from dashboard import choices, controls
from dashboard.cache import ShownBoard, cached
from dashboard.charts.ties_vs_gap import gap_panels, gap_scatter, tie_size_bars
from dashboard.choices import Selection, View, choose_relevant_from
from dashboard.controls import clicked_row
from dashboard.widgets import components as ui
from dashboard.widgets.columns import MOST_WRITTEN, deviation_columns, measures_in_names
from dashboard.widgets.components import section
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import ROWS_IN_TABLE, shown_rows
from dashboard.widgets.one_list import largest_gaps_table, list_panel
from metrics import parse
from metrics.measures import with_gains
from metrics.studies.gaps import gap_finding, gap_summary, gaps, gaps_by_measure, tie_size_counts, with_overall
from metrics.studies.tie_rules import own_rule_note
from metrics.support.shown_columns import shown_columns

GAPS, MEASURES, SIZES = "Gaps", "Other measures", "Tie sizes"


def show(selection: Selection) -> None:
    """Draw the page."""
    st.title("Ties vs gap", anchor=False)
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first = choices.measure("First measure", "first")
        choose_relevant_from(selection.board)
        is_signed = controls.segmented("Gap", ("absolute", "signed"), "gap") == "signed"
        kind = controls.segmented("Lists", ("all", "with ties"), "lists")
    section = controls.choose_section([GAPS, MEASURES, SIZES])
    view = selection.score(first)
    all_lists = gaps(view.evaluation, {"first": first}, view.traditional)
    is_shown = all_lists["tie_ratio"] > (-1 if kind == "all" else 0)
    with verdict:
        ui.finding(gap_finding(all_lists, first), view.rerankers)
    if section == MEASURES:
        other_measures(view)
    elif section == SIZES:
        size_section(view, first, all_lists[is_shown])
    else:
        gap_section(selection, first, is_shown, is_signed=is_signed)


@section("Ties against gaps")
def gap_section(selection: Selection, first: str, is_shown: "pd.Series[bool]", *, is_signed: bool) -> None:
    """Draw the gap of each list against its ties, and the list whose mark was clicked."""
    above = st.container()
    second = choices.measure("Second measure", "second", "Hits@3")
    measures, view = (first, second), selection.score(first, second)
    lists = gaps(view.evaluation, {"first": first, "second": second}, view.traditional)[is_shown]
    if not lists[["first_gap", "second_gap"]].any(axis=None):
        above.info(
            f"There is nothing to draw: no list has a gap in {first} or {second}.", icon=":material/check:"
        )
        return
    if note := own_rule_note(second):
        ui.section_finding(note)
    if (row := clicked_row("gap-scatter")) is not None and row in lists.index:
        controls.choices().open_list = (lists.loc[row, "reranker"], lists.loc[row, "query_id"])
    reranker, query = controls.choices().open_list
    open_rows = lists.index[(lists["reranker"] == reranker) & (lists["query_id"] == query)]
    open_row = int(open_rows[0]) if len(open_rows) else None
    palette = view.palette
    with above:
        ui.clickable_chart(
            kept_figure(gap_scatter, lists, palette, first, open_row, is_signed=is_signed),
            "gap-scatter",
            f"Tie ratio of each list against its gap in {first}, and the distribution of gaps.",
            wide=640,
        )
        st.caption(
            "Shaded: four lists or more. Dot: one list, click to open it. Grey strip: share of lists without "
            "a gap. Line: mean with 95% band."
        )
        if open_row is not None and reranker and query:
            list_panel(view, reranker, query, measures)
    ui.chart(
        kept_figure(gap_panels, lists, palette, measures, open_row, is_signed=is_signed),
        "gap-panels",
        f"Largest tie against the gaps in {first} and {second}, the tie ratio against the gap in {second}, "
        "and one gap against the other.",
        wide=640,
    )
    row_range = shown_rows(len(lists), "largest", ROWS_IN_TABLE, MOST_WRITTEN)
    largest_gaps_table(lists, first, "gaps", row_range.n_shown, second, explanation=row_range.rows_note())
    row_range.buttons()


@section("Other measures")
def other_measures(view: View) -> None:
    """Draw the gaps in every measure."""
    names = tuple(name for name in view.evaluation.measures if not parse(name).measure.answers)
    ui.table(
        view.study(gaps_by_measure, names, view.traditional).reset_index().assign(measure=with_gains(names)),
        "",
        "gap-measures",
        shown_columns("measure", "gap_mean")
        | deviation_columns({"gap_std": "|gap|"})
        | shown_columns("gap_max", "lists_with_gap", "r_ratio", "r_size", measure="|gap|"),
    )
    st.caption(
        "All lists of all rerankers. |gap|: absolute gap of a list. SD: standard deviation over lists. "
        "r: Pearson correlation."
    )


@cached(max_entries=8)
def _size_counts(view: ShownBoard) -> pd.DataFrame:
    """Return the number of ties by size."""
    return tie_size_counts({name: view.ranking(name) for name in view.rerankers}, view.evaluation.lists)


@section("Tie sizes")
def size_section(view: View, first: str, lists: pd.DataFrame) -> None:
    """Draw the number of ties by size, and the ties of each reranker."""
    counts = _size_counts(view)
    if len(counts):
        ui.chart(tie_size_bars(counts, view.palette), "tie-sizes", "Number of ties of each size.")
    if not len(lists):
        return
    summary = with_overall(gap_summary(lists), lists).reset_index()
    ui.table(
        summary,
        "Ties of each reranker",
        "tie-sizes",
        shown_columns(
            *("reranker", "tie_ratio", ("n", "n_lists"), "with_ties", "with_ties_share", "tie_groups"),
            *("max_tie_size", "max_tie_size_mean"),
        ),
        measures_in_names(summary, first),
    )
