"""Sources joined: each reranker's rows, the judgments, and what was left out on the way."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa

from metrics.errors import RepeatError, UsageError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.reading.files import File
from metrics.runs.reading.provenance import RowProvenance
from metrics.runs.reading.source import Source
from metrics.support.arrays import combine_chunks

Repeated = Literal["error", "first", "max"]
_JUDGED = ("query_id", "doc_id", "relevance", "target_id")


@dataclass
class Parts:
    """What sources hold together; see `Runs` for the attributes."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    pairs: dict[str, QueryDocKeys] = field(default_factory=dict)
    origins: dict[str, RowProvenance] = field(default_factory=dict)
    qrels: pa.Table | None = None
    judged_origin: RowProvenance | None = None
    noted: list[Finding] = field(default_factory=list)


def joined(sources: Iterable[Source], repeated: Repeated, *, judged: bool) -> Parts:
    """Join what was read from several files.

    Raises:
        RepeatError: a document twice in one list, and that is to be an error.
        UsageError: no run or no relevance although `judged`, or two runs of one name.
    """
    if repeated not in ("error", "first", "max"):
        raise UsageError(f"repeated={repeated!r}: it is 'error', 'first' or 'max'.")
    parts = Parts()
    grades: list[tuple[pa.Table, RowProvenance]] = []
    for source in sources:
        parts.noted += source.noted
        if source.kind == "qrels":
            table, _, where = _once(
                source.table, RowProvenance(source.origin), "relevance", repeated, parts.noted
            )
            grades.append((judgments_of(table), where))
            continue
        for name, table, where in _by_reranker(source):
            if name in parts.tables:
                hint = "Rename one file, or the reranker inside it."
                raise UsageError(f"{source.file}: there are two runs named {name!r}. {hint}")
            parts.tables[name], parts.pairs[name], parts.origins[name] = _once(
                table, where, "score", repeated, parts.noted
            )
    _join_judgments(parts, grades)
    if judged:
        _refuse_unusable(parts)
    return parts


def judgments_of(table: pa.Table) -> pa.Table:
    """The columns of a table that judge."""
    return table.select([name for name in _JUDGED if name in table.column_names])


def _join_judgments(parts: Parts, grades: list[tuple[pa.Table, RowProvenance]]) -> None:
    if not grades:
        return
    tables = [table for table, _ in grades]
    parts.qrels = pa.concat_tables(tables, promote_options="default").combine_chunks()
    parts.judged_origin = RowProvenance.concat([origin for _, origin in grades], [*map(len, tables)])
    if len(grades) > 1 and (twice := QueryDocKeys.of(parts.qrels).repeats()[0]):
        document, query = (parts.qrels[name][twice[1]].as_py() for name in ("doc_id", "query_id"))
        raise UsageError(f"Document {document!r} is judged for query {query!r} in two files. Give one.")
    unused = ["relevance", *({"target_id"} - set(parts.qrels.column_names))]
    for name, table in parts.tables.items():
        for column in unused:
            if column in table.column_names:
                parts.noted.append(not_used(column, parts.origins[name].file, len(table)))


def not_used(column: str, file: str, count: int) -> Finding:
    """The finding that relevance, or targets, beside the scores are not used."""
    message = f"The {column} inside the table is not used: judgments were given apart."
    return make_finding(f"{column.removesuffix('_id')}-unused", file, message, count=count)


def _refuse_unusable(parts: Parts) -> None:
    if not parts.tables:
        raise UsageError("There is no run. Give a file with a score for each document.")
    without = [name for name, table in parts.tables.items() if "relevance" not in table.column_names]
    if parts.qrels is None and without:
        raise unjudged(without[0])


def unjudged(name: str) -> UsageError:
    """The error of a run, or a file of runs, for which relevance is nowhere."""
    return UsageError(
        f"Nothing says which documents of {name!r} are relevant. "
        "Give judgments (--qrels FILE on the command line), or a table with a relevance column."
    )


def _by_reranker(source: Source) -> Iterator[tuple[str, pa.Table, RowProvenance]]:
    """Name, rows and where from of each reranker, named by the user, else by a column, else by the file."""
    table = source.table
    if "reranker" not in table.column_names:
        yield source.name or File(source.file, b"").stem, table, RowProvenance(source.origin)
        return
    codes = combine_chunks(table["reranker"])
    rest = table.drop_columns(["reranker"])
    only = source.name if len(codes.dictionary) == 1 else None
    for code, name in enumerate(codes.dictionary.to_pylist()):
        rows = np.flatnonzero(codes.indices.to_numpy() == code)
        yield only or name, rest.take(pa.array(rows)).combine_chunks(), RowProvenance(source.origin, rows)


def _once(
    table: pa.Table, where: RowProvenance, value: str, repeated: Repeated, noted: list[Finding]
) -> tuple[pa.Table, QueryDocKeys, RowProvenance]:
    """The rows with each document once in a list; a document has one place in it.

    Raises:
        RepeatError: a document is there twice, and that is to be an error; names both lines.
    """
    pairs = QueryDocKeys.of(table)
    twice, repeats = pairs.repeats()
    if twice is None:
        return table, pairs, where
    document = pairs.documents[twice[1]].as_py()
    query = pairs.queries[int(pairs.query[twice[1]])].as_py()
    first, again = (where.line_of(row) for row in twice)
    if repeated == "error":
        problem = (
            f"document {document!r} is listed twice for query {query!r}, first on {where.unit} {first} "
            f"({repeats} repeated in all)"
        )
        hint = "Keep one row of each, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(where.file, problem, hint, line=again, unit=where.unit)
    rows = pairs.kept(None if repeated == "first" else table[value].to_numpy())
    how = "the first" if repeated == "first" else f"the highest {value}"
    such = f"such as document {document!r} of query {query!r}"
    message = f"Repeated rows left out: {repeats:,}, {such}; {how} is kept."
    noted.append(make_finding("rows-dropped", where.file, message, line=again, count=repeats))
    kept = table.take(pa.array(rows)).combine_chunks()
    return kept, QueryDocKeys.of(kept), where.take(rows)
