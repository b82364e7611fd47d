"""Sources joined: the rows of each reranker, the judgments of all files, and findings of joining."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import RepeatError, UsageError
from metrics.runs.files import File, FileProvenance
from metrics.runs.findings import Finding, make_finding, reranker_prefix
from metrics.runs.source import Source
from metrics.runs.stacks import RunStack, refuse_empty_lists
from metrics.support.arrays import IntArray
from metrics.support.columns import combine_chunks, with_column
from metrics.support.wording import count_of, first_names, quote

Repeated = Literal["error", "first", "max"]
"""Handling of a document that is twice in one list, or judged twice."""
_KEEP_ONE = (
    "Delete the extra rows of each document, or let TieScope keep the first row (--repeated first) or the row "
    "with the highest value (--repeated max)."
)


def join_sources(
    sources: Sequence[Source], repeated: Repeated, noted: list[Finding], *, judged: bool
) -> tuple[list[RunStack], RunStack | None]:
    """Return the rows of each file of runs, and the judgments of all files; `noted` receives the findings.

    Raises:
        RepeatError: a document is twice in one list, with `repeated="error"`.
        UsageError: two runs given one name; with `judged`, no run, no relevance, or far too many rerankers.
    """
    if any(source.judgments for source in sources) and all(source.kind == "run" for source in sources):
        sources = [
            source.with_judgments_apart() if "relevance" in source.table.column_names else source
            for source in sources
        ]
    runs = [source for source in sources if source.kind == "run"]
    stacks = [_stack(source) for source in runs]
    if len(stacks) > 1:
        stacks = _with_distinct_names(stacks, runs, noted)
    for number, source in enumerate(runs):
        if source.missing_score != "error":
            stacks[number] = _settle_missing(stacks[number], source, noted)
        stacks[number] = _without_repeats(stacks[number], source, "score", repeated, noted)
    qrels = _join_judgments(sources, stacks, repeated, noted)
    if qrels is not None and any(source.dictionary for source in sources):
        stacks = _with_grades(stacks, runs, sources, qrels)
    if not judged:
        return stacks, qrels
    if not any(stack.names for stack in stacks):
        raise _no_run_error(sources)
    lacking = [stack for stack in stacks if stack.names and "relevance" not in stack.table.column_names]
    if qrels is not None:
        refuse_empty_lists(stacks, qrels.table)
    elif lacking:
        raise no_relevance_error(lacking[0].names[0])
    return stacks, qrels


def _no_run_error(sources: Sequence[Source]) -> UsageError:
    """Return the error of files without a run, which says why each is read as judgments."""
    reasons = [
        f"{source.file} has {first_names(source.header, 8)} and no score column, so it is read as judgments."
        for source in sources
        if source.kind == "qrels"
    ]
    hint = "Give a run: a file with a score for each document."
    return UsageError(" ".join([*(reasons or ["No run is given."]), hint]))


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


def _with_grades(
    stacks: list[RunStack], runs: Sequence[Source], sources: Sequence[Source], qrels: RunStack
) -> list[RunStack]:
    """Add the grades of rows that were read from dictionaries, by lookup in that of the judgments."""
    judgments = [source.dictionary for source in sources if source.kind == "qrels"]
    if len(judgments) != 1 or (grades := judgments[0]) is None:
        return stacks
    for number, (source, stack) in enumerate(zip(runs, stacks, strict=True)):
        run = source.dictionary
        if run is not None and len(stack.table) == sum(map(len, run.values())):
            lookups = (grades.get(query, {}).get for query in run)
            values = chain.from_iterable(map(map, lookups, run.values()))
            row_grades = np.fromiter(values, np.float64, len(stack.table))
            stacks[number] = replace(stack, grades=row_grades, qrels=qrels.table)
    return stacks


def _with_distinct_names(
    stacks: list[RunStack], runs: Sequence[Source], noted: list[Finding]
) -> list[RunStack]:
    """Rename runs that share a name by their files; a UsageError if the user gave two runs one name."""
    holders: dict[str, list[tuple[int, int]]] = {}
    for number, stack in enumerate(stacks):
        for place, name in enumerate(stack.names):
            holders.setdefault(name, []).append((number, place))
    shared = [name for name, places in holders.items() if len(places) > 1]
    if not shared:
        return stacks
    used_names, names = set(holders), [list(stack.names) for stack in stacks]
    for name in shared:
        unowned, owners = list[tuple[int, int]](), list[RunStack]()
        for number, place in holders[name]:
            source, stack = runs[number], stacks[number]
            if source.format == "frame" or (source.name is not None and len(stack.names) == 1):
                owners.append(stack)
            else:
                unowned.append((number, place))
        if owners[1:]:
            hint = "Give one a name of its own: NAME=PATH on the command line, {NAME: path} in Python."
            raise UsageError(f"{owners[1].provenance.file}: there are two runs named {name!r}. {hint}")
        labels = _labels(
            name, [stacks[number] for number, _ in unowned], used_names if owners else used_names - {name}
        )
        used_names |= set(labels)
        for (number, place), label in zip(unowned, labels, strict=True):
            names[number][place] = label
    new_names = [name for stack_names in names for name in stack_names if name not in holders]
    first = stacks[holders[shared[0]][0][0]].provenance.file
    noted.append(renamed_runs_finding(first, shared, new_names))
    return [replace(stack, names=stack_names) for stack, stack_names in zip(stacks, names, strict=True)]


def renamed_runs_finding(file: str, shared: Sequence[str], new_names: Sequence[str]) -> Finding:
    """Return the finding on runs that share a name."""
    subject = f"the name {quote(shared[0])}" if len(shared) == 1 else f"{len(shared):,} names"
    names = first_names([quote(name) for name in new_names])
    message = f"Several files use {subject} for a run, so these runs are named by file: {names}."
    return make_finding("runs-renamed", file, message, count=len(new_names))


def _labels(name: str, stacks: Sequence[RunStack], used_names: set[str]) -> list[str]:
    """Return a distinct name for each of several runs of one name."""
    is_alone = all(len(stack.names) == 1 for stack in stacks)
    for texts in labels_by_file([stack.provenance.file for stack in stacks]):
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
    """Return the finding on the documents of a reranker without a score.

    Raises:
        ReadError: these documents would rank below one with the score -inf.
    """
    (name,), table, origin = stack.names, stack.table, stack.provenance
    scores = combine_chunks(table["score"]).to_numpy()
    missing, lowest = np.flatnonzero(np.isnan(scores)), np.flatnonzero(np.isneginf(scores))
    if not is_dropped:
        queries, theirs = (
            table["query_id"].take(pa.array(rows)).cast(pa.string()) for rows in (lowest, missing)
        )
        shared = pc.index(pc.is_in(queries, value_set=pc.unique(theirs)), value=True).as_py()
        if shared >= 0:
            problem = "a document has the score -inf, so documents without a score cannot rank below it"
            hint = "Give a finite score, or drop documents without a score (--missing-score drop)."
            raise origin.error(int(lowest[shared]), problem, hint)
    first = int(missing[0])
    outcome = "dropped" if is_dropped else "ranked last, tied with each other"
    message = (
        f"{reranker_prefix(name, origin.file)}Documents without a score, {outcome}: {len(missing):,} of "
        f"{len(table):,}, such as document {quote(table['doc_id'][first].as_py())} of query "
        f"{quote(table['query_id'][first].as_py())}."
    )
    n_graded = 0
    if is_dropped and "relevance" in table.column_names:
        n_graded = int((combine_chunks(table["relevance"]).to_numpy()[missing] > 0).sum())
        message += f" Dropped documents with a grade above 0: {n_graded:,}." if n_graded else ""
    severity: Literal["warning"] | None = "warning" if n_graded else None
    line = origin.line_of(first)
    return make_finding(
        "scores-missing", origin.file, message, line=line, count=len(missing), severity=severity
    )


def _without_repeats(
    stack: RunStack, source: Source, value: str, repeated: Repeated, noted: list[Finding]
) -> RunStack:
    """Keep each document once in a list; a RepeatError with `repeated="error"`."""
    if source.dictionary is not None or stack.pairs.repeats[0] is None:
        return stack
    later_rows = np.setdiff1d(np.arange(len(stack.table)), stack.pairs.one_row_each(), assume_unique=True)
    noted += [_repeats_finding(part, value, repeated) for part in stack.with_rows(later_rows)]
    values = None if repeated == "first" else stack.table[value].to_numpy()
    return stack.take(stack.pairs.one_row_each(values))


def _repeats_finding(stack: RunStack, value: str, repeated: Repeated) -> Finding:
    rows, n_repeats = stack.pairs.repeats
    first, again = rows or (0, 0)
    document, query = _document_and_query(stack, again)
    origin = stack.provenance
    if repeated == "error":
        problem = (
            f"document {document!r} is listed twice for query {query!r}, first on {origin.unit} "
            f"{origin.line_of(first)} ({count_of(n_repeats, 'repeated row')} in all)"
        )
        raise origin.error(again, problem, _KEEP_ONE, RepeatError)
    choice = "the first" if repeated == "first" else f"the highest {value}"
    example = f"such as document {document!r} of query {query!r}"
    message = f"Repeated rows left out: {n_repeats:,}, {example}; {choice} is kept."
    return make_finding("rows-dropped", origin.file, message, line=origin.line_of(again), count=n_repeats)


def _document_and_query(stack: RunStack, row: int) -> tuple[str, str]:
    pairs = stack.pairs
    return pairs.documents[row].as_py(), pairs.queries[int(pairs.query[row])].as_py()


def _join_judgments(
    sources: Sequence[Source], stacks: Sequence[RunStack], repeated: Repeated, noted: list[Finding]
) -> RunStack | None:
    """Return the judgments of all files, or else those that files of runs hold."""
    separate, embedded = list[tuple[RunStack, Source]](), list[tuple[RunStack, Source]]()
    for source in sources:
        judgments, group = (source, separate) if source.kind == "qrels" else (source.judgments, embedded)
        if judgments is not None:
            stack = RunStack.single("", judgments.judgment_table, judgments.origin)
            stack = stack if source.kind == "qrels" else _with_equal_grades_once(stack)
            group.append((stack, judgments))
    if not separate and not embedded:
        return None
    files = [_without_repeats(*file, "relevance", repeated, noted) for file in separate or embedded]
    qrels = concat_judgments(files, repeated, noted) if len(files) > 1 else files[0]
    unused = ["relevance", *({"target_id"} - set(qrels.table.column_names))]
    for stack in [*stacks, *(stack for stack, _ in embedded if separate)]:
        columns = [column for column in unused if column in stack.table.column_names]
        noted += [unused_finding(column, stack.provenance.file, len(stack.table)) for column in columns]
    return qrels


def _with_equal_grades_once(judgments: RunStack) -> RunStack:
    """Keep one row of equal grades: rerankers of one table repeat them."""
    if judgments.pairs.repeats[0] is None:
        return judgments
    pairs = np.column_stack([judgments.pairs.pair_codes, judgments.table["relevance"].to_numpy()])
    return judgments.take(np.sort(np.unique(pairs, axis=0, return_index=True)[1]))


def unused_finding(column: str, file: str, count: int) -> Finding:
    """Return the finding on unused relevance or targets beside scores."""
    message = f"The {column} inside the table is not used because separate judgments are given."
    return make_finding(f"{column.removesuffix('_id')}-unused", file, message, count=count)


def no_relevance_error(name: str) -> UsageError:
    """Return the error of a run, or a file of runs, without relevance."""
    return UsageError(
        f"Nothing says which documents of {name!r} are relevant. "
        "Give judgments (--qrels FILE on the command line), or a table with a relevance column."
    )


def concat_judgments(files: Sequence[RunStack], repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Join the judgments of files, each document of a query once; `repeated` selects one of different grades.

    Raises:
        RepeatError: grades differ, with `repeated="error"`; names both files and lines.
    """
    judgments = _concatenated(files)
    if judgments.pairs.repeats[0] is None:
        return judgments
    grades = judgments.table["relevance"].to_numpy()
    _, first, pair = np.unique(judgments.pairs.pair_codes, return_index=True, return_inverse=True)
    rows = np.flatnonzero(grades != grades[first[pair]])
    if len(rows):
        noted.append(
            _contradiction(judgments, files, (int(first[pair[rows[0]]]), int(rows[0])), repeated, len(rows))
        )
    if n_equal := len(pair) - len(first) - len(rows):
        message = f"Judgments with the same grade in two files: {n_equal:,}."
        noted.append(make_finding("judged-twice", judgments.provenance.file, message, count=n_equal))
    chosen_rows = judgments.pairs.one_row_each(None if repeated == "first" else grades)
    return _with_known_targets(judgments, pair).take(chosen_rows)


