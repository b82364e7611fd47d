"""From columns as a file holds them to the types of ours, each value checked; an error names the row."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.reading.provenance import FileProvenance
from metrics.support.arrays import CODED, coded, combine_chunks
from metrics.support.wording import count_of

MAX_ID = 2**16
"""Longest id, in bytes."""
_CODED_KINDS = ("shared", "word")
"""Kinds of columns whose texts may be coded already."""
_ROWS = 2**17
"""Rows whose lengths are looked at at once."""
_TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "t": 1.0, "f": 0.0}


def prepare(column: pa.Array | pa.ChunkedArray, kind: str) -> pa.Array | pa.ChunkedArray:
    """Return a column in one piece and of a plain type; texts of ids that many rows share may stay coded."""
    if column.type == CODED and kind in _CODED_KINDS:
        return column
    column = with_plain_type(column)
    return column if kind in _CODED_KINDS and not pa.types.is_floating(column.type) else combine_chunks(column)


def with_plain_type(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column without a dictionary, its texts as `string`, and no number of 16 bits."""
    dtype = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype) or pa.types.is_string(dtype):
        return column.cast(pa.string())
    return column.cast(pa.float32()) if pa.types.is_float16(dtype) else column.cast(dtype)


def _text(column: pa.Array, _: str, __: FileProvenance) -> pa.Array:
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _id(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    text = _text(column, name, origin)
    shortest, longest = _length_range(text)
    if text.null_count or not shortest:
        is_empty = pc.fill_null(pc.equal(pc.binary_length(text), 0), fill_value=True)
        origin.refuse(is_empty, text, lambda _: f"{name} is empty", "Give every row an id.")
    if longest > MAX_ID:
        problem = f"{name} is longer than {MAX_ID:,} bytes"
        is_long = pc.greater(pc.binary_length(text), MAX_ID)
        origin.refuse(is_long, text, lambda _: problem, "Write a shorter id.")
    return text


def _length_range(text: pa.Array) -> tuple[int, int]:
    """Return the bytes of the shortest and the longest text, 1 where there is none; a few rows at a time."""
    ends = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]
    shortest, longest = [1] * (not len(text)), [1] * (not len(text))
    for start in range(0, len(text), _ROWS):
        lengths: npt.NDArray[np.int32] = np.diff(ends[start : start + _ROWS + 1])
        shortest.append(int(lengths.min()))
        longest.append(int(lengths.max()))
    return min(shortest), max(longest)


def _shared(column: pa.Array | pa.ChunkedArray, name: str, origin: FileProvenance) -> pa.Array:
    """Return ids as a dictionary; looked at one by one only where an entry of it is no id."""
    ids = coded(column)
    longest = pc.max(pc.binary_length(ids.dictionary)).as_py() or 0
    if ids.null_count or longest > MAX_ID or "" in ids.dictionary.to_pylist():
        _id(combine_chunks(column), name, origin)
    return ids


def _word(column: pa.Array | pa.ChunkedArray, _: str, __: FileProvenance) -> pa.Array:
    """Return texts as a dictionary, null where empty."""
    words = coded(column)
    empty = pc.index(words.dictionary, "").as_py()
    if empty < 0:
        return words
    indices = pc.if_else(pc.equal(words.indices, empty), None, words.indices)
    return pa.DictionaryArray.from_arrays(indices, words.dictionary)


def float_ids_as_integers(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Return ids that were read as floats as 64-bit integers.

    Args:
        column: the floats.
        name: our name of the column.
        origin: the file.

    Raises:
        ReadError: one is no whole number, or too large.
    """
    is_large = pc.greater_equal(pc.abs(column), 2.0**63)
    is_bad = pc.fill_null(pc.or_(is_large, pc.not_equal(column, pc.round(column))), fill_value=True)
    hint = "Write ids as text or whole numbers."
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is no id", hint)
    return column.cast(pa.int64())


def _number(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    numbers = parse_numbers(column)
    is_bad = pc.is_null(numbers, nan_is_null=True)
    hint = "Map words to numbers, drop the row, or choose another column."
    if name == "score":
        hint += " Or have such documents put last or dropped (missing score: last, drop)."
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is not a number", hint)
    return numbers


def _number_or_none(column: pa.Array, _: str, __: FileProvenance) -> pa.Array:
    """Return numbers, NaN where a value is none."""
    return pc.fill_null(parse_numbers(column), float("nan"))


def _measure(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Return numbers, NaN where a value is missing."""
    if pa.types.is_string(column.type):
        column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)
    numbers = parse_numbers(column)
    is_bad = pc.and_(pc.is_null(numbers), pc.is_valid(column))
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is not a number", "Leave it empty.")
    return pc.fill_null(numbers, float("nan"))


