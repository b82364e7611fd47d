"""Ties vs gap: does the share of tied documents predict how far a traditional score is off?"""

import streamlit as st

from dashboard import session
from dashboard.session.scoring import choose_relevant_from
from dashboard.views.explore.ties.argmax import argmax_section
from dashboard.views.explore.ties.cached import list_summary
from dashboard.views.explore.ties.complexity import cost_section
from dashboard.views.explore.ties.sections import (
    gap_chart,
    largest_gaps_table,
    summary_table,
)
from dashboard.widgets.components import finding, section_finding
from metrics.studies.gaps.gap import gap_finding, gaps
from metrics.studies.tools.tie_rules import own_rule_note

GAPS, SUMMARY, LARGEST, COST = "Gaps", "Summary", "Largest gaps", "Cost of every order"


def show(view: session.View) -> None:
    """Draw the gap of each list against its ties."""
    st.title("Ties vs gap", anchor=False)
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first = session.measure("First measure", "first")
        second = session.measure("Second measure", "second", "Hits@3")
        choose_relevant_from(view.board)
        kind = session.segmented("Lists", ("all", "with ties"), "lists")
    section = session.segmented(
        "Section", [GAPS, SUMMARY, LARGEST, COST], "section", label_visibility="collapsed"
    )
    all_lists = gaps(view.evaluation, {"first": first, "second": second}, view.traditional)
    with verdict:
        finding(gap_finding(all_lists, first), view.rerankers)
        if note := own_rule_note(second):
            section_finding(note)
    lists = all_lists if kind == "all" else all_lists[all_lists["tie_ratio"] > 0]
    lists = lists.assign(first_size=lists["first_gap"].abs(), second_size=lists["second_gap"].abs())
    if section == SUMMARY:
        summary_table(list_summary(view, first, second, view.traditional, kind, lists), first, second)
        argmax_section(view, first)
    elif section == LARGEST:
        largest_gaps_table(lists, first, second)
    elif section == COST:
        cost_section(view)
    elif lists[["first_gap", "second_gap"]].any(axis=None):
        gap_chart(view, lists, first, second)
    else:
        missing = f"a gap in {first} or {second}" if lists["n_tie_groups"].any() else "a tie"
        st.info(f"No list has {missing}: there is nothing to draw.", icon=":material/check:")
