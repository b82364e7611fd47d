"""One table read from one file, checked row by row, in the order of the file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from metrics.arrays import whole
from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME

_TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0}


@dataclass(frozen=True)
class Origin:
    """Where rows came from: the name of the file, and the line of a row."""

    file: str
    line_of: Callable[[int], int]

    def refuse(self, bad: pa.Array, column: pa.Array, problem: Callable[[object], str], hint: str) -> None:
        """Raise a ReadError at the first bad row, if there is one."""
        row = pc.index(bad, value=True).as_py()
        if row >= 0:
            raise ReadError(self.file, problem(column[row].as_py()), hint, line=self.line_of(row))


@dataclass(frozen=True)
class Source:
    """What one file held.

    Attributes:
        origin: the file, and the line of a row of `table`.
        format: name of the format it was read as (`metrics.FORMATS`).
        table: rows in file order; columns named and typed as `metrics.runs.columns` says.
        mapping: our column → the column of the file it came from.
        unused: columns of the file that were not read.
        name: what the user calls the reranker; None leaves it to a column, else to the file's stem.
    """

    origin: Origin
    format: str
    table: pa.Table
    mapping: Mapping[str, str]
    unused: tuple[str, ...]
    name: str | None = None

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.origin.file

    @property
    def kind(self) -> Literal["run", "qrels"]:
        """`run` where there are scores, else `qrels`."""
        return "run" if "score" in self.table.column_names else "qrels"


def typed(raw: dict[str, pa.ChunkedArray], mapping: Mapping[str, str], origin: Origin) -> pa.Table:
    """The mapped columns, taken out of `raw`, renamed and converted: ids to text, scores and grades to float64.

    Further columns stay under their own names if every value is a number, else they are left out.

    Raises:
        ReadError: an empty id, or a score or grade that is no number; names the first such line.
    """
    columns = {}
    for ours, theirs in mapping.items():
        column = whole(raw.pop(theirs))
        convert = {"shared": _shared, "text": _text, "number": _number, "grade": _grade}[BY_NAME[ours].kind]
        columns[ours] = convert(column, ours, origin)
    for name, column in raw.items():
        numbers = _parse(whole(column))
        if not pc.any(pc.is_null(numbers, nan_is_null=True)).as_py():
            columns[name] = numbers
    return pa.table(columns)


def _text(column: pa.Array, name: str, origin: Origin) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    text = column if pa.types.is_string(column.type) else column.cast(pa.string())
    bad = pc.fill_null(pc.equal(pc.binary_length(text), 0), fill_value=True)
    origin.refuse(bad, text, lambda _: f"{name} is empty", "Give every row an id.")
    return text


def _shared(column: pa.Array, name: str, origin: Origin) -> pa.Array:
    coded = column if pa.types.is_dictionary(column.type) else column.cast(pa.string()).dictionary_encode()
    distinct = coded.dictionary.cast(pa.string())
    if coded.null_count or "" in distinct.to_pylist():
        _text(column, name, origin)
    return pa.DictionaryArray.from_arrays(coded.indices.cast(pa.int32()), distinct)


def _number(column: pa.Array, name: str, origin: Origin) -> pa.Array:
    numbers = _parse(column)
    bad = pc.is_null(numbers, nan_is_null=True)
    hint = "Map words to numbers, drop the row, or choose another column."
    origin.refuse(bad, column, lambda value: f"{name} {value!r} is not a number", hint)
    return numbers


def _grade(column: pa.Array, name: str, origin: Origin) -> pa.Array:
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not pa.types.is_string(column.type):
        return _finite(_number(column, name, origin), column, name, origin)
    words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    known = pc.index_in(words, value_set=pa.array(list(_TRUTH)))
    truth = pc.take(pa.array(list(_TRUTH.values())), known)
    numbers = pc.coalesce(truth, _parse(pc.if_else(pc.is_valid(known), "0", column)))
    return _finite(numbers, column, name, origin)


def _finite(numbers: pa.Array, column: pa.Array, name: str, origin: Origin) -> pa.Array:
    bad = pc.fill_null(pc.invert(pc.is_finite(numbers)), fill_value=True)
    hint = "A grade is a number, or true and false."
    origin.refuse(bad, column, lambda value: f"{name} {value!r} is not a grade", hint)
    return numbers


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
