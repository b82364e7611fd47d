"""Grades in texts: those that pointwise rerankers wrap in words (`Score: 7/10`, `**Relevance: 3**`)."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.columns import normalised, recognise
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.support.wording import part_of, quote

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


def read_worded_grades(
    column: pa.Array, is_text: pa.Array, name: str, origin: FileProvenance, noted: list[Finding]
) -> pa.Array:
    """Reduce texts that state a grade to that grade, and report it; `is_text` tells which are not numbers."""
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
