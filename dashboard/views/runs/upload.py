"""Files in: the drop field, what was dropped and cannot be shown yet, and how to mend it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.escaping import escape_markdown
from dashboard.library import MOST_FILES, Board, BoardSpec, keep_arrangement, queries_text
from dashboard.library.exchange.board_file import is_board
from dashboard.library.storage.records import SEPARATOR
from dashboard.session import View
from dashboard.views.runs.file_cards import choose_columns
from metrics.errors import ReadError, RepeatError, TieScopeError, UsageError
from metrics.runs import File, Source
from metrics.scale.stored import is_stored
from metrics.studies.prose import Prose, Strong, percent

KEPT = "Nothing was added; what was loaded before is still shown."
_AROUND = 2
_LONGEST = 200


def drop(view: View) -> None:
    """The upload field. Files that go together are shown at once; any error leaves all as it was."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        given = st.file_uploader(
            "Drop runs and judgments: TREC, CSV, TSV, JSON, JSONL or Parquet, also .gz and .zst; or .tiescope",
            accept_multiple_files=True,
            key="upload",
            help=f"At most {MOST_FILES} files; each is recognised by its content, never by its name.",
        )
        pasted = _paste()
        if st.button("Sample data", icon=":material/dataset:"):
            session.show_board(cache.sample_board())
    with st.container(horizontal=True):
        more = st.toggle(
            "Add to what is loaded",
            key="add",
            help="A file of the same name takes the place of the one loaded.",
        )
        only_here = st.toggle(
            "This session only", key="only-here", help="Nothing is written to disk, nor into the library."
        )
    files = [File(one.name, one.getvalue()) for one in given] + pasted
    if not files:
        session.draft(None)
        return
    if len(files) > MOST_FILES:
        st.error(f"{len(files)} files, more than {MOST_FILES}. Put several rerankers into one table.")
        return
    if stored := [file for file in files if is_stored(file)]:
        _say_stored(stored[0].name)
        return
    boards = [file for file in files if is_board(file)]
    if boards:
        _import(boards[0], alone=len(files) == 1, keep=not only_here)
        return
    spec = BoardSpec.of(files)
    found = session.draft(view.board.spec.with_files(spec) if more else spec)
    _try(found, spec, view if more else None, keep=not only_here)


def _say_stored(name: str) -> None:
    """What a stored evaluation is, and where it opens."""
    st.info(
        f"{escape_markdown(name)} is a stored evaluation: lists that are scored already, without "
        f"their documents. `tiescope app results.parquet` opens such a file, under Large results.",
        icon=":material/hard_drive:",
    )
    st.caption(KEPT)


def _import(file: File, *, alone: bool, keep: bool) -> None:
    """Show the board of a file that somebody exported."""
    found = (
        cache.load_board_file(file.sha256, file)
        if alone
        else UsageError(f"{file.name} is a board: drop it alone.")
    )
    if isinstance(found, TieScopeError):
        st.error(escape_markdown(str(found)), icon=":material/error:")
        st.caption(KEPT)
    elif session.is_new_draft(file.sha256):
        given = {one.sha256 for one in found.board.files}
        session.show_board(found.board, given, keep=keep, name=found.name, opened_with=found.view)


def _paste() -> list[File]:
    """Text from the clipboard as a file."""
    with st.popover("Paste", icon=":material/content_paste:"):
        name = st.text_input("Name", "pasted.txt", key="paste-name")
        text = st.text_area("Rows", key="paste", height=160, placeholder="q1 Q0 d7 1 0.93 my-reranker")
    return [File(name or "pasted.txt", text.encode("utf-8", "replace"))] if text.strip() else []


