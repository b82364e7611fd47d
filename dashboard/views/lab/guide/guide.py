"""Guide: what ties do to a score, and every formula, measure, tool, finding and format in plain words."""

import streamlit as st

from dashboard import session
from dashboard.session import address
from dashboard.views.lab.guide import examples, topics
from dashboard.widgets.page_body import page_body

TOPICS = {
    "One minute": examples.one_minute,
    "Words": topics.words,
    "Formulas": topics.formulas,
    "Noise": examples.noise,
    "Measures": topics.measures,
    "Deciding": topics.deciding,
    "Tools": topics.tools,
    "Files": topics.files,
    "Library": topics.library,
    "Documents": topics.documents,
}
# Topics of earlier links, and the one that has what they showed.
EARLIER = {"Findings": "Files", "Large results": "Library", "Notebook": "Documents"}


@page_body
def guide() -> None:
    """Draw the topic that is chosen."""
    st.title("Guide", anchor=False)
    if topic := EARLIER.get(address.requested("section") or ""):
        session.set_value("section", topic)
    TOPICS[session.segmented("Topic", list(TOPICS), "section", label_visibility="collapsed")]()


guide()
