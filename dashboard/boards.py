"""Choose, show and keep boards: samples, files opened by the command, uploads and shared boards."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from secrets import token_hex
from typing import NamedTuple, cast
from urllib.parse import urlencode
from weakref import WeakValueDictionary

import streamlit as st

from dashboard import cache, controls
from dashboard.access.sign_in import identity
from dashboard.escaping import error_markdown, escape_markdown, without_folders
from dashboard.library.audit import record_event
from dashboard.library.boards import Board, BoardSpec, keep_arrangement
from dashboard.library.loaded import Published
from dashboard.library.records import SEPARATOR, STRANGER, Record, id_of
from dashboard.long_work import long_work
from dashboard.streamlit_internals import is_active_session, session_id
from dashboard.visitor import visitor_id
from metrics.errors import LibraryError, TieScopeError, UsageError
from metrics.runs import Source
from metrics.support.progress import begin_step
from metrics.support.wording import count_of

DATA = "data"
_VISITED = "_known_data"
_LOST = "_lost_data"
_UNKNOWN = (
    "is not on this server or is not shared with you. Boards without a name end 30 days after they were last "
    "opened. A board of *This session only* is lost at the latest when the server restarts"
)
_UNREACHABLE = "cannot be looked up as long as the library cannot be reached"
_VISITOR = "_visitor"
_NOTICES = "_said"
_SESSION_ONLY = "_only_here"
_DELETED = "_deleted_board"
_LAST = "_last_data"
_AUDITED = "_audited_data"
_MAX_UNNAMED = 50
"""Newest unnamed boards offered; all boards with a name are offered."""

BoardChoice = tuple[Board, Record | None]
"""A board, and its record in the library if it is kept there."""


def owner() -> str:
    """Return the owner of this session's data: an address, "" for everybody, or a name of this session."""
    address = identity()
    if address is None:
        return f"{STRANGER}{st.session_state.setdefault(_VISITOR, token_hex())}"
    return address


def opened_board() -> Board | TieScopeError | None:
    """Return the board of the command line's runs, or the error if they changed since; None without runs."""
    try:
        return cache.command_board()
    except TieScopeError as error:
        return error


def home_board() -> Board:
    """Return the board that the app opens with: that of the command line, or else the sample."""
    board = opened_board()
    return board if isinstance(board, Board) else cache.sample_board()


def choose_board() -> BoardChoice | None:
    """Draw the choice of a board in the sidebar, which the link can set, and return the board.

    Returns None if the link names a board that cannot be opened: no other board replaces it.
    """
    home = home_board()
    if isinstance(error := opened_board(), TieScopeError):
        notify(f"{error} The app opens with the sample data until the file can be read.")
    requested = controls.get_text(DATA) or home.label
    choices, is_complete = _choices(home, requested)
    label = next((label for label in choices if id_of(label) == id_of(requested)), None)
    reason = _UNKNOWN if is_complete else _UNREACHABLE
    st.session_state[_LOST] = "" if label else f"This link opens {escape_markdown(requested)}, which {reason}."
    controls.choose(DATA, id_of(home.label), bool, lambda texts: id_of(texts[-1]))
    names = _names(choices)
    st.selectbox(
        "Board",
        list(choices),
        None if label is None else 0,  # with None, a board could be taken away
        format_func=lambda label: names.get(label, label),
        placeholder="Choose a board",
        label_visibility="collapsed",
        **controls.bound(DATA, label, is_sent=True),
    )
    try:
        st.session_state[_LAST] = choice = choices[label]() if label else None
    except TieScopeError as error:
        notify(f"{label} cannot be opened. {error}")
        return None
    _audit(label, requested)
    return choice


def leave_board() -> None:
    """Forget the board shown, for pages that have none."""
    st.session_state.pop(_LAST, None)


