"""Guide: what ties do to a score, and every formula, measure, tool, finding and format in plain words."""

import streamlit as st

from dashboard import controls
from dashboard.choices import View
from dashboard.views.lab.guide.sections import SECTIONS


def show(view: View) -> None:
    """Draw the section that is chosen."""
    st.title("Guide", anchor=False)
    section = controls.segmented("Section", list(SECTIONS), "section", label_visibility="collapsed")
    SECTIONS[section]()
