"""Guide: what ties do to a score, and every formula, measure, tool, finding and format in plain words."""

import streamlit as st

from dashboard import session
from dashboard.views.lab.guide.sections import SECTIONS


def show(view: session.View) -> None:
    """Draw the section that is chosen."""
    st.title("Guide", anchor=False)
    section = session.segmented("Section", list(SECTIONS), "section", label_visibility="collapsed")
    SECTIONS[section]()
