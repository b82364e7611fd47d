"""What can be done with uploads of the library that are ticked."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import PurePath

import streamlit as st

from dashboard import cache, session
from dashboard.access import server_files
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board, BoardSpec
from dashboard.library.storage.records import Upload
from dashboard.session import Outcome, View
from dashboard.session.changes import build_arranged, read_all, score_as_shown
from dashboard.session.long_work import long_work
from dashboard.session.upload_selection import last_outcome, set_outcome
from metrics.errors import LibraryError, TieScopeError, UsageError
from metrics.support.wording import count_of, first_names


def actions(view: View, ticked: Sequence[Upload]) -> None:
    """Draw buttons for the uploads ticked, and a note for a single one."""
    if not ticked:
        st.caption("Tick uploads to open them, add them to this board, pin or delete them.")
        return
    pins = not all(upload.pinned for upload in ticked)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{len(ticked)} ticked{_boards_text(ticked)}", width="content")
        opens = _button("Open together" if len(ticked) > 1 else "Open", "open", "folder_open")
        adds = _button("Add to this board", "add", "library_add")
        pin = _button("Pin" if pins else "Unpin", "pin", "keep" if pins else "keep_off")
        deletes = _button("Delete", "discard", "delete")
    if opens:
        _change_library(lambda: _open(ticked))
    if adds:
        _change_library(lambda: _add(view, ticked))
    if pin:
        _change_library(lambda: _pin(ticked, pinned=pins))
    if deletes:
        _delete(view, ticked)
    if len(ticked) == 1:
        _note(ticked[0])


def _boards_text(ticked: Sequence[Upload]) -> str:
    """Return which boards the uploads are on, where no board has all of them: they may not belong together."""
    boards = [dict(upload.boards) for upload in ticked]
    if any(all(board_id in others for others in boards) for board_id in boards[0]):
        return ""
    names = {board_id: name for upload_boards in boards for board_id, name in upload_boards.items()}
    if len(names) < 2:  # noqa: PLR2004 of one board and of none
        return ""
    return escape_markdown(f", of {len(names)} boards: {first_names(list(names.values()))}")


def _button(label: str, key: str, icon: str) -> bool:
    return st.button(label, icon=f":material/{icon}:", key=f"library-{key}")


def _change_library(change: Callable[[], None]) -> None:
    """Do something; where it cannot be done, say why and leave all as it was."""
    try:
        change()
    except TieScopeError as error:
        st.error(escape_markdown(f"{error} Nothing was changed."), icon=":material/error:")


def _open(ticked: Sequence[Upload]) -> None:
    try:
        board = _build(_spec_of(ticked, ()))
    except UsageError as error:
        if any(upload.kind == "qrels" for upload in ticked):
            raise
        raise UsageError(f"{error} Tick judgments as well, or add to this board.") from error
    set_outcome(Outcome(f"Opened {_names_text(ticked)}."))
    session.show_board(board)


def _add(view: View, ticked: Sequence[Upload]) -> None:
    on_board = {file.sha256 for file in view.board.files}
    new = [upload for upload in ticked if upload.sha256 not in on_board]
    if not new:
        st.info("This board has these files already.", icon=":material/check:")
        return
    used_stems = {file.stem for file in view.board.files}
    before = view.board.spec
    board = _build(before.with_files(_spec_of(new, used_stems)), before)
    size = count_of(len(board.runs.tables), "reranker")
    set_outcome(Outcome(f"Added {_names_text(new)} to this board: it has {size} now."))
    session.show_board(board, amends=(view.board, view.record))


def _spec_of(uploads: Sequence[Upload], used_stems: Collection[str]) -> BoardSpec:
    """Return what to make a board from: uploads, those of one name told apart."""
    spec = cache.open_library().spec_of([upload.sha256 for upload in uploads], session.owner())
    return distinguish_files(spec, uploads, used_stems)


def distinguish_files(spec: BoardSpec, uploads: Sequence[Upload], used_stems: Collection[str]) -> BoardSpec:
    """Give runs of a name that is taken the day they were added in theirs: `bge.trec`, `bge_2026-11-02.trec`.

    Args:
        spec: what they are read as.
        uploads: the same, in the same order; the newest keeps its name.
        used_stems: names without endings that are not free.

    Returns:
        The spec, no two of its runs of one name.
    """
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
    """Return the board of a spec, its rerankers named and ordered as before; raises what is in its way."""
    with long_work():
        board = build_arranged(spec, read_all(spec), before)
        if isinstance(board, Board):
            score_as_shown(board)
    if isinstance(board, TieScopeError):
        raise board
    return board


def _pin(ticked: Sequence[Upload], *, pinned: bool) -> None:
    for upload in ticked:
        cache.open_library().pin(upload.sha256, session.owner(), pinned=pinned)
    st.rerun()


def _delete(view: View, ticked: Sequence[Upload]) -> None:
    """Delete what can be; the board shown goes too where it has no name and uses one of them."""
    gone, refused = {}, []
    for upload in ticked:
        try:
            cache.open_library().discard(upload.sha256, session.owner())
            gone[upload.sha256] = upload.name
        except LibraryError as error:
            refused.append(f"{upload.name} stays. {error}")
    record = view.record
    used = {board_id for upload in ticked if upload.sha256 in gone for board_id, _ in upload.boards}
    label = record.label if record is not None and record.id in used else None
    message = f"Deleted {_names_text([upload for upload in ticked if upload.sha256 in gone])}." if gone else ""
    set_outcome(Outcome(message, gone, tuple(refused), label))
    if label is not None:
        session.switch_to_board(server_files.home_board().label)
    st.rerun()


def _names_text(uploads: Sequence[Upload]) -> str:
    return first_names([upload.name for upload in uploads])


def outcome_line() -> None:
    """Show what was done last, and a way to undo a deletion."""
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
                _change_library(lambda: _reclaim(last))


def _reclaim(last: Outcome) -> None:
    for sha256 in last.discarded:
        cache.open_library().reclaim(sha256, session.owner())
    set_outcome(Outcome("Restored."))
    if last.label is not None:
        session.switch_to_board(last.label)
    st.rerun()


def _note(upload: Upload) -> None:
    """Draw a field for what its owner says of an upload."""
    form = st.form(f"note-{upload.sha256[:12]}", border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        label = f"Note on {escape_markdown(upload.name)}"
        note = st.text_input(label, upload.note, max_chars=1000, key=f"note-{upload.sha256}", width=480)
        saved = st.form_submit_button("Save")
    if saved:
        _change_library(lambda: _describe(upload, note or ""))


def _describe(upload: Upload, note: str) -> None:
    cache.open_library().describe(upload.sha256, note, session.owner())
    st.rerun()
