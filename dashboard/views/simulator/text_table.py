"""A table to edit that is also a line of text, for the link."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pandas as pd
import streamlit as st

from dashboard import controls

Row = TypeVar("Row", bound=tuple[Any, ...])
"""A named tuple."""


@dataclass(frozen=True)
class TextTable(Generic[Row]):
    """A table whose rows fit into a line of text.

    Attributes:
        key: key of the line in session and address.
        parse: line → rows, None if it cannot be parsed.
        line: rows → line.
        read: edited table → complete rows.
        columns: configuration of each column, in order.
        max_rows: rows used at most.
    """

    key: str
    parse: Callable[[str], list[Row] | None]
    line: Callable[[Sequence[Row]], str]
    read: Callable[[pd.DataFrame], list[Row]]
    columns: dict[str, Any]
    max_rows: int

    def edit(self, start: Sequence[Row]) -> list[Row]:
        """Draw the table, filled from the link or else from `start`, and return its rows."""
        start_line = self.line(start)
        now = controls.choose(self.key, start_line, lambda line: bool(self.parse(line)))
        base, key = self._base(now)
        frame = pd.DataFrame(self.parse(base) or list(start))[list(self.columns)]
        edited = st.data_editor(frame, num_rows="dynamic", hide_index=True, key=key, column_config=self.columns)
        rows = self.read(edited.head(self.max_rows))
        line = self.line(rows)
        if rows and self.parse(line) and line != now:
            controls.remember(f"_{self.key}", (base, line, key))
            controls.set_value(self.key, "" if line == start_line else line)
        if len(edited) > self.max_rows:
            st.caption(f"Only the first {self.max_rows} rows are used.")
        return rows

    def _base(self, now: str) -> tuple[str, str]:
        """Return the text from which the table starts and its key, both stable while the visitor edits it.

        A text that another control has written starts a new table.
        """
        base, last, key = controls.recall(f"_{self.key}") or ("", None, "")
        if now != last or controls.recall(key) is None:
            serial = int(key.rpartition("_")[2] or 0) + 1
            base, key = now, f"_{self.key}_{serial}"
            controls.remember(f"_{self.key}", (now, now, key))
        return base, key


def number(value: object, otherwise: float = 0.0) -> float:
    """Return the number of a cell, or a default."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else otherwise


def text(value: object, otherwise: str) -> str:
    """Return the text of a cell, or a default."""
    return value if isinstance(value, str) and value.strip() else otherwise
