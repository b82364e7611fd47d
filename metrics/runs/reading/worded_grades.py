"""Grades with words around them, as pointwise rerankers answer: `Score: 7/10`, `**Relevance: 3**`."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings import Finding, make_finding
from metrics.runs.reading.columns import normalised, recognise
from metrics.runs.reading.conversion import parse_number
from metrics.runs.reading.provenance import FileProvenance
from metrics.support.wording import part_of, quote

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

    Args:
        header: names of the columns.
        first: values of the first row, one a column.
    """
    mapping = recognise(header)
    if "score" in mapping:
        return {}
    for name, value in zip(header, first, strict=False):
        if normalised(name) in _ANSWERS and ("relevance" not in mapping or parse_grade(str(value))):
            return {"score": name}
    return {}


def read_worded_grades(column: pa.Array, name: str, origin: FileProvenance) -> tuple[pa.Array, list[Finding]]:
    """Return scores as text, those with words around a grade as the grade alone, and what was done.

    Args:
        column: the scores; returned as it is where all are numbers, or none holds a grade in words.
        name: what the file calls the column.
        origin: the file.
    """
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
    return pc.replace_with_mask(column, pa.array(is_worded), plain), _findings(texts, grades, name, origin)


def _findings(
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
