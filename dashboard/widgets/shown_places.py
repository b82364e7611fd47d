"""Which rerankers of many are drawn: twenty, the next twenty, all, or those whose name is looked for."""

from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.escaping import escape_markdown
from dashboard.session.controls import set_value, stored_choice, text_input
from dashboard.widgets.first_rows import FIRST_ROWS

_KEY, _ALL = "places", "all"
MOST_ROWS = 200
"""Rows of a chart at most, whatever is asked for."""


@dataclass(frozen=True)
class ShownPlaces:
    """Rows of a leaderboard that are drawn.

    Attributes:
        rows: those that a part of a name leaves, in order.
        start: row of the first that is drawn, counted from 0.
        stop: row after the last.
        is_searched: whether a part of a name was asked for.
    """

    rows: pd.DataFrame
    start: int
    stop: int
    is_searched: bool

    @property
    def drawn(self) -> pd.DataFrame:
        """The rows that are drawn."""
        return self.rows.iloc[self.start : self.stop]

    def buttons(self) -> None:
        """Draw the ways to the rerankers that are not drawn, where there are more than twenty."""
        n_rows = len(self.rows)
        if n_rows <= FIRST_ROWS:
            return
        most = min(n_rows, MOST_ROWS)
        has_all = self.stop - self.start == most
        ways = [
            ("Show twenty", "expand_less", "1", has_all),
            (f"Show all {n_rows:,}" if most == n_rows else f"Show {most}", "expand_more", _ALL, not has_all),
            ("Twenty before", "arrow_back", str(self.start + 1 - FIRST_ROWS), self.start > 0),
            ("Next twenty", "arrow_forward", str(self.stop + 1), not has_all and self.stop < n_rows),
        ]
        with st.container(horizontal=True, horizontal_alignment="center"):
            for label, icon, value, is_offered in ways:
                if is_offered:
                    choose = partial(set_value, _KEY, value)
                    st.button(label, icon=f":material/{icon}:", on_click=choose, key=f"show-{icon}")


def find_reranker() -> str:
    """Draw the field for a part of a name; return what it holds."""
    return text_input(
        "Find a reranker", "named", placeholder="a part of its name", icon=":material/search:", width=230
    ).strip()


def shown_places(rows: pd.DataFrame, part: str) -> ShownPlaces:
    """Return which rows of a leaderboard are drawn; say so where a part of a name leaves none.

    Args:
        rows: index reranker, in order.
        part: of the names that are looked for; empty for all.
    """
    matches = rows[[part.casefold() in str(name).casefold() for name in rows.index]]
    if part and not len(matches):
        st.caption(f"No reranker has “{escape_markdown(part)}” in its name; all are shown.")
    is_searched = bool(part) and len(matches) > 0
    rows = matches if is_searched else rows
    starts = {str(start + 1): start for start in range(0, max(len(rows), 1), FIRST_ROWS)}
    choice = stored_choice(_KEY, "1", lambda text: text == _ALL or text in starts)
    if choice == _ALL:
        return ShownPlaces(rows, 0, min(len(rows), MOST_ROWS), is_searched)
    return ShownPlaces(rows, starts[choice], min(starts[choice] + FIRST_ROWS, len(rows)), is_searched)
