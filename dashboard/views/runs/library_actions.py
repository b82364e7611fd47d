"""What can be done with uploads of the library that are ticked."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import PurePath

import streamlit as st

from dashboard import cache, session
from dashboard.access import server_files
from dashboard.escaping import escape_markdown
from dashboard.library import Board, BoardSpec
from dashboard.library.storage.records import Upload
from dashboard.session import Outcome, View
from dashboard.views.runs.upload import make, read_all
from metrics.errors import LibraryError, TieScopeError, UsageError


def actions(view: View, ticked: Sequence[Upload]) -> None:
    """Buttons for the uploads ticked, and a note for a single one."""
    if not ticked:
        st.caption("Tick uploads to open them, add them to this board, pin or delete them.")
        return
    pins = not all(one.pinned for one in ticked)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{len(ticked)} ticked", width="content")
        opens = _button("Open together" if len(ticked) > 1 else "Open", "open", "folder_open")
        adds = _button("Add to this board", "add", "library_add")
        pin = _button("Pin" if pins else "Unpin", "pin", "keep" if pins else "keep_off")
        deletes = _button("Delete", "discard", "delete")
    if opens:
        _tried(lambda: _open(ticked))
    if adds:
        _tried(lambda: _add(view, ticked))
    if pin:
        _tried(lambda: _pin(ticked, pinned=pins))
    if deletes:
        _delete(view, ticked)
    if len(ticked) == 1:
        _note(ticked[0])


def _button(label: str, key: str, icon: str) -> bool:
    return st.button(label, icon=f":material/{icon}:", key=f"library-{key}")


def _tried(change: Callable[[], None]) -> None:
    """Do something; where it cannot be done, say why and leave all as it was."""
    try:
        change()
    except TieScopeError as error:
        st.error(escape_markdown(f"{error} Nothing was changed."), icon=":material/error:")


def _open(ticked: Sequence[Upload]) -> None:
    try:
        board = _made(_recipe(ticked, ()))
    except UsageError as error:
        if any(one.kind == "qrels" for one in ticked):
            raise
        raise UsageError(f"{error} Tick judgments as well, or add to this board.") from error
    session.set_outcome(Outcome(f"Opened {_named(ticked)}."))
    session.show_board(board)


def _add(view: View, ticked: Sequence[Upload]) -> None:
    there = {file.sha256 for file in view.board.files}
    new = [one for one in ticked if one.sha256 not in there]
    if not new:
        st.info("This board has these files already.", icon=":material/check:")
        return
    taken = {file.stem for file in view.board.files}
    before = view.board.spec
    board = _made(before.with_files(_recipe(new, taken)), before)
    session.set_outcome(Outcome(f"Added {_named(new)} to this board: it has {_told(board)} now."))
    session.show_board(board, amends=view.record)


def _told(board: Board) -> str:
    count = len(board.runs.tables)
    return f"{count} reranker{'s' * (count != 1)}"


def _recipe(uploads: Sequence[Upload], taken: Collection[str]) -> BoardSpec:
    """What to make a board from: uploads, those of one name told apart."""
    spec = cache.open_library().spec_of([one.sha256 for one in uploads], session.owner())
    return distinguish_files(spec, uploads, taken)


def distinguish_files(spec: BoardSpec, uploads: Sequence[Upload], taken: Collection[str]) -> BoardSpec:
    """Runs of a name that is taken get the day they were added in theirs: `bge.trec`, `bge_2026-11-02.trec`.

    Args:
        spec: what they are read as.
        uploads: the same, in the same order; the newest keeps its name.
        taken: names without endings that are not free.
    """
    used, entries = set(taken), list(spec.entries)
    order = sorted(range(len(entries)), key=lambda at: uploads[at].added, reverse=True)
    for at in order:
        file, one = entries[at].file, uploads[at]
        if one.kind == "run" and file.stem in used:
            last = PurePath(file.name.replace("\\", "/")).name
            ways = (f"{one.added:%Y-%m-%d}", f"{one.added:%Y-%m-%d_%H%M%S}", one.sha256[:7])
            names = (f"{file.stem}_{way}{last[len(file.stem) :]}" for way in ways)
            renamed = (replace(file, name=name) for name in names)
            file = next((given for given in renamed if given.stem not in used), file)
            entries[at] = replace(entries[at], file=file)
        used.add(file.stem)
    return replace(spec, entries=tuple(entries))


def _made(spec: BoardSpec, before: BoardSpec | None = None) -> Board:
    """The board of a spec, its rerankers named and ordered as before.

    Raises:
        TieScopeError: a file cannot be read, or they do not go together.
    """
    board = make(spec, read_all(spec), before)
    if isinstance(board, TieScopeError):
        raise board
    return board


def _pin(ticked: Sequence[Upload], *, pinned: bool) -> None:
    for one in ticked:
        cache.open_library().pin(one.sha256, session.owner(), pinned=pinned)
    st.rerun()


def _delete(view: View, ticked: Sequence[Upload]) -> None:
    """Delete what can be; the board shown goes too where it has no name and uses one of them."""
    gone, refused = {}, []
    for one in ticked:
        try:
            cache.open_library().discard(one.sha256, session.owner())
            gone[one.sha256] = one.name
        except LibraryError as error:
            refused.append(f"{one.name} stays. {error}")
    record = view.record
    used = {board_id for one in ticked if one.sha256 in gone for board_id, _ in one.boards}
    label = record.label if record is not None and record.id in used else None
    told = f"Deleted {_named([one for one in ticked if one.sha256 in gone])}." if gone else ""
    session.set_outcome(Outcome(told, gone, tuple(refused), label))
    if label is not None:
        session.switch_to_board(server_files.home_board().label)
    st.rerun()


def _named(uploads: Sequence[Upload]) -> str:
    names = [one.name for one in uploads]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004 in a line


def last_done() -> None:
    """What was done last, and a way to undo a deletion."""
    last = session.last_outcome()
    if last is None:
        return
    for why in last.refused:
        st.error(escape_markdown(why), icon=":material/error:")
    if last.message:
        with st.container(horizontal=True, vertical_alignment="center"):
            icon = "delete" if last.discarded else "check"
            st.markdown(f":material/{icon}: {escape_markdown(last.message)}", width="content")
            if last.discarded and st.button("Undo", key="library-undo", type="tertiary"):
                _tried(lambda: _reclaim(last))


def _reclaim(last: Outcome) -> None:
    for sha256 in last.discarded:
        cache.open_library().reclaim(sha256, session.owner())
    session.set_outcome(Outcome("Restored."))
    if last.label is not None:
        session.switch_to_board(last.label)
    st.rerun()


def _note(one: Upload) -> None:
    """A field for what its owner says of an upload."""
    form = st.form(f"note-{one.sha256[:12]}", border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        label = f"Note on {escape_markdown(one.name)}"
        note = st.text_input(label, one.note, max_chars=1000, key=f"note-{one.sha256}", width=480)
        saved = st.form_submit_button("Save")
    if saved:
        _tried(lambda: _describe(one, note or ""))


def _describe(one: Upload, note: str) -> None:
    cache.open_library().describe(one.sha256, note, session.owner())
    st.rerun()
