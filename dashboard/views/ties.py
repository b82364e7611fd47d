"""Ties vs gap: the gap of a list against its tie ratio."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import choices, controls
from dashboard.cache import ShownBoard, cached, drawn
from dashboard.charts.labels import short_names
from dashboard.charts.ties_vs_gap import gap_panels, gap_scatter, tie_size_bars
from dashboard.choices import Selection, View, choose_relevant_from
from dashboard.widgets import components as ui
from dashboard.widgets.columns import MOST_WRITTEN, deviation_columns, measures_in_names
from dashboard.widgets.first_rows import ROWS_IN_TABLE, shown_rows
from dashboard.widgets.one_list import largest_gaps_table, list_panel
from metrics import Evaluation, parse
from metrics.measures import with_gains
from metrics.studies.gaps import gap_finding, gap_summary, gaps, gaps_by_measure, tie_size_counts, with_overall
from metrics.studies.prose import Prose, own_rule_note, signed
from metrics.support.shown_columns import shown_columns

_OFFERED = 100
"""Lists offered to be opened, those with the largest gap."""
GAPS, PANELS, SIZES = "Gaps", "More panels", "Tie sizes"


def show(selection: Selection) -> None:
    """Draw the page."""
    verdict = st.container()
    with choices.settings_row():
        measure = choices.measure()
        choose_relevant_from(selection.board)
    section = controls.choose_section([GAPS, PANELS, SIZES])
    view = selection.score(measure)
    lists, prose = view.study(_gaps_and_finding, measure, view.traditional)
    with verdict:
        ui.finding(prose, view.rerankers, [view.conditions(measure)])
    if section == PANELS:
        panels_section(selection, measure)
        other_measures(view)
    elif section == SIZES:
        size_section(view, measure, lists)
    else:
        gap_section(view, measure, lists)


def _gaps_and_finding(evaluation: Evaluation, measure: str, traditional: str) -> tuple[pd.DataFrame, Prose]:
    """Return the gaps of all lists, and what they show."""
    lists = gaps(evaluation, {"first": measure}, traditional)
    return lists, gap_finding(lists, measure)


@ui.section("Ties against gaps")
def gap_section(view: View, measure: str, lists: pd.DataFrame) -> None:
    """Draw the gap of each list against its ties, the list whose mark was clicked, and the largest gaps."""
    if not lists["first_gap"].any():
        st.info(f"There is nothing to draw: no list has a gap in {measure}.", icon=":material/check:")
        return
    names = lists["query_id"].astype(str) + " · " + lists["reranker"].astype(str)

    def open_list(point: dict[str, Any]) -> None:
        if "customdata" in point:
            controls.set_values({"list": names[int(point["customdata"][0])]})

    place, colours = st.container(), view.colours(view.rerankers)
    open_row = _choose_list(view, lists, names)
    with place:
        ui.chart(
            drawn(gap_scatter, lists, view.palette, colours, measure, view.treatment.order, open_row),
            "gap-scatter",
            f"Tie ratio of each list against its gap in {measure}, and the mean absolute gap.",
            on_click=open_list,
        )
        st.caption("Click a dot to open its list. Click a reranker in the legend to hide it.")
    if open_row is not None:
        list_panel(view, str(lists.loc[open_row, "reranker"]), str(lists.loc[open_row, "query_id"]), measure)
    row_range = shown_rows(len(lists), "largest", ROWS_IN_TABLE, MOST_WRITTEN)
    largest_gaps_table(lists, measure, "gaps", row_range.n_shown, row_range.rows_note())
    row_range.buttons()


def _choose_list(view: View, lists: pd.DataFrame, names: "pd.Series[str]") -> int | None:
    """Draw the choice of a list with a large gap by its name, and return its row."""
    linked = names.index[names == controls.get_text("list")]
    rows = lists.loc[lists["first_gap"].abs().nlargest(_OFFERED).index.union(linked[:1], sort=False)]
    short, options = short_names(view.rerankers), {"": "a list"}
    for name, row in zip(names[rows.index], rows.itertuples(), strict=True):
        options[name] = f"{row.query_id} · {short[str(row.reranker)]} · gap {signed(row.first_gap)}"
    name = controls.select_after("Open", options, "list", width=400)
    return int(names.index[names == name][0]) if name else None


@ui.section("More panels")
def panels_section(selection: Selection, first: str) -> None:
    """Draw the notebook's panels of two measures."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        second = choices.measure("Second measure:", "second", "Hits@3")
    view = selection.score(first, second)
    if note := own_rule_note(second):
        ui.section_finding(note)
    lists = gaps(view.evaluation, {"first": first, "second": second}, view.traditional)
    if not lists[["first_gap", "second_gap"]].any(axis=None):
        text = f"There is nothing to draw: no list has a gap in {first} or {second}."
        st.info(text, icon=":material/check:")
        return
    st.caption(
        "Shaded: four lists or more. Dot: one list. Grey strip: share of lists without a gap. Line: mean with "
        "95% band."
    )
    ui.chart(
        drawn(gap_panels, lists, view.palette, (first, second)),
        "gap-panels",
        f"Tie ratio and largest tie against the absolute gaps in {first} and {second}, the distribution of the "
        f"gaps in {first}, and one gap against the other.",
        wide=760,
    )


@ui.section("Other measures")
def other_measures(view: View) -> None:
    """Draw the gaps in every measure."""
    names = tuple(name for name in view.evaluation.measures if not parse(name).measure.answers)
    ui.table(
        view.study(gaps_by_measure, names, view.traditional).reset_index().assign(measure=with_gains(names)),
        "Gaps and correlations by measure",
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


@ui.section("Tie sizes")
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
