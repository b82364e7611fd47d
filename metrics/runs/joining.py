"""Sources joined: the rows of each reranker, the judgments of all files, and findings of joining."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import PurePath
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, RepeatError, UsageError
from metrics.runs.columns import SUBTOPICS
from metrics.runs.files import File, FileProvenance
from metrics.runs.findings import Finding, make_finding, reranker_prefix
from metrics.runs.source import Source
from metrics.runs.stacks import RunStack, refuse_empty_lists
from metrics.support.arrays import IntArray, combine_chunks, joined_ranges, span_starts, with_column
from metrics.support.wording import first_names, quote

Repeated = Literal["error", "first", "max"]
"""Handling of a document that is twice in one list, or judged twice."""
_JUDGMENT_COLUMNS = ("query_id", "doc_id", "relevance", "target_id", "subtopic", SUBTOPICS)


@dataclass
class JoinedTables:
    """The rows of all rerankers of several sources; see `Runs` for the other attributes."""

    stacks: list[RunStack]
    noted: list[Finding]
    tie_orders: list[str]
    qrels: pa.Table | None = None
    judged_origin: FileProvenance | None = None


def join_sources(sources: Iterable[Source], repeated: Repeated, *, judged: bool) -> JoinedTables:
    """Join the sources of several files.

    Raises:
        RepeatError: a document is twice in one list, with `repeated="error"`.
        UsageError: two runs given one name; with `judged`, no run, no relevance, or far too many rerankers.
    """
    if repeated not in ("error", "first", "max"):
        raise UsageError(f"repeated must be 'error', 'first' or 'max', not {repeated!r}.")
    noted, runs, grades, embedded = list[Finding](), list[Source](), list[RunStack](), list[RunStack]()
    for source in sources:
        noted += source.noted
        if source.kind == "run":
            runs.append(source)
        judgments = source if source.kind == "qrels" else source.judgments
        if judgments is not None:
            stack = RunStack.single("", judgment_columns(judgments.table), source.origin)
            (grades if judgments is source else embedded).append(stack)
    stacks = [_stack(source) for source in runs]
    if len(stacks) > 1:
        stacks = _told_apart(stacks, runs, noted)
    for place, source in enumerate(runs):
        if source.missing_score != "error":
            stacks[place] = _settle_missing(stacks[place], source, noted)
        stacks[place] = _without_repeats(stacks[place], "score", repeated, noted)
    joined = JoinedTables(stacks, noted, [source.tie_order for source in runs])
    if grades or embedded:
        _join_judgments(joined, grades, embedded, repeated)
    if judged:
        _refuse_unusable(stacks, joined.qrels)
    return joined


def two_runs_error(file: str, name: str) -> UsageError:
    """Return the error of a file with a run whose name another run has."""
    hint = "Give one a name of its own: NAME=PATH on the command line, {NAME: path} in Python."
    return UsageError(f"{file}: there are two runs named {name!r}. {hint}")


def _told_apart(stacks: list[RunStack], runs: Sequence[Source], noted: list[Finding]) -> list[RunStack]:
    """Rename runs that share a name by their files; a UsageError if the user gave two runs one name."""
    counts = Counter(name for stack in stacks for name in stack.names)
    shared = [name for name, n_files in counts.items() if n_files > 1]
    if not shared:
        return stacks
    is_named = [
        source.format == "frame" or (source.name is not None and len(stack.names) == 1)
        for source, stack in zip(runs, stacks, strict=True)
    ]
    used_names, names = set(counts), [list(stack.names) for stack in stacks]
    new_names = []
    for name in shared:
        places = [place for place, stack in enumerate(stacks) if name in stack.names]
        named_places = [place for place in places if is_named[place]]
        if named_places[1:]:
            raise two_runs_error(_origin(stacks[named_places[1]]).file, name)
        unnamed = [place for place in places if place not in named_places]
        reserved = used_names if named_places else used_names - {name}
        labels = _labels(name, [stacks[place] for place in unnamed], reserved)
        used_names |= set(labels)
        for place, label in zip(unnamed, labels, strict=True):
            names[place][names[place].index(name)] = label
    for stack, renamed in zip(stacks, names, strict=True):
        new_names += [new for old, new in zip(stack.names, renamed, strict=True) if old != new]
    first = next(stack for stack in stacks if shared[0] in stack.names)
    noted.append(told_apart_finding(_origin(first).file, shared, new_names))
    return [replace(stack, names=renamed) for stack, renamed in zip(stacks, names, strict=True)]


def told_apart_finding(file: str, shared: Sequence[str], new_names: Sequence[str]) -> Finding:
    """Return the finding on runs that share a name."""
    subject = f"the name {quote(shared[0])}" if len(shared) == 1 else f"{len(shared):,} names"
    names = first_names([quote(name) for name in new_names])
    message = f"Several files use {subject} for a run, so these runs are named by file: {names}."
    return make_finding("runs-told-apart", file, message, count=len(new_names))


def _labels(name: str, stacks: Sequence[RunStack], used_names: set[str]) -> list[str]:
    """Return a distinct name for each of several runs of one name."""
    is_alone = all(len(stack.names) == 1 for stack in stacks)
    for texts in labels_by_file([_origin(stack).file for stack in stacks]):
        labels = texts if is_alone else [f"{name} ({text})" for text in texts]
        if len(set(labels)) == len(labels) and used_names.isdisjoint(labels):
            return labels
    free = (label for number in count(1) if (label := f"{name} ({number})") not in used_names)
    return [next(free) for _ in stacks]


def labels_by_file(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield labels of files: without folder and suffix, with the folder, in full."""
    files = [File(name, b"") for name in names]
    yield [file.stem for file in files]
    yield [str(PurePath(file.name).parent / file.stem) for file in files]
    yield [file.name for file in files]


