"""Another board from what is loaded."""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from dashboard import cache
from dashboard.escaping import escape_markdown
from dashboard.library import Board, BoardSpec, keep_arrangement
from dashboard.session.boards import show_board
from dashboard.session.view import view
from metrics.errors import TieScopeError
from metrics.runs import Source


def rebuild_board(spec: BoardSpec) -> None:
    """Show what another spec makes of the files loaded; where it makes nothing, say why."""
    now = view()
    board = cache.build_board(spec, [cache.read_entry(entry) for entry in spec.entries])
    if isinstance(board, Board):
        show_board(_named_as(now.board.spec, board), amends=now.record)
    else:
        st.error(escape_markdown(f"{board} Nothing was changed."), icon=":material/error:")


def read_all(spec: BoardSpec) -> list[Source | TieScopeError]:
    """Return what each file holds, or why it cannot be read; says which is being read."""
    entries = spec.entries
    bar, sources = st.empty(), []
    for position, entry in enumerate(entries):
        name = escape_markdown(entry.file.name)
        bar.progress(position / len(entries), f"Reading {position + 1} of {len(entries)}: {name}")
        sources.append(cache.read_entry(entry))
    bar.empty()
    return sources


def build_arranged(
    spec: BoardSpec, sources: Sequence[Source | TieScopeError], before: BoardSpec | None = None
) -> Board | TieScopeError:
    """Return a board, its rerankers named and ordered as before; or the first thing in its way.

    Args:
        spec: of all its files.
        sources: what each file holds, or why it cannot be read.
        before: what the board was made from until now, where it was.
    """
    board = cache.build_board(spec, sources)
    try:
        return keep_arrangement(board, before) if before and isinstance(board, Board) else board
    except TieScopeError as error:
        return error


def _named_as(before: BoardSpec, board: Board) -> Board:
    """Return a board with the names and the order its rerankers had, where its files are read as they were."""
    digests = {entry.digest for entry in before.entries}
    if board.spec.names is None and digests.issuperset(entry.digest for entry in board.spec.entries):
        with suppress(TieScopeError):  # none of those that were shown is left
            return keep_arrangement(board, before)
    return board
