"""Data → Files and Columns: the upload field, repairs of unreadable files, results to audit, and columns."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from dashboard import boards, cache, controls, pages
from dashboard.choices import Selection
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.boards import MOST_FILES, Board, BoardSpec, default_name, queries_text, with_roles
from dashboard.library.loaded import packed_files, table_label
from dashboard.library.uploads import MISSING_SCORE
from dashboard.long_work import is_cancelled, long_work
from dashboard.widgets.audited_table import kept_files, take_files, take_table
from dashboard.widgets.components import offer, section
from metrics.errors import ReadError, RepeatError, TieScopeError, UsageError
from metrics.evaluation import AS_READ
from metrics.runs import COLUMNS, FORMATS_BY_NAME, File, MissingScore, Source
from metrics.runs.columns import MISSING_SCORE_HINT
from metrics.runs.roles import RolesError
from metrics.scale.stored import is_stored
from metrics.studies.audit.published import holds_results
from metrics.studies.prose import NO_DOCUMENTS, Prose, Strong
from metrics.support.wording import count_of, first_names, percent, quote

UNCHANGED = "Nothing was added."
_ONLY_HERE, _WAS_ONLY_HERE = "only-here", "_was_only_here"
"""Keys of the switch that keeps uploads out of the library, and of its last position."""
_ADDED_ANYWAY = "_added_anyway"
"""Key: the upload that the visitor adds to a board with which it shares no query."""
_RULES: dict[MissingScore, str] = {
    "last": "Ranks them below the rest of their list, tied with each other.",
    "drop": "Removes them from their lists.",
}
_NESTED = "nested-json"
"""Format of runs that JSON results can be mistaken for."""


@section("The upload of files")
def upload_field(view: Selection) -> bool:
    """Draw the upload field, and show uploaded files that form a board; return whether others wait."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        uploaded = st.file_uploader(
            "Drop runs and judgments (TREC, CSV, TSV, JSON, JSONL or Parquet, also .gz and .zst), or published "
            "results to audit",
            accept_multiple_files=True,
            key="upload",
            help=f"At most {MOST_FILES} files. Formats are recognised by content, not by file name.",
        )
        pasted = _paste()
        if st.button("Sample data", icon=":material/dataset:"):
            boards.show_board(cache.sample_board())
    with st.container(horizontal=True):
        is_addition = st.toggle(
            "Add to this board", key="add", help="A file replaces the loaded file of the same name."
        )
        if controls.recall(_ONLY_HERE) is None:  # after another page
            controls.remember(_ONLY_HERE, controls.recall(_WAS_ONLY_HERE) or False)
        is_private = st.toggle("This session only", key=_ONLY_HERE, help="Nothing is written to disk.")
        controls.remember(_WAS_ONLY_HERE, is_private)
    files = [File(file.name, file.getvalue()) for file in uploaded] + pasted
    if files := files or _interrupted_files():
        is_waiting = _show_files(files, view if is_addition else None, keep=not is_private)
        return is_waiting and view.board.label in cache.SAMPLES
    boards.clear_draft()
    return False


def _interrupted_files() -> list[File]:
    """Offer to read the upload of a page that was reloaded first; return its files once that is chosen."""
    spec = boards.interrupted_upload()
    if spec is None:
        return []
    files = [entry.file for entry in spec.entries]
    names = escape_markdown(first_names([file.name for file in files]))
    with offer(f":material/history: The page was closed before it showed your upload of {names}."):
        is_resumed = bool(controls.recall(boards.RESUMED))
        if not is_resumed:
            read = partial(controls.remember, boards.RESUMED, value=True)
            st.button("Read it", key="read-interrupted", type="primary", on_click=read)
        st.button("Discard", key="discard-interrupted", type="tertiary", on_click=boards.forget_interrupted)
    return files if is_resumed else []


def _paste() -> list[File]:
    with st.popover("Paste", icon=":material/content_paste:"):
        name = st.text_input("Name", "pasted.txt", key="paste-name")
        text = st.text_area("Rows", key="paste", height=160, placeholder="q1 Q0 d7 1 0.93 my-reranker")
    return [File(name or "pasted.txt", text.encode("utf-8", "replace"))] if text.strip() else []


