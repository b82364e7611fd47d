"""A table to edit that is also a line of text, for the link."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from dashboard import controls

Row = TypeVar("Row", bound=tuple[Any, ...])
"""A named tuple."""


def edit_rows(
    key: str,
    start: Sequence[Row],
    columns: dict[str, Any],
    parse: Callable[[str], list[Row] | None],
    write: Callable[[Sequence[Row]], str],
    read: Callable[[pd.DataFrame], list[Row]],
    max_rows: int,
) -> list[Row]:
    """Draw a table to edit, filled from the link or else from `start`, and return its rows.

    Args:
        key: key of the line of text in session and address.
        start: rows without a line in the link.
        columns: configuration of each column, in order.
        parse: line → rows, None if it cannot be parsed.
        write: rows → line.
        read: edited table → complete rows.
        max_rows: rows used at most.
    """
    start_line = write(start)
    now = controls.choose(key, start_line, lambda line: bool(parse(line)))
    base, table_key = _base(key, now)
    frame = pd.DataFrame(parse(base) or list(start))[list(columns)]
    edited = st.data_editor(frame, num_rows="dynamic", hide_index=True, key=table_key, column_config=columns)
    rows = read(edited.head(max_rows))
    line = write(rows)
    if rows and parse(line) and line != now:
        controls.remember(f"_{key}", (base, line, table_key))
        controls.set_values({key: "" if line == start_line else line})
    if len(edited) > max_rows:
        st.caption(f"Only the first {max_rows} rows are used.")
    return rows


def _base(key: str, now: str) -> tuple[str, str]:
    """Return the text from which a table starts and its key, both stable while the visitor edits it.

    A text that another control has written starts a new table.
    """
    base, last, table_key = controls.recall(f"_{key}") or ("", None, "")
    if now != last or controls.recall(table_key) is None:
        serial = int(table_key.rpartition("_")[2] or 0) + 1
        base, table_key = now, f"_{key}_{serial}"
        controls.remember(f"_{key}", (now, now, table_key))
    return base, table_key


def number(value: object, otherwise: float = 0.0) -> float:
    """Return the number of a cell, or a default."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else otherwise


def text(value: object, otherwise: str) -> str:
    """Return the text of a cell, or a default."""
    return value if isinstance(value, str) and value.strip() else otherwise
