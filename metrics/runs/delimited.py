"""Delimited text, parsed by pyarrow; where it fails, the line at fault is found again in plain Python."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
from pyarrow import csv as arrow_csv

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME
from metrics.runs.files import File
from metrics.runs.source import Origin, Source, typed


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are cut.

    Attributes:
        delimiter: one character; a space stands for any run of spaces and tabs.
        names: names of the columns; where None, the first line holds them.
        quoted: whether a field may stand in double quotes.
    """

    delimiter: str
    names: tuple[str, ...] | None = None
    quoted: bool = True


def read_delimited(file: File, format_name: str, layout: Layout, mapping: Mapping[str, str]) -> Source:
    """Read the columns in `mapping` (ours → the file's) of a delimited file.

    Raises:
        ReadError: a line with too few or too many fields, or a value that cannot be read.
    """
    header = tuple(layout.names or header_of(file, layout))
    data = _single_spaced(file.text) if layout.delimiter == " " else file.text
    try:
        raw = _parse(data, header, layout, mapping)
    except pa.ArrowInvalid:
        _explain(file, header, layout)
        raw = _parse(data, header, layout, mapping, as_text=True)

    def line_of(row: int) -> int:
        first = 0 if layout.names else 1
        return next(line for at, (line, _) in enumerate(_rows(data, layout)) if at == row + first)

    origin = Origin(file.name, line_of)
    unused = tuple(name for name in header if name not in mapping.values())
    return Source(origin, format_name, typed(raw, mapping, origin), mapping, unused)


def header_of(file: File, layout: Layout) -> list[str]:
    """Fields of the first line that is not blank."""
    return next(fields for _, fields in _rows(file.text[:65536], layout))


def _parse(
    data: bytes, header: Sequence[str], layout: Layout, mapping: Mapping[str, str], *, as_text: bool = False
) -> pa.Table:
    numbers = {theirs for ours, theirs in mapping.items() if BY_NAME[ours].kind == "number"}
    types = {name: pa.float64() if name in numbers and not as_text else pa.string() for name in header}
    skipped = 0 if layout.names else next(line for line, _ in _rows(data[:65536], layout))
    return arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(column_names=header, skip_rows_after_names=skipped),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            newlines_in_values=layout.quoted and b'"' in data,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=list(mapping.values()),
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _single_spaced(data: bytes) -> bytes:
    """Runs of spaces and tabs as one space, none at the ends of a line; lines stay where they are."""
    if re.search(rb"\t|  | \r?\n|\n ", data) is None and not data.startswith(b" "):
        return data
    return re.sub(rb" ?(\r?\n) ?", rb"\1", re.sub(rb"[ \t]+", b" ", data)).strip(b" ")


def _rows(data: bytes, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not blank."""
    text = io.StringIO(data.decode("utf-8", errors="replace"), newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    rows = csv.reader(text, delimiter=layout.delimiter, quoting=quoting)
    before = 0
    for fields in rows:
        if fields:
            yield before + 1, fields
        before = rows.line_num


def _explain(file: File, header: Sequence[str], layout: Layout) -> None:
    """Raise what the parser stumbled over, if it is the shape or the encoding of a line."""
    try:
        file.text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = file.line_of_byte(error.start)
        raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error
    data = _single_spaced(file.text) if layout.delimiter == " " else file.text
    for line, fields in _rows(data, layout):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where {len(header)} are expected ({', '.join(header)})"
            raise ReadError(file.name, problem, "Mend or remove the line.", line=line)
