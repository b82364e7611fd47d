"""Simulator: what ties do to lists nobody ranked, and what fewer digits would do to your own."""

import streamlit as st

from dashboard import session
from dashboard.views.lab.simulator.many_lists import many_lists
from dashboard.views.lab.simulator.number_formats import number_formats
from dashboard.views.lab.simulator.small_list import notebook_list, small_list

SMALL, NOTEBOOK, MANY, ROUNDING = "Small list", "Notebook", "Many lists", "Rounding"


def show(view: session.View) -> None:
    """Draw what ties do to one list, to many, and to the board's own in fewer digits."""
    st.title("Simulator", anchor=False)
    section = session.segmented(
        "Section", [SMALL, NOTEBOOK, MANY, ROUNDING], "section", label_visibility="collapsed"
    )
    if section == NOTEBOOK:
        notebook_list()
    elif section == MANY:
        many_lists()
    elif section == ROUNDING:
        number_formats(view)
    else:
        small_list()