def _concatenated(files: Sequence[RunStack]) -> RunStack:
    tables = [file.table for file in files]
    origin = FileProvenance.concat([file.provenance for file in files], [*map(len, tables)])
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return RunStack.single("", table, origin)


def _contradiction(
    judgments: RunStack, files: Sequence[RunStack], pair_rows: tuple[int, int], repeated: Repeated, n_rows: int
) -> Finding:
    """Return the finding on the first document with two grades; a RepeatError with `repeated="error"`."""
    document, query = _document_and_query(judgments, pair_rows[1])
    before, now = (judgments.table["relevance"][row].as_py() for row in pair_rows)
    ends = np.cumsum([0, *(len(file.table) for file in files)])
    numbers = np.searchsorted(ends, pair_rows, side="right") - 1
    other, origin = (files[number].provenance for number in numbers)
    other_row, row = np.subtract(pair_rows, ends[numbers]).tolist()
    place = f"{other.file}, {other.unit} {other.line_of(other_row)}"
    if repeated == "error":
        problem = (
            f"document {document!r} has grade {now:g} for query {query!r} here, but grade {before:g} in "
            f"{place} (judgments with different grades in all: {n_rows:,})"
        )
        hint = (
            "If these are the grades of models, choose them as scores (--column score=NAME). Otherwise, "
            "correct one of the grades, or keep the first or the highest (--repeated first or max)."
        )
        raise origin.error(row, problem, hint, RepeatError)
    choice = "the first" if repeated == "first" else "the highest"
    message = (
        f"Different grades in two files: {n_rows:,}, such as document {quote(document)} of query "
        f"{quote(query)}, {now:g} here and {before:g} in {place}; {choice} grade is kept."
    )
    return make_finding("grades-contradict", origin.file, message, line=origin.line_of(row), count=n_rows)


def _with_known_targets(judgments: RunStack, pair: IntArray) -> RunStack:
    """Fill missing targets from other judgments of the same document; `pair` (n_rows,) numbers documents."""
    table = judgments.table
    if "target_id" not in table.column_names or not table["target_id"].null_count:
        return judgments
    targets = combine_chunks(table["target_id"])
    rows = np.flatnonzero(np.asarray(targets.is_valid()))[::-1]
    row_of_pair = np.full(pair.max() + 1, -1)
    row_of_pair[pair[rows]] = rows  # the first row is written last
    target_row = row_of_pair[pair]
    column = pc.coalesce(targets, targets.take(pa.array(target_row, mask=target_row < 0)))
    return replace(judgments, table=with_column(table, "target_id", column))
