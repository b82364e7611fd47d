"""Build and show a board from changed files or settings."""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from dashboard import cache
from dashboard.boards import show_board, shown_board
from dashboard.escaping import error_markdown
from dashboard.library.boards import Board, BoardSpec, keep_arrangement
from dashboard.long_work import long_work
from metrics.errors import TieScopeError
from metrics.runs import Source
from metrics.support.progress import begin_step
from metrics.support.wording import count_of


def rebuild_board(spec: BoardSpec) -> None:
    """Show the board of a changed spec, or the error that it raises."""
    before = shown_board()
    with long_work():
        board = cache.build_board(spec, read_all(spec))
        if isinstance(board, Board):
            show_board(with_names_of(before[0].spec, board) if before else board, amends=before)
    if isinstance(board, TieScopeError):
        st.error(f"{error_markdown(board)} Nothing was changed.", icon=":material/error:")


def read_all(spec: BoardSpec) -> list[Source | TieScopeError]:
    """Return the content or the error of each file, and report progress."""
    entries, rows = spec.entries, 0
    sources: list[Source | TieScopeError] = []
    for position, entry in enumerate(entries):
        begin_step("Reading", position, len(entries), entry.file.name, rows)
        sources.append(source := cache.read_entry(entry))
        rows += len(source.table) if isinstance(source, Source) else 0
    begin_step("Joining", 0, 1, count_of(len(entries), "file"), rows)
    return sources


def with_names_of(before: BoardSpec, board: Board) -> Board:
    """Return a board with the names and order of its rerankers before, if the same columns are read."""
    digests = {entry.columns_digest for entry in before.entries}
    if board.spec.names is None and digests.issuperset(entry.columns_digest for entry in board.spec.entries):
        with suppress(TieScopeError):  # no reranker of the old board is left
            return keep_arrangement(board, before)
    return board


def change_library(*steps: Callable[[], None]) -> None:
    """Take steps that change the library; show the error of one that fails, and take no further step."""
    try:
        for step in steps:
            step()
    except TieScopeError as error:
        st.error(f"{error_markdown(error)} Nothing was changed.", icon=":material/error:")
