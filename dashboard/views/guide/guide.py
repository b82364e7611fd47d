"""Guide: what ties do to a score, and every formula, measure, tool, finding and format in plain words."""

import streamlit as st

from dashboard import controls
from dashboard.choices import View
from dashboard.views.guide import examples, topics

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


def show(_: View) -> None:
    """Draw the topic that is chosen."""
    st.title("Guide", anchor=False)
    if topic := EARLIER.get(controls.asked_text("section") or ""):
        controls.set_value("section", topic)
    TOPICS[controls.segmented("Topic", list(TOPICS), "section", label_visibility="collapsed")]()
