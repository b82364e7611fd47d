"""Sources joined: each reranker's rows, the judgments of all files, and what was left out on the way."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import PurePath
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, RepeatError, UsageError
from metrics.runs.columns import SUBTOPICS, MissingScore
from metrics.runs.files import File, RowProvenance
from metrics.runs.findings import Finding, make_finding, reranker_prefix
from metrics.runs.source import Source
from metrics.runs.stacks import RunStack, refuse_empty_lists
from metrics.support.arrays import (
    FloatArray,
    IntArray,
    combine_chunks,
    joined_ranges,
    span_starts,
    with_column,
)
from metrics.support.wording import first_names, quote

Repeated = Literal["error", "first", "max"]
"""What is done about a document twice in one list, or judged twice."""
_JUDGMENT_COLUMNS = ("query_id", "doc_id", "relevance", "target_id", "subtopic", SUBTOPICS)


@dataclass
class JoinedTables:
    """What sources hold together: the rows of all rerankers; see `Runs` for the other attributes."""

    stacks: list[RunStack] = field(default_factory=list)
    qrels: pa.Table | None = None
    judged_origin: RowProvenance | None = None
    noted: list[Finding] = field(default_factory=list)
    tie_orders: list[str] = field(default_factory=list)


def join_sources(sources: Iterable[Source], repeated: Repeated, *, judged: bool) -> JoinedTables:
    """Join what was read from several files.

    Raises:
        RepeatError: a document twice in one list, and that is to be an error.
        UsageError: two runs given one name; although `judged`, no run, no relevance, or far too many rerankers.
    """
    if repeated not in ("error", "first", "max"):
        raise UsageError(f"repeated={repeated!r}: it is 'error', 'first' or 'max'.")
    joined, stacks = JoinedTables(), list[RunStack]()
    grades: list[RunStack] = []
    is_named, missing_scores = list[bool](), list[MissingScore]()
    for source in sources:
        joined.noted += source.noted
        if source.kind == "qrels":
            grades.append(RunStack.single("", source.table, RowProvenance(source.origin)))
            continue
        joined.tie_orders.append(source.tie_order)
        stacks.append(_stack(source))
        is_named.append(source.format == "frame" or (source.name is not None and len(stacks[-1].names) == 1))
        missing_scores.append(source.missing_score)
    for stack, missing_score in zip(_told_apart(stacks, is_named, joined.noted), missing_scores, strict=True):
        settled = stack if missing_score == "error" else _settle_missing(stack, missing_score, joined.noted)
        if {"relevance", "subtopic"} <= set(stack.table.column_names):
            settled = _with_subtopics(settled, "score", repeated, joined.noted)
        joined.stacks.append(_without_repeats(settled, "score", repeated, joined.noted))
    _join_judgments(joined, grades, repeated)
    if judged:
        _refuse_unusable(joined)
    return joined


def two_runs_error(file: str, name: str) -> UsageError:
    """Return the error of a file that holds a run of a name that another has."""
    hint = "Give one a name of its own: NAME=PATH on the command line, {NAME: path} in Python."
    return UsageError(f"{file}: there are two runs named {name!r}. {hint}")


def _told_apart(
    stacks: Sequence[RunStack], is_named: Sequence[bool], noted: list[Finding]
) -> Sequence[RunStack]:
    """Return the stacks with runs of one name told apart by the names of their files.

    Raises:
        UsageError: the user gave two runs one name.
    """
    counts = Counter(name for stack in stacks for name in stack.names)
    used_names, renamed = set(counts), {place: list(stack.names) for place, stack in enumerate(stacks)}
    shared = [name for name, n_files in counts.items() if n_files > 1]
    for name in shared:
        places = [place for place, stack in enumerate(stacks) if name in stack.names]
        named_places = [place for place in places if is_named[place]]
        if named_places[1:]:
            raise two_runs_error(_origin(stacks[named_places[1]]).file, name)
        unnamed = [place for place in places if place not in named_places]
        labels = _labels(
            name, [stacks[place] for place in unnamed], used_names if named_places else used_names - {name}
        )
        used_names |= set(labels)
        for place, label in zip(unnamed, labels, strict=True):
            renamed[place][renamed[place].index(name)] = label
    if not shared:
        return stacks
    new_names = [
        new
        for place, stack in enumerate(stacks)
        for old, new in zip(stack.names, renamed[place], strict=True)
        if old != new
    ]
    first = next(stack for stack in stacks if shared[0] in stack.names)
    noted.append(told_apart_finding(_origin(first).file, shared, new_names))
    return [replace(stack, names=renamed[place]) for place, stack in enumerate(stacks)]


def told_apart_finding(file: str, shared: Sequence[str], new_names: Sequence[str]) -> Finding:
    """Return the finding that runs of one name are told apart by file."""
    subject = f"the name {quote(shared[0])}" if len(shared) == 1 else f"{len(shared):,} names"
    names = first_names([quote(name) for name in new_names])
    message = f"Several files have runs of {subject}; they are told apart by file: {names}."
    return make_finding("runs-told-apart", file, message, count=len(new_names))


def _labels(name: str, stacks: Sequence[RunStack], used_names: set[str]) -> list[str]:
    """Return a name for each of several runs of one name: its file without ending, with folder, or in full."""
    is_alone = all(len(stack.names) == 1 for stack in stacks)
    for texts in labels_by_file([_origin(stack).file for stack in stacks]):
        labels = texts if is_alone else [f"{name} ({text})" for text in texts]
        if len(set(labels)) == len(labels) and used_names.isdisjoint(labels):
            return labels
    free = (label for number in count(1) if (label := f"{name} ({number})") not in used_names)
    return [next(free) for _ in stacks]


def labels_by_file(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield what files may be told apart by: without folder and ending, with the folder, in full."""
    files = [File(name, b"") for name in names]
    yield [file.stem for file in files]
    yield [str(PurePath(file.name).parent / file.stem) for file in files]
    yield [file.name for file in files]


