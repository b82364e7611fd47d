"""The text of JSON: parsed whole or by lines, within limits on values, depth and bytes."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from metrics.errors import ReadError
from metrics.runs.formats.nested_records import MAX_VALUES
from metrics.runs.reading.exactness import has_tiny_numbers, holds
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.text import MAX_LINE, whole_lines

MAX_JSON = 2**28
"""Largest JSON document that is not a record a line, in bytes: it is parsed at once."""
MAX_DEPTH = 64
"""Deepest nesting of brackets."""
_MARKS, _VALUE_BYTES = b"[{,", 40
"""Letters that stand before a value, and the bytes that a value takes in memory, at least."""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_OPEN, _CLOSE = (np.frombuffer(marks, np.uint8) for marks in (b"[{", b"]}"))
_MAX_EXCERPT = 40
"""Letters of a JSON value that a message shows."""


def parse_file(file: File) -> Any:  # noqa: ANN401 whatever JSON holds
    """Parse all of the file as one JSON value that is not empty; a ReadError if too large or too deep."""
    if refuse_many_values(file) > MAX_JSON:
        problem = f"JSON of more than {MAX_JSON // 2**20} MB that is not a record a line"
        raise ReadError(file.name, problem, "Write one record a line (JSONL), or Parquet.")
    value = parse(file, b"".join(file.blocks()), keeps_tiny=has_tiny_numbers(file))
    if not value:
        raise no_records(file.name)
    return value


def refuse_many_values(file: File) -> int:
    """Return the bytes unpacked; raise a ReadError where they hold more values than there may be memory for."""
    size = n_values = 0
    limit = min(MAX_VALUES, file.growth_limit // _VALUE_BYTES)
    for block in file.blocks():
        size += len(block)
        n_values += sum(map(block.count, _MARKS))
        if n_values > limit:
            raise ReadError(file.name, f"JSON of more than {limit:,} values", "Write CSV or Parquet.")
    return size


def _float_or_text(text: str) -> float | str:
    """Return a number, as it is written where no float holds it: it is read as text, and reported."""
    number = float(text)
    return number if holds(text, number) else text


def parse(file: File, data: bytes, line: int | None = None, *, keeps_tiny: bool = False) -> Any:  # noqa: ANN401 whatever JSON holds
    """Parse one JSON value.

    Args:
        file: the file that holds it.
        data: its text.
        line: the line that is parsed; None where it is all of the file.
        keeps_tiny: whether numbers too small for a float stay as they are written.

    Returns:
        What the JSON says, in Python's own types.

    Raises:
        ReadError: it is no JSON that can be kept.
    """
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ReadError(file.name, f"nested deeper than {MAX_DEPTH}", "Write records or lists.", line=line)
    try:
        parse_float = _float_or_text if keeps_tiny else None
        value = json.loads(data, object_pairs_hook=_object, parse_float=parse_float)
        if _HALF.search(data):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ReadError(file.name, "half a letter (\\ud800 and such)", "Mend it.", line=line) from error
    except json.JSONDecodeError as error:
        line = line or error.lineno
        raise ReadError(file.name, f"no JSON: {error.msg.lower()}", "Export it again.", line=line) from error
    except UnicodeDecodeError as error:
        line = line or data.count(b"\n", 0, error.start) + 1
        raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error
    except _RepeatedNameError as error:
        problem = f"{error.args[0]!r} stands twice in one object"
        raise ReadError(file.name, problem, "Keep one of them.", line=line) from error
    except ValueError as error:
        raise ReadError(file.name, "a number of too many digits", "Write it shorter.", line=line) from error
    return value


class _RepeatedNameError(ValueError):
    """A name given twice."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON; raise an error where a name stands twice."""
    by_name = dict(pairs)
    if len(by_name) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _RepeatedNameError(next(name for name, count in counts.items() if count > 1))
    return by_name


def _depth(data: bytes) -> int:
    """Return how deep brackets outside of strings are nested."""
    letters = np.frombuffer(_STRING.sub(b"", data), np.uint8)
    level = deepest = 0
    for start in range(0, len(letters), BLOCK):
        part = letters[start : start + BLOCK]
        steps = np.isin(part, _OPEN).astype(np.int64) - np.isin(part, _CLOSE)
        deepest = max(deepest, level + int(np.cumsum(steps).max(initial=0)))
        level += int(steps.sum())
    return deepest


def json_lines(file: File) -> Iterator[bytes]:
    """Yield the lines of a file."""
    for block in whole_lines(file):
        yield from block.split(b"\n")[: -1 if block.endswith(b"\n") else None]


def excerpt(value: object) -> str:
    """Return a JSON value as a message shows it: short, and of one line."""
    text = json.dumps(value)
    return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]} ..."


def no_records(file: str) -> ReadError:
    """Return the error of a file, by its name, that holds nothing."""
    return ReadError(file, "there is no record", "Export it again and check its size.", line=1)


def first_record(file: File) -> dict[str, Any]:
    """Return the first record of an array of them, or of a file with one a line; {} where that is none.

    What is longer than a line may be is not looked at to its end.
    """
    text, looked_at = bytearray(), len(file.head)
    for block in file.blocks():
        text += block
        if len(text) < looked_at:
            continue
        if len(text) > MAX_LINE or (record := _decode_record(bytes(text))):
            break
        looked_at = 4 * len(text)
    else:
        record = _decode_record(bytes(text))
    return record if len(text) <= MAX_LINE else {}


def _decode_record(text: bytes) -> dict[str, Any]:
    """Return the object that a text begins with, perhaps inside an array; {} where that is not there."""
    start = text.decode("utf-8", "replace").lstrip("\ufeff[ \t\r\n")
    try:
        record, _ = json.JSONDecoder().raw_decode(start)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
