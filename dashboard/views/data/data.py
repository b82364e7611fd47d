"""Data: upload files, check how they were read, and manage kept ones."""

import streamlit as st

from dashboard import cache, controls
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.views.data.columns import columns_and_rows
from dashboard.views.data.files import board_panel, file_cards, finding_cards
from dashboard.views.data.library import uploads_section
from dashboard.views.data.over_time import list_by_list, over_time
from dashboard.views.data.rerankers import arrange, offer_repeats
from dashboard.views.data.upload import board_finding, results_line, upload_field
from dashboard.widgets.components import finding

FILES, COLUMNS, RERANKERS, LIBRARY = "Files", "Columns", "Rerankers", "Library"


def show(view: View) -> None:
    """Draw the page."""
    st.title("Data", anchor=False)
    board = view.board
    section = controls.choose_section([FILES, COLUMNS, RERANKERS, LIBRARY])
    if section == COLUMNS:
        columns_and_rows(board)
    elif section == RERANKERS:
        offer_repeats(board)
        arrange(board)
    elif section == LIBRARY:
        list_by_list(view, over_time(view, uploads_section(view)))
    else:
        upload_field(view)
        finding(board_finding(board))
        if st.button("See results", icon=":material/leaderboard:", type="primary", key="see-results"):
            st.switch_page("views/leaderboard.py")
        results_line(board)
        if named := cache.lookalike_text(board):
            st.caption(f":material/database: {escape_markdown(named)}")
        findings = cache.findings(board)
        file_cards(board, findings, view.palette)
        finding_cards(board, findings)
        board_panel(view)
