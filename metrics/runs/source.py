"""One table read from one file, checked row by row, and the line of each row."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, UsageError
from metrics.runs.columns import BY_NAME, MissingScore
from metrics.runs.conversion import (
    CONVERTERS,
    WrittenTexts,
    float_ids_as_integers,
    further_numbers,
    inexact_finding,
    large_grades_finding,
    prepare,
    read_worded_grades,
    without_blank_deviations,
)
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.support.arrays import combine_chunks
from metrics.support.environment import whole_number


@dataclass(frozen=True)
class Source:
    """What one file held.

    Attributes:
        origin: the file, and the line of a row of `table`.
        format: name of the format it was read as (`metrics.FORMATS`).
        table: rows in file order; columns named and typed as `metrics.runs.columns` says.
        mapping: our column → the column of the file it came from.
        header: names of the file's columns, or of its fields where it names none.
        noted: what was found while reading.
        name: what the user calls the reranker; None leaves it to a column, else to the file's stem.
        missing_score: what is done where the score is NaN, the file having no number there.
        tie_order: the treatment that such files get from the software they are written for.
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

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.origin.file

    @property
    def kind(self) -> Literal["run", "qrels"]:
        """`run` where there are scores, else `qrels`."""
        return "run" if "score" in self.table.column_names else "qrels"

    @property
    def unused(self) -> tuple[str, ...]:
        """Columns of the file that were not read."""
        used = {*self.mapping.values(), *self.table.column_names}
        return tuple(name for name in self.header if name not in used)

    def note_unused(self) -> "Source":
        """Return the source with a finding that names the columns that were not read, if there are any."""
        if not self.unused:
            return self
        message = f"Not read: {', '.join(self.unused)}."
        finding = make_finding("columns-unused", self.file, message, line=1, count=len(self.unused))
        return replace(self, noted=(*self.noted, finding))


RANKS_AS_SCORES = "The file gives ranks and no scores: the score is minus the rank, so ties cannot show."
"""What is said of a run without scores."""


def build_source(
    raw: dict[str, pa.Array | pa.ChunkedArray],
    mapping: Mapping[str, str],
    origin: FileProvenance,
    format_name: str,
    header: Sequence[str],
    noted: Sequence[Finding] = (),
    missing_score: MissingScore = "error",
    texts_of: WrittenTexts | None = None,
) -> Source:
    """Rename and convert columns of a file: ids to text, scores and grades to float64.

    Raises:
        ReadError: an empty id, or a score or grade that is no number; names the first such line.
    """
    columns: dict[str, pa.Array] = {}
    findings = list(noted)
    is_ranked = "score" not in mapping and {"query_id", "doc_id", "rank"} <= mapping.keys()
    if is_ranked:
        mapping = {"score" if ours == "rank" else ours: theirs for ours, theirs in mapping.items()}
    for ours, theirs in sorted(mapping.items(), key=lambda names: names[0] == "score_std"):
        kind = BY_NAME[ours].kind
        column = prepare(raw.pop(theirs), kind)
        if kind in ("id", "shared") and pa.types.is_floating(column.type):
            column = float_ids_as_integers(column, ours, origin)
            message = f"The {ours} column {theirs!r} holds numbers such as 1.0, read as 1."
            findings.append(make_finding("ids-from-numbers", origin.file, message, count=len(column)))
        if ours == "score":
            column, worded = read_worded_grades(column, theirs, origin)
            findings += worded
        with _naming_the_column(origin, ours, theirs, column.type, (header, mapping)):
            if ours == "score_std" and missing_score != "error" and "score" in columns:
                column = without_blank_deviations(column, pc.is_nan(columns["score"]))
            is_optional = ours == "score" and missing_score != "error"
            converted = CONVERTERS["number or none" if is_optional else kind](column, ours, origin)
        if converted is None:
            continue
        columns[ours] = converted
        findings += _checked(converted, column, (ours, theirs), origin, texts_of)
    columns = {ours: columns[ours] for ours in mapping if ours in columns}
    if is_ranked:
        columns, ranked = _ranks_as_scores(columns, origin.file)
        findings.append(ranked)
    further, noted_columns = _further_columns(raw, origin, texts_of)
    columns |= further
    findings += noted_columns
    mapping = {ours: theirs for ours, theirs in mapping.items() if ours in columns}
    if header and not len(next(iter(columns.values()), ())):
        findings.append(make_finding("no-rows", origin.file, "There are no rows.", line=1))
    return Source(
        origin,
        format_name,
        pa.table(columns),
        mapping,
        tuple(header),
        tuple(findings),
        missing_score=missing_score,
    )


