"""From paths and data frames to runs."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.runs.columns import MAX_COLUMNS, ColumnChoice, MissingScore, beir_columns, recognise
from metrics.runs.files import File, FileProvenance
from metrics.runs.findings import Finding, as_frame, make_finding
from metrics.runs.formats.format import FORMATS_BY_NAME
from metrics.runs.formats.frames import Dictionary, Frame, Nested, frame_of_array, is_array, is_frame, of_frame
from metrics.runs.formats.json_records import flatten
from metrics.runs.formats.letor import LETOR, with_predictions
from metrics.runs.formats.shapes import LISTS, Shape, run_and_judgments, shape_of
from metrics.runs.joining import Repeated
from metrics.runs.model import Runs
from metrics.runs.roles import Content, column_roles
from metrics.runs.source import Source, as_grades
from metrics.support.columns import combine_chunks
from metrics.support.progress import begin_step

Path = str | PurePath
Table: TypeAlias = Path | Frame
Tables: TypeAlias = Mapping[str, Table] | Iterable[Table | tuple[str | None, Table]] | Table
"""Runs, by the names of their rerankers or without."""
Columns: TypeAlias = Mapping[str, str | Mapping[str, str]]
"""Our column → the files', or name of a file → such a mapping for it."""
Judgments: TypeAlias = Table | Sequence[Table]
"""One file of judgments, or several."""
_PARTS = (Mapping, list, tuple)
_COLUMN = (list, tuple, np.ndarray, pd.Series)


def read_runs(
    files: Tables | Nested | Mapping[str, Nested],
    qrels: Table | Nested | None = None,
    *,
    columns: Columns | None = None,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
    drop_self: bool = False,
) -> Runs:
    """Read runs and judgments from files or data frames.

    Args:
        files: a path, data frame or {query: {document: score}}; several of them; or reranker → one of them (or
            pairs of both). Without a name here, a reranker is named by its column, else by its file. A frame
            without a query column is one list. {query: [documents]} has ranks and no scores. Frames are those
            of pandas, polars, pyarrow, DuckDB and all that have `__arrow_c_stream__`, dictionaries of columns,
            and lists of records or named tuples, as ir_measures reads them. An array (n_lists, n_docs)
            has the scores of a reranker, NaN where a document is not listed. IDs are places, from 0.
        qrels: the judgments: path, data frame, {query: {document: grade}} or {query: [relevant documents]}, or
            an array, NaN where a document is not judged. Not needed if the tables hold relevance, or if one of
            several `files` holds judgments only. May also be among `files`.
        columns: our column → the files', to override recognition by name in every file that has it; "" skips a
            column. For one file only: its name → such a mapping.
        repeated: what to do with a document twice in one list, or with two grades in two files of judgments:
            `error`, keep the `first`, or keep the highest score or grade (`max`).
        missing_score: what to do with a document without a numeric score, such as an unreadable answer of an
            LLM: `error`, rank it `last` (tied with others like it), or `drop` it. A finding counts them.
        drop_self: whether to leave out a document whose ID is that of its query, as BEIR does.

    Returns:
        The runs, joined with the judgments; see their `findings`.

    Raises:
        ReadError: a file cannot be read; names file, line and value.
        UsageError: no relevance is given, two runs share a name, or no file has a column of `columns`.
    """
    choice = ColumnChoice.of(columns, missing_score)
    sources: Iterable[Source] = _sources(_as_frames(files, "score"), _as_frames(qrels, "relevance"), choice)
    if drop_self:
        sources = (source.without_own_queries() for source in sources)
    return Runs.from_sources(sources, repeated)


def as_runs(runs: Runs | Tables | Nested | Mapping[str, Nested], qrels: Table | Nested | None) -> Runs:
    """Return runs, read if they are not; a UsageError for judgments of runs that have some already."""
    if not isinstance(runs, Runs):
        return read_runs(runs, qrels)
    if qrels is not None:
        raise UsageError("qrels: these runs already have judgments. Give qrels to read_runs.")
    return runs


