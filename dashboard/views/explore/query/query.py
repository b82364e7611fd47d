"""Query explorer: one list, every order its scores allow."""

import streamlit as st

from dashboard import session
from dashboard.views.explore.query import sections, tables
from dashboard.views.explore.query.choice import choose_list
from dashboard.widgets.components import finding, side_by_side
from dashboard.widgets.page_body import page_body
from metrics.studies.one_list.query import query_finding


@page_body
def query_explorer() -> None:
    """Draw one list in every order its scores allow."""
    view = session.view()
    current = choose_list(view)
    finding(
        query_finding(
            current.rows, current.chances, current.value, current.measure, view.traditional, current.written
        ),
        view.rerankers,
    )
    sections.four_values(current)
    if len(current.rows):
        sections.list_section(current)
        wide, narrow = side_by_side(3, 2, "landing")
        with wide:
            sections.landing_section(current)
        histogram = narrow.container()
        with narrow:
            sections.first_rank_section(current)
        narrow, wide = side_by_side(2, 3, "sampling")
        sections.ordering_sections(current, histogram, sampling=narrow)
        with wide:
            tables.values_table(current)
        tables.documents_table(current)
        tables.orders_table(current)
    else:
        st.info("The run has no documents for this query.", icon=":material/info:")


query_explorer()
