"""Data → Library: the boards, the uploads kept, actions on them, and boards deleted recently."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st

from dashboard import boards, cache, pages
from dashboard.access.sign_in import is_open_to_all
from dashboard.choices import Selection
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, BoardSpec, with_roles
from dashboard.library.records import STRANGER, Upload
from dashboard.long_work import long_work
from dashboard.visitor import visitor_zone
from dashboard.widgets.components import finding, heading, section, table
from metrics.errors import LibraryError, TieScopeError
from metrics.studies.prose import Prose, Strong
from metrics.support.wording import count_of, first_names


def actions(view: Selection, ticked: Sequence[Upload]) -> None:
    """Draw buttons for the selected uploads."""
    if not ticked:
        st.caption("Tick uploads to open them, add them to this board or delete them.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{len(ticked)} ticked", width="content")
        opens = _button("Open together" if len(ticked) > 1 else "Open", "open", "folder_open")
        adds = _button("Add to this board", "add", "library_add")
        deletes = _button("Delete", "discard", "delete")
    if opens:
        boards.change_library(lambda: _show(_build(_spec_of(ticked, ()))))
    if adds:
        boards.change_library(lambda: _add(view, ticked))
    if deletes:
        _delete(view, ticked)


def _button(label: str, key: str, icon: str) -> bool:
    return st.button(label, icon=f":material/{icon}:", key=f"library-{key}")


def _show(board: Board, amends: boards.BoardChoice | None = None) -> None:
    page = pages.LEADERBOARD if board.runs.is_judged else pages.RERANKERS
    boards.show_board(board, amends=amends, page=page.file)


def _add(view: Selection, ticked: Sequence[Upload]) -> None:
    on_board = {file.sha256 for file in view.board.files}
    new = [upload for upload in ticked if upload.sha256 not in on_board]
    if not new:
        st.info("This board already has these files.", icon=":material/check:")
        return
    before = view.board.spec
    spec = before.with_files(_spec_of(new, {file.stem for file in view.board.files}))
    _show(_build(spec, before), (view.board, view.record))


def _spec_of(uploads: Sequence[Upload], used_stems: Collection[str]) -> BoardSpec:
    spec = cache.open_library().spec_of([upload.sha256 for upload in uploads], boards.owner())
    return distinguish_files(spec, uploads, used_stems)


def distinguish_files(spec: BoardSpec, uploads: Sequence[Upload], used_stems: Collection[str]) -> BoardSpec:
    """Add the day of upload, or else the hash, to run names that are taken: `bge_2026-11-02.trec`."""
    used, entries = set(used_stems), list(spec.entries)
    for position in sorted(range(len(entries)), key=lambda row: uploads[row].added, reverse=True):
        upload = uploads[position]
        file = entries[position].file
        if upload.kind == "run" and file.stem in used:
            last = PurePath(file.name.replace("\\", "/")).name
            endings = (f"{upload.added:%Y-%m-%d}", upload.sha256[:7])
            names = (f"{file.stem}_{ending}{last[len(file.stem) :]}" for ending in endings)
            renamed = (replace(file, name=name) for name in names)
            file = next((candidate for candidate in renamed if candidate.stem not in used), file)
            entries[position] = replace(entries[position], file=file)
        used.add(file.stem)
    return replace(spec, entries=tuple(entries))


def _build(spec: BoardSpec, before: BoardSpec | None = None) -> Board:
    with long_work():
        spec = with_roles(spec, boards.read_all(spec), cache.read_entry)
        board = cache.build_board(spec, boards.read_all(spec), before)
    if isinstance(board, TieScopeError):
        raise board
    return board


def _delete(view: Selection, ticked: Sequence[Upload]) -> None:
    """Delete the unnamed boards that use the selected uploads, and leave the board shown if it is one."""
    gone, board_ids = [], []
    for upload in ticked:
        try:
            board_ids += cache.open_library().discard(upload.sha256, boards.owner())
            gone.append(upload.name)
        except LibraryError as error:
            boards.notify(f"{upload.name} stays. {error}")
    if not gone:
        st.rerun()
    boards.leave_deleted(first_names(gone), board_ids, view.record)


@section("Recently deleted boards")
def recently_deleted() -> None:
    """Draw deleted boards with a button to restore each."""
    library, owner = cache.open_library(), boards.owner()
    records = library.boards(owner, deleted=True)
    if not records:
        return
    with st.expander(f"Recently deleted · {len(records)}", icon=":material/delete:"):
        st.caption("Kept for a day after deletion, if there is room.")
        for record in records:
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                changed = escape_markdown(f"changed {record.changed:%d %b %Y}")
                st.markdown(f"{escape_markdown(record.name)} :gray[{changed}]", width="content")
                if st.button("Restore", key=f"restore-{record.id}", type="tertiary"):
                    boards.change_library(partial(library.restore, record.id, owner), st.rerun)


_KINDS = {"run": "run", "qrels": "judgments"}


@section("Uploads")
def uploads_section(view: Selection) -> None:
    """Draw the visitor's uploads and boards in tables."""
    uploads = cache.open_library().uploads(boards.owner())
    finding(library_finding(uploads))
    st.caption(_whose(boards.owner()))
    _boards_table()
    if uploads:
        heading("Uploads")
        event = st.dataframe(
            uploads_frame(uploads, visitor_zone()),
            key=f"uploads-{hash(tuple(upload.sha256 for upload in uploads))}",  # other rows: nothing is ticked
            on_select="rerun",
            selection_mode="multi-row",
            column_config=_columns(),
            column_order=list(_columns()),
            hide_index=True,
            alt="Uploads that are kept, the newest first.",
        )
        actions(view, [uploads[row] for row in event["selection"]["rows"]])
    recently_deleted()


