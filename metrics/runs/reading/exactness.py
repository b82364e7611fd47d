"""Numbers that 64-bit floats do not hold: what the file writes and what is read of it."""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Protocol

import numpy as np
import pyarrow as pa

from metrics.runs.findings import Finding, make_finding
from metrics.runs.reading.files import File
from metrics.runs.reading.provenance import FileProvenance
from metrics.support.arrays import FloatArray, IntArray, combine_chunks
from metrics.support.wording import part_of

WHOLE_UP_TO = 2**53
"""Up to here every whole number is a float; above, neighbours become one."""
_SMALLEST = np.finfo(np.float64).tiny
"""Below this a float has fewer digits, and at last none: 1e-400 becomes 0."""
_ROWS = 2**15
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

    Args:
        numbers: (n_rows,) as read, in float64.
        column: (n_rows,) as the file holds them.
        names: our name of the column, and the file's.
        origin: the file.
        texts_of: gives values as the file writes them, where `column` has floats that were read from text.
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

    Args:
        grades: (n_rows,) as read.
        theirs: the file's name of the column.
        origin: the file.
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
    for start in range(0, len(numbers), _ROWS):
        sizes = np.abs(numbers[start : start + _ROWS])
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