def _join_judgments(joined: JoinedTables, grades: list[RunStack], repeated: Repeated) -> None:
    if not grades:
        return
    if any("subtopic" in stack.table.column_names for stack in grades):
        grades = [_with_subtopics(_concatenated(grades), "relevance", repeated, joined.noted)]
    grades = [_without_repeats(stack, "relevance", repeated, joined.noted) for stack in grades]
    judgments = concat_judgments(grades, repeated, joined.noted)
    joined.qrels, joined.judged_origin = judgments.table, _origin(judgments)
    unused = ["relevance", *({"target_id"} - set(joined.qrels.column_names))]
    for stack in joined.stacks:
        for column in unused:
            if column in stack.table.column_names:
                joined.noted.append(unused_finding(column, _origin(stack).file, len(stack.table)))


def unused_finding(column: str, file: str, count: int) -> Finding:
    """Return the finding that relevance, or targets, beside the scores are not used."""
    message = f"The {column} inside the table is not used: judgments were given apart."
    return make_finding(f"{column.removesuffix('_id')}-unused", file, message, count=count)


def _refuse_unusable(joined: JoinedTables) -> None:
    if not any(stack.names for stack in joined.stacks):
        raise UsageError("There is no run. Give a file with a score for each document.")
    without = [stack for stack in joined.stacks if "relevance" not in stack.table.column_names and stack.names]
    if joined.qrels is None and without:
        raise no_relevance_error(without[0].names[0])
    if joined.qrels is not None:
        refuse_empty_lists(joined.stacks, joined.qrels)


def no_relevance_error(name: str) -> UsageError:
    """Return the error of a run, or a file of runs, for which relevance is nowhere."""
    return UsageError(
        f"Nothing says which documents of {name!r} are relevant. "
        "Give judgments (--qrels FILE on the command line), or a table with a relevance column."
    )


def _stack(source: Source) -> RunStack:
    """Return the rows reranker by reranker; it is named by the user, else by a column, else by the file."""
    table, origin = source.table, RowProvenance(source.origin)
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


def _settle_missing(stack: RunStack, missing_score: MissingScore, noted: list[Finding]) -> RunStack:
    """Return the rows with a score in each: -inf where it was missing, or without such rows.

    Raises:
        ReadError: a list holds -inf, too, which nothing can stand behind.
    """
    scores = combine_chunks(stack.table["score"]).to_numpy()
    is_missing = np.isnan(scores)
    if not is_missing.any():
        return stack
    noted += [_missing_finding(part, missing_score) for part in stack.with_rows(np.flatnonzero(is_missing))]
    if missing_score == "drop":
        return stack.take(np.flatnonzero(~is_missing))
    settled = pa.array(np.where(is_missing, -np.inf, scores))
    return replace(stack, table=with_column(stack.table, "score", settled))