def read_table(
    path: Path,
    columns: Mapping[str, str] | None = None,
    *,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
) -> Runs:
    """Read one long table with relevance; `read_runs` also reads several files and separate judgments.

    Args:
        path: CSV, TSV, semicolon, JSON, JSONL or Parquet with named columns.
        columns: our column → the file's, to override recognition by name.
        repeated: as in `read_runs`.
        missing_score: as in `read_runs`.

    Returns:
        The runs, with the judgments of the table.

    Raises:
        ReadError: the table cannot be read; names file, line and value.
    """
    return read_runs(path, columns=columns, repeated=repeated, missing_score=missing_score)


def check(
    paths: Tables,
    *,
    columns: Columns | None = None,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
    relevant_from: float = 1,
) -> pd.DataFrame:
    """Return the findings on files, including files that cannot be read; see `Runs.findings`.

    Args:
        paths: runs, judgments and tables, in any order; told apart by content.
        columns: as in `read_runs`.
        repeated: as in `read_runs`.
        missing_score: as in `read_runs`.
        relevant_from: smallest relevant grade.

    Raises:
        UsageError: `columns` names an unknown column, or `relevant_from` is not above 0.
    """
    return check_files(paths, columns, repeated, missing_score, relevant_from)[0]


def check_files(
    paths: Tables,
    columns: Columns | None,
    repeated: Repeated,
    missing_score: MissingScore,
    relevant_from: float,
    *,
    drop_self: bool = False,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the findings of `check`, and the rerankers in the files; arguments as there."""
    sources: list[Source] = []
    refused: list[Finding] = []
    choice = ColumnChoice.of(columns, missing_score)
    named_files = with_names(paths)
    contents = with_predictions(_read_roles(named_files, choice, judged=False, has_run=False))
    for (name, _), content in zip(named_files, contents, strict=True):
        try:
            if isinstance(content, TieScopeError):
                raise content
            source = replace(content.without_own_queries() if drop_self else content, name=name)
            Runs.from_sources([source], repeated, judged=False)
        except ReadError as error:
            line, hint = error.line, error.hint or None
            refused.append(make_finding("unreadable", error.file, f"{error.problem}.", line=line, hint=hint))
        else:
            sources.append(source)
    runs = Runs.from_sources(sources, repeated, judged=False)
    findings = runs.findings_from(relevant_from)
    if refused:
        findings = pd.concat([as_frame(refused), findings], ignore_index=True)
    return findings, runs.rerankers


def with_names(files: Tables) -> list[tuple[str | None, Any]]:
    """Return each file or data frame after the name of its reranker, None if none is given."""
    if isinstance(files, Mapping):
        return list(files.items())
    if not isinstance(files, list | tuple) and (isinstance(files, Path) or is_frame(files)):
        return [(None, files)]
    if not isinstance(files, Iterable):
        raise _no_table(files)
    pairs = [file if isinstance(file, tuple) else (None, file) for file in files]
    for pair in pairs:
        if len(pair) != 2:  # noqa: PLR2004 name and file
            raise _no_table(pair)
    return pairs


def distinct_file_names(files: Sequence[object]) -> list[str]:
    """Return each file's name with enough folders to be distinct; empty if it has no namesake."""
    paths = [PurePath(file) if isinstance(file, Path) else None for file in files]
    by_name: dict[str, set[PurePath]] = {}
    for path in filter(None, paths):
        by_name.setdefault(path.name, set()).add(path)

    def distinct_name(path: PurePath) -> str:
        namesakes = by_name[path.name] - {path}
        tails = (path.parts[-n:] for n in range(2, len(path.parts) + 1))
        distinct = (tail for tail in tails if all(other.parts[-len(tail) :] != tail for other in namesakes))
        return "/".join(next(distinct, ()))

    return [distinct_name(path) if path and len(by_name[path.name]) > 1 else "" for path in paths]


def may_be_either(source: Source) -> bool:
    """Return whether the numbers of a file may be scores or grades, by its format or its header."""
    return FORMATS_BY_NAME[source.format].scores_may_be_grades or bool(beir_columns(source.header))


def is_judgments(source: Source, path: Table, qrels: Table | None) -> bool:
    """Return whether a file among the runs is the file of judgments, as when `*.parquet` matches both."""
    if source.kind == "qrels" and isinstance(path, Path) and isinstance(qrels, Path):
        return PurePath(path) == PurePath(qrels)
    return source.kind == "qrels" and path is qrels


def as_run(source: Source) -> Source:
    """Return the source as a run; a ReadError if it has no scores."""
    if source.kind == "run":
        return source
    if may_be_either(source):
        return source.renamed("relevance", "score")
    if source.format == LETOR:
        hint = "Give the predictions of a model with it: a file with one number for each of its lines."
        raise ReadError(source.file, "a LETOR file holds features and no scores", hint, line=1)
    names = ", ".join(source.header)
    theirs = source.mapping.get("relevance", "NAME")
    hint = (
        "A run needs a score for each document. If these are judgments, give them as qrels. If the grades are "
        f"scores, choose them (--column score={shlex.quote(theirs)})."
    )
    raise ReadError(source.file, f"no score column among {names}", hint, line=1)


def as_judgments(source: Source) -> Source:
    """Return the grades of the source without scores; a ReadError if it has no grades."""
    if source.judgments is not None:
        return source.judgments
    if source.format == LISTS:
        relevant = pa.array(np.ones(len(source.table)))
        noted = tuple(finding for finding in source.noted if finding.code != "ranks-as-scores")
        table = source.table.select(["query_id", "doc_id"]).append_column("relevance", relevant)
        return replace(source, table=table, noted=noted)
    if source.kind == "run" and may_be_either(source):
        as_grades(combine_chunks(source.table["score"]), "relevance", source.origin)
        source = source.renamed("score", "relevance")
    if "relevance" not in source.table.column_names:
        hint = "Judgments are lines of four fields: query, 0, document, grade."
        raise ReadError(source.file, "this is a run, not judgments", hint, line=1)
    return replace(source, table=source.judgment_table)


def _as_frames(tables: Any, value: Literal["score", "relevance"]) -> Any:  # noqa: ANN401 as they came
    """Turn dictionaries {query: {document: number}}, perhaps by reranker, columns and rows into data frames."""
    values = tables.values() if isinstance(tables, dict) else tables
    if isinstance(tables, str | Path) or (
        isinstance(tables, dict | list | tuple) and all(isinstance(value, str | Path) for value in values)
    ):
        return tables
    if isinstance(tables, Iterator) and not is_frame(tables):
        tables = list(tables)
    names = run_and_judgments(tables)
    if value == "score" and names and all(_is_by_query(tables[name]) for name in names):
        run, *judgments = (tables[name] for name in names)
        return [_as_frames(run, "score"), *(_as_frames(part, "relevance") for part in judgments)]
    frame = _frame_in_memory(tables, value)
    if frame is not None:
        return frame
    if isinstance(tables, Mapping):
        return {name: _as_frames(table, value) for name, table in tables.items()}
    if isinstance(tables, list | tuple):
        frames = [_as_frames(table, value) for table in tables]
        return tuple(frames) if isinstance(tables, tuple) else frames
    return tables


def _frame_in_memory(tables: Any, value: Literal["score", "relevance"]) -> Frame | None:  # noqa: ANN401 as above
    """Return the frame of one run or of judgments; None for other values, or several of them."""
    if is_array(tables):
        return frame_of_array(tables, value)
    if _are_rows(tables) or _are_columns(tables):
        try:
            return pd.DataFrame(tables)
        except ValueError as error:
            raise UsageError(f"{error}. Give every row a value in every column.") from error
    first = next(iter(tables.values()), None) if isinstance(tables, Mapping) else None
    if isinstance(first, Mapping) and first and not any(isinstance(part, _PARTS) for part in first.values()):
        return Dictionary(tables, value)
    if isinstance(tables, dict | list) and (shape := shape_of(tables)).leaf != "value" and any(shape.keys):
        return _frame_of_records(shape, tables)
    is_ranked = isinstance(first, list | tuple) and not _are_rows(first)
    is_scored = isinstance(first, Mapping) and not isinstance(next(iter(first.values()), None), _PARTS)
    return Dictionary(tables, value) if is_ranked or is_scored else None


def _is_by_query(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(next(iter(value.values()), None), Mapping | list | tuple)


def _frame_of_records(shape: Shape, tables: object) -> pd.DataFrame:
    records = shape.records("table", deepcopy(tables))  # lists are emptied as they are opened
    flat = flatten(records, FileProvenance.memory("table"), ColumnChoice({}), shape.usual)
    return pd.DataFrame(flat.rows).rename(columns={theirs: ours for ours, theirs in flat.usual.items()})


def _are_rows(tables: object) -> bool:
    """Return whether a list has a named tuple, as in ir_measures, or a dictionary of values for each row."""
    first = next(iter(tables), None) if isinstance(tables, list) else None
    if isinstance(first, Mapping):
        return not all(isinstance(field, Mapping) for field in first.values())
    return "doc_id" in getattr(first, "_fields", ())  # not a name and a file


def _are_columns(tables: object) -> bool:
    return (
        isinstance(tables, Mapping)
        and len(tables) <= MAX_COLUMNS
        and all(isinstance(column, _COLUMN) for column in tables.values())
        and {"query_id", "doc_id"} <= recognise(list(map(str, tables))).keys()
    )


def _sources(files: Tables, qrels: Judgments | None, choice: ColumnChoice) -> Iterator[Source]:
    """Read runs and judgments; a UsageError for a chosen column that every file lacks."""
    all_judgments: Sequence[Table] = []
    if qrels is not None:
        all_judgments = [qrels] if isinstance(qrels, str) or not isinstance(qrels, Sequence) else qrels
    choices = (choice.columns, *choice.by_file.values())
    unused = {(ours, theirs) for columns in choices for ours, theirs in columns.items() if theirs}
    named_files = with_names(files)
    contents = _read_roles(named_files, choice, judged=bool(all_judgments))
    for (name, path), content in zip(named_files, contents, strict=True):
        if isinstance(content, TieScopeError):
            raise content
        if content.kind == "qrels":
            if any(is_judgments(content, path, judgments) for judgments in all_judgments):
                continue
            may_be_judgments = len(named_files) > 1 and not all_judgments and name is None
            if may_be_judgments and not FORMATS_BY_NAME[content.format].scores_may_be_grades:
                yield as_judgments(content)
                continue
        source = as_run(content)
        unused -= source.mapping.items()
        yield replace(source, name=name)
    no_scores = {ours: theirs for ours, theirs in choice.columns.items() if ours != "score"}
    for judgments in all_judgments:
        own_choice = replace(choice, columns=no_scores, value="relevance")
        source = as_judgments(_read(judgments, own_choice, "judgments"))
        unused -= source.mapping.items()
        yield source
    if unused:
        columns = ", ".join(theirs for _, theirs in sorted(unused))
        raise UsageError(f"No file has the chosen columns: {columns}.")


def _read_roles(
    named_files: Sequence[tuple[str | None, Any]], choice: ColumnChoice, *, judged: bool, has_run: bool = True
) -> list[Content]:
    """Read runs, and judgments among them, by the columns of all; chosen columns stay. Report progress."""
    file_names = distinct_file_names([file for _, file in named_files])
    value: Literal["score", "either"] = "either" if len(named_files) > 1 and not judged else "score"

    def read_file(place: int, columns: Mapping[str, str]) -> Content:
        name, path = named_files[place]
        item = name or (PurePath(path).name if isinstance(path, Path) else "")
        begin_step("Reading", place, len(named_files), item)
        try:
            own_choice = replace(choice, columns={**columns, **choice.columns}, value=value)
            return _read(path, own_choice, name or "table", file_names[place])
        except ReadError as error:
            return error

    contents = [read_file(place, {}) for place in range(len(named_files))]
    are_runs = judged and all(isinstance(content, Source) and content.kind == "run" for content in contents)
    if not are_runs and not {"score", "relevance"} & choice.columns.keys():
        for place, columns in column_roles(contents, read_file, judged=judged, has_run=has_run).items():
            contents[place] = read_file(place, columns)
    return contents


def _read(table: Table, choice: ColumnChoice, name: str, file_name: str = "") -> Source:
    """Read a data frame, or a file, perhaps under another name."""
    if isinstance(table, Path):
        file = File.open(table)
        choice = choice.of_file(str(table), file.name, file.stem)
        from metrics.runs.formats.registry import read_chosen  # noqa: PLC0415 many formats, for files alone

        return read_chosen(replace(file, name=file_name or file.name), choice)
    if not is_frame(table):
        raise _no_table(table)
    return of_frame(table, choice.of_file(name), name)


def _no_table(value: object) -> UsageError:
    return UsageError(
        f"{value!r:.60} has type {type(value).__name__}. Give a path, a data frame or a dictionary "
        "{query: {document: score}} (of ranx: run.to_dict()). For one plain list: metrics.reciprocal_rank."
    )
