"""Rerankers: what each scores by one order of its ties, over every order, and where the two part."""

import streamlit as st

from dashboard import session
from dashboard.session.scoring import choose_relevant_from
from dashboard.views.explore.rerankers.cached import gaps_and_summary
from dashboard.views.explore.rerankers.comparisons import baseline_comparison
from dashboard.views.explore.rerankers.likeness import likeness_section
from dashboard.views.explore.rerankers.panels import gap_panels, rows_chart
from dashboard.views.explore.rerankers.readings import readings_section
from dashboard.views.explore.rerankers.summary import summary_table
from dashboard.widgets.components import finding
from dashboard.widgets.first_rows import shown_rows
from metrics import parse
from metrics.measures import question
from metrics.studies.leaderboard.rerankers import reranker_finding
from metrics.studies.tools.tie_rules import own_rule_note

SCORES, SUMMARY, TIES = "Scores", "Summary", "Gap against tie ratio"
BASELINE, READINGS, ALIKE = "Against the baseline", "MRR beside MAP", "Who copies whom"


def show(view: session.View) -> None:
    """Draw score, ties and gap of each reranker."""
    st.title("Rerankers", anchor=False)
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = session.measure()
        choose_relevant_from(view.board)
        sort = session.segmented("Sort by", ("tied", "traditional", "tie ratio", "gap"), "sort")
    several = [BASELINE, READINGS, ALIKE] if len(view.rerankers) > 1 else [READINGS]
    section = session.segmented(
        "Section", [SCORES, SUMMARY, TIES, *several], "section", label_visibility="collapsed"
    )
    row_range = shown_rows(len(view.rerankers))
    name = chosen = parse(measure)
    second = "Hits@5" if measure != "Hits@5" else "RR"
    if chosen.measure.answers:
        name, second = question(chosen), measure
    first = str(name)
    lists, summary = gaps_and_summary(view, first, second, view.traditional)
    sort_columns = {"tied": "first_tied", "traditional": "first_traditional", "gap": "first_gap"}
    summary = summary.sort_values(sort_columns.get(sort, "tie_ratio"), ascending=False, kind="stable")
    with verdict:
        finding((*own_rule_note(measure), *reranker_finding(summary, name.traditional)), view.rerankers)
    drawn_rows = row_range.of(summary)
    if section == SUMMARY:
        summary_table(summary, (name, parse(second)))
    elif section == TIES:
        gap_panels(view, drawn_rows.index, lists, first)
    elif section == BASELINE:
        baseline_comparison(view, measure, row_range.n_shown)
    elif section == ALIKE:
        likeness_section(view, drawn_rows.index)
    elif section == READINGS:
        readings_section(view)
    else:
        rows_chart(view, drawn_rows, lists, name.traditional)
    if section not in (SUMMARY, READINGS):
        row_range.buttons()