def _join_judgments(
    joined: JoinedTables, grades: list[RunStack], embedded: list[RunStack], repeated: Repeated
) -> None:
    """Add the judgments of all files, or else those that files of runs hold."""
    files, noted = grades or embedded, joined.noted
    if any("subtopic" in stack.table.column_names for stack in files):
        files = [_concatenated(files)]
    files = [_without_repeats(stack, "relevance", repeated, noted) for stack in files]
    judgments = concat_judgments(files, repeated, noted) if len(files) > 1 else files[0]
    joined.qrels, joined.judged_origin = judgments.table, _origin(judgments)
    unused = ["relevance", *({"target_id"} - set(joined.qrels.column_names))]
    for stack in [*joined.stacks, *(embedded if grades else [])]:
        for column in unused:
            if column in stack.table.column_names:
                noted.append(unused_finding(column, _origin(stack).file, len(stack.table)))


def unused_finding(column: str, file: str, count: int) -> Finding:
    """Return the finding on unused relevance or targets beside scores."""
    message = f"The {column} inside the table is not used because separate judgments are given."
    return make_finding(f"{column.removesuffix('_id')}-unused", file, message, count=count)


def _refuse_unusable(stacks: Sequence[RunStack], qrels: pa.Table | None) -> None:
    if not any(stack.names for stack in stacks):
        raise UsageError("No run is given. Give a file with a score for each document.")
    if qrels is not None:
        refuse_empty_lists(stacks, qrels)
        return
    for stack in stacks:
        if "relevance" not in stack.table.column_names and stack.names:
            raise no_relevance_error(stack.names[0])


def no_relevance_error(name: str) -> UsageError:
    """Return the error of a run, or a file of runs, without relevance."""
    return UsageError(
        f"Nothing says which documents of {name!r} are relevant. "
        "Give judgments (--qrels FILE on the command line), or a table with a relevance column."
    )


def _stack(source: Source) -> RunStack:
    """Group the rows by reranker; the name comes from the user, a column or the file."""
    table, origin = source.table, source.origin
    if "reranker" not in table.column_names:
        return RunStack.single(source.name or File(source.file, b"").stem, table, origin)
    codes = combine_chunks(table["reranker"])
    owner, names = codes.indices.to_numpy(), codes.dictionary.to_pylist()
    if source.name is not None and len(names) == 1:
        names = [source.name]
    table = table.drop_columns(["reranker"])
    if (owner[1:] < owner[:-1]).any():
        rows = np.argsort(owner.astype(np.min_scalar_type(len(names))), kind="stable")
        table, origin = table.take(pa.array(rows)).combine_chunks(), origin.take(rows)
    return RunStack(names, table, np.append(0, np.cumsum(np.bincount(owner, minlength=len(names)))), origin)


