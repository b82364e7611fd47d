"""What files were read as: a card each, the choice of columns, and the first rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
import pyarrow.compute as pc
import streamlit as st

from dashboard import session
from dashboard.charts.column_histogram import column_histogram
from dashboard.charts.figure import Figure
from dashboard.charts.palette import Palette
from dashboard.escaping import escape_markdown
from dashboard.library.boards import MOST_FILES, Board, BoardSpec, queries_text
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import Colour, chart
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.page_body import section
from metrics import FORMATS
from metrics.runs import COLUMNS, File, Source
from metrics.support.wording import count_of

PREVIEWED = 6
NOT_READ = "–"
_LONG, _TEXT_WIDTH = ("reranker", "query_text", "doc_text"), 180
"""Columns of long texts, and their width, so that the scores are in sight."""
_SUMMARY = {known.name: known.summary.split("; ")[0].rstrip(".") for known in FORMATS}
_HELP = {one.name: one.summary for one in COLUMNS}


class Shape(NamedTuple):
    """What a card says of all rows of a file.

    Attributes:
        n_values: distinct scores or grades.
        n_queries: its queries.
        histogram: of its scores or grades.
    """

    n_values: int
    n_queries: int
    histogram: Figure


@cached_by_key(show_spinner=False, max_entries=MOST_FILES)
def _shape(board: Board, position: int, colours: Palette) -> Shape:
    source = board.sources[position]
    is_run = source.kind == "run"
    values = source.table["score" if is_run else "relevance"]
    return Shape(
        n_values=pc.count_distinct(values).as_py(),
        n_queries=len(pc.unique(source.table["query_id"])),
        histogram=column_histogram(values, colours, is_score=is_run),
    )


@cached_by_key(show_spinner=False, max_entries=16)
def _first_rows(board: Board, position: int) -> pd.DataFrame:
    """Return the rows that are previewed, each with its line."""
    source = board.sources[position]
    head = source.table.slice(0, PREVIEWED).to_pandas()
    head.insert(0, source.origin.unit.capitalize(), [source.origin.line_of(row) for row in range(len(head))])
    return head


def file_cards(board: Board, findings: pd.DataFrame, colours: Palette) -> None:
    """Draw a card a file: what it was read as, what was found, and the shape of its scores or grades.

    Args:
        board: whose files.
        findings: of all of them.
        colours: of the theme.
    """
    st.header("Files", anchor=False)
    row_range = shown_rows(len(board.files), "files", limit=len(board.files))
    grid = st.grid(3, min_column_width=250)
    for position, (file, source) in enumerate(zip(board.files[: row_range.stop], board.sources, strict=False)):
        with grid.container(border=True, height="stretch"):
            _card(board, position, file, source, findings[findings["file"] == file.name], colours)
    row_range.buttons()


@section("This file")
def _card(
    board: Board, position: int, file: File, source: Source, findings: pd.DataFrame, colours: Palette
) -> None:
    shape = _shape(board, position, colours)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.markdown(f"**{escape_markdown(file.name)}**")
        _badge(findings)
    packed = f", {file.packed}" if file.packed else ""
    st.caption(
        f"{escape_markdown(_SUMMARY[source.format])}{packed}  \n{count_of(len(source.table), 'row')} · "
        f"{queries_text(shape.n_queries)} · {file.size / 1000:,.0f} kB"
    )
    chart(shape.histogram, f"shape-{position}", f"Histogram of {file.name}.")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(count_of(shape.n_values, "distinct score" if source.kind == "run" else "distinct grade"))
        if len(board.files) > 1 and st.button(
            "Remove", key=f"remove-{position}", icon=":material/close:", type="tertiary"
        ):
            session.rebuild_board(board.spec.without_file(position))


def _badge(findings: pd.DataFrame) -> None:
    worst: list[tuple[str, Colour, str]] = [("error", "red", "error"), ("warning", "orange", "warning")]
    for severity, colour, icon in worst:
        count = int((findings["severity"] == severity).sum())
        if count:
            text = f"{count} {severity}{'s' * (count > 1)}"
            st.badge(text, icon=f":material/{icon}:", color=colour)
            return
    st.badge("ready", icon=":material/check:", color="blue")


@section("Columns")
def columns_and_rows(board: Board) -> None:
    """Draw one file's columns, to be changed, and its first rows."""
    st.caption("What each column is read as. Recognised names are filled in; change what is wrong.")
    names = [f"{at}. {file.name}" for at, file in enumerate(board.files, 1)]
    name = session.select("File", names, "file", width=320) if len(names) > 1 else names[0]
    position = names.index(name)
    source = board.sources[position]
    choose_columns(board.spec, position, source.header, source.mapping, session.rebuild_board)
    _preview(_first_rows(board, position), source)


def choose_columns(
    spec: BoardSpec,
    position: int,
    header: Sequence[str],
    mapping: Mapping[str, str],
    on_choice: Callable[[BoardSpec], None],
) -> None:
    """Draw a row of choices named by our columns, holding the file's.

    Args:
        spec: what the files are made into.
        position: of the file among them.
        header: names of its columns.
        mapping: our column → the file's, as it is read now.
        on_choice: gets the spec with another choice.
    """
    entry = spec.entries[position]
    grid = st.grid(6, min_column_width=120)
    for column in COLUMNS:
        options = [NOT_READ, *header]
        current = mapping.get(column.name, NOT_READ)
        choice = grid.cell().selectbox(
            column.name,
            options,
            index=options.index(current),
            key=f"column-{entry.digest[:12]}-{position}-{column.name}",
            help=_HELP[column.name],
        )
        if choice != current:
            theirs = "" if choice == NOT_READ else choice
            other_columns = {ours: name for ours, name in mapping.items() if name != theirs}
            on_choice(
                spec.with_columns(position, {**dict(entry.columns), **other_columns, column.name: theirs})
            )


def _preview(head: pd.DataFrame, source: Source) -> None:
    """Draw the first rows, each column headed by ours and the file's name for it."""
    columns = {
        ours: st.column_config.Column(
            ours if ours == theirs else f"{ours} ← {theirs}", width=_TEXT_WIDTH if ours in _LONG else None
        )
        for ours, theirs in source.mapping.items()
    }
    st.dataframe(head, hide_index=True, column_config=columns, key="preview")
    if source.unused:
        st.caption(f"Not read: {escape_markdown(', '.join(source.unused))}")
