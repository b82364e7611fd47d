"""One table read from one file, checked row by row, in the order of the file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError
from metrics.runs.findings import Finding, found
from metrics.runs.reading.columns import BY_NAME
from metrics.support.arrays import CODED, IntArray, coded, whole

FIXED = ("trec-run", "trec-qrels", "ranked", "nested-json")
"""Formats whose columns have no names: what is not read of them is nobody's loss."""
MAX_ID = 2**16
"""Longest id, in bytes."""
_CODED = ("shared", "word")
"""Kinds of columns whose texts may be coded already."""
_ROWS = 2**17
"""Rows whose lengths are looked at at once."""
_TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0}


def _unranked() -> None:
    """The file states no ranks."""


@dataclass(frozen=True)
class FileProvenance:
    """Where rows came from.

    Attributes:
        file: its name.
        line_of: line of a row, both from the first on: row 0, line 1.
        unit: what is counted: a line, a row, an entry.
        ranks: reads the ranks the file states beside its scores, if it does.
    """

    file: str
    line_of: Callable[[int], int]
    unit: str = "line"
    ranks: Callable[[], pa.Array | None] = _unranked

    def refuse(self, bad: pa.Array, column: pa.Array, problem: Callable[[object], str], hint: str) -> None:
        """Raise a ReadError at the first bad row, if there is one."""
        row = pc.index(bad, value=True).as_py()
        if row >= 0:
            raise self.error(row, problem(column[row].as_py()), hint)

    def error(self, row: int, problem: str, hint: str) -> ReadError:
        """The error of one row."""
        return ReadError(self.file, problem, hint, line=self.line_of(row), unit=self.unit)


@dataclass(frozen=True)
class RowProvenance:
    """Where the rows of one reranker, or of the judgments, came from.

    Attributes:
        origin: the file.
        rows: (n_rows,) row of the file that each was; None where it is the same.
    """

    origin: FileProvenance
    rows: IntArray | None = None

    @classmethod
    def memory(cls, name: str) -> "RowProvenance":
        """Rows that came from no file."""
        return cls(FileProvenance(name, lambda row: row + 1, "row"))

    @classmethod
    def several(cls, parts: Sequence["RowProvenance"], lengths: Sequence[int]) -> "RowProvenance":
        """Rows of several files, one after the other."""
        ends = np.cumsum(lengths)

        def line_of(row: int) -> int:
            at = int(np.searchsorted(ends, row, side="right"))
            return parts[at].line_of(row - int(ends[at]) + lengths[at])

        return cls(FileProvenance(", ".join(part.file for part in parts), line_of))

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.origin.file

    @property
    def unit(self) -> str:
        """What is counted: a line, a row, an entry."""
        return self.origin.unit

    def line_of(self, row: int) -> int:
        """Line of a row."""
        return self.origin.line_of(row if self.rows is None else int(self.rows[row]))

    def ranks(self) -> pa.Array | None:
        """(n_rows,) ranks the file states beside its scores, if it does and still can be read."""
        try:
            ranks = self.origin.ranks()
        except ReadError:
            return None
        return ranks if ranks is None or self.rows is None else ranks.take(pa.array(self.rows))

    def only(self, rows: IntArray) -> "RowProvenance":
        """Where some of the rows came from."""
        return RowProvenance(self.origin, rows if self.rows is None else self.rows[rows])


@dataclass(frozen=True)
class Source:
    """What one file held.

    Attributes:
        origin: the file, and the line of a row of `table`.
        format: name of the format it was read as (`metrics.FORMATS`).
        table: rows in file order; columns named and typed as `metrics.runs.reading.columns` says.
        mapping: our column → the column of the file it came from.
        header: names of the file's columns, or of its fields where it names none.
        noted: what was found while reading.
        name: what the user calls the reranker; None leaves it to a column, else to the file's stem.
    """

    origin: FileProvenance
    format: str
    table: pa.Table
    mapping: Mapping[str, str]
    header: Sequence[str] = ()
    noted: tuple[Finding, ...] = ()
    name: str | None = None

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


def build_source(
    raw: dict[str, pa.Array | pa.ChunkedArray],
    mapping: Mapping[str, str],
    origin: FileProvenance,
    format_name: str,
    header: Sequence[str],
    noted: Sequence[Finding] = (),
) -> Source:
    """The mapped columns, taken out of `raw`, renamed and converted: ids to text, scores and grades to float64.

    Further columns stay under their own names if every value is a number, else they are left out.

    Raises:
        ReadError: an empty id, or a score or grade that is no number; names the first such line.
    """
    columns: dict[str, pa.Array] = {}
    notes = list(noted)
    for ours, theirs in mapping.items():
        kind = BY_NAME[ours].kind
        column = _prepared(raw.pop(theirs), kind)
        if kind in ("id", "shared") and pa.types.is_floating(column.type):
            column = _whole_ids(column, ours, origin)
            message = f"The {ours} column {theirs!r} holds numbers such as 1.0, read as 1."
            notes.append(found("ids-from-numbers", origin.file, message, count=len(column)))
        try:
            converted = _CONVERT[kind](column, ours, origin)
        except pa.ArrowException as error:
            problem = f"the {ours} column {theirs!r} holds {column.type}"
            raise ReadError(origin.file, problem, "Give text or numbers.").among(header, mapping) from error
        except ReadError as error:
            raise error.among(header, mapping) from error.__cause__
        if converted is not None:
            columns[ours] = converted
    for name, column in raw.items():
        numbers = _parse(whole(column))
        if numbers.null_count == 0 and not pc.any(pc.is_nan(numbers)).as_py():
            columns[name] = numbers
    mapping = {ours: theirs for ours, theirs in mapping.items() if ours in columns}
    unused = [name for name in header if name not in {*mapping.values(), *columns}]
    if unused and format_name not in FIXED:
        message = f"Not read: {', '.join(unused)}."
        notes.append(found("columns-unused", origin.file, message, line=1, count=len(unused)))
    return Source(origin, format_name, pa.table(columns), mapping, tuple(header), tuple(notes))


