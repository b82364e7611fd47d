"""The first rows of what is long, and all of them on request."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session

FIRST_ROWS = 20
"""Rows that a chart or a matrix shows unless all are asked for."""
_FIRST, _ALL = "first", "all"


def row_limit(
    n_rows: int,
    label: str = "Rerankers in charts",
    key: str = "drawn",
    first: int = FIRST_ROWS,
    **more_options: Any,  # noqa: ANN401 passed on
) -> int:
    """Draw the choice between the first rows and all, where there are more; return how many are drawn.

    Args:
        n_rows: all that there are.
        label: above the control.
        key: of the choice, and its name in the link; pages that share it share the choice.
        first: how many the first are.
        **more_options: passed on to the widget.
    """
    if n_rows <= first:
        return n_rows
    words = {_FIRST: f"first {first}", _ALL: f"all {n_rows:,}"}
    choice = session.segmented(label, [_FIRST, _ALL], key, format_func=words.__getitem__, **more_options)
    return n_rows if choice == _ALL else first


def table_and_chart_places(n_rows: int) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return where tables and where charts of these rows stand: the tables above charts that may be long."""
    above, below = st.container(), st.container()
    return (above, below) if n_rows > FIRST_ROWS else (below, above)