def _missing_finding(stack: RunStack, missing_score: MissingScore) -> Finding:
    """Return the finding that documents of one reranker have no score, and what becomes of them."""
    (name,), table, origin = stack.names, stack.table, _origin(stack)
    scores = combine_chunks(table["score"]).to_numpy()
    missing = np.flatnonzero(np.isnan(scores))
    outcome = "left out"
    if missing_score == "last":
        _refuse_lowest(table, origin, scores, missing)
        outcome = "put behind all others of their list, tied with each other"
    document, query = (quote(table[column][missing[0]].as_py()) for column in ("doc_id", "query_id"))
    prefix = reranker_prefix(name, origin.file)
    message = (
        f"{prefix}Documents without a score, {outcome}: {len(missing):,} of {len(table):,}, "
        f"such as document {document} of query {query}."
    )
    n_graded = 0
    if missing_score == "drop" and "relevance" in table.column_names:
        n_graded = pc.sum(pc.greater(table["relevance"].take(pa.array(missing)), 0)).as_py()
        message += f" Graded above 0, and not counted as relevant any more: {n_graded:,}." if n_graded else ""
    line = origin.line_of(int(missing[0]))
    finding = make_finding("scores-missing", origin.file, message, line=line, count=len(missing))
    return replace(finding, severity="warning") if n_graded else finding


def _refuse_lowest(table: pa.Table, origin: RowProvenance, scores: FloatArray, missing: IntArray) -> None:
    """Raise a ReadError where a list with missing scores holds -inf, too: nothing can stand behind it."""
    lowest = np.flatnonzero(np.isneginf(scores))
    queries, theirs = (table["query_id"].take(pa.array(rows)).cast(pa.string()) for rows in (lowest, missing))
    first = pc.index(pc.is_in(queries, value_set=pc.unique(theirs)), value=True).as_py()
    if first >= 0:
        problem = "score -inf stands in one list with documents without a score, which are to go behind it"
        hint = "Give a finite score, or leave such documents out (missing score: drop)."
        line = origin.line_of(int(lowest[first]))
        raise ReadError(origin.file, problem, hint, line=line, unit=origin.unit)