def while_open(write: Callable[[], str | bytes]) -> Callable[[], str | bytes]:
    """Return the maker of a download that fails once the visitor may no longer open the board shown now."""
    identity_then = shown_board(), owner(), visitor_id()

    def make_if_open() -> str | bytes:
        if not _is_open(*identity_then):
            raise UsageError("This board was deleted or is not shared with you.")
        return write()

    return make_if_open


def shown_board() -> BoardChoice | None:
    """Return the board of this page, None for a page that has none."""
    return cast("BoardChoice | None", st.session_state.get(_LAST))


def _is_open(choice: BoardChoice | None, owner_id: str, visitor: str) -> bool:
    board, record = choice or (None, None)
    if record is not None:
        try:
            return cache.open_library().look(record.id, owner_id) is not None
        except LibraryError:
            return True  # the page stays while the library cannot be reached
    if board is None or is_preloaded(board):
        return True
    now = cache.loaded_boards().find(id_of(board.label), visitor)
    return now is not None and now.key == board.key


def _audit(label_shown: str | None, requested: str) -> None:
    action, label = ("opened", label_shown) if label_shown else ("refused", requested)
    if st.session_state.get(_AUDITED) != (action, id_of(label)):
        st.session_state[_AUDITED] = action, id_of(label)
        record_event(action, owner(), board=id_of(label), name=label.rpartition(SEPARATOR)[0])


def board_name(label: str) -> str:
    """Return the name in a label, without its ID."""
    return label.rpartition(SEPARATOR)[0] or label


