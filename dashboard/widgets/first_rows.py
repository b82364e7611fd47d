"""Show the first rows of long tables and charts, with buttons for others, and a search by name."""

from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.controls import choose, set_value, text_input
from dashboard.escaping import escape_markdown

FIRST_ROWS = 20
"""Rows of a chart shown at first."""
MOST_ROWS = 200
"""Rows of a chart shown at most."""
ROWS_IN_TABLE = 100
"""Rows of a long table shown at first."""
_ALL = "all"

Rows = TypeVar("Rows", pd.DataFrame, "pd.Series[float]")


@dataclass(frozen=True)
class ShownRows:
    """The range of rows shown.

    Attributes:
        n_rows: number of all rows.
        start: first row shown, from 0.
        stop: row after the last one shown.
        key: key of the choice in the address.
        first: rows shown at first.
        limit: rows shown at most.
        has_pages: whether buttons lead to the next and previous rows.
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
        """The number of rows shown."""
        return self.stop - self.start

    def of(self, rows: Rows) -> Rows:
        """Return the rows shown."""
        return rows.iloc[self.start : self.stop]

    def rows_note(self) -> str:
        """Return a note on rows that only the download has, empty if all are shown."""
        return rows_left_out(self.n_shown, self.n_rows)

    def buttons(self) -> None:
        """Draw buttons for the rows not shown."""
        if self.n_rows <= self.first:
            return
        n_all = min(self.n_rows, self.limit)
        has_all = self.n_shown == n_all
        has_next = not has_all and self.stop < self.n_rows
        all_rows = f"Show all {self.n_rows:,}" if n_all == self.n_rows else f"Show {n_all:,}"
        ways = [
            (f"Show the first {self.first}", "expand_less", "1", has_all),
            (all_rows, "expand_more", _ALL, not has_all),
            (f"{self.first} before", "arrow_back", str(self.start + 1 - self.first), self.start > 0),
            (f"Next {self.first}", "arrow_forward", str(self.stop + 1), has_next),
        ]
        with st.container(horizontal=True, horizontal_alignment="center"):
            for label, icon, value, is_offered in ways if self.has_pages else ways[:2]:
                if is_offered:
                    choose = partial(set_value, self.key, value)
                    st.button(label, icon=f":material/{icon}:", on_click=choose, key=f"show-{self.key}-{icon}")


def rows_left_out(n_shown: int, n_rows: int) -> str:
    """Return a note on rows that only the download has, empty if all are shown."""
    return f"The first {n_shown:,} of {n_rows:,} rows; the CSV file contains all rows." * (n_shown < n_rows)


def shown_rows(
    n_rows: int, key: str = "drawn", first: int = FIRST_ROWS, limit: int = MOST_ROWS, *, has_pages: bool = False
) -> ShownRows:
    """Return the range of rows to show; its `buttons` change it."""
    starts = {str(start + 1): start for start in range(0, max(n_rows, 1) if has_pages else 1, first)}
    choice = choose(key, "1", lambda text: text == _ALL or text in starts)
    start, size = (0, limit) if choice == _ALL else (starts[choice], first)
    return ShownRows(n_rows, start, min(start + size, n_rows), key, first, limit, has_pages)


def find_reranker() -> str:
    """Draw the search field for names and return its content."""
    return text_input(
        "Find a reranker",
        "named",
        label_visibility="collapsed",
        placeholder="Find a reranker",
        icon=":material/search:",
        width=190,
    ).strip()


def search_rows(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    """Return the rows whose name contains a text, or all rows with a note if none does."""
    matches = rows[[part.casefold() in str(name).casefold() for name in rows.index]]
    if part and not len(matches):
        st.caption(f"“{escape_markdown(part)}” matches no reranker, so all are shown.")
    return matches if len(matches) else rows


def table_and_chart_places(n_rows: int) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of tables and of charts: tables come first if charts may be long."""
    above, below = st.container(), st.container()
    return (above, below) if n_rows > FIRST_ROWS else (below, above)