def _try(spec: BoardSpec, dropped: BoardSpec, onto: View | None, *, keep: bool) -> None:
    """Show the board of what was dropped, or say what is in the way and offer to mend it.

    What was dropped is shown once: to choose another board while it lies in the field does not add it there.
    """
    sources = read_all(spec)
    board = make(spec, sources, onto.board.spec if onto else None)
    if isinstance(board, Board):
        given = {entry.file.sha256 for entry in dropped.entries}
        own = tuple(entry for entry in spec.entries if entry.file.sha256 in given)
        if session.is_new_draft(replace(spec, entries=own).digest):
            session.show_board(board, given, amends=onto.record if onto else None, keep=keep)
        return
    wrong = [(at, one) for at, one in enumerate(sources) if isinstance(one, TieScopeError)]
    for error in [one for _, one in wrong] or [board]:
        waiting = isinstance(error, UsageError) and not wrong and not _complete(sources)
        more = " Upload runs and judgments together." if waiting else ""
        (st.warning if waiting else st.error)(
            escape_markdown(str(error) + more), icon=":material/pending:" if waiting else ":material/error:"
        )
        if isinstance(error, ReadError) and error.line is not None:
            _around(spec, error)
        if isinstance(error, RepeatError):
            _offer_to_keep(spec)
    st.caption(KEPT)
    for at, error in wrong:
        if isinstance(error, ReadError) and error.header:
            choose_columns(spec, at, error.header, error.mapping, session.replace_draft)


def read_all(spec: BoardSpec) -> list[Source | TieScopeError]:
    """What each file holds, or why it cannot be read; says which is being read."""
    entries = spec.entries
    bar, found = st.empty(), []
    for at, entry in enumerate(entries):
        bar.progress(
            at / len(entries), f"Reading {at + 1} of {len(entries)}: {escape_markdown(entry.file.name)}"
        )
        found.append(cache.read_entry(entry))
    bar.empty()
    return found


def make(
    spec: BoardSpec, sources: list[Source | TieScopeError], before: BoardSpec | None = None
) -> Board | TieScopeError:
    """The board, its rerankers named and ordered as before; or the first thing in its way."""
    board = cache.build_board(spec, sources)
    try:
        return keep_arrangement(board, before) if before and isinstance(board, Board) else board
    except TieScopeError as error:
        return error


def _complete(sources: list[Source | TieScopeError]) -> bool:
    """Whether there are runs, and something that says what is relevant for each."""
    read = [one for one in sources if isinstance(one, Source)]
    runs = [one for one in read if one.kind == "run"]
    return bool(runs) and (len(runs) < len(read) or all("relevance" in one.table.column_names for one in runs))


def _offer_to_keep(spec: BoardSpec) -> None:
    """The two ways out of a repeated document."""
    with st.container(horizontal=True):
        if st.button("Keep first", type="primary", key="keep-first"):
            session.replace_draft(BoardSpec(spec.entries, "first"))
        if st.button("Keep highest", key="keep-max"):
            session.replace_draft(BoardSpec(spec.entries, "max"))


def _around(spec: BoardSpec, error: ReadError) -> None:
    """The lines of a text file around the one at fault, as they stand."""
    file = next((one.file for one in spec.entries if one.file.name == error.file), None)
    if file is None or error.line is None or error.unit != "line":
        return
    first = max(1, error.line - _AROUND)
    lines = list(islice(_lines(file), first - 1, error.line + _AROUND))
    rows = pd.DataFrame({"Line": range(first, first + len(lines)), "Text": lines})
    if len(rows) and not rows["Text"].str.contains("\ufffd").any():
        mark = f"background-color: {session.theme().warm[0]}"
        style = rows.style.map(lambda _: mark, subset=pd.IndexSlice[rows.index[rows["Line"] == error.line], :])
        st.dataframe(style, hide_index=True, key="around")


def _lines(file: File) -> Iterator[str]:
    """The lines of a text file, each as far as it is shown."""
    rest = ""
    for block in file.blocks():
        lines = (rest + block.decode("utf-8", "replace")).split("\n")
        rest = lines.pop()[:_LONGEST]
        yield from (line[:_LONGEST].rstrip("\r") for line in lines)
    yield rest


def board_finding(board: Board) -> Prose:
    """What is loaded, in a sentence; all of it, whatever is chosen in the sidebar."""
    runs, judged = len(board.runs.tables), board.runs.qrels is not None
    ties = cache.evaluation(board.key, board).lists["tie_ratio"]
    what = f"{runs} run{'s' * (runs != 1)}" + (" and judgments" if judged else "")
    return (
        Strong(board.label.rpartition(SEPARATOR)[0] or board.label),
        f": {what} for ",
        Strong(queries_text(board.n_queries)),
        f", shown on every page. {percent(float((ties > 0).mean()))} of the lists have a tie; "
        f"{percent(float(ties.mean()))} of the documents of a list share their score, on average.",
    )