def _deviation(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Return standard deviations: numbers of 0 or more."""
    numbers = parse_numbers(column)
    is_bad = pc.fill_null(
        pc.invert(pc.and_(pc.is_finite(numbers), pc.greater_equal(numbers, 0.0))), fill_value=True
    )
    hint = (
        "A standard deviation is a number of 0 or more; 0 where the score is exact. Fill the column, or leave "
        "it out: --column score_std= on the command line, columns={'score_std': ''} in Python."
    )
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is not a standard deviation", hint)
    return numbers


def without_blank_deviations(column: pa.Array, is_missing: pa.Array) -> pa.Array:
    """Return standard deviations, as the file holds them, with 0 where there is none beside a missing score."""
    is_text = pa.types.is_string(column.type)
    is_blank = (
        pc.equal(pc.utf8_trim_whitespace(column), "") if is_text else pc.is_null(column, nan_is_null=True)
    )
    is_free = pc.and_(is_missing, pc.fill_null(is_blank, fill_value=True))
    return pc.if_else(is_free, pa.scalar("0" if is_text else 0, column.type), column)


def _rank(column: pa.Array, _: str, __: FileProvenance) -> pa.Array | None:
    """Return ranks as numbers, None where a value is no number."""
    numbers = parse_numbers(column)
    return None if numbers.null_count else numbers


def as_grades(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Return grades as float64: finite numbers, or true and false as 1 and 0.

    Args:
        column: text, numbers or booleans.
        name: our name of the column.
        origin: the file.

    Raises:
        ReadError: a value is neither; names the first such line.
    """
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not pa.types.is_string(column.type):
        return _finite(_number(column, name, origin), column, name, origin)
    words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    truth_places = pc.index_in(words, value_set=pa.array(list(_TRUTH)))
    truth = pc.take(pa.array(list(_TRUTH.values())), truth_places)
    numbers = pc.coalesce(truth, parse_numbers(pc.if_else(pc.is_valid(truth_places), "0", column)))
    return _finite(numbers, column, name, origin)


def _finite(numbers: pa.Array, column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    is_bad = pc.fill_null(pc.invert(pc.is_finite(numbers)), fill_value=True)
    if (row := pc.index(is_bad, value=True).as_py()) >= 0:
        value = column[row].as_py()
        raise origin.error(row, f"{name} {value!r} is not a grade", _grade_hint(column, value))
    return numbers


def _grade_hint(column: pa.Array, value: object) -> str:
    """Return what to do about a value that is no grade: one that is yet to be given is no mistake."""
    if value not in _UNJUDGED:
        return "A grade is a number, or true and false."
    n_open = pc.sum(pc.is_in(column, value_set=pa.array(_UNJUDGED))).as_py()
    part = f"{n_open:,} of {count_of(len(column), 'row')}"
    return f"No grade yet in {part}: fill them in, or leave out the lines of what nobody judged."


_UNJUDGED = ("", "?")
"""What stands for a grade in a file that is yet to be filled in."""

CONVERTERS: Mapping[str, Callable[[pa.Array, str, FileProvenance], pa.Array | None]] = {
    "id": _id,
    "shared": _shared,
    "word": _word,
    "text": _text,
    "number": _number,
    "number or none": _number_or_none,
    "measure": _measure,
    "deviation": _deviation,
    "grade": as_grades,
    "rank": _rank,
}
"""Kind of a column of ours → what converts and checks its values; None where the column is left out."""


def parse_numbers(column: pa.Array) -> pa.Array:
    """Return values as float64, null where a text is no number."""
    if not pa.types.is_string(column.type):
        return column.cast(pa.float64(), safe=False)
    trimmed = pc.utf8_trim_whitespace(column)
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        return pa.array([parse_number(value) for value in trimmed.to_pylist()], pa.float64())


def parse_number(value: str | None) -> float | None:
    """Return the number that a text writes, None where it writes none."""
    try:
        return float(value) if value and "_" not in value else None
    except ValueError:
        return None
