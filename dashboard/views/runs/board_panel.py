"""The board shown: its name, what it is opened with, who else may open it, and its ways out."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import streamlit as st

from dashboard import cache, session
from dashboard.escaping import escape_markdown
from dashboard.library.exchange.board_file import ENDING, export
from dashboard.library.storage.records import Access, Record
from dashboard.library.storage.schema import RETENTION
from dashboard.session import View
from dashboard.widgets.components import heading
from metrics.errors import TieScopeError

_ACCESS: dict[Access, str] = {
    "private": "Only you",
    "link": "Whoever has the link may read",
    "edit": "Whoever has the link may change it",
}


def board_panel(view: View) -> None:
    """A row to name, keep, share and delete the board shown."""
    heading("Board", _told(view))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        record = view.record
        if record is not None:
            _kept(record)
        elif not session.is_preloaded(view.board) and st.button(
            "Keep", icon=":material/inventory_2:", key="keep"
        ):
            session.show_board(view.board, {file.sha256 for file in view.board.files}, keep=True)
        settings = session.board_settings()
        st.download_button(
            "Export",
            data=lambda: _exported(view, settings),
            file_name=_file_name(view),
            mime="application/zip",
            key="export",
            icon=":material/download:",
            on_click="ignore",
            help="Runs, judgments and settings in one file; drop it here or on another server.",
        )


def undo() -> None:
    """Offer to bring back the board deleted just now."""
    gone = session.deleted_board()
    if gone is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(
            f":material/delete: Deleted **{escape_markdown(gone.name)}**. "
            f"It can be restored for {RETENTION.days} days."
        )
        if st.button("Undo", key="undo", type="tertiary"):
            _do(
                lambda: cache.open_library().restore(gone.id, session.owner()),
                lambda: session.switch_to_board(gone.label),
            )


def _told(view: View) -> str:
    """What happens to the board when the page is closed."""
    record = view.record
    if record is None:
        if session.is_preloaded(view.board):
            return "Always here."
        return "In memory only: this link opens it until the server restarts or needs the room."
    if record.owner != session.owner():
        return "Shared with you to change." if record.access == "edit" else "Shared with you to read."
    if session.is_stranger():
        kept = f"Kept for {RETENTION.days} days: whoever has this link can read it."
        return f"{kept} After a refresh, duplicate it to change it."
    return "Kept: a refresh, a restart or another browser with this link shows the same."


def _kept(record: Record) -> None:
    """Controls of a board in the library."""
    who = session.owner()
    if record.may_change(who):
        _name(record, who)
        as_now = "Open it as it is shown now: measure, baseline, filter and policies."
        if st.button("Save view", icon=":material/bookmark:", key="save-view", help=as_now):
            _do(lambda: cache.open_library().save_view(record.id, session.board_settings(), who), st.rerun)
    if st.button("Duplicate", icon=":material/content_copy:", key="duplicate"):
        access = session.default_access(who)
        _do(
            lambda: session.switch_to_board(cache.open_library().duplicate(record.id, who, access=access).label)
        )
    if record.owner == who:
        if who and not session.is_stranger():
            _share(record, who)
        if st.button("Delete", icon=":material/delete:", key="delete"):
            _do(
                lambda: cache.open_library().delete(record.id, who), lambda: session.leave_deleted_board(record)
            )


def _name(record: Record, who: str) -> None:
    now = record.name if record.named else ""
    name = st.text_input(
        "Name", now, max_chars=200, key=f"name-{record.id}-{record.version}", placeholder=record.name, width=280
    )
    if name.strip() in ("", record.name):
        return
    _do(lambda: session.switch_to_board(cache.open_library().rename(record.id, name, who).label))


def _share(record: Record, who: str) -> None:
    with st.popover("Share", icon=":material/group:"):
        options = list(_ACCESS)
        chosen = st.radio(
            "Who may open it",
            options,
            options.index(record.access),
            format_func=lambda one: _ACCESS[one],
            key=f"share-{record.id}-{record.version}",
        )
        st.code(session.board_link(record.label), language=None, wrap_lines=True)
        if chosen is not None and chosen != record.access:
            _do(lambda: cache.open_library().share(record.id, chosen, who), st.rerun)


def _do(*steps: Callable[[], None]) -> None:
    """Change the library and go on; where it cannot be changed, say why."""
    try:
        for step in steps:
            step()
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")


def _exported(view: View, settings: dict[str, Any]) -> bytes:
    packed = BytesIO()
    export(view.record or view.board, packed, settings)
    return packed.getvalue()


def _file_name(view: View) -> str:
    """A name any disk takes."""
    name = view.record.name if view.record else view.board.label
    plain = "".join(letter if letter.isalnum() else "-" for letter in name)[:80]
    return f"{plain.strip('-') or 'board'}{ENDING}"
