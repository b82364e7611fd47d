"""From paths and data frames to runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError, UsageError
from metrics.runs.columns import ColumnChoice, MissingScore, SpreadKind, beir_columns
from metrics.runs.conversion import as_grades
from metrics.runs.files import File
from metrics.runs.findings import Finding, as_frame, make_finding
from metrics.runs.formats.frames import Frame, Nested, is_frame, of_frame
from metrics.runs.formats.json_records import LISTS
from metrics.runs.formats.registry import read, read_chosen, scores_may_be_grades
from metrics.runs.joining import Repeated, judgment_columns
from metrics.runs.model import Runs
from metrics.runs.repeats import FORMAT as REPEATED_SCORES
from metrics.runs.repeats import NO_REPEATS, RepeatChoice, Repeats, read_with_repeats
from metrics.runs.source import Source
from metrics.support.arrays import combine_chunks
from metrics.support.progress import begin_step

Path = str | PurePath
Table: TypeAlias = Path | Frame
Tables: TypeAlias = Mapping[str, Table] | Iterable[Table | tuple[str | None, Table]] | Table
"""Runs, by the names of their rerankers or without."""
Judgments: TypeAlias = Table | Sequence[Table]
"""One file of judgments, or several."""


def read_runs(
    files: Tables | Nested | Mapping[str, Nested],
    qrels: Table | Nested | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
    repeats: Repeats = (),
    repeats_std: SpreadKind = "order",
) -> Runs:
    """Read runs and their judgments from files or data frames; reads what `read_table` reads, and more.

    Args:
        files: a path, data frame or {query: {document: score}}, several of them, or reranker → one of them (or
            pairs of both); unless named so, a reranker is named by its column, else by the stem of its file.
            A frame without a column of queries is one list; {query: [documents]} has ranks and no scores.
            Frames are those of pandas, polars, pyarrow, DuckDB and whatever has `__arrow_c_stream__`.
        qrels: the judgments: path, data frame, {query: {document: grade}} or {query: [relevant documents]}; not
            needed where the tables hold relevance, or where one of several `files` is judgments alone. May be
            among `files`, too.
        columns: our column → the files', in every file that has it, where recognition would choose
            another or none; → "" is not read.
        repeated: what is done about a document twice in one list, or of two grades in two files of
            judgments: `error`, keep the `first`, or the one of the highest score or grade (`max`).
        missing_score: what is done about a score that is no number, such as an answer of an LLM that could
            not be read: an error, put the document `last` (behind all others of its list, tied with those
            like it), or `drop` it. A finding says how many there are.
        repeats: scorings of one reranker that differ by chance, to be made one score, their mean, and
            `score_std`, which `noise` reads: columns of the tables, `("score_1", "score_2")`; rerankers,
            `{"colbert": ["colbert-seed1", "colbert-seed2"]}`; or `"seeds"`, those whose names differ in a
            seed alone. A document that some repeats lack is averaged over those that have it; a finding
            counts them.
        repeats_std: whose standard deviation `score_std` is: of one further `run`, s with n - 1; of one as far
            as it changes an `order`, s without the shift that a repeat gives to all of a list, so that `noise`
            tells what one further run would score; or of the `mean` of all, s / sqrt(n), its standard error.

    Returns:
        The runs, joined with the judgments; what is worth knowing of both is in their `findings`.

    Raises:
        ReadError: a file cannot be read; names file, line and value.
        UsageError: relevance is nowhere, two runs share a name, no file has a column of `columns`, or
            repeats are not there.
    """
    combined = NO_REPEATS
    if repeats or repeats_std != combined.spread:
        combined = RepeatChoice.of(repeats, repeats_std)
    choice = ColumnChoice(columns or {}, False, missing_score, combined.columns, combined.spread)
    sources = _sources(_as_frames(files, "score"), _as_frames(qrels, "relevance"), choice)
    runs = Runs.from_sources(sources, repeated)
    return runs if combined is NO_REPEATS else combine(runs, combined)


def combine(runs: Runs, choice: RepeatChoice) -> Runs:
    """Return runs with their repeats combined; those of columns were combined when they were read."""
    groups = choice.groups(runs.rerankers)
    return runs.combined(groups, choice.spread) if groups else runs


def as_runs(runs: Runs | Tables | Nested | Mapping[str, Nested], qrels: Table | Nested | None) -> Runs:
    """Return runs, read unless they are; a UsageError at judgments for runs that have theirs."""
    if not isinstance(runs, Runs):
        return read_runs(runs, qrels)
    if qrels is not None:
        raise UsageError("qrels: these runs have their judgments. Give them to read_runs.")
    return runs


def read_table(
    path: Path,
    columns: Mapping[str, str] | None = None,
    *,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
) -> Runs:
    """Read one long table that holds relevance; `read_runs` reads several files and judgments apart.

    Args:
        path: CSV, TSV, semicolon, JSON, JSONL or Parquet with named columns.
        columns: our column → the file's, where the header says it otherwise.
        repeated: as in `read_runs`.
        missing_score: as in `read_runs`.

    Returns:
        The runs, with the judgments of the table.

    Raises:
        ReadError: the table cannot be read; names file, line and value.
    """
    return Runs.from_sources([read(File.open(path), columns, missing_score=missing_score)], repeated)


def check(
    paths: Tables,
    *,
    columns: Mapping[str, str] | None = None,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
    repeats: Repeats = (),
) -> pd.DataFrame:
    """Return what is worth knowing of files, those that cannot be read included; see `Runs.findings`.

    Args:
        paths: runs, judgments and tables, in any order; told apart by content.
        columns: as in `read_runs`.
        repeated: as in `read_runs`.
        missing_score: as in `read_runs`.
        repeats: as in `read_runs`.

    Raises:
        UsageError: `columns` names a column of ours that does not exist, or repeats are not there.
    """
    return check_files(paths, columns, repeated, missing_score, repeats)[0]


def check_files(
    paths: Tables,
    columns: Mapping[str, str] | None,
    repeated: Repeated,
    missing_score: MissingScore,
    repeats: Repeats = (),
    repeats_std: SpreadKind = "order",
) -> tuple[pd.DataFrame, list[str]]:
    """Return the findings as `check` does, and the rerankers that the files hold.

    Args:
        paths: runs, judgments and tables, in any order.
        columns: as in `read_runs`.
        repeated: as in `read_runs`.
        missing_score: as in `read_runs`.
        repeats: as in `read_runs`.
        repeats_std: as in `read_runs`.

    Raises:
        UsageError: as in `check`.
    """
    repeat_choice = RepeatChoice.of(repeats, repeats_std)
    sources: list[Source] = []
    refused: list[Finding] = []
    choice = ColumnChoice(columns or {}, False, missing_score, repeat_choice.columns, repeat_choice.spread)
    named_files = with_names(paths)
    file_names = distinct_file_names([path for _, path in named_files])
    for (name, path), file_name in zip(_each_begun(named_files), file_names, strict=True):
        try:
            source = _read(path, choice, name or "table", file_name=file_name)
            source = replace(source, name=name)
            Runs.from_sources([source], repeated, judged=False)
        except ReadError as error:
            line, hint = error.line, error.hint or None
            refused.append(make_finding("unreadable", error.file, f"{error.problem}.", line=line, hint=hint))
        else:
            sources.append(source)
    if not refused and all(source.format != REPEATED_SCORES for source in sources):
        _refuse_unread(repeat_choice.columns)
    runs = combine(Runs.from_sources(sources, repeated, judged=False), repeat_choice)
    findings = [as_frame(refused), runs.findings] if refused else [runs.findings]
    return pd.concat(findings, ignore_index=True), runs.rerankers


def with_names(files: Tables) -> list[tuple[str | None, Any]]:
    """Return each file or data frame after the name of its reranker, None where none is given."""
    if isinstance(files, str | PurePath) or is_frame(files):
        return [(None, files)]
    if isinstance(files, Mapping):
        return list(files.items())
    if not isinstance(files, Iterable):
        raise _no_table(files)
    return [file if isinstance(file, tuple) else (None, file) for file in files]


def distinct_file_names(files: Sequence[object]) -> list[str]:
    """Return the name of each file with as many of its folders as tell it from others; empty where none do."""
    paths = [PurePath(file) if isinstance(file, Path) else None for file in files]
    groups: dict[str, set[PurePath]] = {}
    for path in filter(None, paths):
        groups.setdefault(path.name, set()).add(path)

    def name(path: PurePath) -> str:
        others = groups[path.name] - {path}
        tails = (path.parts[-n:] for n in range(2, len(path.parts) + 1))
        distinct = (tail for tail in tails if all(other.parts[-len(tail) :] != tail for other in others))
        return "/".join(next(distinct, ())) if others else ""

    return [name(path) if path else "" for path in paths]


def may_be_either(source: Source) -> bool:
    """Return whether the numbers of a file may be scores or grades, by its format or its header."""
    return scores_may_be_grades(source.format) or bool(beir_columns(source.header))


def is_judgments(source: Source, path: Table, qrels: Table | None) -> bool:
    """Return whether a file given as a run is the judgments, and nothing else: `*.parquet` names both.

    Args:
        source: what the file holds.
        path: of the file, or the frame itself.
        qrels: the judgments, if they are given apart.
    """
    if source.kind == "qrels" and isinstance(path, Path) and isinstance(qrels, Path):
        return PurePath(path) == PurePath(qrels)
    return source.kind == "qrels" and path is qrels


def as_run(source: Source) -> Source:
    """Return the source as a run, with scores or numbers that may be scores; a ReadError where it has none."""
    if source.kind == "run":
        return source
    if may_be_either(source):
        return _renamed(source, "relevance", "score")
    names = ", ".join(source.mapping.values())
    hint = "A run needs a score for each document; judgments are given as qrels."
    raise ReadError(source.file, f"no score column among {names}", hint, line=1)


def as_judgments(source: Source) -> Source:
    """Return the grades of the source, without scores beside them; a ReadError where it has none."""
    if source.format == LISTS:
        relevant = pa.array(np.ones(len(source.table)))
        noted = tuple(finding for finding in source.noted if finding.code != "ranks-as-scores")
        table = source.table.select(["query_id", "doc_id"]).append_column("relevance", relevant)
        return replace(source, table=table, noted=noted)
    if may_be_either(source) and source.kind == "run":
        source = _renamed(source, "score", "relevance")
    if "relevance" not in source.table.column_names:
        hint = "Judgments are lines of query 0 document grade."
        raise ReadError(source.file, "this is a run, not judgments", hint, line=1)
    return replace(source, table=judgment_columns(source.table))


def _renamed(source: Source, old: str, new: str) -> Source:
    names = [new if name == old else name for name in source.table.column_names]
    if new == "relevance":
        as_grades(combine_chunks(source.table[old]), new, source.origin)
    mapping = {new if ours == old else ours: theirs for ours, theirs in source.mapping.items()}
    return replace(source, table=source.table.rename_columns(names), mapping=mapping)


def _as_frames(tables: Any, value: Literal["score", "relevance"]) -> Any:  # noqa: ANN401 as they came
    """Return tables as they are, but {query: {document: number}} as a data frame, also by reranker."""
    if isinstance(tables, list) and tables and all(isinstance(record, Mapping) for record in tables):
        return pd.DataFrame(tables)
    if not isinstance(tables, Mapping):
        return tables
    first = next(iter(tables.values()), None)
    if isinstance(first, list | tuple):
        listed = [(query, name, rank) for query, docs in tables.items() for rank, name in enumerate(docs, 1)]
        frame = pd.DataFrame(listed, columns=["query_id", "doc_id", "rank"])
        return frame if value == "score" else frame.drop(columns="rank").assign(relevance=1)
    if not isinstance(first, Mapping) or isinstance(next(iter(first.values()), None), Mapping | list | tuple):
        return {name: _as_frames(table, value) for name, table in tables.items()}
    rows = [(query, document, number) for query, docs in tables.items() for document, number in docs.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", value])


def _sources(files: Tables, qrels: Judgments | None, choice: ColumnChoice) -> Iterator[Source]:
    all_judgments: Sequence[Table] = []
    if qrels is not None:
        all_judgments = [qrels] if isinstance(qrels, str) or not isinstance(qrels, Sequence) else qrels
    unused = {ours: theirs for ours, theirs in choice.columns.items() if theirs}
    unread = set(choice.repeats)
    named_files = with_names(files)
    value: Literal["score", "either"] = "either" if len(named_files) > 1 and not all_judgments else "score"
    file_names = distinct_file_names([path for _, path in named_files])
    for (name, path), file_name in zip(_each_begun(named_files), file_names, strict=True):
        source = _read(path, replace(choice, value=value), name or "table", file_name=file_name)
        unread = set() if source.format == REPEATED_SCORES else unread
        if any(is_judgments(source, path, judgments) for judgments in all_judgments):
            continue
        if value == "either" and name is None and _holds_judgments(source):
            yield as_judgments(source)
            continue
        source = as_run(source)
        unused = {ours: theirs for ours, theirs in unused.items() if source.mapping.get(ours) != theirs}
        yield replace(source, name=name)
    for judgments in all_judgments:
        source = as_judgments(_read(judgments, replace(choice, repeats=(), value="relevance"), "judgments"))
        unused = {ours: theirs for ours, theirs in unused.items() if source.mapping.get(ours) != theirs}
        yield source
    _refuse_unread([*unused.values(), *sorted(unread)])


def _holds_judgments(source: Source) -> bool:
    """Return whether a file among runs, for which no judgments are given, judges and nothing else."""
    return source.kind == "qrels" and not scores_may_be_grades(source.format)


def _refuse_unread(columns: Sequence[str]) -> None:
    """Raise a UsageError where no file has columns that the user chose."""
    if columns:
        raise UsageError(f"No file has the columns chosen: {', '.join(columns)}.")


def _each_begun(files: Sequence[tuple[str | None, Table]]) -> Iterator[tuple[str | None, Table]]:
    """Yield each file or data frame as it begins to be read, and tell whoever listens."""
    for position, (name, file) in enumerate(files):
        begin_step(
            "Reading",
            position,
            len(files),
            name or (PurePath(file).name if isinstance(file, Path) else ""),
        )
        yield name, file


def _read(
    table: Table,
    choice: ColumnChoice,
    name: str,
    file_name: str = "",
) -> Source:
    """Read a file, perhaps under another name, or a data frame."""
    if is_frame(table):
        return read_with_repeats(lambda columns: of_frame(table, columns, name), choice)
    if not isinstance(table, Path):
        raise _no_table(table)
    file = File.open(table)
    return read_chosen(replace(file, name=file_name or file.name), choice)


def _no_table(value: object) -> UsageError:
    return UsageError(
        f"{value!r:.60} is of type {type(value).__name__}: give a path, a data frame or a dictionary "
        "{query: {document: score}} (of ranx: run.to_dict()). One plain list: metrics.reciprocal_rank."
    )
