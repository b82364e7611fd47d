"""Share: one file to send, slides, and the command that makes the same file."""

import streamlit as st

from dashboard import choices
from dashboard.choices import View, choose_relevant_from
from dashboard.views.lab.share.cached import board_report
from dashboard.views.lab.share.options import choose_options
from dashboard.views.lab.share.sections import preview_and_export
from dashboard.views.lab.share.targets import target_sections
from dashboard.widgets.components import finding


def show(view: View) -> None:
    """Draw the report, and the ways to send it."""
    st.title("Share", anchor=False)
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        measure = choices.measure()
        choose_relevant_from(view.board)
        st.page_link("views/lab/present/present.py", label="Present", icon=":material/slideshow:")
    options = choose_options(view, measure)
    report = board_report(view.board, repr(options), options)
    with verdict:
        finding(report.recommendation, view.rerankers)
    preview_and_export(view, report, options)
    if options.targets:
        target_sections(view, report.studies)
