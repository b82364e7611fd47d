"""Data: upload files, check how they were read, and manage kept ones."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import boards, cache, choices, controls, pages
from dashboard.choices import Selection
from dashboard.library.boards import Board, join_runs
from dashboard.views.data.files import board_panel, file_cards, finding_cards
from dashboard.views.data.library import uploads_section
from dashboard.views.data.upload import board_finding, columns_and_rows, results_line, upload_field
from dashboard.widgets.components import columns_line, finding, section
from metrics import Runs

FILES, COLUMNS, RERANKERS, LIBRARY = "Files", "Columns", "Rerankers", "Library"


def show(selection: Selection) -> None:
    """Draw the page."""
    board = selection.board
    section = controls.choose_section([FILES, COLUMNS, RERANKERS, LIBRARY])
    if section == COLUMNS:
        columns_and_rows(board)
    elif section == RERANKERS:
        arrange(board, selection.rerankers)
    elif section == LIBRARY:
        uploads_section(selection)
    else:
        if upload_field(selection):
            return
        finding(board_finding(board))
        page = pages.LEADERBOARD if board.runs.is_judged else pages.RERANKERS
        if st.button("See results", icon=f":material/{page.icon}:", type="primary", key="see-results"):
            st.switch_page(page.file)
        results_line(board)
        findings = cache.findings(board, selection.scoring.relevant_from)
        columns_line(findings)
        file_cards(board, findings)
        finding_cards(board, findings)
        board_panel(selection)


@section("The names of rerankers")
def arrange(board: Board, rerankers: Sequence[str]) -> None:
    """Draw a table to rename, reorder and leave out rerankers, and the choice of the baseline."""
    st.caption("Rename, reorder or untick rerankers.")
    rows = _reranker_rows(board)
    edited = st.data_editor(
        rows,
        hide_index=True,
        disabled=["file", "rows", "queries"],
        column_config=_column_config(),
        key=f"arrange-{board.spec.key[:12]}",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choices.choose_baseline(
            rerankers, width=320, help="All other rerankers are compared with the baseline."
        )
        changed = not edited.equals(rows)
        if st.button("Apply", type="primary", disabled=not changed, key="arrange"):
            kept = edited[edited["shown"]].sort_values("order", kind="stable")
            names = tuple((str(first), str(name).strip()) for first, name in kept["name"].items())
            boards.rebuild_board(replace(board.spec, names=names, title=""))


@cache.cached(max_entries=4)
def every_run(board: Board) -> Runs:
    """Return all runs of a board's files, also those that it leaves out."""
    return join_runs(replace(board.spec, names=None), board.sources)


def _reranker_rows(board: Board) -> pd.DataFrame:
    """Return the rerankers by their names in the files, those that are left out last."""
    runs = board.runs if board.spec.names is None else every_run(board)
    shown = dict(board.spec.names or zip(runs.tables, runs.tables, strict=True))
    names = list(dict.fromkeys([*shown, *runs.tables]))
    return pd.DataFrame(
        {
            "shown": [name in shown for name in names],
            "order": range(1, len(names) + 1),
            "name": [shown.get(name, name) for name in names],
            "file": [runs.origins[name].file for name in names],
            "rows": [len(runs.tables[name]) for name in names],
            "queries": [len(runs.queries[name]) for name in names],
        },
        index=names,
    )


def _column_config() -> dict[str, Any]:
    return {
        "shown": st.column_config.CheckboxColumn(
            "Shown", width="small", help="Untick to leave out the reranker."
        ),
        "order": st.column_config.NumberColumn(
            "Order", width="small", required=True, help="Position on every page, lowest first."
        ),
        "name": st.column_config.TextColumn(
            "Name", required=True, max_chars=200, help="Name on every page and in downloads."
        ),
        "file": st.column_config.TextColumn("File", help="File with the reranker's rows."),
        "rows": st.column_config.NumberColumn(
            "Rows", format="localized", help="Number of documents in the reranker's lists."
        ),
        "queries": st.column_config.NumberColumn(
            "Queries", format="localized", help="Number of queries for which the reranker has a list."
        ),
    }