def _names(labels: Iterable[str]) -> dict[str, str]:
    """Return label → name, numbered where several boards have one name: `llm`, `llm (2)`."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for label in labels:
        name = board_name(label)
        counts[name] += 1
        names[label] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return names


def _choices(home: Board, requested: str | None) -> tuple[dict[str, Callable[[], BoardChoice]], bool]:
    """Return label → loader of each board on offer, and whether the library could be read."""
    choices: dict[str, Callable[[], BoardChoice]] = {home.label: partial(_unkept, home)}
    choices |= {label: partial(_load_sample, label) for label in cache.SAMPLES}
    choices |= {board.label: partial(_unkept, board) for board in _visited_boards(requested)}
    try:
        records = cache.open_library().boards(owner(), most_unnamed=_MAX_UNNAMED)
        board_ids = {record.label: record.id for record in records}
        if requested and requested not in choices and id_of(requested) not in board_ids.values():
            linked = cache.open_library().look(id_of(requested), owner())
            board_ids |= {linked.label: linked.id} if linked else {}
    except LibraryError as error:
        notify(str(error))
        last = shown_board()
        return choices | ({last[1].label: lambda: last} if last and last[1] else {}), False
    return choices | {label: partial(_load_choice, board_id) for label, board_id in board_ids.items()}, True


def _visited_boards(requested: str | None) -> list[Board]:
    visited = [id_of(label) for label in st.session_state.get(_VISITED, [])]
    boards = []
    for board_id in filter(None, [*visited, requested and id_of(requested)]):
        if board := cache.loaded_boards().find(board_id, visitor_id()):
            boards.append(board)
            if board_id not in visited:  # before a refresh it was said not to be kept
                _session_only().update(file.sha256 for file in board.files)
    return boards


def _unkept(board: Board) -> BoardChoice:
    return board, None


def _load_sample(label: str) -> BoardChoice:
    return cache.sample_board(label), None


def _load_choice(board_id: str) -> BoardChoice:
    record = cache.open_library().find(board_id, owner())
    return cache.load_record(record), record


def unknown_board() -> str:
    """Return why the board of the address cannot be opened, empty if it is open."""
    return str(st.session_state.get(_LOST, ""))


def notify(message: str) -> None:
    """Queue a message to show once above the page."""
    st.session_state.setdefault(_NOTICES, {})[without_folders(message)] = None


def notices() -> list[str]:
    """Return and clear the messages to show above the page."""
    return list(st.session_state.pop(_NOTICES, {}))


def show_board(
    board: Board,
    file_hashes: Collection[str] = (),
    *,
    amends: BoardChoice | None = None,
    keep: bool | None = None,
    draft: str = "",
    published: Published | None = None,
    page: str = "",
) -> None:
    """Keep a board and show it on a page, by default on this one.

    It replaces the board `amends` if that one is the visitor's. `keep` says whether the uploaded files
    may be kept, and None leaves the earlier decision: a board is kept only if all its files may be. `draft`
    marks the upload that it comes from, so that this upload is not shown twice.
    """
    label = board.label
    if label not in cache.SAMPLES:
        try:
            cache.loaded_boards().demand_room(board)
        except UsageError as error:
            st.error(error_markdown(error), icon=":material/error:")
            return
        if keep is not None:
            (_session_only().difference_update if keep else _session_only().update)(file_hashes)
        before, kept_before = amends or (None, None)
        record = None if is_session_only(board) else _keep(board, kept_before)
        board_id = id_of(before.label) if before is not None and kept_before is None else ""
        published = published or cache.loaded_boards().published(board_id, visitor_id())
        if record is None:
            label = cache.loaded_boards().add(board, visitor_id(), board_id).label
        else:
            cache.loaded_boards().remove(board_id, visitor_id())
            cache.update_loaded(board, record)
            label = record.label
        if published is not None:
            publish(label, published)
    switch_to_board(label, draft, page)


def publish(label: str, published: Published) -> None:
    """Store published results with a board: in the library, or else in memory for this visitor."""
    if label not in cache.SAMPLES:
        with suppress(LibraryError):  # not kept there, or somebody else's
            cache.open_library().publish(id_of(label), published, owner())
            return
    cache.loaded_boards().publish(id_of(label), visitor_id(), published)


def published_results(label: str) -> Published | None:
    """Return the published results stored with a board, None without any."""
    return find_published(label, owner(), visitor_id())


def find_published(label: str, owner_id: str, visitor: str) -> Published | None:
    """Return the published results that a visitor stored with a board, None without any."""
    if published := cache.loaded_boards().published(id_of(label), visitor):
        return published
    with suppress(LibraryError):
        return cache.open_library().published(id_of(label), owner_id)
    return None


def switch_to_board(label: str, draft: str = "", page: str = "") -> None:
    """Show the board of a label, mark its upload as shown, and rerun this page or open another one."""
    controls.set_values({DATA: id_of(label)})
    visited = st.session_state.setdefault(_VISITED, [])
    if label not in visited:
        visited.append(label)
    if draft:
        mark_shown(draft)  # last: a click in between must not lose the upload
    if page:
        st.switch_page(page)
    st.rerun()


def forget_board(board: Board) -> None:
    """Delete a board that is in memory only, and show the home board."""
    cache.loaded_boards().remove(id_of(board.label), visitor_id())
    switch_to_board(home_board().label)


class Deleted(NamedTuple):
    """Boards just deleted."""

    name: str  # what was deleted, in words
    board_ids: Sequence[str]
    label: str  # the board to return to, empty if the one shown was not deleted
    next_label: str  # the board shown since


def leave_deleted(name: str, board_ids: Sequence[str], record: Record | None) -> None:
    """Show the home board if the board shown was deleted, and offer to undo the deletion."""
    label = record.label if record is not None and record.id in board_ids else ""
    next_label = home_board().label if label else st.session_state[DATA]
    st.session_state[_DELETED] = Deleted(name, board_ids, label, next_label)
    switch_to_board(next_label)


def last_deleted() -> Deleted | None:
    """Return the boards just deleted, until another board is shown."""
    gone = cast("Deleted | None", st.session_state.get(_DELETED))
    return gone if gone is not None and st.session_state.get(DATA) == gone.next_label else None


def undo_deletion(gone: Deleted) -> None:
    """Restore boards, and show the one that was shown before."""
    for board_id in gone.board_ids:
        cache.open_library().restore(board_id, owner())
    st.session_state[_DELETED] = None
    switch_to_board(gone.label or gone.next_label)


def is_preloaded(board: Board) -> bool:
    """Return whether a board is a sample or was opened by the command."""
    return board.label in {*cache.SAMPLES, home_board().label}


def is_stranger() -> bool:
    """Return whether this visitor is identified by the session alone."""
    return owner().startswith(STRANGER)


def board_link(label: str) -> str:
    """Return the link to a board."""
    return f"{str(st.context.url).partition('?')[0]}?{urlencode({DATA: id_of(label)})}"


def _session_only() -> set[str]:
    """Return the SHA-256 of files that may not be kept."""
    return cast("set[str]", st.session_state.setdefault(_SESSION_ONLY, set()))


def is_session_only(board: Board) -> bool:
    """Return whether a board has a file that may not be kept."""
    return not _session_only().isdisjoint(file.sha256 for file in board.files)


def _keep(board: Board, amends: Record | None) -> Record | None:
    owner_id = owner()
    if amends is not None and amends.owner == owner_id:
        try:
            return cache.open_library().revise(amends.id, amends.version, board, owner_id)
        except TieScopeError as error:
            notify(f"{error} This page now shows a new board.")
    try:
        return cache.open_library().keep(board, owner_id)
    except TieScopeError as error:
        notify(f"{error} The board shown is not saved: it exists in memory only.")
        return None


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


_BASE = "_given_files"
_DRAFT = "_draft"
_SHOWN_DRAFT = "_shown_draft"
_INTERRUPTED = "_interrupted_upload"
RESUMED = "_resumed_upload"
"""Key: whether the visitor asked to read the upload of a closed page."""
_unread: WeakValueDictionary[tuple[str, str | None], BoardSpec] = WeakValueDictionary()
"""Visitor and session → upload that the session holds but has not shown."""


def current_draft(base: BoardSpec, *, keep: bool) -> BoardSpec:
    """Return an upload with the changes made to its files since; one that is not kept ends with its session."""
    before: BoardSpec | None = st.session_state.get(_BASE)
    if before is None or before.key != base.key:
        draft = base.with_choices_of(st.session_state.get(_DRAFT))
        st.session_state[_BASE], st.session_state[_DRAFT] = base, draft
        if keep:
            _unread[visitor_id(), session_id()] = base
    return cast("BoardSpec", st.session_state[_DRAFT])


def clear_draft() -> None:
    """Forget the upload that is not shown yet."""
    for key in (_BASE, _SHOWN_DRAFT, _DRAFT):
        st.session_state.pop(key, None)


def interrupted_upload() -> BoardSpec | None:
    """Return an upload that was not shown when the visitor closed or reloaded its page."""
    for (visitor, session), spec in list(_unread.items()):
        if visitor == visitor_id() and session not in (None, session_id()) and not is_active_session(session):
            st.session_state[_INTERRUPTED] = spec
            _unread.pop((visitor, session), None)
    return cast("BoardSpec | None", st.session_state.get(_INTERRUPTED))


def forget_interrupted() -> None:
    """Forget the upload of a closed page."""
    for key in (_INTERRUPTED, RESUMED):
        st.session_state.pop(key, None)


def replace_draft(spec: BoardSpec) -> None:
    """Change the upload that is not shown yet, and rerun the page."""
    st.session_state[_DRAFT] = spec
    st.rerun()


def is_shown_draft(digest: str) -> bool:
    """Return whether an upload was shown already."""
    return st.session_state.get(_SHOWN_DRAFT) == digest


def mark_shown(digest: str) -> None:
    """Mark an upload as shown."""
    st.session_state[_SHOWN_DRAFT] = digest
    _unread.pop((visitor_id(), session_id()), None)
    forget_interrupted()
