"""From columns as a file holds them to the types of ours, each value checked; an error names the row.

Grades with words around them are read, as pointwise rerankers answer: `Score: 7/10`, `**Relevance: 3**`.
Numbers that 64-bit floats do not hold are reported.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.columns import normalised, recognise
from metrics.runs.files import File, FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.support.arrays import CODED, FloatArray, IntArray, coded, combine_chunks
from metrics.support.wording import count_of, part_of, quote

MAX_ID = 2**16
"""Longest id, in bytes."""
_CODED_KINDS = ("shared", "word")
"""Kinds of columns whose texts may be coded already."""
_ROWS = 2**17
"""Rows whose lengths are looked at at once."""
_NO_VALUE = ("", "na", "n/a", "nan", "null", "none", "-")
"""How files write that there is no value."""
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


def further_numbers(
    column: pa.Array, name: str, origin: FileProvenance
) -> tuple[pa.Array | None, list[Finding]]:
    """Return a further score column, -inf where a value is missing, and what is to be said of it.

    The column is None where a value is neither a number nor missing.
    """
    numbers = parse_numbers(column)
    is_missing = pc.is_null(numbers, nan_is_null=True)
    missing = np.flatnonzero(np.asarray(is_missing))
    if not len(missing):
        return numbers, []
    words = column.take(pa.array(missing)).to_pylist() if pa.types.is_string(column.type) else []
    wrong = [place for place, word in enumerate(words) if (word or "").strip().lower() not in _NO_VALUE]
    line = origin.line_of(int(missing[wrong[0] if wrong else 0]))
    if wrong:
        message = f"The column {name!r} is not read as scores: {quote(str(words[wrong[0]]))} is not a number."
        return None, [make_finding("columns-unused", origin.file, message, line=line)]
    message = (
        f"The column {name!r} lacks {part_of(len(missing), len(column), 'value')}. Such documents come last "
        "where it ranks or splits ties, whatever its direction."
    )
    finding = make_finding("scores-missing", origin.file, message, line=line, count=len(missing))
    return pc.if_else(is_missing, pa.scalar(-np.inf), numbers), [finding]


def parse_number(value: str | None) -> float | None:
    """Return the number that a text writes, None where it writes none."""
    try:
        return float(value) if value and "_" not in value else None
    except ValueError:
        return None


WHOLE_UP_TO = 2**53
"""Up to here every whole number is a float; above, neighbours become one."""
_SMALLEST = np.finfo(np.float64).tiny
"""Below this a float has fewer digits, and at last none: 1e-400 becomes 0."""
_NUMBERS_AT_ONCE = 2**15
"""Rows whose sizes are looked at at once."""
_TINY_TEXT = re.compile(rb"-(?<=[eE]-)[0-9]{3}")
"""What stands in the text of a number that is that small; it begins with one letter, so that it is quick."""

MAX_GRADE = 500
"""Grades above are 500 to DCG (`metrics.measures.additive`)."""


class WrittenTexts(Protocol):
    """Gives values of a column as the file writes them."""

    def __call__(self, name: str, rows: IntArray, *, only_tiny: bool) -> Sequence[str]:
        """Return the texts of some rows; none where only tiny numbers are looked for and the file has none."""


def inexact_finding(
    numbers: pa.Array,
    column: pa.Array,
    names: tuple[str, str],
    origin: FileProvenance,
    texts_of: WrittenTexts | None,
) -> list[Finding]:
    """Report numbers that are read as another number: whole ones above 2^53, ones that become 0 or infinite.

    Digits after the point that no float has are not reported: they are beyond what a score is compared by.

    Shapes: `numbers` (n_rows,), `column` (n_rows,).
    """
    ours, theirs = names
    rows = _suspicious(
        np.asarray(numbers), with_small=ours not in _SMALL_IS_NONE and not pa.types.is_integer(column.type)
    )
    if not len(rows):
        return []
    found = np.asarray(numbers)[rows]
    written: Sequence[object] = []
    if not pa.types.is_floating(column.type):
        written = combine_chunks(column).take(pa.array(rows)).to_pylist()
    elif texts_of is not None:
        written = texts_of(theirs, rows, only_tiny=bool(np.abs(found).max() < 1))
    if not written:
        return []
    values = found.tolist()
    inexact = [place for place, pair in enumerate(zip(written, values, strict=True)) if not holds(*pair)]
    if not inexact:
        return []
    first = inexact[0]
    message = (
        f"Numbers in {theirs} that 64-bit floats do not hold: {part_of(len(inexact), len(numbers), 'row')}, "
        f"such as {_short(written[first])}, read as {_printed(values[first])}."
    )
    line = origin.line_of(int(rows[first]))
    return [make_finding("numbers-inexact", origin.file, message, line=line, count=len(inexact))]


def large_grades_finding(grades: pa.Array, theirs: str, origin: FileProvenance) -> list[Finding]:
    """Report grades so large that DCG cannot tell them apart.

    Shapes: `grades` (n_rows,).
    """
    values = np.asarray(grades)
    rows = np.flatnonzero(values > MAX_GRADE)
    if not len(rows):
        return []
    count, example = part_of(len(rows), len(values), "row"), f"{values[rows[0]]:g}"
    message = (
        f"Grades above {MAX_GRADE} in {theirs}: {count}, such as {example}; DCG counts each as {MAX_GRADE}."
    )
    line = origin.line_of(int(rows[0]))
    return [make_finding("grades-large", origin.file, message, line=line, count=len(rows))]


_SMALL_IS_NONE = frozenset({"relevance", "rank", "latency", "score_std"})
"""Columns in which a number below the smallest float is 0 to all that is made of it."""


def has_tiny_numbers(file: File) -> bool:
    """Return whether a number may stand in a file that is too small for a float."""
    tail = b""
    for block in file.blocks():
        if (b"-" in block or b"-" in tail) and _TINY_TEXT.search(tail + block):
            return True
        tail = block[-4:]
    return False


def _suspicious(numbers: FloatArray, *, with_small: bool) -> IntArray:
    """Return the rows whose numbers may not be what was written, looked at a few at a time."""
    smallest, rows = _SMALLEST if with_small else 0.0, [np.empty(0, np.int64)]
    for start in range(0, len(numbers), _NUMBERS_AT_ONCE):
        sizes = np.abs(numbers[start : start + _NUMBERS_AT_ONCE])
        if not (sizes.max() < WHOLE_UP_TO and sizes.min() >= smallest):  # NaN is neither
            rows.append(start + np.flatnonzero((sizes >= WHOLE_UP_TO) | (sizes < smallest)))
    return np.concatenate(rows)


def holds(written: object, number: float) -> bool:
    """Return whether a number is what is written: to the digit where it is whole, else as far as floats go."""
    if written in {"0", "0.0"}:  # as most are that become 0
        return True
    try:
        exact = Decimal(str(written).strip())
    except InvalidOperation:  # true, false: no number
        return True
    if not exact.is_finite():
        return True
    if not np.isfinite(number):
        return False
    if abs(number) < _SMALLEST:
        return abs(exact - Decimal(number)) <= abs(exact) * Decimal(2) ** -52 or exact == Decimal(repr(number))
    return abs(number) < WHOLE_UP_TO or exact == Decimal(number) or "e" in str(written).lower()


def _short(written: object) -> str:
    text = str(written).strip()
    return text if len(text) <= 40 else f"{text[:18]} ... {text[-18:]}"  # noqa: PLR2004 letters of an example


def _printed(number: float) -> str:
    return f"{number:.0f}" if WHOLE_UP_TO <= abs(number) < np.inf else repr(number)


_ANSWERS = frozenset(
    f"{whose}{what}"
    for whose in ("", "model", "llm", "raw")
    for what in ("answer", "response", "output", "completion", "generation", "reply")
)
_NUMBER = r"(?<![\w.,/–-])(?<![0-9]:)[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?(?!\w|[.,:][0-9])"
_SCALE = r"(?:\s*+(?:/|out\s++of|of)\s*+(?P<scale>[0-9]{1,15}(?:\.[0-9]+)?)|\s?(?P<percent>%))?"
_RANGE = r"(?P<range>\s*+(?:[-–—~]|to\b|or\b|and\b)\s*+[0-9])?"
_GRADE = re.compile(f"(?P<grade>{_NUMBER}){_SCALE}{_RANGE}", re.IGNORECASE)
_LABEL = r"\b(?:scores?|relevance|relevancy|rating|rate|rated|grade|graded)\b"
_BETWEEN = (  # so many words and marks and no more, or a text of labels alone would be read from each of them
    r"(?:\s{1,3}+(?:score|rating|grade|level|label|value|is|of|as|at|an?|be|would|this|it|the|passage|document)\b)"
    r"{0,8}+[\s*_:=\"'`#>(\[{|~]{0,12}+(?:[-–—]\s{1,3}+)?"
)
_LABELLED = re.compile(f"{_LABEL}{_BETWEEN}{_GRADE.pattern}", re.IGNORECASE)
_THOUGHT = "</think>"
"""What is before it, the model says to itself."""


class Grade(NamedTuple):
    """A grade that a text states.

    Attributes:
        value: the number; of 7/10, 7.
        scale: what it is said to be out of; None where nothing is said.
    """

    value: float
    scale: float | None


def parse_grade(text: str) -> Grade | None:
    """Return the grade that a text states: the number after a label such as score, else its only number.

    Several different numbers, after labels or where there is no label, are no grade, and a range is none. The
    same number again does not matter.
    """
    text = without_thought(text)
    for pattern in (_LABELLED, _GRADE):
        matches = list(pattern.finditer(text))
        grades = {_grade_of(match) for match in matches}
        if len({grade.value for grade in grades}) == 1 and not any(match["range"] for match in matches):
            return max(grades, key=lambda grade: grade.scale or 0)
        if grades:
            return None
    return None


def without_thought(answer: str) -> str:
    """Return what a model answers, without what it says to itself before."""
    return answer.rpartition(_THOUGHT)[2]


def _grade_of(match: re.Match[str]) -> Grade:
    scale = 100.0 if match["percent"] else float(match["scale"]) if match["scale"] else None
    return Grade(float(match["grade"]), scale)


def answer_column(header: Sequence[str], first: Sequence[object]) -> dict[str, str]:
    """Return the column of answers as that of the score, where there is no other score.

    Beside a column of relevance it is taken for the score where the first row's answer holds a grade.
    """
    mapping = recognise(header)
    if "score" in mapping:
        return {}
    for name, value in zip(header, first, strict=False):
        if normalised(name) in _ANSWERS and ("relevance" not in mapping or parse_grade(str(value))):
            return {"score": name}
    return {}


def read_worded_grades(column: pa.Array, name: str, origin: FileProvenance) -> tuple[pa.Array, list[Finding]]:
    """Return scores as text, those with words around a grade as the grade alone, and what was done."""
    if not pa.types.is_string(column.type) or _are_numbers(column):
        return column, []
    texts = column.to_pylist()
    rows = [row for row, text in enumerate(texts) if text and parse_number(text) is None]
    grades = {row: grade for row in rows if (grade := parse_grade(texts[row]))}
    if not grades:
        return column, []
    is_worded = np.zeros(len(texts), bool)
    is_worded[list(grades)] = True
    plain = pa.array([repr(grade.value) for grade in grades.values()], pa.string())
    return pc.replace_with_mask(column, pa.array(is_worded), plain), _worded_findings(
        texts, grades, name, origin
    )


def _worded_findings(
    texts: Sequence[str], grades: Mapping[int, Grade], name: str, origin: FileProvenance
) -> list[Finding]:
    """Return that grades, by row, were read out of words, and that they are of several scales."""
    first = next(iter(grades))
    line, count = origin.line_of(first), len(grades)
    example = f"{quote(texts[first].strip())} is {grades[first].value:g}"
    message = f"Grades read out of words in {name}: {part_of(count, len(texts), 'row')}; {example}."
    findings = [make_finding("grades-in-words", origin.file, message, line=line, count=count)]
    scales = sorted({grade.scale for grade in grades.values() if grade.scale is not None})
    if len(scales) > 1:
        listed = ", ".join(f"{scale:g}" for scale in scales)
        count = sum(grade.scale is not None for grade in grades.values())
        message = f"Grades are said to be out of {listed}, and are compared as if these were one scale."
        findings.append(make_finding("grades-scales", origin.file, message, line=line, count=count))
    return findings


def _are_numbers(column: pa.Array) -> bool:
    try:
        pc.utf8_trim_whitespace(column).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
