"""Query explorer: one list, every order its scores allow."""

import streamlit as st

from dashboard import session
from dashboard.views.query import sections as parts
from dashboard.views.query import tables
from dashboard.widgets.components import finding, page_head
from dashboard.widgets.one_list import choose_list
from metrics.studies.one_list.query import query_finding

view = session.view()
page_head(
    "Query explorer",
    "One list, every order its scores allow. Documents inside a bracket share a score: any order within "
    "it is as valid as the one you saw.",
)
one = choose_list(view)
finding(query_finding(one.rows, one.chances, one.value, one.measure, view.traditional, one.written))
parts.four_values(one)
if len(one.rows):
    parts.the_list(one)
    left, right = st.columns([3, 2], gap="large")
    with left:
        parts.landings(one)
    histogram = right.container()
    with right:
        parts.first_ranks(one)
    left, right = st.columns([2, 3], gap="large")
    parts.spread(one, histogram, left)
    with right:
        tables.values_table(one)
    tables.documents_table(one)
    tables.orders_table(one)
else:
    st.info("The run has no documents for this query.", icon=":material/info:")
