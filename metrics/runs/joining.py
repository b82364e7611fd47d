"""Sources joined: each reranker's rows, the judgments, and what was left out on the way."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, RepeatError, UsageError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.registry import tie_order
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.reading.columns import MissingScore
from metrics.runs.reading.files import File
from metrics.runs.reading.provenance import RowProvenance
from metrics.runs.reading.source import Source
from metrics.support.arrays import FloatArray, IntArray, combine_chunks
from metrics.support.wording import quote

Repeated = Literal["error", "first", "max"]
_JUDGMENT_COLUMNS = ("query_id", "doc_id", "relevance", "target_id")


@dataclass
class JoinedTables:
    """What sources hold together; see `Runs` for the attributes."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    pairs: dict[str, QueryDocKeys] = field(default_factory=dict)
    origins: dict[str, RowProvenance] = field(default_factory=dict)
    qrels: pa.Table | None = None
    judged_origin: RowProvenance | None = None
    noted: list[Finding] = field(default_factory=list)
    tie_orders: list[str] = field(default_factory=list)


def join_sources(sources: Iterable[Source], repeated: Repeated, *, judged: bool) -> JoinedTables:
    """Join what was read from several files.

    Args:
        sources: runs, tables and judgments, in any order.
        repeated: what is done about a document twice in one list.
        judged: whether there must be a run, and known which documents are relevant.

    Raises:
        RepeatError: a document twice in one list, and that is to be an error.
        UsageError: no run or no relevance although `judged`, or two runs of one name.
    """
    if repeated not in ("error", "first", "max"):
        raise UsageError(f"repeated={repeated!r}: it is 'error', 'first' or 'max'.")
    joined = JoinedTables()
    grades: list[tuple[pa.Table, RowProvenance]] = []
    for source in sources:
        joined.noted += source.noted
        if source.kind == "qrels":
            origin = RowProvenance(source.origin)
            table, _, origin = _without_repeats(source.table, origin, "relevance", repeated, joined.noted)
            grades.append((judgment_columns(table), origin))
            continue
        joined.tie_orders.append(tie_order(source.format))
        for name, table, origin in _by_reranker(source):
            if name in joined.tables:
                raise two_runs_error(source.file, name)
            if source.missing_score != "error":
                table, origin = _settle_missing(name, table, origin, source.missing_score, joined.noted)  # noqa: PLW2901
            joined.tables[name], joined.pairs[name], joined.origins[name] = _without_repeats(
                table, origin, "score", repeated, joined.noted
            )
    _join_judgments(joined, grades)
    if judged:
        _refuse_unusable(joined)
    return joined


def two_runs_error(file: str, name: str) -> UsageError:
    """Return the error of a file that holds a run of a name that another has."""
    hint = "Give one a name of its own: NAME=PATH on the command line, {NAME: path} in Python."
    return UsageError(f"{file}: there are two runs named {name!r}. {hint}")


def judgment_columns(table: pa.Table) -> pa.Table:
    """Return the columns of a table that judge."""
    return table.select([name for name in _JUDGMENT_COLUMNS if name in table.column_names])


def _join_judgments(joined: JoinedTables, grades: list[tuple[pa.Table, RowProvenance]]) -> None:
    if not grades:
        return
    tables, origins = zip(*grades, strict=True)
    joined.qrels = pa.concat_tables(tables, promote_options="default").combine_chunks()
    joined.judged_origin = RowProvenance.concat(origins, [*map(len, tables)])
    if len(grades) > 1 and (repeat := QueryDocKeys.of(joined.qrels).find_repeats()[0]):
        document, query = (joined.qrels[name][repeat[1]].as_py() for name in ("doc_id", "query_id"))
        raise UsageError(f"Document {document!r} is judged for query {query!r} in two files. Give one.")
    unused = ["relevance", *({"target_id"} - set(joined.qrels.column_names))]
    for name, table in joined.tables.items():
        for column in unused:
            if column in table.column_names:
                joined.noted.append(unused_finding(column, joined.origins[name].file, len(table)))


def unused_finding(column: str, file: str, count: int) -> Finding:
    """Return the finding that relevance, or targets, beside the scores are not used.

    Args:
        column: which of them.
        file: name of the file.
        count: its rows.
    """
    message = f"The {column} inside the table is not used: judgments were given apart."
    return make_finding(f"{column.removesuffix('_id')}-unused", file, message, count=count)


def _refuse_unusable(joined: JoinedTables) -> None:
    if not joined.tables:
        raise UsageError("There is no run. Give a file with a score for each document.")
    without = [name for name, table in joined.tables.items() if "relevance" not in table.column_names]
    if joined.qrels is None and without:
        raise no_relevance_error(without[0])


def no_relevance_error(name: str) -> UsageError:
    """Return the error of a run, or a file of runs, for which relevance is nowhere."""
    return UsageError(
        f"Nothing says which documents of {name!r} are relevant. "
        "Give judgments (--qrels FILE on the command line), or a table with a relevance column."
    )


