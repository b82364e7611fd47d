"""Convert and check the columns of a file; errors and findings name the line.

Also extracts the grades that pointwise rerankers wrap in text (`Score: 7/10`, `**Relevance: 3**`).
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.columns import MISSING_SCORE_HINT, normalised, recognise
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.support.columns import coded, combine_chunks
from metrics.support.wording import part_of, quote

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


def float_ids_as_integers(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    """Cast IDs that were read as floats to 64-bit integers.

    Raises:
        ReadError: an ID is not a whole number, or too large.
    """
    is_large = pc.greater_equal(pc.abs(column), 2.0**63)
    is_bad = pc.fill_null(pc.or_(is_large, pc.not_equal(column, pc.round(column))), fill_value=True)
    hint = "Write IDs as text or whole numbers."
    origin.refuse(is_bad, column, lambda value: f"{name} {value!r} is not an ID", hint)
    return column.cast(pa.int64())


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


def _measure(column: pa.Array, name: str, origin: FileProvenance) -> pa.Array:
    numbers = optional_numbers(
        column, name, origin, "not a number", "Write a number, or leave the value empty."
    )
    return pc.fill_null(numbers, float("nan"))


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
    "measure": _measure,
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


_ANSWERS = frozenset(
    f"{whose}{what}"
    for whose in ("", "model", "llm", "raw")
    for what in ("answer", "response", "output", "completion", "generation", "reply")
)
_NUMBER = r"(?<![\w.,/–-])(?<![0-9]:)[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?(?!\w|[.,:][0-9])"
_SCALE = r"(?:\s*+(?:/|out\s++of|of)\s*+(?P<scale>[0-9]{1,15}(?:\.[0-9]+)?)|\s?(?P<percent>%))?"
_RANGE = r"(?P<range>\s*+(?:[-–—~]|to\b|or\b|and\b)\s*+[0-9])?"
_GRADE = rf"(?P<grade>{_NUMBER}){_SCALE}{_RANGE}"
_ALONE = re.compile(rf"[\W_]{{0,12}}?{_GRADE}[\W_]{{0,12}}", re.IGNORECASE)
_LABEL = r"(?<![^\W_])(?:scores?|relevance|relevancy|rating|rate|rated|grade|graded|judge?ment)(?![^\W_])"
_BETWEEN = (  # limited, or a text of labels alone would be searched from each of them
    r"(?:\s{1,3}+(?:score|rating|grade|level|label|value|is|of|as|at|an?|be|would|this|it|the|passage|document)\b)"
    r"{0,8}+[\s*_:=\"'`#>(\[{|~]{0,12}+(?:[-–—]\s{1,3}+)?"
)
_LABELLED = re.compile(f"{_LABEL}{_BETWEEN}{_GRADE}", re.IGNORECASE)
_FAILED = re.compile(r"\W*(?:error|exception|traceback|rate.?limit|too many|time)", re.IGNORECASE)
"""Begins an answer that is a message on a failed call."""
_THOUGHT = "</think>"
"""Ends the reasoning of a model."""


class Grade(NamedTuple):
    """A grade and, if stated, its scale: 7/10 has the value 7 and the scale 10."""

    value: float
    scale: float | None


def parse_grade(text: str) -> Grade | None:
    """Return the grade that a text states: it is a number, or has one after a label such as score, or in JSON.

    Several different numbers, and ranges, give no grade. A repeated number does not matter.
    """
    text = without_thought(text).strip()
    if alone := _ALONE.fullmatch(text):
        return None if alone["range"] else _grade_of(alone)
    if (number := _only_number_of_json(text)) is not None:
        return Grade(number, None)
    matches = [] if _FAILED.match(text) else list(_LABELLED.finditer(text))
    grades = {_grade_of(match) for match in matches}
    if len({grade.value for grade in grades}) != 1 or any(match["range"] for match in matches):
        return None
    return max(grades, key=lambda grade: grade.scale or 0)


def _only_number_of_json(text: str) -> float | None:
    """Return the only number among the values of a JSON object; None if the text is none, or has an error."""
    try:
        fields = json.loads(text[text.index("{") : text.rindex("}") + 1])
        numbers = {value for value in fields.values() if type(value) in (int, float) and isfinite(value)}
    except (ValueError, RecursionError):
        return None
    return float(numbers.pop()) if len(numbers) == 1 and "error" not in {*map(str.lower, fields)} else None


def without_thought(answer: str) -> str:
    """Return a model's answer without its reasoning."""
    return answer.rpartition(_THOUGHT)[2]


def _grade_of(match: re.Match[str]) -> Grade:
    scale = 100.0 if match["percent"] else float(match["scale"]) if match["scale"] else None
    return Grade(float(match["grade"]), scale)


def answer_column(header: Sequence[str], first: Sequence[object]) -> dict[str, str]:
    """Map `score` to a column of model answers, unless a header has another score column.

    If there is a relevance column, the first answer must hold a grade.
    """
    mapping = recognise(header)
    if "score" in mapping:
        return {}
    for name, value in zip(header, first, strict=False):
        if normalised(name) in _ANSWERS and ("relevance" not in mapping or parse_grade(str(value))):
            return {"score": name}
    return {}


def read_worded_grades(column: pa.Array, name: str, origin: FileProvenance, noted: list[Finding]) -> pa.Array:
    """Reduce texts that state a grade to that grade, and report it."""
    is_text = parse_numbers(column).is_null()
    rows = pc.indices_nonzero(is_text).to_pylist()
    texts = dict(zip(rows, column.filter(is_text).to_pylist(), strict=True))
    grades = {row: grade for row, text in texts.items() if text and (grade := parse_grade(text))}
    if not grades:
        return column
    is_worded = np.zeros(len(column), bool)
    is_worded[list(grades)] = True
    plain = pa.array([repr(grade.value) for grade in grades.values()], pa.string())
    shapes = {row: re.sub("[0-9]+", "0", texts[row]) for row in grades}
    frequency, count = Counter(shapes.values()), len(grades)
    odd = min(grades, key=lambda row: frequency[shapes[row]])
    line = origin.line_of(odd)
    message = (
        f"Grades extracted from text in {name}: {part_of(count, len(column), 'row')}. "
        f"{quote(texts[odd].strip())} is read as {grades[odd].value:g}."
    )
    noted.append(make_finding("grades-in-words", origin.file, message, line=line, count=count))
    scales = [grade.scale for grade in grades.values() if grade.scale is not None]
    if len(set(scales)) > 1:
        scale_names = ", ".join(f"{scale:g}" for scale in sorted(set(scales)))
        message = f"Grades use different scales (out of {scale_names}) and are compared without conversion."
        noted.append(make_finding("grades-scales", origin.file, message, line=line, count=len(scales)))
    return pc.replace_with_mask(column, pa.array(is_worded), plain)