def _boards_table() -> None:
    listings = cache.open_library().boards(boards.owner())
    if not listings:
        return
    column, zone = st.column_config, visitor_zone()
    rows = pd.DataFrame(map(vars, listings))
    for name in ("created", "changed"):
        rows[name] = pd.to_datetime(rows[name]).dt.tz_localize("UTC").dt.tz_convert(zone).dt.tz_localize(None)
    columns = {
        "name": column.TextColumn("Name"),
        "created": column.DatetimeColumn("Created", format="D MMM YYYY, HH:mm"),
        "changed": column.DatetimeColumn("Changed", format="D MMM YYYY, HH:mm"),
        "runs": column.NumberColumn("Rerankers", format="localized"),
        "queries": column.NumberColumn("Queries", format="localized"),
    }
    table(rows[list(columns)], "Boards", "boards", columns)


def library_finding(uploads: Sequence[Upload]) -> Prose:
    """Return a sentence on the uploads kept and the boards that use them."""
    if not uploads:
        return (
            "Nothing is kept yet. Files dropped on the Data page are kept unless you choose “This session "
            "only”.",
        )
    board_ids = {board_id for upload in uploads for board_id, _ in upload.boards}
    verb = " is" if len(uploads) == 1 else " are"
    where = f"{verb} kept, on {count_of(len(board_ids), 'board')}."
    return Strong(count_of(len(uploads), "upload")), where


def _whose(owner: str) -> str:
    if not owner and is_open_to_all():
        return "Uploads are kept on this server. Everyone who can reach it can see, use and delete them."
    if not owner:
        return "Uploads are kept on this machine."
    if owner.startswith(STRANGER):
        return (
            "Uploads are kept on this server. Links to boards keep working; this list is lost when you leave."
        )
    return f"Uploads are kept on this server, for {escape_markdown(owner)} only."


def uploads_frame(uploads: Sequence[Upload], place: ZoneInfo) -> pd.DataFrame:
    """Return one row per upload, with kilobytes and the visitor's times."""
    rows = [
        {
            "name": upload.name,
            "kind": [_KINDS[upload.kind]],
            "rows": upload.rows,
            "size": upload.size / 1000,
            "boards": ", ".join(name for _, name in upload.boards),
            "added": upload.added,
            "hash": upload.sha256[:7],
        }
        for upload in uploads
    ]
    frame = pd.DataFrame(rows).astype({"added": "datetime64[us]"})
    return frame.assign(added=frame["added"].dt.tz_localize("UTC").dt.tz_convert(place))


def _columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "name": column.TextColumn("Name", pinned=True, width=176),
        "added": column.DatetimeColumn("Added", format="D MMM YYYY, HH:mm", width=145),
        "kind": column.MultiselectColumn(
            "Kind", options=list(_KINDS.values()), color=["blue", "gray"], width=95
        ),
        "boards": column.TextColumn("Used on", width=130, help="Boards that use the file."),
        "rows": column.NumberColumn("Rows", format="localized", width=75),
        "size": column.NumberColumn("Size", format="%.0f kB", width=75, help="Size of the file."),
        "hash": column.TextColumn("Hash", width=85, help="First digits of the SHA-256 hash of the file."),
    }
