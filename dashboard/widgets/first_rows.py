"""Show the first rows of long tables and charts, with a button for all, and a search by name."""

from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.controls import choose, set_values, text_input
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
        n_shown: number of rows shown.
        key: key of the choice in the address.
        first: rows shown at first.
        limit: rows shown at most.
    """

    n_rows: int
    n_shown: int
    key: str
    first: int = FIRST_ROWS
    limit: int = MOST_ROWS

    def of(self, rows: Rows) -> Rows:
        """Return the rows shown."""
        return rows.head(self.n_shown)

    def rows_note(self) -> str:
        """Return a note on rows that only the download has, empty if all are shown."""
        return rows_left_out(self.n_shown, self.n_rows)

    def buttons(self) -> None:
        """Draw a button for all rows, or back to the first ones."""
        if self.n_rows <= self.first:
            return
        n_all = min(self.n_rows, self.limit)
        if self.n_shown == n_all:
            label, icon, value = f"Show the first {self.first}", "expand_less", "1"
        else:
            all_rows = f"all {self.n_rows:,}" if n_all == self.n_rows else f"{n_all:,}"
            label, icon, value = f"Show {all_rows}", "expand_more", _ALL
        with st.container(horizontal=True, horizontal_alignment="center"):
            choose = partial(set_values, {self.key: value})
            st.button(label, icon=f":material/{icon}:", on_click=choose, key=f"show-{self.key}-{icon}")


def rows_left_out(n_shown: int, n_rows: int) -> str:
    """Return a note on rows that only the download has, empty if all are shown."""
    return f"The first {n_shown:,} of {n_rows:,} rows; the CSV file contains all rows." * (n_shown < n_rows)


def shown_rows(n_rows: int, key: str = "drawn", first: int = FIRST_ROWS, limit: int = MOST_ROWS) -> ShownRows:
    """Return the range of rows to show; its `buttons` change it."""
    n_shown = limit if choose(key, "1", {"1", _ALL}.__contains__) == _ALL else first
    return ShownRows(n_rows, min(n_shown, n_rows), key, first, limit)


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
