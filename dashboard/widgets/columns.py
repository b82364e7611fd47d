"""How Streamlit draws the columns of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.labels import short_names
from metrics.support.shown_column import WRITERS, ShownColumn
from metrics.support.shown_columns import shown_columns

NAME_COLUMNS = 28
"""Columns of a reranker's name in a table."""
Columns = Mapping[str, Any]
"""Column of a table → how it is shown: a `ShownColumn`, or what Streamlit makes of one."""


def column_config(column: ShownColumn) -> Any:  # noqa: ANN401 Streamlit's own is private
    """Return Streamlit's configuration of a column; a share is drawn as a bar from 0 to 100."""
    match column.kind:
        case "text":
            return st.column_config.TextColumn(column.label, width=column.width, help=column.help)
        case "flag":
            return st.column_config.CheckboxColumn(column.label, help=column.help)
        case "share":
            return st.column_config.ProgressColumn(
                column.label, format="%.0f%%", min_value=0, max_value=100, color="orange", help=column.help
            )
    return st.column_config.NumberColumn(column.label, format=column.number_format or None, help=column.help)


def written(frame: pd.DataFrame, columns: Columns) -> Any:  # noqa: ANN401 Streamlit takes either
    """Return a table whose numbers of some kinds are written as no format writes them, and sort as numbers.

    Only the columns shown are in it then: pandas limits the cells it formats.
    """
    writers = {
        name: WRITERS[column.kind]
        for name, column in columns.items()
        if isinstance(column, ShownColumn) and column.kind in WRITERS
    }
    present = [name for name in columns if name in frame]
    return frame[present].style.format(writers, na_rep="–", escape=None) if writers else frame


def gap_columns(prefix: str, measure: str) -> dict[str, ShownColumn]:
    """Return how the absolute gap in one measure is shown: mean, maximum and correlations.

    Args:
        prefix: of its columns, as `gap_summary` returns them.
        measure: its name.
    """
    columns = shown_columns(("gap_mean", "measure_gap_mean"), "gap_max", "r_ratio", "r_size", measure=measure)
    return {f"{prefix}_{name}": column for name, column in columns.items()}


def badge_column(label: str, meanings: Mapping[Any, str], colours: Sequence[str]) -> Any:  # noqa: ANN401 likewise
    """Return the configuration of a column of badges; its cells are lists.

    Args:
        label: its heading.
        meanings: what a badge may say → what it means.
        colours: of each badge.
    """
    return st.column_config.MultiselectColumn(
        label,
        options=list(meanings),
        color=list(colours),
        help="  \n".join(f"**{name}**: {meaning}" for name, meaning in meanings.items()),
    )


def deviation_columns(measures: Mapping[str, str]) -> dict[str, ShownColumn]:
    """Return how deviations over lists are shown: column → what it is the deviation of."""
    return {
        column: shown_columns("measure_deviation", measure=measure)["measure_deviation"]
        for column, measure in measures.items()
    }


def elide_names(frame: pd.DataFrame, columns: Columns) -> tuple[pd.DataFrame, Columns]:
    """Return a table with what tells long names of rerankers apart, whole ones in a last column.

    Args:
        frame: as it is shown.
        columns: column → how it is shown.

    Returns:
        The table and its columns; both as they are where every name is short.
    """
    keys = {column.key: name for name, column in columns.items() if isinstance(column, ShownColumn)}
    named = [keys[key] for key in ("reranker", "beaten_by") if key in keys]
    texts = frame[named].astype(str)
    labels = {"": ""} | short_names(filter(None, pd.unique(texts.to_numpy().ravel())), NAME_COLUMNS)
    if all(name == label for name, label in labels.items()):
        return frame, columns
    short = frame.assign(**{name: texts[name].map(labels) for name in named})
    if "name" in keys or "reranker" not in keys:
        return short, columns
    return short.assign(name=frame[keys["reranker"]]), {**columns, **shown_columns("name")}


def scale_shares(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return a table with its shares of one as so many of a hundred."""
    shares = [
        name for name, column in columns.items() if isinstance(column, ShownColumn) and column.is_hundredfold
    ]
    return frame.assign(**{name: 100 * frame[name] for name in shares})


def streamlit_columns(columns: Columns) -> dict[str, Any]:
    """Return Streamlit's configuration of all columns of a table."""
    return {
        name: column_config(column) if isinstance(column, ShownColumn) else column
        for name, column in columns.items()
    }
