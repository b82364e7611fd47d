"""Queries: one list, every order its scores allow."""

import streamlit as st

from dashboard import session
from dashboard.views.explore.query import sections, tables
from dashboard.views.explore.query.choice import choose_list
from dashboard.widgets.components import finding, side_by_side
from metrics.studies.one_list.query import query_finding

RANKS, PERMUTATIONS, VALUES, DOCUMENTS = "Ranks", "Permutations", "Worked values", "Documents"


def show(view: session.View) -> None:
    """Draw one list in every order its scores allow."""
    current = choose_list(view)
    finding(
        query_finding(
            current.rows, current.chances, current.value, current.measure, view.traditional, current.written
        ),
        view.rerankers,
    )
    sections.four_values(current)
    if not len(current.rows):
        st.info("The run has no documents for this query.", icon=":material/info:")
        return
    sections.list_section(current)
    section = session.segmented(
        "Section", [RANKS, PERMUTATIONS, VALUES, DOCUMENTS], "section", label_visibility="collapsed"
    )
    if section == PERMUTATIONS:
        tables.orders_table(current)
    elif section == VALUES:
        tables.values_table(current)
    elif section == DOCUMENTS:
        tables.documents_table(current)
    else:
        wide, narrow = side_by_side(3, 2, "landing")
        with wide:
            sections.landing_section(current)
        with narrow:
            sections.histogram_section(current)
            sections.first_rank_section(current)