def _prepared(column: pa.Array | pa.ChunkedArray, kind: str) -> pa.Array | pa.ChunkedArray:
    """A column as its kind is converted from: in one piece, but for texts that are coded anyway."""
    if column.type == CODED and kind in _CODED:
        return column
    column = simple(column)
    return column if kind in _CODED and not pa.types.is_floating(column.type) else whole(column)


def simple(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Texts and numbers in the one type we know each by."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_string(kind):
        return column.cast(pa.string())
    return column.cast(pa.float32()) if pa.types.is_float16(kind) else column.cast(kind)


def _text(column: pa.Array, _: str, __: FileProvenance) -> pa.Array:
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _id(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    text = _text(column, name, origin)
    shortest, longest = _lengths(text)
    if text.null_count or not shortest:
        bad = pc.fill_null(pc.equal(pc.binary_length(text), 0), fill_value=True)
        origin.refuse(bad, text, lambda _: f"{name} is empty", "Give every row an id.")
    if longest > MAX_ID:
        problem = f"{name} is longer than {MAX_ID:,} bytes"
        bad = pc.greater(pc.binary_length(text), MAX_ID)
        origin.refuse(bad, text, lambda _: problem, "Write a shorter id.")
    return text


def _bounds(lengths: npt.NDArray[np.int32]) -> tuple[int, int]:
    return int(lengths.min()), int(lengths.max())


def _lengths(text: pa.Array) -> tuple[int, int]:
    """Bytes of the shortest and the longest text, 1 where there is none; a few rows at a time."""
    ends = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]
    bounds = [_bounds(np.diff(ends[at : at + _ROWS + 1])) for at in range(0, len(text), _ROWS)]
    return min((low for low, _ in bounds), default=1), max((high for _, high in bounds), default=1)


def _shared(column: pa.Array | pa.ChunkedArray, name: str, origin: FileProvenance) -> pa.Array:
    words = coded(column)
    longest = pc.max(pc.binary_length(words.dictionary)).as_py() or 0
    if words.null_count or longest > MAX_ID or "" in words.dictionary.to_pylist():
        _id(whole(column), name, origin)
    return words


def _word(column: pa.Array | pa.ChunkedArray, _: str, __: FileProvenance) -> pa.Array:
    """Texts as a dictionary, null where empty."""
    words = coded(column)
    empty = pc.index(words.dictionary, "").as_py()
    if empty < 0:
        return words
    indices = pc.if_else(pc.equal(words.indices, empty), None, words.indices)
    return pa.DictionaryArray.from_arrays(indices, words.dictionary)


def _whole_ids(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Float ids as whole numbers."""
    large = pc.greater_equal(pc.abs(column), 2.0**63)
    bad = pc.fill_null(pc.or_(large, pc.not_equal(column, pc.round(column))), fill_value=True)
    hint = "Write ids as text or whole numbers."
    origin.refuse(bad, column, lambda value: f"{name} {value!r} is no id", hint)
    return column.cast(pa.int64())


def _number(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    numbers = _parse(column)
    bad = pc.is_null(numbers, nan_is_null=True)
    hint = "Map words to numbers, drop the row, or choose another column."
    origin.refuse(bad, column, lambda value: f"{name} {value!r} is not a number", hint)
    return numbers


def _measure(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """A number, NaN where there is none."""
    if pa.types.is_string(column.type):
        column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)
    numbers = _parse(column)
    bad = pc.and_(pc.is_null(numbers), pc.is_valid(column))
    origin.refuse(bad, column, lambda value: f"{name} {value!r} is not a number", "Leave it empty.")
    return pc.fill_null(numbers, float("nan"))


def _rank(column: pa.Array, _: str, __: FileProvenance) -> pa.Array | None:
    numbers = _parse(column)
    return None if numbers.null_count else numbers


def as_grades(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Float64 of each value: a finite number, or true and false.

    Raises:
        ReadError: a value is neither; names the first such line.
    """
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not pa.types.is_string(column.type):
        return _finite(_number(column, name, origin), column, name, origin)
    words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    known = pc.index_in(words, value_set=pa.array(list(_TRUTH)))
    truth = pc.take(pa.array(list(_TRUTH.values())), known)
    numbers = pc.coalesce(truth, _parse(pc.if_else(pc.is_valid(known), "0", column)))
    return _finite(numbers, column, name, origin)


def _finite(numbers: pa.Array, column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    bad = pc.fill_null(pc.invert(pc.is_finite(numbers)), fill_value=True)
    hint = "A grade is a number, or true and false."
    origin.refuse(bad, column, lambda value: f"{name} {value!r} is not a grade", hint)
    return numbers


_CONVERT: Mapping[str, Callable[[pa.Array, str, FileProvenance], pa.Array | None]] = {
    "id": _id,
    "shared": _shared,
    "word": _word,
    "text": _text,
    "number": _number,
    "measure": _measure,
    "grade": as_grades,
    "rank": _rank,
}


def _parse(column: pa.Array) -> pa.Array:
    """Float64 of each value, null where a text is no number."""
    if not pa.types.is_string(column.type):
        return column.cast(pa.float64(), safe=False)
    trimmed = pc.utf8_trim_whitespace(column)
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        return pa.array([number(value) for value in trimmed.to_pylist()], pa.float64())


def number(value: str | None) -> float | None:
    """The number a text means, None where it means none."""
    try:
        return float(value) if value and "_" not in value else None
    except ValueError:
        return None
