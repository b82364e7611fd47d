"""One table read from one file, checked row by row, and the line of each row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, MissingScore, normalised, recognise
from metrics.runs.conversion import (
    CONVERTERS,
    as_deviations,
    float_ids_as_integers,
    further_numbers,
    note_grades,
    note_large,
    read_worded_grades,
)
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.support.columns import CODED, combine_chunks
from metrics.support.wording import quote

_JUDGMENT_COLUMNS = ("query_id", "doc_id", "relevance", "target_id")


@dataclass(frozen=True)
class Source:
    """The content of one file.

    Attributes:
        origin: the file, and the line of each row.
        format: name of its format (`metrics.FORMATS`).
        table: rows in file order; columns as in `metrics.runs.columns`.
        mapping: our column → the file's.
        header: names of the file's columns or fields.
        noted: findings of reading.
        name: the user's name for the reranker; None takes it from a column, or from the name of the file.
        missing_score: handling of documents whose score is NaN.
        tie_order: how the software that the format belongs to breaks ties.
        judgments: judgments that the file holds beside a run.
        dictionary: query → document → number, if the rows were read from it: no list has a document twice.
    """

    origin: FileProvenance
    format: str
    table: pa.Table
    mapping: Mapping[str, str]
    header: Sequence[str] = ()
    noted: tuple[Finding, ...] = ()
    name: str | None = None
    missing_score: MissingScore = "error"
    tie_order: str = "input"
    judgments: "Source | None" = None
    dictionary: Mapping[str, Mapping[str, float]] | None = None

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.origin.file

    @property
    def kind(self) -> Literal["run", "qrels"]:
        """`run` if there are scores, else `qrels`."""
        return "run" if "score" in self.table.column_names else "qrels"

    @property
    def unused(self) -> tuple[str, ...]:
        """Columns of the file that were not read."""
        used = {*self.mapping.values(), *self.table.column_names}
        return tuple(name for name in self.header if name not in used)

    @property
    def judgment_table(self) -> pa.Table:
        """The columns of judgments."""
        return self.table.select([name for name in _JUDGMENT_COLUMNS if name in self.table.column_names])

    def with_judgments_apart(self) -> "Source":
        """Move relevance and targets beside scores to `judgments`, without documents of no relevance."""
        is_judged = pc.invert(pc.is_nan(self.table["relevance"]))
        rows = pc.indices_nonzero(is_judged).to_numpy()
        table = self.judgment_table.filter(is_judged)
        judged = replace(self, table=table, origin=self.origin.take(rows))
        if self.kind == "qrels":
            return judged
        inside = [name for name in ("relevance", "target_id") if name in table.column_names]
        return replace(self, table=self.table.drop_columns(inside), judgments=judged if len(rows) else None)

    def without_own_queries(self) -> "Source":
        """Return the source without documents of a run that have the ID of their query."""
        if self.kind == "qrels":
            return self
        is_other = pc.not_equal(
            self.table["query_id"].cast(pa.string()), self.table["doc_id"].cast(pa.string())
        )
        rows = pc.indices_nonzero(is_other).to_numpy()
        if not (n_own := len(self.table) - len(rows)):
            return self
        message = f"Documents with the ID of their query, left out: {n_own:,} of {len(self.table):,}."
        finding = make_finding("own-query-dropped", self.file, message, count=n_own)
        table, noted = self.table.filter(is_other), (*self.noted, finding)
        return replace(self, table=table, origin=self.origin.take(rows), noted=noted)

    def renamed(self, old: str, new: str) -> "Source":
        """Return the source with a column of ours under another name."""
        names = [new if name == old else name for name in self.table.column_names]
        mapping = {new if ours == old else ours: theirs for ours, theirs in self.mapping.items()}
        return replace(self, table=self.table.rename_columns(names), mapping=mapping)

    def note_unused(self) -> "Source":
        """Add a finding that names the unused columns, if any."""
        if not self.unused:
            return self
        message = f"Not read: {', '.join(self.unused)}."
        finding = make_finding("columns-unused", self.file, message, line=1, count=len(self.unused))
        return replace(self, noted=(*self.noted, finding))


def build_source(
    raw: dict[str, pa.Array | pa.ChunkedArray],
    mapping: Mapping[str, str],
    origin: FileProvenance,
    format_name: str,
    header: Sequence[str],
    noted: Sequence[Finding] = (),
    missing_score: MissingScore = "error",
) -> Source:
    """Rename and convert the columns of a file: IDs to text, scores and grades to float64.

    If a run has ranks and no scores, the score is the negative rank. Other columns are further scores.

    Raises:
        ReadError: an empty ID, or a score or grade that is not a number; names the first such line.
    """
    findings, columns = list(noted), dict[str, pa.Array]()
    is_ranked = "score" not in mapping and {"query_id", "doc_id", "rank"} <= mapping.keys()
    if is_ranked:
        mapping = {"score" if ours == "rank" else ours: theirs for ours, theirs in mapping.items()}
    further = {name: name for name in raw if name not in mapping.values()}
    for ours, theirs in [*sorted(mapping.items(), key=lambda names: names[0] == "score_std"), *further.items()]:
        kind: str = "further" if ours in further else BY_NAME[ours].kind
        if ours == "score" and missing_score != "error":
            kind = "number or none"
        column = raw.pop(theirs)
        try:
            converted = _convert(column, kind, (ours, theirs), origin, columns.get("score"), findings)
        except pa.ArrowException as error:
            named = ReadError(
                origin.file, f"the {ours} column {theirs!r} holds {column.type}", "Give text or numbers."
            )
            raise named.with_columns(header, mapping) from error
        except ReadError as error:
            problem = error.problem if theirs == ours else f"{error.problem} (column {theirs!r})"
            named = ReadError(error.file, problem, error.hint, line=error.line, unit=error.unit)
            raise named.with_columns(header, mapping) from error.__cause__
        if converted is not None:
            columns[ours] = converted
    if "reranker" in columns:
        rerankers = columns["reranker"].dictionary
        example = str(rerankers[-1]) if len(rerankers) else ""
        refuse_many_rerankers(origin.file, mapping["reranker"], len(rerankers), example)
    columns = {ours: columns[ours] for ours in [*mapping, *further] if ours in columns}
    if is_ranked:
        columns["score"] = pc.negate(columns["score"])
        message = (
            "The file gives ranks and no scores. The negated rank is used as the score, so any ties are hidden."
        )
        findings.append(make_finding("ranks-as-scores", origin.file, message, count=len(columns["score"])))
    mapping = {ours: theirs for ours, theirs in mapping.items() if ours in columns}
    if header and not len(next(iter(columns.values()), ())):
        findings.append(make_finding("no-rows", origin.file, "The file has no rows.", line=1))
    table = pa.table(columns)
    findings += _notes_on_columns(table, mapping, header, origin, format_name)
    source = Source(
        origin, format_name, table, mapping, tuple(header), tuple(findings), missing_score=missing_score
    )
    has_gaps = "relevance" in columns and pc.any(pc.is_nan(columns["relevance"])).as_py()
    return source.with_judgments_apart() if has_gaps else source


_CODED_KINDS = ("shared", "word")
"""Kinds of columns that stay dictionaries."""
_NAMED = frozenset({"table", "json", "jsonl", "parquet", "frame"})
"""Formats whose columns the user named."""


def _notes_on_columns(
    table: pa.Table,
    mapping: Mapping[str, str],
    header: Sequence[str],
    origin: FileProvenance,
    format_name: str,
) -> Iterator[Finding]:
    """Yield findings on columns whose names alone do not tell what they are."""
    document, score, relevance = (mapping.get(name, "") for name in ("doc_id", "score", "relevance"))
    if any(name.casefold() == "docid" for name in header) and normalised(document) == "docno":
        message = (
            f"{document} identifies the documents. docid, the number of a document in the index, is not read."
        )
        yield make_finding("columns-told", origin.file, message, line=1)
    if "score" not in table.column_names or not len(table) or score not in header or score == "score":
        return
    known = recognise([score]).keys()
    if known & {"score", "rank"}:
        return
    if not relevance and "relevance" not in known and format_name not in _NAMED:
        return
    names = {"score": score, "relevance": relevance} if relevance else {"score": score}
    values = ", ".join(f"{ours} {table[ours][0].as_py():g}" for ours in names if ours in table.column_names)
    message = (
        f"{score} is read as the score{f' and {relevance} as the relevance' if relevance else ''}: document "
        f"{quote(table['doc_id'][0].as_py())} of query {quote(table['query_id'][0].as_py())} has {values}."
    )
    yield make_finding("columns-told", origin.file, message, line=origin.line_of(0))


def _convert(
    column: pa.Array | pa.ChunkedArray,
    kind: str,
    names: tuple[str, str],
    origin: FileProvenance,
    scores: pa.Array | None,
    noted: list[Finding],
) -> pa.Array | None:
    """Convert and check a column, and note findings; None if it is skipped.

    `names` are ours and the file's. `scores` are converted before their standard deviations.
    """
    ours, theirs = names
    if column.type == CODED and kind in _CODED_KINDS:
        return CONVERTERS[kind](column, ours, origin)
    dtype = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        dtype = pa.string()
    column = column.cast(pa.float32() if pa.types.is_float16(dtype) else dtype)
    if kind not in _CODED_KINDS or pa.types.is_floating(column.type):
        column = combine_chunks(column)
    if kind in ("id", "shared") and pa.types.is_floating(column.type):
        column = float_ids_as_integers(column, ours, origin)
        message = f"The {ours} column {theirs!r} holds numbers such as 1.0, read as 1."
        noted.append(make_finding("ids-from-numbers", origin.file, message, count=len(column)))
    if kind == "deviation":
        return as_deviations(column, ours, origin, scores)
    if kind == "further":
        converted = further_numbers(column, theirs, origin, noted)
    else:
        if ours == "score" and pa.types.is_string(column.type):
            column = read_worded_grades(column, theirs, origin, noted)
        converted = CONVERTERS[kind](column, ours, origin)
    if ours == "relevance":
        note_grades(converted, theirs, origin, noted)
    if converted is not None and (ours == "score" or kind == "further"):
        note_large(converted, theirs, origin, noted)
    return converted


MAX_RERANKERS = 10_000
"""Most rerankers of one table."""


def refuse_many_rerankers(file: str, column: str, n_rerankers: int, example: str) -> None:
    """Raise a ReadError if a table has so many rerankers that their column is probably the wrong one."""
    if n_rerankers > MAX_RERANKERS:
        problem = f"the column {column!r} names more than {MAX_RERANKERS:,} rerankers, such as {example!r:.60}"
        hint = (
            "Does the column name the rerankers? If not, choose another column as reranker, or none to treat "
            "all rows as one reranker."
        )
        raise ReadError(file, problem, hint)
