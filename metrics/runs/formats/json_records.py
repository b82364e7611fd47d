"""JSON in its three shapes: an array of records, a record a line, and scores by query and document."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.reading.columns import BY_NAME, Choice, check_header, check_width, recognise
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.source import FileProvenance, Source, build_source
from metrics.runs.reading.text import whole_lines

MAX_JSON = 2**28
"""Largest JSON document that is not a record a line, in bytes: it is parsed at once."""
MAX_RECORDS = 10_000_000
"""Most records of a file: each takes far more memory than its text until all are read."""
MAX_DEPTH = 64
"""Deepest nesting of brackets."""
_NESTED = ("query", "document", "value")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_OPEN, _CLOSE = (np.frombuffer(marks, np.uint8) for marks in (b"[{", b"]}"))
_SHOWN = 40
_EXACT = 2**53


def read_array(file: File, choice: Choice) -> Source:
    """Read `[{"query_id": ..., "doc_id": ..., "score": ...}, ...]`.

    Raises:
        ReadError: no such JSON, or a value that cannot be read; names the record.
    """
    records = _document(file)
    origin = FileProvenance(file.name, lambda row: row + 1, "record")
    for at, record in enumerate(records):
        if not isinstance(record, dict):
            raise origin.error(at, f"{_shown(record)} is no record", "Write {column: value} for each row.")
    return _of_records(records, origin, "json", choice)


def read_lines(file: File, choice: Choice) -> Source:
    """Read `{"query_id": ..., "doc_id": ..., "score": ...}`, one a line.

    Raises:
        ReadError: a line that is no record, or a value that cannot be read; names the line.
    """
    records, numbers = [], []
    for number, line in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        record = _parsed(file, line, number)
        if not isinstance(record, dict):
            problem = f"{_shown(record)} is no record"
            raise ReadError(file.name, problem, "Write {column: value} on each line.", line=number)
        records.append(record)
        numbers.append(number)
        if len(records) > MAX_RECORDS:
            raise ReadError(file.name, f"more than {MAX_RECORDS:,} records", "Write Parquet.", line=number)
    origin = FileProvenance(file.name, lambda row: numbers[row])
    return _of_records(records, origin, "jsonl", choice)


def read_nested(file: File, choice: Choice) -> Source:
    """Read `{query: {document: score}}`; where every value is a whole number, `{query: {document: grade}}`.

    Raises:
        ReadError: no such JSON, or a value that cannot be read; names the entry.
    """
    lists = _document(file)
    query: list[object] = []
    document: list[object] = []
    value: list[object] = []
    for name, scores in lists.items():
        if not isinstance(scores, dict):
            problem = f"query {name!r} holds {_shown(scores)}"
            raise ReadError(file.name, problem, "Write {query: {document: score}}.")
        query += [name] * len(scores)
        document += scores.keys()
        value += scores.values()
    origin = FileProvenance(file.name, lambda row: row + 1, "entry")
    held = "relevance" if all(isinstance(one, int) for one in value) else "score"
    usual = {"query_id": "query", "doc_id": "document", held: "value"}
    mapping = recognise(_NESTED, choice.among(_NESTED, usual))
    check_header(file.name, _NESTED, mapping)
    columns_given = zip(_NESTED, (query, document, value), strict=True)
    raw = {name: _array(values, name, origin) for name, values in columns_given}
    return build_source(raw, mapping, origin, "nested-json", _NESTED)


def _of_records(
    records: Sequence[dict[str, object]], origin: FileProvenance, format_name: str, choice: Choice
) -> Source:
    header = list(dict.fromkeys(chain.from_iterable(records)))
    if not header:
        raise _without_records(origin.file)
    check_width(origin.file, header)
    mapping = recognise(header, choice.among(header))
    check_header(origin.file, header, mapping)
    others = [name for name in header if name not in mapping.values() and name not in BY_NAME]
    numeric = [name for name in others if all(type(one.get(name)) in (int, float) for one in records)]
    raw = {
        name: _array([one.get(name) for one in records], name, origin) for name in [*mapping.values(), *numeric]
    }
    return build_source(raw, mapping, origin, format_name, header)


def _without_records(file: str) -> ReadError:
    return ReadError(file, "there is no record", "Export it again and check its size.", line=1)


def _array(values: list[object], name: str, origin: FileProvenance) -> pa.Array:
    """Truth values and numbers as they are, everything else as text."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds & {dict, list}:
        at = next(at for at, value in enumerate(values) if isinstance(value, dict | list))
        raise origin.error(at, f"{name} holds {_shown(values[at])}", "Give text or a number.")
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    with suppress(OverflowError, pa.ArrowInvalid):
        if kinds <= {int}:
            return pa.array(values, pa.int64())
        if kinds <= {int, float} and not any(isinstance(one, int) and abs(one) > _EXACT for one in values):
            return pa.array([None if value is None else float(value) for value in values], pa.float64())  # type: ignore[arg-type]
    text = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    try:
        return pa.array(text, pa.string())
    except UnicodeEncodeError as error:
        raise ReadError(origin.file, f"{name} holds text that is not Unicode", "Mend it.") from error


def _document(file: File) -> Any:  # noqa: ANN401 whatever JSON holds
    """All of the file as one JSON value that is not empty."""
    blocks, size = [], 0
    for block in file.blocks():
        blocks.append(block)
        size += len(block)
        if size > MAX_JSON:
            problem = f"JSON of more than {MAX_JSON // 2**20} MB that is not a record a line"
            raise ReadError(file.name, problem, "Write one record a line (JSONL), or Parquet.")
    found = _parsed(file, b"".join(blocks))
    if not found:
        raise _without_records(file.name)
    return found


def _parsed(file: File, data: bytes, line: int | None = None) -> Any:  # noqa: ANN401 whatever JSON holds
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ReadError(file.name, f"nested deeper than {MAX_DEPTH}", "Write records or lists.", line=line)
    try:
        found = json.loads(data, object_pairs_hook=_once)
        if _HALF.search(data):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ReadError(file.name, "half a letter (\\ud800 and such)", "Mend it.", line=line) from error
    except json.JSONDecodeError as error:
        at = line or error.lineno
        raise ReadError(file.name, f"no JSON: {error.msg.lower()}", "Export it again.", line=at) from error
    except UnicodeDecodeError as error:
        at = line or data.count(b"\n", 0, error.start) + 1
        raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=at) from error
    except _TwiceError as error:
        problem = f"{error.args[0]!r} stands twice in one object"
        raise ReadError(file.name, problem, "Keep one of them.", line=line) from error
    except ValueError as error:
        raise ReadError(file.name, "a number of too many digits", "Write it shorter.", line=line) from error
    return found


class _TwiceError(ValueError):
    """A name given twice."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, each name once."""
    made = dict(pairs)
    if len(made) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise _TwiceError(next(name for name, count in counts.items() if count > 1))
    return made


def _depth(data: bytes) -> int:
    """How deep brackets outside of strings are nested."""
    letters = np.frombuffer(_STRING.sub(b"", data), np.uint8)
    level = deepest = 0
    for at in range(0, len(letters), BLOCK):
        part = letters[at : at + BLOCK]
        steps = np.isin(part, _OPEN).astype(np.int64) - np.isin(part, _CLOSE)
        deepest = max(deepest, level + int(np.cumsum(steps).max(initial=0)))
        level += int(steps.sum())
    return deepest


def _lines(file: File) -> Iterator[bytes]:
    for block in whole_lines(file):
        yield from block.split(b"\n")[: -1 if block.endswith(b"\n") else None]


def _shown(value: object) -> str:
    """A JSON value in a message: short, and of one line."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
