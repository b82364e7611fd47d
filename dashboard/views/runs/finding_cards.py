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
_MOST = 30


def findings(board: Board, found: pd.DataFrame) -> None:
    """The findings of a board, the gravest first."""
    heading("Findings", "Nothing is dropped or changed without a line here.")
    if not len(found):
        st.markdown(":material/check: Every row was read, every query is judged, nothing stands out.")
        return
    counts = found["severity"].value_counts()
    options = ["All", *(name for name in _BADGES if name in counts)]
    chosen = session.segmented("Show", options, "severity") if len(options) > 2 else "All"  # noqa: PLR2004 one is no choice
    for severity, (icon, colour, note) in _BADGES.items():
        group = found[found["severity"] == severity]
        if len(group) and chosen in ("All", severity):
            with st.container(border=True):
                with st.container(horizontal=True, vertical_alignment="center"):
                    plural = "s" * (len(group) > 1 and severity != "info")
                    st.badge(f"{len(group)} {severity}{plural}", icon=f":material/{icon}:", color=colour)
                    st.caption(note)
                _lines(board, group)


def _lines(board: Board, group: pd.DataFrame) -> None:
    for at, one in group.head(_MOST).iterrows():
        where = f"`{str(one['file']).replace('`', ' ')}`"
        if pd.notna(one["line"]):
            where += f"  \n:gray[line {one['line']}]"
        what, place, fix = st.columns([6, 3, 2], vertical_alignment="center")
        what.markdown(f"{escape_markdown(one['message'])}  \n:gray[{escape_markdown(one['hint'])}]")
        place.markdown(where)
        with fix:
            _fix(board, str(one["code"]), int(str(at)))
    if len(group) > _MOST:
        st.caption(f"And {len(group) - _MOST} more.")


def _fix(board: Board, code: str, at: int) -> None:
    """A button that changes what was done, where something can be."""
    if code == "rows-dropped":
        other = "max" if board.spec.repeated == "first" else "first"
        label = {"max": "Keep highest", "first": "Keep first"}[other]
        if st.button(label, key=f"fix-{at}"):
            session.rebuild_board(BoardSpec(board.spec.entries, "max" if other == "max" else "first"))
