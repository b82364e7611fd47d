"""Findings, one container a severity: what, where, what to do, and a way to do it where there is one."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.library import Board, BoardSpec
from dashboard.widgets.components import Colour, heading

_BADGES: dict[str, tuple[str, Colour, str]] = {
    "error": ("error", "red", "settle it before you trust a score"),
    "warning": ("warning", "orange", "scored, with what is said here"),
    "info": ("info", "blue", "for the record"),
}
_MAX_LINES = 30


def finding_cards(board: Board, findings: pd.DataFrame) -> None:
    """The findings of a board, the gravest first."""
    heading("Findings", "Nothing is dropped or changed without a line here.")
    if not len(findings):
        st.markdown(":material/check: Every row was read, every query is judged, nothing stands out.")
        return
    counts = findings["severity"].value_counts()
    options = ["All", *(name for name in _BADGES if name in counts)]
    severity_shown = session.segmented("Show", options, "severity") if len(options) > 2 else "All"  # noqa: PLR2004 one is no choice
    for severity, (icon, colour, note) in _BADGES.items():
        group = findings[findings["severity"] == severity]
        if len(group) and severity_shown in ("All", severity):
            with st.container(border=True):
                with st.container(horizontal=True, vertical_alignment="center"):
                    plural = "s" * (len(group) > 1 and severity != "info")
                    st.badge(f"{len(group)} {severity}{plural}", icon=f":material/{icon}:", color=colour)
                    st.caption(note)
                _lines(board, group)


def _lines(board: Board, group: pd.DataFrame) -> None:
    for number, row in group.head(_MAX_LINES).iterrows():
        provenance = f"`{str(row['file']).replace('`', ' ')}`"
        if pd.notna(row["line"]):
            provenance += f"  \n:gray[line {row['line']}]"
        message, place, fix = st.columns([6, 3, 2], vertical_alignment="center")
        message.markdown(f"{escape_markdown(row['message'])}  \n:gray[{escape_markdown(row['hint'])}]")
        place.markdown(provenance)
        with fix:
            _fix(board, str(row["code"]), int(str(number)))
    if len(group) > _MAX_LINES:
        st.caption(f"And {len(group) - _MAX_LINES} more.")


def _fix(board: Board, code: str, number: int) -> None:
    """A button that changes what was done, where something can be."""
    if code == "rows-dropped":
        other = "max" if board.spec.repeated == "first" else "first"
        label = {"max": "Keep highest", "first": "Keep first"}[other]
        if st.button(label, key=f"fix-{number}"):
            session.rebuild_board(BoardSpec(board.spec.entries, "max" if other == "max" else "first"))