def _show_files(files: list[File], onto: Selection | None, *, keep: bool) -> bool:
    """Show the files as a board, or what is in the way; return whether they wait."""
    if len(files) > MOST_FILES:
        st.error(f"{len(files)} files exceed the limit of {MOST_FILES}. Put several rerankers into one table.")
    elif stored := next(filter(is_stored, files), None):
        st.info(
            f"{escape_markdown(stored.name)} is a stored evaluation: scores of lists, without their documents. "
            "Open it with `tiescope app results.parquet`, under Large results.",
            icon=":material/hard_drive:",
        )
        st.caption(UNCHANGED)
    else:
        dropped = BoardSpec.of(files)
        base = onto.board.spec.with_files(dropped) if onto else dropped
        spec = boards.current_draft(base, keep=keep)
        return _show_draft(spec, dropped, onto, keep=keep, is_as_dropped=spec.key == base.key)
    return True


def _show_draft(
    spec: BoardSpec, dropped: BoardSpec, onto: Selection | None, *, keep: bool, is_as_dropped: bool
) -> bool:
    """Show the board of an upload once, or explain the error and offer repairs; return whether it waits.

    The Leaderboard shows a board that can be scored, needed no choice of the visitor and offers no audit.
    """
    sha256s = {entry.file.sha256 for entry in dropped.entries}
    own = tuple(entry for entry in spec.entries if entry.file.sha256 in sha256s)
    draft = replace(spec, entries=own).key
    if boards.is_shown_draft(draft):
        return False
    if is_cancelled(draft, UNCHANGED):
        return True
    with long_work(draft):
        sources = boards.read_all(spec)
        spec, sources, results = _set_results_aside(spec, sources, dropped)
        if not sha256s - {file.sha256 for file in results}:
            _offer_to_audit(results)
            return False
        try:
            spec = with_roles(spec, sources, cache.read_entry)
        except RolesError as question:
            _ask(spec, question)
            return True
        sources = [cache.read_entry(entry) for entry in spec.entries]
        if onto and controls.recall(_ADDED_ANYWAY) != draft and _ask_where(spec, sources, onto.board, draft):
            return True
        board = cache.build_board(spec, sources, onto.board.spec if onto else None)
        if isinstance(board, Board):
            amended = (onto.board, onto.record) if onto else None
            published = (table_label(results), packed_files(results)) if results else None
            is_plain = is_as_dropped and board.runs.is_judged and not results
            page = pages.LEADERBOARD.file if is_plain else ""
            boards.show_board(
                board, sha256s, amends=amended, keep=keep, draft=draft, published=published, page=page
            )
    if isinstance(board, TieScopeError):
        if results:
            st.caption(f"Once the other files can be read, you can audit {_results_text(results)}.")
        _offer_to_mend(spec, sources, board)
    return True


def _set_results_aside(
    spec: BoardSpec, sources: Sequence[Source | TieScopeError], dropped: BoardSpec
) -> tuple[BoardSpec, list[Source | TieScopeError], list[File]]:
    """Return spec and sources without uploaded files of published results, and these files."""
    new = {entry.file.sha256 for entry in dropped.entries}

    def is_result(file: File, source: Source | TieScopeError) -> bool:
        may_be = isinstance(source, TieScopeError) or source.format == _NESTED
        return may_be and file.sha256 in new and holds_results(file)

    pairs = [pair for pair in zip(spec.entries, sources, strict=True) if not is_result(pair[0].file, pair[1])]
    staying = {entry.file.sha256 for entry, _ in pairs}
    results = [entry.file for entry in dropped.entries if entry.file.sha256 not in staying]  # or aside before
    entries = tuple(entry for entry, _ in pairs)
    return replace(spec, entries=entries), [source for _, source in pairs], results


