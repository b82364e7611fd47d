"""Another board from what is loaded."""

from contextlib import suppress

import streamlit as st

from dashboard import cache
from dashboard.escaping import escape_markdown
from dashboard.library import Board, BoardSpec, keep_arrangement
from dashboard.session.boards import show_board
from dashboard.session.view import view
from metrics.errors import TieScopeError


def rebuild_board(spec: BoardSpec) -> None:
    """Show what another spec makes of the files loaded; where it makes nothing, say why."""
    now = view()
    board = cache.build_board(spec, [cache.read_entry(entry) for entry in spec.entries])
    if isinstance(board, Board):
        show_board(_named_as(now.board.spec, board), amends=now.record)
    else:
        st.error(escape_markdown(f"{board} Nothing was changed."), icon=":material/error:")


def _named_as(before: BoardSpec, board: Board) -> Board:
    """Return a board with the names and the order its rerankers had, where its files are read as they were."""
    digests = {entry.digest for entry in before.entries}
    if board.spec.names is None and digests.issuperset(entry.digest for entry in board.spec.entries):
        with suppress(TieScopeError):  # none of those that were shown is left
            return keep_arrangement(board, before)
    return board
