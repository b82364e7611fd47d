"""Share: one file to send, slides, and the command that makes the same file."""

import streamlit as st

from dashboard import choices
from dashboard.choices import View
from dashboard.views.share.options import choose_options
from dashboard.views.share.preview import board_report, preview_and_export, target_sections
from dashboard.widgets.browser import offer_link
from dashboard.widgets.components import finding


def show(view: View) -> None:
    """Draw the report, and the ways to send it."""
    st.title("Share", anchor=False)
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        measure = choices.measure()
        choices.choose_relevant_from(view.board)
        options = choose_options(view, measure)
        st.page_link("views/present/present.py", label="Present", icon=":material/slideshow:", width="content")
        with st.container(width=140):
            offer_link("share-link")
    report = board_report(view.board, repr(options), options)
    with verdict:
        finding(report.conclusion, view.rerankers)
    preview_and_export(view, report, options)
    if options.targets:
        target_sections(view, report.studies)
