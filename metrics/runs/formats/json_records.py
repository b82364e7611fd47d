"""JSON records: an array of them, or one a line."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress

import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.formats.format import Format, Head
from metrics.runs.formats.json_text import (
    excerpt,
    json_lines,
    no_records,
    parse,
    parse_file,
    refuse_many_values,
)
from metrics.runs.formats.nested_records import Record, flatten
from metrics.runs.reading.columns import BY_NAME, ColumnChoice
from metrics.runs.reading.exactness import has_tiny_numbers
from metrics.runs.reading.files import File
from metrics.runs.reading.provenance import FileProvenance
from metrics.runs.reading.source import Source, build_source
from metrics.runs.reading.worded_grades import answer_column

MAX_RECORDS = 10_000_000
"""Most records of a file: each takes far more memory than its text until all are read."""
DOCUMENT_ARRAYS = ("candidates", "hits", "documents", "passages", "docs")
"""What the field is called that holds the documents of a record."""
Records = tuple[Sequence[Record], FileProvenance]
"""Records of a file, and where they stand."""


def array_records(file: File) -> Records:
    """Return the records of a JSON array, and where they stand; a ReadError names one that is none."""
    records = parse_file(file)
    origin = FileProvenance(file.name, lambda row: row + 1, "record")
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise origin.error(row, f"{excerpt(record)} is no record", "Write {column: value} for each row.")
    return records, origin


def line_records(file: File) -> Records:
    """Return the records of a file that has one a line, and where they stand; a ReadError names the line."""
    refuse_many_values(file)
    keeps_tiny = has_tiny_numbers(file)
    records, lines = [], []
    for line, text in enumerate(json_lines(file), 1):
        if not text.strip():
            continue
        record = parse(file, text, line, keeps_tiny=keeps_tiny)
        if not isinstance(record, dict):
            problem = f"{excerpt(record)} is no record"
            raise ReadError(file.name, problem, "Write {column: value} on each line.", line=line)
        records.append(record)
        lines.append(line)
        if len(records) > MAX_RECORDS:
            raise ReadError(file.name, f"more than {MAX_RECORDS:,} records", "Write Parquet.", line=line)
    return records, FileProvenance(file.name, lambda row: lines[row])


def file_records(file: File) -> Records:
    """Return the records of a file, of an array or one a line, and where they stand."""
    return array_records(file) if file.head.lstrip().startswith(b"[") else line_records(file)


def records_source(
    records: Sequence[Record], origin: FileProvenance, format_name: str, choice: ColumnChoice
) -> Source:
    """Read the rows that records hold.

    Args:
        records: as the file holds them.
        origin: the file, and where a record stands.
        format_name: name of its format.
        choice: columns the user chose.

    Returns:
        The rows, converted, with where each stands in the file.

    Raises:
        ReadError: columns of a run or of judgments are not there, or a value cannot be read.
    """
    flat = flatten(records, origin, choice)
    records, origin, header = flat.rows, flat.origin, flat.header
    if not header:
        raise no_records(origin.file)
    if len(records) > MAX_RECORDS:
        raise ReadError(origin.file, f"more than {MAX_RECORDS:,} rows", "Write Parquet.")
    answers = answer_column(header, [records[0].get(name) for name in header])
    mapping = choice.mapping(origin.file, header, {**answers, **flat.usual})
    extras = [
        name
        for name in header
        if name not in mapping.values()
        and name not in BY_NAME
        and all(type(record.get(name)) in (int, float) for record in records)
    ]
    raw = {
        name: value_array([record.get(name) for record in records], name, origin)
        for name in [*mapping.values(), *extras]
    }
    return build_source(
        raw, mapping, origin, format_name, header, flat.noted, choice.missing_score
    ).note_unused()


def value_array(values: list[object], name: str, origin: FileProvenance) -> pa.Array:
    """Return truth values and numbers as they are, everything else as text.

    Args:
        values: of one field, a record each.
        name: of the field.
        origin: the file, and where a record stands.

    Raises:
        ReadError: a value holds others, or text that is not Unicode.
    """
    types = set(map(type, values)) - {type(None)}
    if types & {dict, list}:
        row = next(row for row, value in enumerate(values) if isinstance(value, dict | list))
        hint = "Give text or a number"
        if isinstance(value := values[row], dict) and value:
            hint += f", or choose a field inside it: {', '.join(f'{name}.{field}' for field in value)}"
        raise origin.error(row, f"{name} holds {excerpt(value)}", f"{hint}.")
    if types <= {bool}:
        return pa.array(values, pa.bool_())
    with suppress(OverflowError, pa.ArrowInvalid):
        if types <= {int}:
            return pa.array(values, pa.int64())
        if types <= {int, float}:  # whole numbers that no float64 is stay as they are written
            return pa.array(values, pa.float64())
    try:
        texts = (value if isinstance(value, str | None) else json.dumps(value) for value in values)
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise ReadError(origin.file, f"{name} holds text that is not Unicode", "Mend it.") from error


def begins(pattern: bytes) -> Callable[[Head], bool]:
    """Return what tells whether a file begins with a pattern."""
    start = re.compile(rb"\s*" + pattern)
    return lambda head: start.match(head.file.head) is not None


_ARRAY = re.compile(rf'[^\\]"(?:{"|".join(DOCUMENT_ARRAYS)})"\s*:\s*\['.encode())


def holds_records(head: Head) -> bool:
    """Return whether a file that begins as an object holds records: an array of documents, or one a line."""
    return _ARRAY.search(head.file.head) is not None or _has_a_record_a_line(head)


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
        begins(rb'\[\s*(?:[{\]]|(?:-?\d|"|true|false|null)[^\s,]*\s*[,\]])'),
        lambda head, choice: records_source(*array_records(head.file), "json", choice),
    ),
    Format(
        "jsonl",
        "JSON, one record a line; fields inside by dotted names, arrays of documents opened.",
        '{"query_id": "q1", "doc_id": "d7", "score": 0.9}\n'
        '{"query_id": "q1", "doc_id": "d2", "score": 0.9}\n'
        '{"query_id": "q2", "doc_id": "d4", "score": 0.3}',
        begins(rb'\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)'),
        lambda head, choice: records_source(*line_records(head.file), "jsonl", choice),
    ),
)