def _ask_where(spec: BoardSpec, sources: Sequence[Source | TieScopeError], board: Board, draft: str) -> bool:
    """Ask where new files belong if they share no query with the board; return whether it asks."""
    staying = {file.sha256 for file in board.files}
    queries: dict[bool, set[str]] = {True: set(), False: set()}
    for entry, source in zip(spec.entries, sources, strict=True):
        if isinstance(source, Source):
            ids = pc.unique(source.table["query_id"]).cast(pa.string()).to_pylist()
            queries[entry.file.sha256 not in staying].update(ids)
    if not all(queries.values()) or not queries[True].isdisjoint(queries[False]):
        return False
    names = [entry.file.name for entry in spec.entries if entry.file.sha256 not in staying]
    name = escape_markdown(boards.board_name(board.label))
    new_query, query = (escape_markdown(quote(min(queries[is_new]))) for is_new in (True, False))
    files = escape_markdown(first_names(names))
    with offer(f"{files} and **{name}** share no query: the files have {new_query}, the board has {query}."):
        open_apart = partial(controls.remember, "add", value=False)
        st.button("Open as a new board", type="primary", key="open-apart", on_click=open_apart)
        st.button("Add anyway", key="add-anyway", on_click=controls.remember, args=(_ADDED_ANYWAY, draft))
    st.caption(UNCHANGED)
    return True


def _results_text(results: Sequence[File]) -> str:
    names = first_names([file.name for file in results])
    return escape_markdown(f"{count_of(len(results), 'file')} of published results ({names})")


def _offer_to_audit(results: Sequence[File]) -> None:
    choice = boards.shown_board()
    if choice is None:
        return
    name = escape_markdown(boards.board_name(choice[0].label))
    with offer(f":material/fact_check: {_results_text(results)}, no runs. Audit **{name}**?"):
        if st.button("Audit these", type="primary", key="audit-dropped"):
            take_files(choice[0], results)
            st.switch_page(pages.AUDIT.file)


def results_line(board: Board) -> None:
    """Offer to audit the published results kept with the board."""
    if not (results := kept_files(board)):
        return
    with offer(f":material/fact_check: {_results_text(results)} came with this board."):
        if st.button("Audit these", key="audit-kept"):
            take_table(table_label(results))
            st.switch_page(pages.AUDIT.file)


def _offer_to_mend(spec: BoardSpec, sources: list[Source | TieScopeError], refusal: TieScopeError) -> None:
    errors = {position: error for position, error in enumerate(sources) if isinstance(error, TieScopeError)}
    for error in errors.values() or [refusal]:
        if isinstance(error, UsageError) and not errors and not _is_complete(sources):
            st.warning(
                f"{error_markdown(error)} Upload runs and judgments together.", icon=":material/pending:"
            )
        else:
            st.error(error_markdown(error), icon=":material/error:")
        if isinstance(error, RepeatError):
            _offer_to_score(spec, sources)
            with st.container(horizontal=True):
                if st.button("Keep first", type="primary", key="keep-first"):
                    boards.replace_draft(BoardSpec(spec.entries, "first"))
                if st.button("Keep highest", key="keep-max"):
                    boards.replace_draft(BoardSpec(spec.entries, "max"))
    st.caption(UNCHANGED)
    _offer_others(spec, errors)
    _offer_to_add(sources)
    _offer_to_settle(spec, [place for place, error in errors.items() if MISSING_SCORE_HINT in str(error)])
    _offer_columns(spec, sources, is_missing=not errors and not _is_complete(sources))


def _offer_others(spec: BoardSpec, errors: Collection[int]) -> None:
    """Offer to continue without the files with errors."""
    others = [entry for position, entry in enumerate(spec.entries) if position not in errors]
    if errors and others:
        names = first_names([spec.entries[position].file.name for position in errors])
        if st.button(f"Continue without {escape_markdown(names)}", key="without-errors"):
            boards.replace_draft(replace(spec, entries=tuple(others)))


