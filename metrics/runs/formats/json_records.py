"""JSON in its three shapes: an array of records, a record a line, and scores by query and document."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.formats.format import Format, Head
from metrics.runs.formats.nested_records import MAX_VALUES, Record, flatten
from metrics.runs.reading.columns import BY_NAME, ColumnChoice
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.provenance import FileProvenance
from metrics.runs.reading.source import Source, build_source
from metrics.runs.reading.text import whole_lines

MAX_JSON = 2**28
"""Largest JSON document that is not a record a line, in bytes: it is parsed at once."""
MAX_RECORDS = 10_000_000
"""Most records of a file: each takes far more memory than its text until all are read."""
MAX_DEPTH = 64
"""Deepest nesting of brackets."""
_MARKS, _VALUE_BYTES = b"[{,", 40
"""Letters that stand before a value, and the bytes that a value takes in memory, at least."""
_NESTED_COLUMNS = ("query", "document", "value")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_OPEN, _CLOSE = (np.frombuffer(marks, np.uint8) for marks in (b"[{", b"]}"))
_MAX_EXCERPT = 40
"""Letters of a JSON value that a message shows."""
_EXACT = 2**53
"""Up to here every whole number is a float64."""


def read_array(file: File, choice: ColumnChoice) -> Source:
    """Read `[{"query_id": ..., "doc_id": ..., "score": ...}, ...]`.

    Raises:
        ReadError: no such JSON, or a value that cannot be read; names the record.
    """
    records = _parse_all(file)
    origin = FileProvenance(file.name, lambda row: row + 1, "record")
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise origin.error(row, f"{_excerpt(record)} is no record", "Write {column: value} for each row.")
    return _records_source(records, origin, "json", choice)


def read_lines(file: File, choice: ColumnChoice) -> Source:
    """Read `{"query_id": ..., "doc_id": ..., "score": ...}`, one a line.

    Raises:
        ReadError: a line that is no record, or a value that cannot be read; names the line.
    """
    _refuse_many_values(file)
    records, lines = [], []
    for line, text in enumerate(_lines(file), 1):
        if not text.strip():
            continue
        record = _parse(file, text, line)
        if not isinstance(record, dict):
            problem = f"{_excerpt(record)} is no record"
            raise ReadError(file.name, problem, "Write {column: value} on each line.", line=line)
        records.append(record)
        lines.append(line)
        if len(records) > MAX_RECORDS:
            raise ReadError(file.name, f"more than {MAX_RECORDS:,} records", "Write Parquet.", line=line)
    origin = FileProvenance(file.name, lambda row: lines[row])
    return _records_source(records, origin, "jsonl", choice)


def read_nested(file: File, choice: ColumnChoice) -> Source:
    """Read `{query: {document: score}}`; where every value is a whole number, `{query: {document: grade}}`.

    Raises:
        ReadError: no such JSON, or a value that cannot be read; names the entry.
    """
    query: list[object] = []
    document: list[object] = []
    value: list[object] = []
    for name, scores in _parse_all(file).items():
        if not isinstance(scores, dict):
            problem = f"query {name!r} holds {_excerpt(scores)}"
            raise ReadError(file.name, problem, "Write {query: {document: score}}.")
        query += [name] * len(scores)
        document += scores.keys()
        value += scores.values()
    origin = FileProvenance(file.name, lambda row: row + 1, "entry")
    ours = "relevance" if all(isinstance(number, int) for number in value) else "score"
    usual = {"query_id": "query", "doc_id": "document", ours: "value"}
    mapping = choice.mapping(file.name, _NESTED_COLUMNS, usual)
    fields = zip(_NESTED_COLUMNS, (query, document, value), strict=True)
    raw = {name: _array(values, name, origin) for name, values in fields}
    return build_source(
        raw, mapping, origin, "nested-json", _NESTED_COLUMNS, missing_score=choice.missing_score
    )


def _records_source(
    records: Sequence[Record], origin: FileProvenance, format_name: str, choice: ColumnChoice
) -> Source:
    flat = flatten(records, origin, choice)
    records, origin, header = flat.rows, flat.origin, flat.header
    if not header:
        raise _without_records(origin.file)
    if len(records) > MAX_RECORDS:
        raise ReadError(origin.file, f"more than {MAX_RECORDS:,} rows", "Write Parquet.")
    mapping = choice.mapping(origin.file, header, flat.usual)
    extras = [
        name
        for name in header
        if name not in mapping.values()
        and name not in BY_NAME
        and all(type(record.get(name)) in (int, float) for record in records)
    ]
    raw = {
        name: _array([record.get(name) for record in records], name, origin)
        for name in [*mapping.values(), *extras]
    }
    return build_source(
        raw, mapping, origin, format_name, header, flat.noted, choice.missing_score
    ).note_unused()


def _without_records(file: str) -> ReadError:
    return ReadError(file, "there is no record", "Export it again and check its size.", line=1)


def _array(values: list[object], name: str, origin: FileProvenance) -> pa.Array:
    """Return truth values and numbers as they are, everything else as text."""
    types = set(map(type, values)) - {type(None)}
    if types & {dict, list}:
        row = next(row for row, value in enumerate(values) if isinstance(value, dict | list))
        hint = "Give text or a number"
        if isinstance(value := values[row], dict) and value:
            hint += f", or choose a field inside it: {', '.join(f'{name}.{field}' for field in value)}"
        raise origin.error(row, f"{name} holds {_excerpt(value)}", f"{hint}.")
    if types <= {bool}:
        return pa.array(values, pa.bool_())
    with suppress(OverflowError, pa.ArrowInvalid):
        if types <= {int}:
            return pa.array(values, pa.int64())
        if types <= {int, float} and all(abs(value) <= _EXACT for value in values if isinstance(value, int)):
            return pa.array(map(_as_float, values), pa.float64())
    try:
        return pa.array(map(_as_text, values), pa.string())
    except UnicodeEncodeError as error:
        raise ReadError(origin.file, f"{name} holds text that is not Unicode", "Mend it.") from error


def _as_float(value: Any) -> float | None:  # noqa: ANN401 a number or nothing
    return None if value is None else float(value)


def _as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _parse_all(file: File) -> Any:  # noqa: ANN401 whatever JSON holds
    """Parse all of the file as one JSON value that is not empty."""
    if _refuse_many_values(file) > MAX_JSON:
        problem = f"JSON of more than {MAX_JSON // 2**20} MB that is not a record a line"
        raise ReadError(file.name, problem, "Write one record a line (JSONL), or Parquet.")
    value = _parse(file, b"".join(file.blocks()))
    if not value:
        raise _without_records(file.name)
    return value


def _refuse_many_values(file: File) -> int:
    """Return the bytes unpacked; raise a ReadError where they hold more values than there may be memory for."""
    size = n_values = 0
    limit = min(MAX_VALUES, file.growth_limit // _VALUE_BYTES)
    for block in file.blocks():
        size += len(block)
        n_values += sum(map(block.count, _MARKS))
        if n_values > limit:
            raise ReadError(file.name, f"JSON of more than {limit:,} values", "Write CSV or Parquet.")
    return size


def _parse(file: File, data: bytes, line: int | None = None) -> Any:  # noqa: ANN401 whatever JSON holds
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ReadError(file.name, f"nested deeper than {MAX_DEPTH}", "Write records or lists.", line=line)
    try:
        value = json.loads(data, object_pairs_hook=_object)
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


def _lines(file: File) -> Iterator[bytes]:
    for block in whole_lines(file):
        yield from block.split(b"\n")[: -1 if block.endswith(b"\n") else None]


def _excerpt(value: object) -> str:
    """Return a JSON value as a message shows it: short, and of one line."""
    text = json.dumps(value)
    return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]} ..."


def _begins(pattern: bytes) -> Callable[[Head], bool]:
    start = re.compile(rb"\s*" + pattern)
    return lambda head: start.match(head.file.head) is not None


_NESTED = _begins(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')


def _has_a_record_a_line(head: Head) -> bool:
    """Return whether the first line is a JSON value by itself, and another one follows."""
    first, _, rest = head.file.head.partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return rest.lstrip().startswith(b"{")


FORMATS = (
    Format(
        "json",
        "JSON records: [{query_id, doc_id, score, ...}, ...].",
        '[{"query_id": "q1", "doc_id": "d7", "score": 0.9},\n'
        ' {"query_id": "q1", "doc_id": "d2", "score": 0.9},\n'
        ' {"query_id": "q2", "doc_id": "d4", "score": 0.3}]',
        _begins(rb'\[\s*(?:[{\]]|(?:-?\d|"|true|false|null)[^\s,]*\s*[,\]])'),
        lambda head, choice: read_array(head.file, choice),
    ),
    Format(
        "nested-json",
        "JSON by query and document: {query: {document: score}}, grades if all are whole numbers.",
        '{"q1": {"d7": 0.9,\n        "d2": 0.9},\n "q2": {"d4": 0.3}}',
        lambda head: _NESTED(head) and not _has_a_record_a_line(head),
        lambda head, choice: read_nested(head.file, choice),
        has_header=False,
        scores_may_be_grades=True,
    ),
    Format(
        "jsonl",
        "JSON, one record a line; fields inside by dotted names, arrays of documents opened.",
        '{"query_id": "q1", "doc_id": "d7", "score": 0.9}\n'
        '{"query_id": "q1", "doc_id": "d2", "score": 0.9}\n'
        '{"query_id": "q2", "doc_id": "d4", "score": 0.3}',
        _begins(rb'\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)'),
        lambda head, choice: read_lines(head.file, choice),
    ),
)
