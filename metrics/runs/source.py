"""One table read from one file: its columns, converted and checked, and the line of each row."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, MISSING_SCORE_HINT, MissingScore, normalised, recognise
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.worded_grades import read_worded_grades
from metrics.support.columns import CODED, coded, combine_chunks
from metrics.support.wording import part_of, quote

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
        is_large = pc.greater_equal(pc.abs(column), 2.0**63)
        is_bad = pc.fill_null(pc.or_(is_large, pc.not_equal(column, pc.round(column))), fill_value=True)
        hint = "Write IDs as text or whole numbers."
        origin.refuse(is_bad, column, lambda value: f"{ours} {value!r} is not an ID", hint)
        column = column.cast(pa.int64())
        message = f"The {ours} column {theirs!r} holds numbers such as 1.0, read as 1."
        noted.append(make_finding("ids-from-numbers", origin.file, message, count=len(column)))
    if kind == "deviation":
        return as_deviations(column, ours, origin, scores)
    if kind == "further":
        converted = further_numbers(column, theirs, origin, noted)
    else:
        if ours == "score" and pa.types.is_string(column.type):
            is_text = parse_numbers(column).is_null()
            column = read_worded_grades(column, is_text, theirs, origin, noted)
        converted = CONVERTERS[kind](column, ours, origin)
    if ours == "relevance":
        note_grades(converted, theirs, origin, noted)
    if converted is not None and (ours == "score" or kind == "further"):
        note_large(converted, theirs, origin, noted)
    return converted


MAX_ID = 2**16
"""Longest ID, in bytes."""
_NO_VALUE = ("", "na", "n/a", "nan", "null", "none", "-")
"""How files write a missing value."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0}