def _without_repeats(stack: RunStack, value: str, repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Return the rows with each document once in a list.

    Raises:
        RepeatError: a document is there twice, and that is to be an error; names both lines.
    """
    if stack.pairs.repeats[0] is None:
        return stack
    later_rows = np.setdiff1d(np.arange(len(stack.table)), stack.pairs.one_row_each(), assume_unique=True)
    noted += [_repeats_finding(part, value, repeated) for part in stack.with_rows(later_rows)]
    values = None if repeated == "first" else stack.table[value].to_numpy()
    return stack.take(stack.pairs.one_row_each(values))


def _repeats_finding(stack: RunStack, value: str, repeated: Repeated) -> Finding:
    """Return the finding of documents that stand twice, left out once; a RepeatError names both lines."""
    pairs, origin = stack.pairs, _origin(stack)
    rows, n_repeats = pairs.repeats
    first, again = rows or (0, 0)
    document, query = pairs.documents[again].as_py(), pairs.queries[int(pairs.query[again])].as_py()
    line = origin.line_of(again)
    if repeated == "error":
        problem = (
            f"document {document!r} is listed twice for query {query!r}, first on {origin.unit} "
            f"{origin.line_of(first)} ({n_repeats} repeated in all)"
        )
        hint = "Keep one row of each, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(origin.file, problem, hint, line=line, unit=origin.unit)
    choice = "the first" if repeated == "first" else f"the highest {value}"
    example = f"such as document {document!r} of query {query!r}"
    message = f"Repeated rows left out: {n_repeats:,}, {example}; {choice} is kept."
    return make_finding("rows-dropped", origin.file, message, line=line, count=n_repeats)


def _origin(stack: RunStack) -> RowProvenance:
    return stack.origin or RowProvenance.memory(stack.names[0] or "judgments")


def judgment_columns(table: pa.Table) -> pa.Table:
    """Return the columns of a table that judge."""
    return table.select([name for name in _JUDGMENT_COLUMNS if name in table.column_names])


def concat_judgments(files: Sequence[RunStack], repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Return the judgments of files, each document of a query once.

    What two files judge alike is one judgment; where their grades differ, one of them is chosen or refused.

    Raises:
        RepeatError: grades differ, and that is to be an error; names both files and lines.
    """
    judgments = _concatenated(files)
    if len(files) == 1 or judgments.pairs.repeats[0] is None:
        return judgments
    table, origins = judgments.table, [_origin(file) for file in files]
    ends = np.cumsum([len(file.table) for file in files])
    pairs, grades = judgments.pairs, table["relevance"].to_numpy()
    first = pairs.one_row_each()
    places = np.unique(pairs.pair_codes, return_inverse=True)[1]
    first_row = np.empty(len(first), np.int64)
    first_row[places[first]] = first
    later = np.setdiff1d(np.arange(len(table)), first, assume_unique=True)
    differs = grades[later] != grades[first_row[places[later]]]
    for rows, code in ((later[~differs], "judged-twice"), (later[differs], "grades-contradict")):
        if len(rows):
            example = int(first_row[places[rows[0]]]), int(rows[0])
            places_in_files = [_file_and_line(origins, ends, row) for row in example]
            noted.append(_judgment_finding(code, judgments, rows, example, places_in_files, repeated))
    judgments = _with_known_targets(judgments, places)
    return judgments.take(first if repeated == "first" else pairs.one_row_each(grades))


def _concatenated(files: Sequence[RunStack]) -> RunStack:
    """Return the judgments of files, one after the other."""
    tables = [judgment_columns(file.table) for file in files]
    origin = RowProvenance.concat([_origin(file) for file in files], [*map(len, tables)])
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return RunStack.single("", table, origin)


def _with_subtopics(stack: RunStack, value: str, repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Return one row for each document of a query, with its subtopics and their grades, and its highest grade.

    Rows of one document and several subtopics become one, in a run those of one score.

    Raises:
        RepeatError: a document is judged twice for one subtopic, and that is to be an error.
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
    """Return joined rows with a row for each subtopic of a document again, as files have them."""
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
    """Return the finding that documents are judged twice for one subtopic; a RepeatError where that is one."""
    origin = _origin(stack)
    document, subtopic = (stack.table[column][row].as_py() for column in ("doc_id", "subtopic"))
    pair = f"document {quote(document)} is judged twice for subtopic {quote(subtopic or '')}"
    problem = f"{pair} ({n_repeats:,} in all)"
    if repeated == "error":
        hint = "Keep one row of each, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(origin.file, problem, hint, line=origin.line_of(row), unit=origin.unit)
    choice = "first" if repeated == "first" else "highest"
    message = f"Repeated judgments left out: {n_repeats:,}, such as {pair}; the {choice} is kept."
    return make_finding("rows-dropped", origin.file, message, line=origin.line_of(row), count=n_repeats)


def _with_known_targets(judgments: RunStack, places: IntArray) -> RunStack:
    """Return judgments in which a document without a target has the first that another judgment of it gives."""
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


def _file_and_line(origins: Sequence[RowProvenance], ends: IntArray, row: int) -> tuple[str, int, str]:
    """Return the file of a judgment, its line there, and what lines are called."""
    file = int(np.searchsorted(ends, row, side="right"))
    start = int(ends[file - 1]) if file else 0
    return origins[file].file, origins[file].line_of(row - start), origins[file].unit


def _judgment_finding(
    code: str,
    judgments: RunStack,
    rows: IntArray,
    example: tuple[int, int],
    places_in_files: Sequence[tuple[str, int, str]],
    repeated: Repeated,
) -> Finding:
    """Return the finding of what several files judge.

    Raises:
        RepeatError: grades differ, and that is to be an error.
    """
    pairs = judgments.pairs
    document, query = pairs.documents[example[1]].as_py(), pairs.queries[int(pairs.query[example[1]])].as_py()
    before, now = (judgments.table["relevance"][row].as_py() for row in example)
    (other, other_line, other_unit), (file, line, unit) = places_in_files
    place = f"{other}, {other_unit} {other_line}"
    if code == "judged-twice":
        message = f"Judged alike in two files: {len(rows):,}, such as document {quote(document)} ({place})."
        return make_finding(code, file, message, line=line, count=len(rows))
    if repeated == "error":
        problem = (
            f"document {document!r} has grade {now:g} for query {query!r}, and {before:g} in {place} "
            f"({len(rows):,} graded unlike in all)"
        )
        hint = "Settle which holds, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(file, problem, hint, line=line, unit=unit)
    choice = "the first" if repeated == "first" else "the highest"
    message = (
        f"Graded unlike in two files: {len(rows):,}, such as document {quote(document)} of query "
        f"{quote(query)}, {now:g} here and {before:g} in {place}; {choice} grade is kept."
    )
    return make_finding(code, file, message, line=line, count=len(rows))
