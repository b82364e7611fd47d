"""The first rows of what is long; the next, all, or those whose name is looked for on request."""

from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.controls import set_value, stored_choice, text_input
from dashboard.escaping import escape_markdown

FIRST_ROWS = 20
"""Rows that a chart or a matrix shows unless more are asked for."""
MOST_ROWS = 200
"""Rows of a chart at most, whatever is asked for."""
ROWS_IN_TABLE = 100
"""Rows that a long table has unless more are asked for: ten of them are in sight at a time."""
_ALL = "all"

Rows = TypeVar("Rows", pd.DataFrame, "pd.Series[float]")


@dataclass(frozen=True)
class ShownRows:
    """Which rows of what is long are shown.

    Attributes:
        n_rows: all that there are.
        start: the first that is shown, counted from 0.
        stop: that after the last.
        key: of the choice, and its name in the link.
        first: how many are shown unless more are asked for.
        limit: rows that are shown at most.
        has_pages: whether the next and the previous rows can be asked for, too.
    """

    n_rows: int
    start: int
    stop: int
    key: str
    first: int = FIRST_ROWS
    limit: int = MOST_ROWS
    has_pages: bool = False

    @property
    def n_shown(self) -> int:
        """How many rows are shown."""
        return self.stop - self.start

    def of(self, rows: Rows) -> Rows:
        """Return those of all rows that are shown."""
        return rows.iloc[self.start : self.stop]

    def left_out(self) -> str:
        """Return how many rows of a table stand in its file alone, nothing where it has them all."""
        return rows_left_out(self.n_shown, self.n_rows)

    def buttons(self) -> None:
        """Draw the ways to the rows that are not shown, where there are any."""
        if self.n_rows <= self.first:
            return
        n_all = min(self.n_rows, self.limit)
        has_all = self.n_shown == n_all
        ways = [
            (f"Show the first {self.first}", "expand_less", "1", has_all),
            (
                f"Show all {self.n_rows:,}" if n_all == self.n_rows else f"Show {n_all:,}",
                *("expand_more", _ALL, not has_all),
            ),
            (f"{self.first} before", "arrow_back", str(self.start + 1 - self.first), self.start > 0),
            (
                f"Next {self.first}",
                *("arrow_forward", str(self.stop + 1), not has_all and self.stop < self.n_rows),
            ),
        ]
        with st.container(horizontal=True, horizontal_alignment="center"):
            for label, icon, value, is_offered in ways if self.has_pages else ways[:2]:
                if is_offered:
                    choose = partial(set_value, self.key, value)
                    st.button(label, icon=f":material/{icon}:", on_click=choose, key=f"show-{self.key}-{icon}")


def rows_left_out(n_shown: int, n_rows: int) -> str:
    """Return how many rows of a table stand in its file alone, nothing where it has them all."""
    return f"The first {n_shown:,} of {n_rows:,} rows; the CSV has them all." * (n_shown < n_rows)


def shown_rows(
    n_rows: int, key: str = "drawn", first: int = FIRST_ROWS, limit: int = MOST_ROWS, *, has_pages: bool = False
) -> ShownRows:
    """Return which rows are shown: the first, those from a later row on, or all; `buttons` offers others."""
    starts = {str(start + 1): start for start in range(0, max(n_rows, 1) if has_pages else 1, first)}
    choice = stored_choice(key, "1", lambda text: text == _ALL or text in starts)
    start, size = (0, limit) if choice == _ALL else (starts[choice], first)
    return ShownRows(n_rows, start, min(start + size, n_rows), key, first, limit, has_pages)


def find_reranker() -> str:
    """Draw the field for a part of a name; return what it holds."""
    return text_input(
        "Find a reranker",
        "named",
        label_visibility="collapsed",
        placeholder="Find a reranker",
        icon=":material/search:",
        width=190,
    ).strip()


def search_rows(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    """Return the rows whose name has a part, empty for all; all, saying so, where none has."""
    matches = rows[[part.casefold() in str(name).casefold() for name in rows.index]]
    if part and not len(matches):
        st.caption(f"No reranker has “{escape_markdown(part)}” in its name; all are shown.")
    return matches if len(matches) else rows


def table_and_chart_places(n_rows: int) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return where tables and where charts of these rows stand: the tables above charts that may be long."""
    above, below = st.container(), st.container()
    return (above, below) if n_rows > FIRST_ROWS else (below, above)