def _id(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    text = column.cast(pa.string())
    lengths = pc.binary_length(text)
    shortest, longest = pc.min_max(lengths).as_py().values()
    if text.null_count or shortest == 0:
        is_empty = pc.fill_null(pc.equal(lengths, 0), fill_value=True)
        origin.refuse(is_empty, text, lambda _: f"{name} is empty", "Give every row an ID.")
    if (longest or 0) > MAX_ID:
        problem = f"{name} is longer than {MAX_ID:,} bytes"
        origin.refuse(pc.greater(lengths, MAX_ID), text, lambda _: problem, "Shorten the ID.")
    return text


def _shared(column: pa.Array | pa.ChunkedArray, name: str, origin: FileProvenance) -> pa.Array:
    ids = coded(column)
    longest = pc.max(pc.binary_length(ids.dictionary)).as_py() or 0
    if ids.null_count or longest > MAX_ID or pc.index(ids.dictionary, "").as_py() >= 0:
        _id(combine_chunks(column), name, origin)
    return ids


def _word(column: pa.Array | pa.ChunkedArray, _: str, __: FileProvenance) -> pa.Array:
    """Return text as a dictionary, null where empty."""
    words = coded(column)
    empty = pc.index(words.dictionary, "").as_py()
    if empty < 0:
        return words
    indices = pc.if_else(pc.equal(words.indices, empty), None, words.indices)
    return pa.DictionaryArray.from_arrays(indices, words.dictionary)


def _number(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    numbers = parse_numbers(column)
    is_bad = pc.is_null(numbers, nan_is_null=True)
    hint = "Map words to numbers, drop the row, or choose another column."
    first = pc.index(is_bad, value=True).as_py()
    if first >= 0 and _DECIMAL_COMMA.fullmatch(str(column[first].as_py()).strip()):
        hint = f"This is a decimal comma. Write {str(column[first].as_py()).strip().replace(',', '.')}."
    if name == "score":
        hint += f" {MISSING_SCORE_HINT}"
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is not a number", hint)
    return numbers


def optional_numbers(column: pa.Array, name: str, origin: FileProvenance, wrong: str, hint: str) -> pa.Array:
    """Return values as float64, null where empty.

    Raises:
        ReadError: a value is neither a number nor empty; `wrong` says what it is.
    """
    if pa.types.is_string(column.type):
        column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)
    numbers = parse_numbers(column)
    is_bad = pc.and_(pc.is_null(numbers), pc.is_valid(column))
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is {wrong}", hint)
    return numbers


def as_deviations(column: pa.Array, name: str, origin: FileProvenance, scores: pa.Array | None) -> pa.Array:
    """Return standard deviations as float64, 0 where there is neither a deviation nor a score (NaN)."""
    numbers = parse_numbers(column)
    is_good = pc.and_(pc.is_finite(numbers), pc.greater_equal(numbers, 0.0))
    is_bad = pc.invert(pc.fill_null(is_good, fill_value=False))
    if scores is not None:
        is_missing = pc.is_nan(scores)
        numbers = pc.if_else(pc.and_(is_bad, is_missing), 0.0, numbers)
        is_bad = pc.and_not(is_bad, is_missing)
    hint = (
        "A standard deviation is finite and not negative. Write 0 for an exact score. Fill in missing values, "
        "or ignore the column (--column score_std= on the command line, columns={'score_std': ''} in Python)."
    )
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is not a standard deviation", hint)
    return numbers


def parse_ranks(column: pa.Array, *_: object) -> pa.Array | None:
    """Return ranks as numbers; None if one is not a number."""
    numbers = parse_numbers(column)
    return None if numbers.null_count else numbers


def as_grades(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Return grades as float64: finite numbers, true is 1 and false is 0, NaN where none is given.

    Raises:
        ReadError: a value is neither; names the first such line.
    """
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    words = None
    if pa.types.is_string(column.type):
        words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
        column = pc.if_else(
            pc.match_substring_regex(words, r"^l\d$"), pc.utf8_slice_codeunits(words, 1), column
        )
        truth_places = pc.index_in(words, value_set=pa.array(list(_TRUTH)))
        truth = pc.take(pa.array(list(_TRUTH.values())), truth_places)
        numbers = pc.coalesce(truth, parse_numbers(pc.if_else(pc.is_valid(truth_places), "0", column)))
    else:
        numbers = parse_numbers(column)
    is_bad = pc.fill_null(pc.invert(pc.is_finite(numbers)), fill_value=True)
    if pc.any(is_bad).as_py():
        is_missing = pc.is_null(column if words is None else words, nan_is_null=words is None)
        if words is not None:
            is_missing = pc.or_(is_missing, pc.is_in(words, value_set=pa.array([*_NO_VALUE, "?"])))
        hint = "A grade must be a number, true or false, or empty if the document is not judged."
        is_bad = pc.and_not(is_bad, is_missing)
        origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is not a grade", hint)
        numbers = pc.if_else(is_missing, float("nan"), numbers)
    return numbers


CONVERTERS: Mapping[str, Callable[[pa.Array, str, FileProvenance], pa.Array | None]] = {
    "id": _id,
    "shared": _shared,
    "word": _word,
    "text": lambda column, *_: column.cast(pa.string()),
    "number": _number,
    "number or none": lambda column, *_: pc.fill_null(parse_numbers(column), float("nan")),
    "measure": lambda column, name, origin: pc.fill_null(
        optional_numbers(column, name, origin, "not a number", "Write a number, or leave the value empty."),
        float("nan"),
    ),
    "grade": as_grades,
    "rank": parse_ranks,
}
"""Kind of a column → what converts and checks its values; None skips the column."""


def parse_numbers(column: pa.Array) -> pa.Array:
    """Return values as float64, null where a text is not a number."""
    if pa.types.is_decimal(column.type):  # a cast from decimals to floats is not rounded correctly
        column = column.cast(pa.string())
    if not pa.types.is_string(column.type):
        return column.cast(pa.float64(), safe=False)
    trimmed = pc.utf8_trim_whitespace(column)
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        return pa.array([parse_number(value) for value in trimmed.to_pylist()], pa.float64())


def parse_number(value: str | None) -> float | None:
    """Parse a number; None for other text."""
    try:
        return float(value) if value and "_" not in value else None
    except ValueError:
        return None


def further_numbers(
    column: pa.Array, name: str, origin: FileProvenance, noted: list[Finding]
) -> pa.Array | None:
    """Return a further score column, -inf where a value is missing; None if a value is not a number."""
    numbers = parse_numbers(column)
    is_missing = pc.is_null(numbers, nan_is_null=True)
    missing = np.flatnonzero(np.asarray(is_missing))
    if not len(missing):
        return numbers
    words = column.take(pa.array(missing)).to_pylist() if pa.types.is_string(column.type) else []
    wrong = [place for place, word in enumerate(words) if (word or "").strip().lower() not in _NO_VALUE]
    line = origin.line_of(int(missing[wrong[0] if wrong else 0]))
    if wrong:
        message = f"The column {name!r} is not read as scores: {quote(str(words[wrong[0]]))} is not a number."
        noted.append(make_finding("columns-unused", origin.file, message, line=line))
        return None
    message = (
        f"The column {name!r} has no value in {part_of(len(missing), len(column), 'row')}. "
        "Documents without a value come last where the column ranks documents or breaks ties."
    )
    noted.append(make_finding("scores-missing", origin.file, message, line=line, count=len(missing)))
    return pc.if_else(is_missing, pa.scalar(-np.inf), numbers)


_WHOLE_UP_TO = 2**53
"""Floats hold every whole number up to here."""
MAX_GRADE = 500
"""DCG counts higher grades as this one (`metrics.measures.additive`)."""


def note_large(scores: pa.Array, theirs: str, origin: FileProvenance, noted: list[Finding]) -> None:
    """Report finite scores from 2^53, among which floats skip whole numbers."""
    values = np.asarray(scores)
    rows = np.flatnonzero((values >= _WHOLE_UP_TO) | (values <= -_WHOLE_UP_TO))
    rows = rows[np.isfinite(values[rows])]
    if len(rows):
        message = (
            f"The {theirs} of {part_of(len(rows), len(values), 'row')} is beyond 2^53, where 64-bit floats "
            f"skip whole numbers. The first is read as {values[rows[0]]:.17g}."
        )
        line = origin.line_of(int(rows[0]))
        noted.append(make_finding("numbers-inexact", origin.file, message, line=line, count=len(rows)))


def note_grades(grades: pa.Array, theirs: str, origin: FileProvenance, noted: list[Finding]) -> None:
    """Report documents without a grade, and grades so large that DCG cannot tell them apart."""
    values = np.asarray(grades)
    for code, rows in (
        ("grades-missing", np.flatnonzero(np.isnan(values))),
        ("grades-large", np.flatnonzero(values > MAX_GRADE)),
    ):
        if len(rows):
            share, row = part_of(len(rows), len(values), "row"), int(rows[0])
            message = f"No grade in {theirs}: {share}. These documents are unjudged."
            if code == "grades-large":
                example = f"{share}, such as {values[row]:g}; DCG counts each as {MAX_GRADE}."
                message = f"Grades above {MAX_GRADE} in {theirs}: {example}"
            line = origin.line_of(row)
            noted.append(make_finding(code, origin.file, message, line=line, count=len(rows)))


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
