"""Delimited text, parsed by pyarrow; where it fails, the line at fault is found again in plain Python."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME
from metrics.runs.files import File
from metrics.runs.source import Origin, Source, number, typed

csv.field_size_limit(2**31 - 1)  # a document's text may be long; the size of the file is bounded already
_BLOCK = 2**20
"""Bytes that pyarrow parses at a time; a line must fit in."""


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


def read_delimited(
    file: File, format_name: str, layout: Layout, mapping: Mapping[str, str], *, extras: bool = False
) -> Source:
    """Read the columns in `mapping` (ours → the file's) of a delimited file.

    Args:
        file: the file as given.
        format_name: name of its format.
        layout: how its lines are cut.
        mapping: our column → the file's.
        extras: whether further columns that hold numbers throughout are kept, under their own names.

    Raises:
        ReadError: a line with too few or too many fields, or a value that cannot be read.
    """
    data = _single_spaced(file.text) if layout.delimiter == " " else file.text
    header = layout.names or tuple(header_of(data, layout))
    wanted = list(mapping.values()) + (_numeric(data, header, layout, mapping) if extras else [])
    try:
        raw = _parse(data, header, layout, mapping, wanted)
    except pa.ArrowInvalid:
        data = _squeezed(data) if layout.delimiter == " " else data
        _explain(file, data, header, layout)
        raw = _parse(data, header, layout, mapping, wanted, as_text=True)
    if layout.quoted and b'"' in data and len(raw) != _lines(data) - (not layout.names):
        _refuse_open_quote(file, data, layout)

    def line_of(row: int) -> int:
        first = 0 if layout.names else 1
        return next(islice(rows(data, layout), row + first, None))[0]

    origin = Origin(file.name, line_of)
    table = typed(raw, mapping, origin)
    unused = tuple(name for name in header if name not in mapping.values() and name not in table.column_names)
    return Source(origin, format_name, table, mapping, unused)


def _numeric(data: bytes, header: Sequence[str], layout: Layout, mapping: Mapping[str, str]) -> list[str]:
    """Columns beside those mapped whose first value is a number."""
    first = list(islice(rows(data, layout), 2))[1:]
    values = dict(zip(header, first[0][1], strict=False)) if first else {}
    free = [name for name in values if name not in mapping.values() and name not in BY_NAME]
    return [name for name in free if number(values[name]) is not None]


def header_of(data: bytes, layout: Layout) -> list[str]:
    """Fields of the first line that is not blank; none where all are."""
    return next(rows(data, layout), (0, []))[1]


def rows(data: bytes, layout: Layout, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not empty, from the first that is not blank.

    Raises:
        csv.Error: with `strict`, at a quote that never closes.
    """
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    found = csv.reader(text, delimiter=layout.delimiter, quoting=quoting, strict=strict)
    before, begun = 0, False
    for fields in found:
        begun = begun or len(fields) > 1 or bool("".join(fields).strip())
        if fields and begun:
            yield before + 1, fields
        before = found.line_num


def _parse(
    data: bytes,
    header: Sequence[str],
    layout: Layout,
    mapping: Mapping[str, str],
    wanted: Sequence[str],
    *,
    as_text: bool = False,
) -> pa.Table:
    """The wanted columns of the file as they stand; numbers as float64 unless all is wanted as text."""
    texts = {theirs for ours, theirs in mapping.items() if BY_NAME[ours].kind != "number"}
    types = {name: pa.string() if as_text or name in texts else pa.float64() for name in header}
    skipped = 0
    if layout.names is None:
        first = list(islice(rows(data, layout), 2))
        if len(first) == 1:
            return pa.table({name: pa.array([], types[name]) for name in wanted})
        skipped = first[1][0] - 1
    return arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(
            column_names=header,
            skip_rows=skipped,
            block_size=len(data) + 1 if as_text else _BLOCK,
            use_threads=False,  # as fast on two cores, and holds a quarter less
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            newlines_in_values=layout.quoted and b'"' in data,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=list(wanted),
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n"))


def _single_spaced(data: bytes) -> bytes:
    """Tabs as spaces, and no two spaces in a row; lines stay where they are."""
    if b"\t" in data:
        data = data.replace(b"\t", b" ")
    return _squeezed(data) if _doubled(data) else data


def _doubled(data: bytes) -> bool:
    """Whether two spaces stand in a row; looks at two letters at a time, from each of two starts."""
    for at in range(0, len(data), _BLOCK):
        for shift in (0, 1):
            count = min(_BLOCK // 2, (len(data) - at - shift) // 2)
            if (np.frombuffer(data, np.uint16, count, at + shift) == 0x2020).any():  # noqa: PLR2004 two spaces
                return True
    return False


def _squeezed(data: bytes) -> bytes:
    """One space between fields, none at the ends of a line."""
    return b"\n".join(b" ".join(line.split()) for line in data.split(b"\n"))


def _refuse_open_quote(file: File, data: bytes, layout: Layout) -> None:
    """A quote that does not close where it should swallows what follows."""
    line = 0
    try:
        for line, fields in rows(data, layout, strict=True):  # noqa: B007 the last line read is the point
            del fields
    except csv.Error as error:
        after = next((at for at, _ in rows(data, layout) if at > line), line)
        raise ReadError(file.name, "a quote is opened and not closed", "Close it.", line=after) from error


def _explain(file: File, data: bytes, header: Sequence[str], layout: Layout) -> None:
    """Raise what the parser stumbled over, if it is the shape or the encoding of a line."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error
    if layout.quoted and b'"' in data:
        _refuse_open_quote(file, data, layout)
    for line, fields in rows(data, layout):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where {len(header)} are expected ({', '.join(header)})"
            raise ReadError(file.name, problem, "Mend or remove the line.", line=line)
