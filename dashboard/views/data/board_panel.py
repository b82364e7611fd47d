"""The board shown: its name, what it is opened with, who else may open it, and its ways out."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import streamlit as st

from dashboard import boards, cache, controls
from dashboard.boards import (
    board_link,
    default_access,
    deleted_board,
    forget_board,
    is_preloaded,
    is_stranger,
    leave_deleted_board,
    while_open,
)
from dashboard.choices import View, board_settings
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.audit import record_event
from dashboard.library.board_file import ENDING, export
from dashboard.library.records import SEPARATOR, Access, Record, id_of
from dashboard.library.schema import RETENTION
from dashboard.visitor import visitor_id
from dashboard.widgets.sections import section
from metrics.errors import TieScopeError

_ACCESS: dict[Access, str] = {
    "private": "Only you",
    "link": "Whoever has the link may read",
    "edit": "Whoever has the link may change it",
}


@section("The board")
def board_panel(view: View) -> None:
    """Draw a row to name, keep, share and delete the board shown."""
    label = f"Board {escape_markdown(_board_name(view))}. {_lifetime(view)}"
    with (
        st.expander(label, icon=":material/inventory_2:", key="board"),
        st.container(horizontal=True, vertical_alignment="bottom", gap="small"),
    ):
        record = view.record
        if record is not None:
            _library_controls(record)
        elif not is_preloaded(view.board):
            if st.button("Keep", icon=":material/inventory_2:", key="keep"):
                hashes = {file.sha256 for file in view.board.files}
                boards.show_board(view.board, hashes, amends=(view.board, None), keep=True)
            if st.button("Delete", icon=":material/delete:", key="delete", help="Nothing of it stays."):
                forget_board(view.board)
        settings, owner, visitor = board_settings(), boards.owner(), visitor_id()
        st.download_button(
            "Export",
            data=while_open(lambda: _exported(view, settings, owner, visitor)),
            file_name=_file_name(view),
            mime="application/zip",
            key="export",
            icon=":material/download:",
            on_click="ignore",
            help="Its files, published results and settings in one file; drop it here or on another server.",
        )


def undo() -> None:
    """Offer to bring back the board deleted just now."""
    gone = deleted_board()
    if gone is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(
            f":material/delete: Deleted **{escape_markdown(gone.name)}**. "
            f"It can be restored for {RETENTION.days} days."
        )
        if st.button("Undo", key="undo", type="tertiary"):
            _change_library(
                lambda: cache.open_library().restore(gone.id, boards.owner()),
                lambda: boards.switch_to_board(gone.label),
            )


def _lifetime(view: View) -> str:
    """Return what happens to the board when the page is closed."""
    record = view.record
    if record is None:
        if is_preloaded(view.board):
            return "Opened when the server starts; it cannot be renamed or deleted here."
        sign_out = "you sign out, " if boards.owner() and not is_stranger() else ""
        return (
            f"In memory only: this link opens it, for you alone, until {sign_out}the server restarts or needs "
            "the room."
        )
    if record.owner != boards.owner():
        return "Shared with you to change." if record.access == "edit" else "Shared with you to read."
    if is_stranger():
        period = f"Kept for {RETENTION.days} days: whoever has this link can read it."
        return f"{period} After a refresh, duplicate it to change it."
    return "Kept: a refresh, a restart or another browser with this link shows the same."


def _library_controls(record: Record) -> None:
    """Draw the controls of a board in the library."""
    owner, library = boards.owner(), cache.open_library()
    if record.may_change(owner):
        _name(record, owner)
        as_now = "Open it as it is shown now: measure, baseline, filter and policies."
        if st.button("Save view", icon=":material/bookmark:", key="save-view", help=as_now):
            settings = board_settings()
            _change_library(lambda: library.save_view(record.id, settings, owner), st.rerun)
    if st.button("Duplicate", icon=":material/content_copy:", key="duplicate"):
        access = default_access(owner)
        _change_library(
            lambda: boards.switch_to_board(library.duplicate(record.id, owner, access=access).label)
        )
    if record.owner == owner:
        if owner and not is_stranger():
            _share(record, owner)
        if st.button("Delete", icon=":material/delete:", key="delete"):
            _change_library(lambda: library.delete(record.id, owner), lambda: leave_deleted_board(record))


def _name(record: Record, owner: str) -> None:
    """Draw the name, to be written over; emptied, it comes back."""
    key = f"name-{record.id}-{record.version}"
    if not controls.get_value(key).strip():
        controls.set_value(key, record.name if record.named else "")
    name = st.text_input("Name", max_chars=200, key=key, placeholder=record.name, width=280)
    if name.strip() in ("", record.name):
        return
    _change_library(lambda: boards.switch_to_board(cache.open_library().rename(record.id, name, owner).label))


def _share(record: Record, owner: str) -> None:
    with st.popover("Share", icon=":material/group:"):
        options = list(_ACCESS)
        access = st.radio(
            "Who may open it",
            options,
            options.index(record.access),
            format_func=lambda access: _ACCESS[access],
            key=f"share-{record.id}-{record.version}",
        )
        st.code(board_link(record.label), language=None, wrap_lines=True)
        if access is not None and access != record.access:
            _change_library(lambda: cache.open_library().share(record.id, access, owner), st.rerun)


def _change_library(*steps: Callable[[], None]) -> None:
    """Change the library and go on; where it cannot be changed, say why."""
    try:
        for step in steps:
            step()
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")


def _exported(view: View, settings: dict[str, Any], owner: str, visitor: str) -> bytes:
    packed = BytesIO()
    label = view.record.label if view.record else view.board.label
    export(view.record or view.board, packed, settings, boards.find_published(label, owner, visitor))
    record_event("exported", owner, board=id_of(label), name=label.rpartition(SEPARATOR)[0])
    return packed.getvalue()


def _board_name(view: View) -> str:
    label = view.record.label if view.record else view.board.label
    return label.rpartition(SEPARATOR)[0] or label


def _file_name(view: View) -> str:
    """Return a name any disk takes."""
    plain = "".join(letter if letter.isalnum() else "-" for letter in _board_name(view))[:80]
    return f"{plain.strip('-') or 'board'}{ENDING}"
