"""Data → Columns: choose how the columns of a file are read."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import changes, controls
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, BoardSpec
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import section
from metrics.runs import COLUMNS, Source

_PREVIEWED = 6
_NOT_READ = "–"
_LONG, _TEXT_WIDTH = ("reranker", "query_text", "doc_text"), 180
"""Columns of long texts, and the width in pixels that keeps the scores in sight."""
_HELP = {one.name: one.summary for one in COLUMNS}


@cached_by_key(show_spinner=False, max_entries=16)
def _first_rows(board: Board, position: int) -> pd.DataFrame:
    source = board.sources[position]
    head = source.table.slice(0, _PREVIEWED).to_pandas()
    head.insert(0, source.origin.unit.capitalize(), [source.origin.line_of(row) for row in range(len(head))])
    return head


@section("Columns")
def columns_and_rows(board: Board) -> None:
    """Draw the columns of one file, to be changed, and its first rows."""
    st.caption("How each column is read. Recognised names are filled in. Correct them where needed.")
    names = [f"{at}. {file.name}" for at, file in enumerate(board.files, 1)]
    name = controls.select("File", names, "file", width=320) if len(names) > 1 else names[0]
    position = names.index(name)
    source = board.sources[position]
    choose_columns(board.spec, position, source.header, source.mapping, changes.rebuild_board)
    _preview(_first_rows(board, position), source)


def choose_columns(
    spec: BoardSpec,
    position: int,
    header: Sequence[str],
    mapping: Mapping[str, str],
    on_choice: Callable[[BoardSpec], None],
) -> None:
    """Draw a control for each of our columns with the file's column as its value.

    `on_choice` receives the spec with the new choice.
    """
    entry = spec.entries[position]
    grid = st.grid(6, min_column_width=120)
    for column in COLUMNS:
        options = [_NOT_READ, *header]
        current = mapping.get(column.name, _NOT_READ)
        choice = grid.cell().selectbox(
            column.name,
            options,
            index=options.index(current),
            key=f"column-{entry.digest[:12]}-{position}-{column.name}",
            help=_HELP[column.name],
        )
        if choice != current:
            theirs = "" if choice == _NOT_READ else choice
            other_columns = {ours: name for ours, name in mapping.items() if name != theirs}
            on_choice(
                spec.with_columns(position, {**dict(entry.columns), **other_columns, column.name: theirs})
            )


def _preview(head: pd.DataFrame, source: Source) -> None:
    columns = {
        ours: st.column_config.Column(
            ours if ours == theirs else f"{ours} ← {theirs}", width=_TEXT_WIDTH if ours in _LONG else None
        )
        for ours, theirs in source.mapping.items()
    }
    st.dataframe(head, hide_index=True, column_config=columns, key="preview")
    if source.unused:
        st.caption(f"Not read: {escape_markdown(', '.join(source.unused))}")