def _ranks_as_scores(columns: dict[str, pa.Array], file: str) -> tuple[dict[str, pa.Array], Finding]:
    """Return the columns with ranks read as scores turned round, and the finding that says so."""
    finding = make_finding("ranks-as-scores", file, RANKS_AS_SCORES, count=len(columns["score"]))
    return columns | {"score": pc.negate(columns["score"])}, finding


def _further_columns(
    raw: Mapping[str, pa.Array | pa.ChunkedArray], origin: FileProvenance, texts_of: WrittenTexts | None
) -> tuple[dict[str, pa.Array], list[Finding]]:
    """Return the further score columns, and what is to be said of them."""
    columns: dict[str, pa.Array] = {}
    findings = list[Finding]()
    for name, unmapped in raw.items():
        column = combine_chunks(unmapped)
        numbers, noted_values = further_numbers(column, name, origin)
        findings += noted_values
        if numbers is not None:
            columns[name] = numbers
            findings += inexact_finding(numbers, column, (name, name), origin, texts_of)
    return columns, findings


def _checked(
    converted: pa.Array,
    column: pa.Array,
    names: tuple[str, str],
    origin: FileProvenance,
    texts_of: WrittenTexts | None,
) -> list[Finding]:
    """Return what is to be said of a converted column; a ReadError where it names too many rerankers."""
    ours, theirs = names
    if ours == "reranker":
        known = converted.dictionary
        refuse_many_rerankers(origin.file, theirs, len(known), str(known[-1]) if len(known) else "")
    findings = large_grades_finding(converted, theirs, origin) if ours == "relevance" else []
    if pa.types.is_floating(converted.type):
        findings += inexact_finding(converted, column, names, origin, texts_of)
    return findings


@contextmanager
def _naming_the_column(
    origin: FileProvenance,
    ours: str,
    theirs: str,
    column_type: pa.DataType,
    columns: tuple[Sequence[str], Mapping[str, str]],
) -> Iterator[None]:
    """Have what cannot be converted say its column, and the header and mapping of its file."""
    try:
        yield
    except pa.ArrowException as error:
        problem = f"the {ours} column {theirs!r} holds {column_type}"
        raise ReadError(origin.file, problem, "Give text or numbers.").with_columns(*columns) from error
    except ReadError as error:
        problem = error.problem if theirs == ours else f"{error.problem} (column {theirs!r})"
        named = ReadError(error.file, problem, error.hint, line=error.line, unit=error.unit)
        raise named.with_columns(*columns) from error.__cause__


MAX_RERANKERS = 10_000
"""Most rerankers of one table, where the environment does not say another limit."""
VARIABLE = "TIESCOPE_MAX_RERANKERS"
"""Environment variable: most rerankers of one table."""


def refuse_many_rerankers(file: str, column: str, n_rerankers: int, example: str) -> None:
    """Raise a ReadError where a table has so many rerankers that the column is most likely another one.

    Raises:
        UsageError: the environment names no limit.
    """
    try:
        limit = whole_number(VARIABLE, MAX_RERANKERS)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if n_rerankers > limit:
        problem = f"the column {column!r} names more than {limit:,} rerankers, such as {example!r:.60}"
        hint = (
            "Is it the column that says who ranked? If not, choose another as reranker, or none: then all "
            f"rows are of one. To allow more: --max-rerankers N, or {VARIABLE}=N in the environment."
        )
        raise ReadError(file, problem, hint)


def allow_rerankers(limit: int) -> None:
    """Set the most rerankers of one table for this process and those that it starts."""
    os.environ[VARIABLE] = str(limit)