def _settle_missing(stack: RunStack, source: Source, noted: list[Finding]) -> RunStack:
    """Give documents without a score -inf, or drop them; a ReadError if a list has -inf already."""
    scores = combine_chunks(stack.table["score"]).to_numpy()
    is_missing = np.isnan(scores)
    if not is_missing.any():
        return stack
    is_dropped = source.missing_score == "drop"
    parts = stack.with_rows(np.flatnonzero(is_missing))
    noted += [_missing_finding(part, is_dropped=is_dropped) for part in parts]
    if is_dropped:
        return stack.take(np.flatnonzero(~is_missing))
    settled = pa.array(np.where(is_missing, -np.inf, scores))
    return replace(stack, table=with_column(stack.table, "score", settled))


def _missing_finding(stack: RunStack, *, is_dropped: bool) -> Finding:
    (name,), table, origin = stack.names, stack.table, _origin(stack)
    scores = combine_chunks(table["score"]).to_numpy()
    missing = np.flatnonzero(np.isnan(scores))
    if not is_dropped:
        _refuse_lowest(table, origin, np.flatnonzero(np.isneginf(scores)), missing)
    outcome = "dropped" if is_dropped else "ranked last, tied with each other"
    document, query = (quote(table[column][missing[0]].as_py()) for column in ("doc_id", "query_id"))
    message = (
        f"{reranker_prefix(name, origin.file)}Documents without a score, {outcome}: {len(missing):,} of "
        f"{len(table):,}, such as document {document} of query {query}."
    )
    n_graded = 0
    if is_dropped and "relevance" in table.column_names:
        n_graded = pc.sum(pc.greater(table["relevance"].take(pa.array(missing)), 0)).as_py()
        message += f" Dropped documents with a grade above 0: {n_graded:,}." if n_graded else ""
    line = origin.line_of(int(missing[0]))
    finding = make_finding("scores-missing", origin.file, message, line=line, count=len(missing))
    return replace(finding, severity="warning") if n_graded else finding


def _refuse_lowest(table: pa.Table, origin: FileProvenance, lowest: IntArray, missing: IntArray) -> None:
    queries, theirs = (table["query_id"].take(pa.array(rows)).cast(pa.string()) for rows in (lowest, missing))
    first = pc.index(pc.is_in(queries, value_set=pc.unique(theirs)), value=True).as_py()
    if first >= 0:
        problem = "a document has the score -inf, so documents without a score cannot rank below it"
        hint = "Give a finite score, or drop documents without a score (missing score: drop)."
        line = origin.line_of(int(lowest[first]))
        raise ReadError(origin.file, problem, hint, line=line, unit=origin.unit)


