"""Choose the published results that a board is audited against, kept with the board and named in the link."""

from collections.abc import Callable, Sequence
from typing import cast

import streamlit as st

from dashboard import controls
from dashboard.boards import publish, published_results
from dashboard.controls import choose, get_text, set_value
from dashboard.library.boards import Board
from dashboard.library.loaded import packed_files, table_label, unpacked_files
from metrics.runs import File

TABLE = "table"
"""Key of the table to audit."""
NO_TABLE, SAMPLE_TABLE, FILE_ORDER = "none", "sample", "file-order"
"""No table, the sample's table, and an example table with mistakes of the board."""
_NAMES = "names"
_TAKEN = "_published_taken"
_LOST = "_published_lost"


def choose_table(board: Board, default: str, *, has_sample: bool) -> str:
    """Return the table to audit; none if the board does not have the one in the link."""
    results = published_results(board.label)
    own = [results[0]] if results else []
    offered = (NO_TABLE, FILE_ORDER, *own, *([SAMPLE_TABLE] if has_sample else []))
    requested = get_text(TABLE)
    if controls.is_linked(TABLE) and requested not in (*offered, SAMPLE_TABLE):
        st.session_state[_LOST] = requested.rpartition("~")[0] or requested
    elif own and requested not in offered:
        set_value(TABLE, own[0])  # of a board just opened
    choice = choose(TABLE, default, offered.__contains__)
    return NO_TABLE if missing_table() and choice == default else choice


def missing_table() -> str | None:
    """Return the table of the link if the board does not have it, until another is chosen."""
    return cast("str | None", st.session_state.get(_LOST))


def kept_files(board: Board) -> tuple[File, ...]:
    """Return the files of the published results kept with a board."""
    results = published_results(board.label)
    return unpacked_files(results[1]) if results else ()


def is_new(files: Sequence[File]) -> bool:
    """Return whether the field has new files; an empty field forgets the earlier ones."""
    label = table_label(files) if files else None
    if label is None:
        st.session_state.pop(_TAKEN, None)
    return label is not None and st.session_state.get(_TAKEN) != label


def take_files(board: Board, files: Sequence[File]) -> None:
    """Keep published results with the board and audit it against them; LibraryError if they are too large."""
    label = table_label(files)
    publish(board.label, (label, packed_files(files)))
    st.session_state[_TAKEN] = label
    take_table(label)


def take_table(name: str) -> None:
    """Audit another table, without the names matched by hand for the table before."""
    set_value(_NAMES, None)
    st.session_state.pop(_LOST, None)
    set_value(TABLE, name)


def names_by_hand(is_valid: Callable[[str, str], bool]) -> dict[str, str]:
    """Return the names matched by hand or by the link: published → ours, empty for none."""

    def read(texts: controls.Texts) -> controls.Texts:
        pairs = _pairs(texts)
        controls.refuse(_NAMES, [f"{name}={ours}" for name, ours in pairs.items() if not is_valid(name, ours)])
        return [f"{name}={ours}" for name, ours in pairs.items() if is_valid(name, ours)]

    return _pairs(choose(_NAMES, list[str](), lambda _: True, read))


def match_by_hand(published: str, key: str) -> None:
    """Match a published name with the value of a control."""
    pairs = _pairs(controls.choices().texts.get(_NAMES, []))
    pairs.pop(published, None)
    names = pairs | {published: st.session_state[key] or ""}
    set_value(_NAMES, [f"{name}={ours}" for name, ours in names.items()])


def _pairs(texts: controls.Texts) -> dict[str, str]:
    return {name: ours for name, _, ours in (text.rpartition("=") for text in texts)}
