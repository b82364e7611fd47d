"""Data → Library: the boards, the uploads kept, actions on them, and boards deleted recently."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from zoneinfo import ZoneInfo

import pandas as pd
import streamlit as st

from dashboard import boards, cache, controls
from dashboard.access.sign_in import is_open_to_all
from dashboard.boards import change_library, read_all
from dashboard.choices import Selection
from dashboard.draft import Outcome, last_outcome, selectable_table, selected_uploads, set_outcome
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, BoardSpec, with_roles
from dashboard.library.records import STRANGER, Upload
from dashboard.long_work import long_work
from dashboard.visitor import visitor_zone
from dashboard.widgets.components import download_csv, finding, heading, section, table
from metrics.errors import LibraryError, TieScopeError
from metrics.studies.prose import Prose, Strong
from metrics.support.wording import count_of, first_names, part_of


def actions(view: Selection, ticked: Sequence[Upload]) -> None:
    """Draw buttons for the selected uploads."""
    if not ticked:
        st.caption("Tick uploads to open them, add them to this board or delete them.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{len(ticked)} ticked{_boards_text(ticked)}", width="content")
        opens = _button("Open together" if len(ticked) > 1 else "Open", "open", "folder_open")
        adds = _button("Add to this board", "add", "library_add")
        deletes = _button("Delete", "discard", "delete")
    if opens:
        change_library(lambda: _open(ticked))
    if adds:
        change_library(lambda: _add(view, ticked))
    if deletes:
        _delete(view, ticked)


def _boards_text(ticked: Sequence[Upload]) -> str:
    """Return a warning if the selected uploads share no board and may not belong together."""
    names = {board_id: name for upload in ticked for board_id, name in upload.boards}
    shared = set.intersection(*({board_id for board_id, _ in upload.boards} for upload in ticked))
    if shared or len(names) < 2:  # noqa: PLR2004 of one board and of none
        return ""
    return escape_markdown(f", from {len(names)} boards: {first_names(list(names.values()))}")


def _button(label: str, key: str, icon: str) -> bool:
    return st.button(label, icon=f":material/{icon}:", key=f"library-{key}")


def _open(ticked: Sequence[Upload]) -> None:
    board = _build(_spec_of(ticked, ()))
    set_outcome(Outcome(f"Opened {_names_text(ticked)}."))
    boards.show_board(board)


def _add(view: Selection, ticked: Sequence[Upload]) -> None:
    on_board = {file.sha256 for file in view.board.files}
    new = [upload for upload in ticked if upload.sha256 not in on_board]
    if not new:
        st.info("This board already has these files.", icon=":material/check:")
        return
    used_stems = {file.stem for file in view.board.files}
    before = view.board.spec
    board = _build(before.with_files(_spec_of(new, used_stems)), before)
    size = count_of(len(board.runs.tables), "reranker")
    set_outcome(Outcome(f"Added {_names_text(new)} to this board, which now has {size}."))
    boards.show_board(board, amends=(view.board, view.record))


def _spec_of(uploads: Sequence[Upload], used_stems: Collection[str]) -> BoardSpec:
    spec = cache.open_library().spec_of([upload.sha256 for upload in uploads], boards.owner())
    return distinguish_files(spec, uploads, used_stems)


def distinguish_files(spec: BoardSpec, uploads: Sequence[Upload], used_stems: Collection[str]) -> BoardSpec:
    """Add the day of upload to run names that are taken: `bge.trec`, `bge_2026-11-02.trec`."""
    used, entries = set(used_stems), list(spec.entries)
    for position in sorted(range(len(entries)), key=lambda row: uploads[row].added, reverse=True):
        upload = uploads[position]
        file = entries[position].file
        if upload.kind == "run" and file.stem in used:
            last = PurePath(file.name.replace("\\", "/")).name
            endings = (f"{upload.added:%Y-%m-%d}", f"{upload.added:%Y-%m-%d_%H%M%S}", upload.sha256[:7])
            names = (f"{file.stem}_{ending}{last[len(file.stem) :]}" for ending in endings)
            renamed = (replace(file, name=name) for name in names)
            file = next((candidate for candidate in renamed if candidate.stem not in used), file)
            entries[position] = replace(entries[position], file=file)
        used.add(file.stem)
    return replace(spec, entries=tuple(entries))


def _build(spec: BoardSpec, before: BoardSpec | None = None) -> Board:
    with long_work():
        spec = with_roles(spec, read_all(spec), cache.read_entry)
        board = cache.build_board(spec, read_all(spec), before)
    if isinstance(board, TieScopeError):
        raise board
    return board


def _delete(view: Selection, ticked: Sequence[Upload]) -> None:
    """Delete the unnamed boards that use the selected uploads, and leave the board shown if it is one."""
    gone, refused, board_ids = [], [], []
    for upload in ticked:
        try:
            board_ids += cache.open_library().discard(upload.sha256, boards.owner())
            gone.append(upload)
        except LibraryError as error:
            refused.append(f"{upload.name} stays. {error}")
    record = view.record
    label = record.label if record is not None and record.id in board_ids else None
    message = f"Deleted {_names_text(gone)}." if gone else ""
    set_outcome(Outcome(message, tuple(board_ids), tuple(refused), label))
    if label is not None:
        boards.switch_to_board(boards.home_board().label)
    st.rerun()


def _names_text(uploads: Sequence[Upload]) -> str:
    return first_names([upload.name for upload in uploads])


def outcome_line() -> None:
    """Show the last change, and a button to undo a deletion."""
    last = last_outcome()
    if last is None:
        return
    for why in last.refused:
        st.error(escape_markdown(why), icon=":material/error:")
    if last.message:
        with st.container(horizontal=True, vertical_alignment="center"):
            icon = "delete" if last.discarded else "check"
            st.markdown(f":material/{icon}: {escape_markdown(last.message)}", width="content")
            if last.discarded and st.button("Undo", key="library-undo", type="tertiary"):
                change_library(lambda: _undo(last))


def _undo(last: Outcome) -> None:
    for board_id in last.discarded:
        cache.open_library().restore(board_id, boards.owner())
    set_outcome(Outcome("Restored."))
    if last.label is not None:
        boards.switch_to_board(last.label)
    st.rerun()


_MAX_LINES = 20
"""Deleted boards listed at most."""


@section("Recently deleted boards")
def recently_deleted() -> None:
    """Draw deleted boards with a button to restore each."""
    library, owner = cache.open_library(), boards.owner()
    records = library.boards(owner, deleted=True)
    if not records:
        return
    with st.expander(f"Recently deleted · {len(records)}", icon=":material/delete:"):
        st.caption("Kept for a day after deletion, if there is room.")
        for record in records[:_MAX_LINES]:
            if _line(record.name, f"changed {record.changed:%d %b %Y}", record.id):
                change_library(partial(library.restore, record.id, owner), st.rerun)
        if len(records) > _MAX_LINES:
            st.caption(f"The list shows only the {_MAX_LINES} most recently changed boards.")


def _line(name: str, note: str, key: str) -> bool:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"{escape_markdown(name)} :gray[{escape_markdown(note)}]", width="content")
        return st.button("Restore", key=f"restore-{key}", type="tertiary")


_KINDS = {"run": "run", "qrels": "judgments"}
_SHELVES = ("This board", "All")


@section("Uploads")
def uploads_section(view: Selection) -> None:
    """Draw the visitor's uploads and boards in tables."""
    uploads = every_upload = cache.open_library().uploads(boards.owner())
    finding(library_finding(every_upload))
    _boards_table()
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        heading("Uploads", _whose(boards.owner()))
        if uploads:
            download_csv(uploads_frame(uploads), "library")
    if uploads:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            board_hashes = {file.sha256 for file in view.board.files}
            on_board = [upload for upload in every_upload if upload.sha256 in board_hashes]
            shelf = on_board and controls.segmented("Uploads", _SHELVES, "shelf", label_visibility="collapsed")
            if shelf == _SHELVES[0]:
                uploads = on_board
            words = controls.text_input(
                "Find",
                "find",
                placeholder="Name, board or hash",
                icon=":material/search:",
                label_visibility="collapsed",
                max_chars=200,
                width=320,
            )
            matches = search_uploads(uploads, words, selected_uploads())
            if len(matches) < len(every_upload):
                st.caption(part_of(len(matches), len(every_upload), "upload"), width="content")
        ticked = selectable_table(
            display_frame(matches, visitor_zone()),
            [upload.sha256 for upload in matches],
            column_config=_columns(),
            column_order=list(_columns()),
            hide_index=True,
            alt="Uploads that are kept, the newest first.",
        )
        actions(view, [upload for upload in matches if upload.sha256 in ticked])
    outcome_line()
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
        return "Kept on this server. Everyone who can reach the server can see, use and delete these uploads."
    if not owner:
        return "Kept on this machine."
    if owner.startswith(STRANGER):
        return "Kept on this server. Links to boards keep working; this list is lost when you leave."
    return f"Kept on this server, for {escape_markdown(owner)} only."