def _without_repeats(stack: RunStack, value: str, repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Keep each document once in a list, with all its subtopics; a RepeatError with `repeated="error"`."""
    if {"relevance", "subtopic"} <= set(stack.table.column_names):
        stack = _with_subtopics(stack, value, repeated, noted)
    if stack.pairs.repeats[0] is None:
        return stack
    later_rows = np.setdiff1d(np.arange(len(stack.table)), stack.pairs.one_row_each(), assume_unique=True)
    noted += [_repeats_finding(part, value, repeated) for part in stack.with_rows(later_rows)]
    values = None if repeated == "first" else stack.table[value].to_numpy()
    return stack.take(stack.pairs.one_row_each(values))


def _repeats_finding(stack: RunStack, value: str, repeated: Repeated) -> Finding:
    pairs, origin = stack.pairs, _origin(stack)
    rows, n_repeats = pairs.repeats
    first, again = rows or (0, 0)
    document, query = pairs.documents[again].as_py(), pairs.queries[int(pairs.query[again])].as_py()
    line = origin.line_of(again)
    if repeated == "error":
        problem = (
            f"document {document!r} is listed twice for query {query!r}, first on {origin.unit} "
            f"{origin.line_of(first)} ({n_repeats:,} repeated rows in all)"
        )
        hint = "Keep one row of each, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(origin.file, problem, hint, line=line, unit=origin.unit)
    choice = "the first" if repeated == "first" else f"the highest {value}"
    example = f"such as document {document!r} of query {query!r}"
    message = f"Repeated rows left out: {n_repeats:,}, {example}; {choice} is kept."
    return make_finding("rows-dropped", origin.file, message, line=line, count=n_repeats)


def _origin(stack: RunStack) -> FileProvenance:
    return stack.origin or FileProvenance.memory(stack.names[0] or "judgments")


def judgment_columns(table: pa.Table) -> pa.Table:
    """Return the columns of judgments."""
    return table.select([name for name in _JUDGMENT_COLUMNS if name in table.column_names])


def concat_judgments(files: Sequence[RunStack], repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Join the judgments of files, each document of a query once.

    Equal grades from two files are one judgment. Of different grades, `repeated` selects one.

    Raises:
        RepeatError: grades differ, with `repeated="error"`; names both files and lines.
    """
    judgments = _concatenated(files)
    if judgments.pairs.repeats[0] is None:
        return judgments
    table, origins = judgments.table, [_origin(file) for file in files]
    pairs, grades = judgments.pairs, table["relevance"].to_numpy()
    first = pairs.one_row_each()
    places = np.unique(pairs.pair_codes, return_inverse=True)[1]
    first_row = np.empty(len(first), np.int64)
    first_row[places[first]] = first
    later = np.setdiff1d(np.arange(len(table)), first, assume_unique=True)
    differs = grades[later] != grades[first_row[places[later]]]
    ends = np.cumsum([len(file.table) for file in files])
    for rows, code in ((later[~differs], "judged-twice"), (later[differs], "grades-contradict")):
        if len(rows):
            pair = int(first_row[places[rows[0]]]), int(rows[0])
            file_lines = [_file_and_line(origins, ends, row) for row in pair]
            noted.append(_judgment_finding(code, judgments, len(rows), pair, file_lines, repeated))
    judgments = _with_known_targets(judgments, places)
    return judgments.take(first if repeated == "first" else pairs.one_row_each(grades))


def _concatenated(files: Sequence[RunStack]) -> RunStack:
    tables = [file.table for file in files]
    origin = FileProvenance.concat([_origin(file) for file in files], [*map(len, tables)])
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return RunStack.single("", table, origin)


def _with_subtopics(stack: RunStack, value: str, repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Merge the rows of each document, with its highest grade and a map of its subtopics to their grades.

    In a run, only rows with the same score are merged.
    """
    table = stack.table
    subtopics = combine_chunks(table["subtopic"]).dictionary_encode()
    codes = pc.fill_null(subtopics.indices, -1).to_numpy().astype(np.int64)
    grades, pairs = combine_chunks(table["relevance"]).to_numpy(), stack.pairs.pair_codes
    scores = np.zeros(len(table)) if value == "relevance" else combine_chunks(table[value]).to_numpy()
    order = np.lexsort((np.arange(len(table)) if repeated == "first" else -grades, codes, scores, pairs))
    is_first = np.zeros(len(table), dtype=bool)
    is_first[span_starts(pairs[order], scores[order], codes[order])] = True
    if not is_first.all():
        noted += [_subtopic_finding(stack, int(order[~is_first].min()), int((~is_first).sum()), repeated)]
    order = order[is_first]
    starts = span_starts(pairs[order], scores[order])
    kept_rows = np.minimum.reduceat(order, starts) if len(order) else order
    highest = np.maximum.reduceat(grades[order], starts) if len(order) else grades
    named = codes[order] >= 0
    rows_order = np.argsort(kept_rows)
    n_named = np.diff(np.append(0, np.cumsum(named))[np.append(starts, len(order))])
    entries = order[named][joined_ranges((np.cumsum(n_named) - n_named)[rows_order], n_named[rows_order])]
    texts = subtopics.dictionary.cast(pa.string()).take(pa.array(codes[entries]))
    ends = pa.array(np.append(0, np.cumsum(n_named[rows_order])).astype(np.int32))
    merged = stack.take(kept_rows[rows_order])
    table = with_column(merged.table.drop_columns(["subtopic"]), "relevance", pa.array(highest[rows_order]))
    table = table.append_column(SUBTOPICS, pa.MapArray.from_arrays(ends, texts, pa.array(grades[entries])))
    return replace(merged, table=table)


def subtopic_rows(table: pa.Table) -> pa.Table:
    """Split joined rows into one row for each subtopic of a document, as in files."""
    if SUBTOPICS not in table.column_names:
        return table
    subtopics = combine_chunks(table[SUBTOPICS])
    starts = subtopics.offsets.to_numpy()
    n_subtopics = np.diff(starts)
    n_rows = np.maximum(n_subtopics, 1)
    entries = pa.array(joined_ranges(starts[:-1], n_rows), mask=np.repeat(n_subtopics == 0, n_rows))
    rows = table.drop_columns([SUBTOPICS]).take(pa.array(np.repeat(np.arange(len(table)), n_rows)))
    grades = pc.coalesce(subtopics.items.take(entries), combine_chunks(rows["relevance"]))
    rows = with_column(rows, "relevance", grades)
    return rows.append_column("subtopic", subtopics.keys.take(entries))


def _subtopic_finding(stack: RunStack, row: int, n_repeats: int, repeated: Repeated) -> Finding:
    """Return the finding on repeated judgments of a subtopic; a RepeatError with `repeated="error"`."""
    origin = _origin(stack)
    document, subtopic = (stack.table[column][row].as_py() for column in ("doc_id", "subtopic"))
    subtopic = quote(subtopic or "")
    if repeated == "error":
        problem = (
            f"document {quote(document)} is judged twice for subtopic {subtopic} ({n_repeats:,} repeated "
            "judgments in all)"
        )
        hint = "Keep one row of each, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(origin.file, problem, hint, line=origin.line_of(row), unit=origin.unit)
    choice = "first" if repeated == "first" else "highest"
    example = f"such as document {quote(document)} for subtopic {subtopic}"
    message = f"Repeated judgments left out: {n_repeats:,}, {example}; the {choice} is kept."
    return make_finding("rows-dropped", origin.file, message, line=origin.line_of(row), count=n_repeats)


def _with_known_targets(judgments: RunStack, places: IntArray) -> RunStack:
    """Fill missing targets from other judgments of the same document."""
    table = judgments.table
    if "target_id" not in table.column_names or not table["target_id"].null_count:
        return judgments
    targets = combine_chunks(table["target_id"])
    target_rows = np.flatnonzero(np.asarray(targets.is_valid()))
    documents, rows = np.unique(places[target_rows], return_index=True)
    target_row_of = np.full(places.max() + 1, -1)
    target_row_of[documents] = target_rows[rows]
    replacements = pa.array(target_row_of[places], mask=target_row_of[places] < 0)
    column = pc.coalesce(targets, targets.take(replacements))
    return RunStack.single("", with_column(table, "target_id", column), judgments.origin)


def _file_and_line(origins: Sequence[FileProvenance], ends: IntArray, row: int) -> tuple[str, int, str]:
    """Return the file of a judgment, its line there, and the unit of lines."""
    file = int(np.searchsorted(ends, row, side="right"))
    start = int(ends[file - 1]) if file else 0
    return origins[file].file, origins[file].line_of(row - start), origins[file].unit


def _judgment_finding(
    code: str,
    judgments: RunStack,
    n_rows: int,
    pair: tuple[int, int],
    file_lines: Sequence[tuple[str, int, str]],
    repeated: Repeated,
) -> Finding:
    pairs, again = judgments.pairs, pair[1]
    document, query = pairs.documents[again].as_py(), pairs.queries[int(pairs.query[again])].as_py()
    before, now = (judgments.table["relevance"][row].as_py() for row in pair)
    (other, other_line, other_unit), (file, line, unit) = file_lines
    place = f"{other}, {other_unit} {other_line}"
    if code == "judged-twice":
        message = (
            f"Judgments with the same grade in two files: {n_rows:,}, such as document {quote(document)} "
            f"({place})."
        )
        return make_finding(code, file, message, line=line, count=n_rows)
    if repeated == "error":
        problem = (
            f"document {document!r} has grade {now:g} for query {query!r} here, but grade {before:g} in "
            f"{place} ({n_rows:,} judgments with a different grade in all)"
        )
        hint = "Correct one of them, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(file, problem, hint, line=line, unit=unit)
    choice = "the first" if repeated == "first" else "the highest"
    message = (
        f"Different grades in two files: {n_rows:,}, such as document {quote(document)} of query "
        f"{quote(query)}, {now:g} here and {before:g} in {place}; {choice} grade is kept."
    )
    return make_finding(code, file, message, line=line, count=n_rows)