def _by_reranker(source: Source) -> Iterator[tuple[str, pa.Table, RowProvenance]]:
    """Yield each reranker and its rows; it is named by the user, else by a column, else by the file."""
    table = source.table
    if "reranker" not in table.column_names:
        yield source.name or File(source.file, b"").stem, table, RowProvenance(source.origin)
        return
    codes = combine_chunks(table["reranker"])
    lists = table.drop_columns(["reranker"])
    chosen_name = source.name if len(codes.dictionary) == 1 else None
    for code, name in enumerate(codes.dictionary.to_pylist()):
        rows = np.flatnonzero(codes.indices.to_numpy() == code)
        own = lists.take(pa.array(rows)).combine_chunks()
        yield chosen_name or name, own, RowProvenance(source.origin, rows)


def _settle_missing(
    name: str, table: pa.Table, origin: RowProvenance, missing_score: MissingScore, noted: list[Finding]
) -> tuple[pa.Table, RowProvenance]:
    """Return the rows with a score in each, and where they came from: -inf where it was missing, or no row.

    Args:
        name: the reranker.
        table: its rows, NaN where the score is missing.
        origin: where they came from.
        missing_score: whether such documents go last, or are dropped.
        noted: gets a finding of how many there are.

    Raises:
        ReadError: a list holds -inf, too, which nothing can stand behind.
    """
    scores = combine_chunks(table["score"]).to_numpy()
    missing = np.flatnonzero(np.isnan(scores))
    if not len(missing):
        return table, origin
    outcome = "left out"
    if missing_score == "last":
        _refuse_lowest(table, origin, scores, missing)
        outcome = "put behind all others of their list, tied with each other"
    document, query = (quote(table[column][missing[0]].as_py()) for column in ("doc_id", "query_id"))
    prefix = "" if File(origin.file, b"").stem == name else f"{name}: "
    message = (
        f"{prefix}Documents without a score, {outcome}: {len(missing):,} of {len(table):,}, "
        f"such as document {document} of query {query}."
    )
    if missing_score == "drop" and "relevance" in table.column_names:
        n_graded = pc.sum(pc.greater(table["relevance"].take(pa.array(missing)), 0)).as_py()
        message += f" Graded above 0, and not counted as relevant any more: {n_graded:,}." if n_graded else ""
    line = origin.line_of(int(missing[0]))
    noted.append(make_finding("scores-missing", origin.file, message, line=line, count=len(missing)))
    if missing_score == "last":
        settled = pa.array(np.where(np.isnan(scores), -np.inf, scores))
        return table.set_column(table.column_names.index("score"), "score", settled), origin
    rows = np.flatnonzero(~np.isnan(scores))
    return table.take(pa.array(rows)).combine_chunks(), origin.take(rows)


def _refuse_lowest(table: pa.Table, origin: RowProvenance, scores: FloatArray, missing: IntArray) -> None:
    """Raise a ReadError where a list with missing scores holds -inf, too.

    Args:
        table: rows of one reranker.
        origin: where they came from.
        scores: (n_rows,) their scores.
        missing: rows without one.
    """
    lowest = np.flatnonzero(np.isneginf(scores))
    queries, theirs = (table["query_id"].take(pa.array(rows)).cast(pa.string()) for rows in (lowest, missing))
    first = pc.index(pc.is_in(queries, value_set=pc.unique(theirs)), value=True).as_py()
    if first >= 0:
        problem = "score -inf stands in one list with documents without a score, which are to go behind it"
        hint = "Give a finite score, or leave such documents out (missing score: drop)."
        line = origin.line_of(int(lowest[first]))
        raise ReadError(origin.file, problem, hint, line=line, unit=origin.unit)


def _without_repeats(
    table: pa.Table, origin: RowProvenance, value: str, repeated: Repeated, noted: list[Finding]
) -> tuple[pa.Table, QueryDocKeys, RowProvenance]:
    """Return the rows with each document once in a list, their pairs, and where they came from.

    Args:
        table: rows of one reranker, or judgments.
        origin: where they came from.
        value: the column whose highest value is kept.
        repeated: what is done about a document twice in one list.
        noted: gets a finding of what is left out.

    Raises:
        RepeatError: a document is there twice, and that is to be an error; names both lines.
    """
    pairs = QueryDocKeys.of(table)
    repeat, n_repeats = pairs.find_repeats()
    if repeat is None:
        return table, pairs, origin
    document = pairs.documents[repeat[1]].as_py()
    query = pairs.queries[int(pairs.query[repeat[1]])].as_py()
    first, again = (origin.line_of(row) for row in repeat)
    if repeated == "error":
        problem = (
            f"document {document!r} is listed twice for query {query!r}, first on {origin.unit} {first} "
            f"({n_repeats} repeated in all)"
        )
        hint = "Keep one row of each, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(origin.file, problem, hint, line=again, unit=origin.unit)
    rows = pairs.one_row_each(None if repeated == "first" else table[value].to_numpy())
    choice = "the first" if repeated == "first" else f"the highest {value}"
    example = f"such as document {document!r} of query {query!r}"
    message = f"Repeated rows left out: {n_repeats:,}, {example}; {choice} is kept."
    noted.append(make_finding("rows-dropped", origin.file, message, line=again, count=n_repeats))
    table = table.take(pa.array(rows)).combine_chunks()
    return table, QueryDocKeys.of(table), origin.take(rows)