def _ask(spec: BoardSpec, question: RolesError) -> None:
    """Ask which column is the score and which the relevance; a button for each reading."""
    st.warning(escape_markdown(question.problem), icon=":material/help:")
    for number, reading in enumerate(question.readings):
        texts = reading.score, reading.relevance, reading.example
        score, relevance, example = map(escape_markdown, texts)
        with offer(f"**{score}** is the score and **{relevance}** says what is relevant: {example}."):
            if st.button(f"Score {reading.score}", key=f"reading-{number}"):
                for place in question.places:
                    spec = spec.with_columns(place, {**dict(spec.entries[place].columns), **reading.columns})
                boards.replace_draft(spec)
    st.caption(UNCHANGED)


def _offer_to_score(spec: BoardSpec, sources: Sequence[Source | TieScopeError]) -> None:
    """Offer to read grades in which files disagree as the scores of models."""
    graded = {
        position: source.mapping["relevance"]
        for position, source in enumerate(sources)
        if isinstance(source, Source) and source.kind == "qrels" and FORMATS_BY_NAME[source.format].has_header
    }
    if len(graded) < 2:  # noqa: PLR2004 files that may disagree
        return
    names = first_names([spec.entries[position].file.name for position in graded])
    with offer(f"Are the grades in {escape_markdown(names)} those of models?"):
        if st.button("Score them", type="primary", key="score-grades"):
            for position, name in graded.items():
                columns = {**dict(spec.entries[position].columns), "score": name, "relevance": ""}
                spec = spec.with_columns(position, columns)
            boards.replace_draft(spec)


def _offer_to_add(sources: Sequence[Source | TieScopeError]) -> None:
    """Offer to add judgments without a run to the visitor's board."""
    choice = boards.shown_board()
    has_only_judgments = all(isinstance(source, Source) and source.kind == "qrels" for source in sources)
    if has_only_judgments and choice and choice[0].label not in cache.SAMPLES:
        name, add = escape_markdown(boards.board_name(choice[0].label)), partial(controls.remember, "add")
        with offer(f"These are judgments. Add them to **{name}**?"):
            st.button("Add them", type="primary", key="add-judgments", on_click=add, kwargs={"value": True})


def _offer_columns(spec: BoardSpec, sources: Sequence[Source | TieScopeError], *, is_missing: bool) -> None:
    """Draw the columns of files with errors, and, where something is missing, of files with unread columns."""
    for position, source in enumerate(sources):
        is_open = isinstance(source, ReadError) and bool(source.header)
        if is_missing and isinstance(source, Source) and FORMATS_BY_NAME[source.format].has_header:
            is_open = not set(source.header) <= set(source.mapping.values())
        if is_open and isinstance(source, Source | ReadError):
            with st.expander(f"Columns of {escape_markdown(spec.entries[position].file.name)}"):
                choose_columns(spec, position, source.header, source.mapping, boards.replace_draft)


def _offer_to_settle(spec: BoardSpec, refused: Sequence[int]) -> None:
    """Offer to put documents without a numeric score last, or to drop them."""
    if not refused:
        return
    files = escape_markdown(first_names([spec.entries[position].file.name for position in refused]))
    with offer(f"Documents without a numeric score in {files}:"):
        rules: dict[str, MissingScore] = {"Put them last": "last", "Drop them": "drop"}
        for label, rule in rules.items():
            if st.button(label, key=f"missing-{rule}", help=_RULES[rule]):
                for position in refused:
                    spec = spec.with_rule(position, MISSING_SCORE, rule)
                boards.replace_draft(spec)


def _is_complete(sources: list[Source | TieScopeError]) -> bool:
    """Return whether there are runs, and judgments for each of them."""
    read = [source for source in sources if isinstance(source, Source)]
    runs = [source for source in read if source.kind == "run"]
    has_judgments = (run.judgments is not None or "relevance" in run.table.column_names for run in runs)
    return bool(runs) and (len(runs) < len(read) or all(has_judgments))


