"""Configure the columns of Streamlit's tables."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.labels import short_names
from metrics.measures import MeasureAt
from metrics.studies.gaps import ALL_LISTS
from metrics.studies.prose import signed_decimals
from metrics.support.shown_columns import WRITERS, ShownColumn, shown_columns

MOST_ROWS = 10_000
"""Rows of a table shown at most; the download has all."""
MOST_WRITTEN = 1000
"""Rows shown if a column is formatted in Python, which takes a second for 10,000 rows."""
MOST_COLUMNS = 6
"""Columns that fit into a window of 1280 pixels with a sidebar, a rank left out."""
Writer = Callable[[float], str]
Columns = Mapping[str, Any]
"""Column of a table → a `ShownColumn` or a Streamlit configuration."""


def column_config(column: ShownColumn, *, has_format: bool = True) -> Any:  # noqa: ANN401 Streamlit's own is private
    """Return Streamlit's configuration of a column; a share is a bar from 0 to 100."""
    match column.kind:
        case "text" | "flag":
            return st.column_config.TextColumn(column.label, width=column.width, help=column.help)
        case "share":
            bar: dict[str, Any] = {"format": "%.3g%%", "min_value": 0, "max_value": 100, "color": "orange"}
            return st.column_config.ProgressColumn(column.label, width=column.width, help=column.help, **bar)
    number_format = column.number_format if has_format else ""
    return st.column_config.NumberColumn(column.label, format=number_format or None, help=column.help)


def columns_in_sight(columns: Columns) -> list[str]:
    """Return the columns shown at first; Streamlit's menu of columns has the others."""
    names = list(columns)
    has_rank = bool(names) and getattr(columns[names[0]], "label", "") == "#"
    return names[: MOST_COLUMNS + has_rank]


def writers(frame: pd.DataFrame, columns: Columns) -> dict[str, Writer]:
    """Return functions for columns whose numbers no format writes well: p, chances, tiny and negative numbers.

    A number that would look like 0 gets two significant digits, as a power of ten if they are far behind the
    point. A difference of 0 gets no sign, and a negative number a true minus.
    """
    candidates = {
        name: WRITERS.get(column.kind) or _sign_writer(column, frame[name])
        for name, column in columns.items()
        if name in frame and isinstance(column, ShownColumn)
    }
    return {name: writer for name, writer in candidates.items() if writer}


def _sign_writer(column: ShownColumn, values: "pd.Series[Any]") -> Writer | None:
    if column.kind not in ("number", "difference"):
        return None
    numbers = pd.to_numeric(values, errors="coerce")
    sizes = numbers.abs()
    is_difference = column.kind == "difference"
    looks_zero = sizes < 0.5 * 10.0**-column.digits
    if not ((looks_zero & ((sizes > 0) | is_difference)) | (numbers < 0)).any():
        return None
    return partial(signed_decimals, digits=column.digits, plus=is_difference)


def written(frame: pd.DataFrame, columns: Columns, by_hand: Mapping[str, Writer]) -> Any:  # noqa: ANN401 Streamlit takes either
    """Return a table whose columns `by_hand` are written by these functions but sort as numbers.

    It has only the columns shown: pandas limits the number of formatted cells.
    """
    present = [name for name in columns if name in frame]
    return frame[present].style.format(dict(by_hand), na_rep="–", escape=None) if by_hand else frame


def badge_column(
    label: str,
    meanings: Mapping[Any, str],
    colours: Sequence[str],
    words: Mapping[str, str] | None = None,
) -> Any:  # noqa: ANN401 likewise
    """Return the configuration of a column of badges, whose cells are lists; `meanings` is word → meaning.

    `words` maps each badge to its word, if badges say more than that.
    """
    words, colour_of = words or {word: word for word in meanings}, dict(zip(meanings, colours, strict=True))
    return st.column_config.MultiselectColumn(
        label,
        options=list(words),
        color=[colour_of[word] for word in words.values()],
        help="  \n".join(f"**{name}**: {meaning}" for name, meaning in meanings.items()),
    )


def deviation_columns(measures: Mapping[str, str]) -> dict[str, ShownColumn]:
    """Return the columns for standard deviations over lists: column → measure."""
    return {
        column: shown_columns("measure_deviation", measure=measure)["measure_deviation"]
        for column, measure in measures.items()
    }


def reranker_columns(measures: Sequence[MeasureAt]) -> dict[str, ShownColumn]:
    """Return the columns for a `gap_summary` of two measures."""
    columns, deviations = shown_columns("reranker", "tie_ratio"), {}
    for prefix, measure in zip(("first", "second"), measures, strict=True):
        columns |= shown_columns(
            (f"{prefix}_traditional", "traditional"),
            (f"{prefix}_tied", "tied"),
            (f"{prefix}_gap_mean", "measure_gap_mean"),
            (f"{prefix}_gap_max", "measure_gap_max"),
            traditional=measure.traditional,
            tied=measure.tied,
            measure=measure,
        )
        deviations[f"{prefix}_traditional_std"] = measure.traditional
        deviations[f"{prefix}_tied_std"] = measure.tied
    return columns | shown_columns(("tie_ratio_std", "share_deviation")) | deviation_columns(deviations)


def measures_in_names(frame: pd.DataFrame, first: str, second: str = "") -> pd.DataFrame:
    """Return a table of gaps with measures in its column names: `first_gap` → `RR_gap`."""
    names = {"first": first, "second": second}
    parts = {column: str(column).partition("_") for column in frame.columns}
    return frame.rename(
        columns={column: "".join((names.get(a, a), *rest)) for column, (a, *rest) in parts.items()}
    )


def elide_names(frame: pd.DataFrame, columns: Columns) -> tuple[pd.DataFrame, Columns]:
    """Return a table with shortened names, and the full names in a last column."""
    keys = {column.key: name for name, column in columns.items() if isinstance(column, ShownColumn)}
    name_columns = [keys[key] for key in ("reranker", "beaten_by", "best_reranker") if key in keys]
    texts = frame[name_columns].astype(str)
    words = {text: text for text in ("", ALL_LISTS)}
    names = (name for name in pd.unique(texts.to_numpy().ravel()) if name not in words)
    labels = words | short_names(names)
    if all(name == label for name, label in labels.items()):
        return frame, columns
    short = frame.assign(**{name: texts[name].map(labels) for name in name_columns})
    if "name" in keys or "reranker" not in keys:
        return short, columns
    return short.assign(name=frame[keys["reranker"]]), {**columns, **shown_columns("name")}


def scale_shares(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return a table with its shares as percentages, and yes or no for its flags."""
    ours = {name: column for name, column in columns.items() if isinstance(column, ShownColumn)}
    shares = {name: 100 * frame[name] for name, column in ours.items() if column.is_hundredfold}
    flags = {
        name: frame[name].map({True: "yes", False: "no"})
        for name, column in ours.items()
        if column.kind == "flag"
    }
    return frame.assign(**shares, **flags)


def streamlit_columns(
    columns: Columns, by_hand: Collection[str] = (), *, is_narrow: bool = False
) -> dict[str, Any]:
    """Return Streamlit's configuration of all columns of a table.

    `by_hand` names columns without a format. On a phone, a reranker among the first two columns stays in sight.
    """
    configurations = dict(columns)
    for name, column in columns.items():
        if isinstance(column, ShownColumn):
            configurations[name] = column_config(column, has_format=name not in by_hand)
    leading = list(columns)[:2]
    if is_narrow and "reranker" in leading:
        for name in leading[: leading.index("reranker") + 1]:
            configurations[name] = {**configurations[name], "pinned": True}
    return configurations