def search_uploads(uploads: Sequence[Upload], words: str, selected: Sequence[str] = ()) -> list[Upload]:
    """Return the uploads that match every word, and the selected ones."""
    search_words = words.casefold().split()

    def matches(upload: Upload) -> bool:
        names = [name for _, name in upload.boards]
        text = "\n".join([upload.name, _KINDS[upload.kind], *names]).casefold()
        return all(word in text or upload.sha256.startswith(word) for word in search_words)

    return [upload for upload in uploads if upload.sha256 in selected or matches(upload)]


def display_frame(uploads: Sequence[Upload], place: ZoneInfo) -> pd.DataFrame:
    """Return one row per upload for the screen."""
    rows = uploads_frame(uploads)
    rows["kind"] = [[_KINDS[upload.kind]] for upload in uploads]
    rows["size"] /= 1000
    rows["added"] = rows["added"].dt.tz_localize("UTC").dt.tz_convert(place)
    rows["hash"] = [upload.sha256[:7] for upload in uploads]
    return rows


def uploads_frame(uploads: Sequence[Upload]) -> pd.DataFrame:
    """Return one row per upload for the download, with bytes and times in UTC."""
    rows = [
        {
            "name": upload.name,
            "kind": _KINDS[upload.kind],
            "rows": upload.rows,
            "size": upload.size,
            "boards": ", ".join(name for _, name in upload.boards),
            "added": upload.added,
            "hash": upload.sha256,
        }
        for upload in uploads
    ]
    frame = pd.DataFrame(rows, columns=list(_columns()))
    return frame.astype({"size": "float64", "added": "datetime64[us]"})


def _columns() -> dict[str, object]:
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