def board_finding(board: Board) -> Prose:
    """Return a sentence on the board's files and ties, whatever the sidebar filters."""
    runs, judged = len(board.runs.tables), board.runs.qrels is not None
    lists = cache.evaluation(board, AS_READ, cache.MEASURES).lists
    share_tied, mean_ratio = (lists["tie_ratio"] > 0).mean(), lists["tie_ratio"].mean()
    effect: Prose = (
        f"{percent(float(share_tied)).capitalize()} of the lists have a tie. On average, "
        f"{percent(float(mean_ratio))} of a list's documents tie.",
    )
    contents = f"{runs} run{'s' * (runs != 1)}" + (" and judgments" if judged else "")
    name = boards.board_name(board.label)
    return (
        *(() if name == default_name(board) else (Strong(name), ": ")),
        f"{contents}{'' if board.runs.is_judged else ' without judgments'} for ",
        Strong(queries_text(board.n_queries)),
        ". ",
        *(effect if lists["n_docs"].any() else NO_DOCUMENTS),
    )


_PREVIEWED = 6
_NOT_READ = "none"
_LONG, _TEXT_WIDTH = ("reranker", "query_text", "doc_text"), 180
"""Columns of long texts, and the width in pixels that keeps the scores in sight."""
_HELP = {one.name: one.summary for one in COLUMNS}


@cache.cached(max_entries=16)
def _first_rows(board: Board, position: int) -> pd.DataFrame:
    source = board.sources[position]
    head = source.table.slice(0, _PREVIEWED).to_pandas()
    head.insert(0, source.origin.unit.capitalize(), [source.origin.line_of(row) for row in range(len(head))])
    return head


@section("Columns")
def columns_and_rows(board: Board) -> None:
    """Draw the columns of one file, to be changed, and its first rows."""
    st.caption("How each column is read. Recognised names are filled in. Correct them where needed.")
    names = [f"{at}. {file.name}" for at, file in enumerate(board.files, 1)]
    name = controls.select("File", names, "file", width=320) if len(names) > 1 else names[0]
    position = names.index(name)
    source = board.sources[position]
    choose_columns(board.spec, position, source.header, source.mapping, boards.rebuild_board)
    _preview(_first_rows(board, position), source)


def choose_columns(
    spec: BoardSpec,
    position: int,
    header: Sequence[str],
    mapping: Mapping[str, str],
    on_choice: Callable[[BoardSpec], None],
) -> None:
    """Draw a control for each of our columns with the file's column as its value, and a button to apply them.

    `on_choice` receives the spec with the new choice once it is applied.
    """
    entry = spec.entries[position]
    grid = st.grid(6, min_column_width=120)
    changed: dict[str, str] = {}
    for column in COLUMNS:
        options = [_NOT_READ, *header]
        current = mapping.get(column.name, _NOT_READ)
        choice = grid.cell().selectbox(
            column.name,
            options,
            index=options.index(current),
            key=f"column-{entry.key[:12]}-{position}-{column.name}",
            help=_HELP[column.name],
        )
        if choice != current:
            changed[column.name] = "" if choice == _NOT_READ else choice
    chosen = {ours: theirs for ours, theirs in mapping.items() if theirs not in changed.values()}
    new_spec = spec.with_columns(position, {**dict(entry.columns), **chosen, **changed}) if changed else spec
    if changed:
        _say_roles(new_spec, position)
    if st.button("Apply", type="primary", disabled=not changed, key=f"apply-{entry.key[:12]}-{position}"):
        on_choice(new_spec)


def _say_roles(spec: BoardSpec, position: int) -> None:
    """Say what a new choice of columns makes of the first row, or why the file cannot be read with it."""
    source = cache.read_entry(spec.entries[position])
    if isinstance(source, TieScopeError):
        st.caption(error_markdown(source))
        return
    shown = [name for name in ("query_id", "doc_id", "score", "relevance") if name in source.table.column_names]
    values = [f"{name} {source.table[name][0].as_py()}" for name in shown]
    st.caption(escape_markdown(f"First row: {', '.join(values)}."))


def _preview(head: pd.DataFrame, source: Source) -> None:
    columns = {
        ours: st.column_config.Column(
            ours if ours == theirs else f"{ours} ← {theirs}", width=_TEXT_WIDTH if ours in _LONG else None
        )
        for ours, theirs in source.mapping.items()
    }
    st.dataframe(head, hide_index=True, column_config=columns, key="preview")
    if source.unused:
        st.caption(f"Not read: {escape_markdown(', '.join(source.unused))}")
