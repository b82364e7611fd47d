"""Which data is shown: samples, files opened by the command, and boards, kept or not."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from secrets import token_hex
from typing import Any, cast
from urllib.parse import urlencode

import streamlit as st

from dashboard import cache
from dashboard.access import server_files
from dashboard.access.sign_in import identity
from dashboard.escaping import escape_markdown
from dashboard.library import Board
from dashboard.library.storage.records import STRANGER, Access, Record, id_of
from dashboard.session.controls import select
from metrics.errors import LibraryError, TieScopeError, UsageError

DATA = "data"
_NEXT = "_next_data"
_KNOWN = "_known_data"
_LOST = "_lost_data"
_VISITOR = "_visitor"
_SAID = "_said"
_HERE = "_only_here"
_GONE = "_deleted_board"
_LAST = "_last_data"
_MOST = 50
"""Boards without a name that are offered, the newest; those with one are all."""

BoardChoice = tuple[Board, Record | None]
"""A board, and what the library says of it where it is kept."""


def owner() -> str:
    """Whose data this session sees and changes: who is signed in, everybody, or this session alone."""
    known = identity()
    return f"{STRANGER}{st.session_state.setdefault(_VISITOR, token_hex())}" if known is None else known


def choose_board() -> BoardChoice:
    """The data escape_markdown, chosen in the sidebar or by the link."""
    if wanted := st.session_state.pop(_NEXT, None):
        st.session_state[DATA] = wanted
    home = server_files.home_board()
    asked = st.session_state.get(DATA, st.query_params.get(DATA))
    choices = _choices(home, asked)
    if asked is not None and asked not in choices:
        same = next((label for label in choices if id_of(label) == id_of(asked)), None)
        st.session_state[_LOST if same is None else DATA] = same or asked
    label = select("Dataset", list(choices), DATA)
    try:
        st.session_state[_LAST] = found = choices[label]()
    except TieScopeError as error:
        notify(f"{label} cannot be opened. {error}")
        return home, None
    return found


def _choices(home: Board, asked: str | None) -> dict[str, Callable[[], BoardChoice]]:
    """What this session may choose from, by label: samples, its own boards, and the one it links to."""
    found: dict[str, Callable[[], BoardChoice]] = {home.label: lambda: (home, None)}
    for label, board in cache.sample_boards().items():
        found[label] = partial(_plain, board)
    asked_id = id_of(asked or "")
    for label in [*st.session_state.get(_KNOWN, []), asked]:
        if label and (held := cache.loaded_boards().get(id_of(label))):
            found[held.label] = partial(_plain, held)
            if label not in st.session_state.get(_KNOWN, []):
                _keep_out({file.sha256 for file in held.files})  # whose it is did not say that it may be kept
    try:
        listed = {one.label: one.id for one in cache.open_library().boards(owner(), most=_MOST)}
        if asked and asked not in found and asked_id not in listed.values():
            record = cache.open_library().look(asked_id, owner())
            listed |= {record.label: record.id} if record else {}
    except LibraryError as error:
        notify(str(error))
        board, record = st.session_state.get(_LAST, (None, None))
        return found | ({record.label: lambda: (board, record)} if record is not None else {})
    return found | {label: partial(_recalled, board_id) for label, board_id in listed.items()}


def _plain(board: Board) -> BoardChoice:
    return board, None


def _recalled(board_id: str) -> BoardChoice:
    record = cache.open_library().find(board_id, owner())
    return cache.load_record(record), record


def unknown_label() -> str | None:
    """Data that the link asked for and this server does not have (any more); told once."""
    return cast("str | None", st.session_state.pop(_LOST, None))


def note_unknown_label(label: str) -> None:
    """Have it said above the page that the link asked for data that is not here."""
    st.session_state[_LOST] = label


def notify(message: str) -> None:
    """Have something said above the page, once."""
    st.session_state.setdefault(_SAID, {})[message] = None


def notices() -> list[str]:
    """What is to be said above the page."""
    return list(st.session_state.pop(_SAID, {}))


def show_board(
    board: Board,
    given: Collection[str] = (),
    *,
    amends: Record | None = None,
    keep: bool | None = None,
    name: str = "",
    opened_with: Mapping[str, Any] | None = None,
) -> None:
    """Show a board from now on, keep it, and draw again.

    Args:
        board: read and joined.
        given: sha256 of the files that the visitor gave for it just now.
        amends: the kept board it takes the place of, where this visitor may change that.
        keep: whether these files may be kept; None: as was said of them before. A board is kept unless one
            of its files may not be.
        name: what it is called in the library.
        opened_with: its settings there.
    """
    label = board.label
    if label not in cache.sample_boards():
        try:
            cache.loaded_boards().add(board)
        except UsageError as error:
            st.error(escape_markdown(str(error)), icon=":material/error:")
            return
        if keep is not None:
            (_let_in if keep else _keep_out)(set(given))
        record = None if is_session_only(board) else _kept(board, amends, name, opened_with or {})
        if record is not None:
            cache.update_loaded(board, record)
            label = record.label
    switch_to_board(label)


def switch_to_board(label: str) -> None:
    """Show the data of a label from now on, and draw again."""
    st.session_state[_NEXT] = label
    known = st.session_state.setdefault(_KNOWN, [])
    if label not in known:
        known.append(label)
    st.rerun()


def leave_deleted_board(record: Record) -> None:
    """Show other data in place of a board that was deleted, and offer to undo that."""
    st.session_state[_GONE] = record
    switch_to_board(server_files.home_board().label)


def deleted_board() -> Record | None:
    """The board deleted just now, until something else is shown."""
    gone = cast("Record | None", st.session_state.get(_GONE))
    if gone is not None and st.session_state.get(DATA) != server_files.home_board().label:
        st.session_state[_GONE] = gone = None
    return gone


def is_preloaded(board: Board) -> bool:
    """Whether a board is there without anybody's upload: a sample, or what the command opened."""
    return board.label in {*cache.sample_boards(), server_files.home_board().label}


def is_stranger() -> bool:
    """Whether this visitor is known for this session alone."""
    return owner().startswith(STRANGER)


def default_access(who: str) -> Access:
    """Who else may open what somebody keeps: of a stranger all that holds it together is the link."""
    return "link" if who.startswith(STRANGER) else "private"


def board_link(label: str) -> str:
    """The link of a board."""
    return f"{str(st.context.url).partition('?')[0]}?{urlencode({DATA: label})}"


def _keep_out(files: set[str]) -> None:
    """Have these files kept nowhere, until it is said otherwise."""
    st.session_state[_HERE] = st.session_state.get(_HERE, set()) | files


def _let_in(files: set[str]) -> None:
    st.session_state[_HERE] = st.session_state.get(_HERE, set()) - files


def is_session_only(board: Board) -> bool:
    """Whether a board has a file that may not be kept."""
    return not st.session_state.get(_HERE, set()).isdisjoint(file.sha256 for file in board.files)


def _kept(board: Board, amends: Record | None, name: str, view: Mapping[str, Any]) -> Record | None:
    """The board as the library has it; None where it cannot be kept, which is said."""
    who = owner()
    if amends is not None and amends.may_change(who):
        try:
            return cache.open_library().revise(amends.id, amends.version, board, who)
        except TieScopeError as error:
            notify(f"{error} What you see is a board of its own.")
    try:
        return cache.open_library().keep(board, who, name=name, view=view, access=default_access(who))
    except TieScopeError as error:
        notify(f"{error} What you see is in memory only.")
        return None
