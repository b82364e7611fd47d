"""Delimited text, parsed by pyarrow; where it fails, the line at fault is found again in plain Python."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import pyarrow as pa
from pyarrow import csv as arrow_csv

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME
from metrics.runs.files import BLOCK, File
from metrics.runs.source import Origin, Source, number, typed
from metrics.runs.text import Text, as_given, quickest, spaced, whole_lines

csv.field_size_limit(2**31 - 1)  # a document's text may be long; the size of the file is bounded already


_TYPES = {
    "shared": pa.string(),
    "text": pa.string(),
    "number": pa.float64(),
    "grade": pa.string(),
}


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
    header = layout.names or tuple(header_of(file.head, layout))
    wanted = list(mapping.values()) + (_numeric(file, header, layout, mapping) if extras else [])
    try:
        raw = _parse(file, header, layout, mapping, wanted)
    except pa.ArrowInvalid:
        longest = _explain(file, header, layout)
        raw = _parse(file, header, layout, mapping, wanted, block=longest)
    if layout.quoted and _swallowed(file, len(raw) + (not layout.names)):
        _refuse_open_quote(file, layout)

    def line_of(row: int) -> int:
        first = 0 if layout.names else 1
        return next(islice(rows(file, layout), row + first, None))[0]

    origin = Origin(file.name, line_of)
    columns = dict(zip(raw.column_names, raw.columns, strict=True))
    del raw  # each column's pieces go as soon as they are joined
    table = typed(columns, mapping, origin)
    unused = tuple(name for name in header if name not in mapping.values() and name not in table.column_names)
    return Source(origin, format_name, table, mapping, unused)


def _numeric(file: File, header: Sequence[str], layout: Layout, mapping: Mapping[str, str]) -> list[str]:
    """Columns beside those mapped whose first value is a number."""
    first = list(islice(rows(file, layout), 2))[1:]
    values = dict(zip(header, first[0][1], strict=False)) if first else {}
    free = [name for name in values if name not in mapping.values() and name not in BY_NAME]
    return [name for name in free if number(values[name]) is not None]


def header_of(head: bytes, layout: Layout) -> list[str]:
    """Fields of the first line that is not blank; none where all are."""
    return next(_cut(Text([head]), layout), (0, []))[1]


def rows(file: File, layout: Layout, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line that is not empty, from the first that is not blank.

    Raises:
        csv.Error: with `strict`, at a quote that never closes.
    """
    stream = spaced(file, tidy=True) if layout.delimiter == " " else as_given(file)
    return _cut(stream, layout, strict=strict)


def _cut(stream: io.RawIOBase, layout: Layout, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    text = io.TextIOWrapper(io.BufferedReader(stream, BLOCK), encoding="utf-8", errors="replace", newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    found = csv.reader(text, delimiter=layout.delimiter, quoting=quoting, strict=strict)
    before, begun = 0, False
    for fields in found:
        begun = begun or len(fields) > 1 or bool("".join(fields).strip())
        if fields and begun:
            yield before + 1, fields
        before = found.line_num


def _parse(
    file: File,
    header: Sequence[str],
    layout: Layout,
    mapping: Mapping[str, str],
    wanted: Sequence[str],
    *,
    block: int | None = None,
) -> pa.Table:
    """The wanted columns of the file as they stand.

    Numbers become float64; where `block` is given, everything is text, and so many bytes are parsed at a time.
    """
    types = dict.fromkeys(header, pa.string() if block else pa.float64())
    types |= {theirs: _TYPES[BY_NAME[ours].kind] for ours, theirs in mapping.items() if not block}
    skipped = 0
    if layout.names is None:
        first = list(islice(rows(file, layout), 2))
        if len(first) == 1:
            return pa.table({name: pa.array([], types[name]) for name in wanted})
        skipped = first[1][0] - 1
    single = layout.delimiter == " "
    return arrow_csv.read_csv(
        spaced(file, tidy=True) if single and block else quickest(file, single=single),
        read_options=arrow_csv.ReadOptions(
            column_names=header,
            skip_rows=skipped,
            block_size=block or BLOCK,
            use_threads=False,  # two cores gain a tenth of the whole, and hold a sixth more
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            newlines_in_values=layout.quoted,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=list(wanted),
            null_values=[],
            strings_can_be_null=False,
        ),
        memory_pool=pa.system_memory_pool(),  # numpy's: what one frees the other can use
    )


def _swallowed(file: File, records: int) -> bool:
    """Whether there are quotes, and fewer records than lines."""
    lines, quoted, last = 0, False, b"\n"
    for block in file.blocks():
        quoted = quoted or b'"' in block
        lines += block.count(b"\n")
        last = block[-1:]
    return quoted and records != lines + (last != b"\n")


def _refuse_open_quote(file: File, layout: Layout) -> None:
    """A quote that does not close where it should swallows what follows."""
    line = 0
    try:
        for line, _ in rows(file, layout, strict=True):  # noqa: B007 the last line read is the point
            pass
    except csv.Error as error:
        after = next((at for at, _ in rows(file, layout) if at > line), line)
        raise ReadError(file.name, "a quote is opened and not closed", "Close it.", line=after) from error


def _explain(file: File, header: Sequence[str], layout: Layout) -> int:
    """Raise what the parser stumbled over, if it is the shape or the encoding of a line.

    Returns:
        bytes that hold the longest record.
    """
    at, size = 1, 0
    for block in whole_lines(file):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = at + block.count(b"\n", 0, error.start)
            raise ReadError(file.name, "the text is not UTF-8", "Save it as UTF-8.", line=line) from error
        at, size = at + block.count(b"\n"), size + len(block)
    if layout.quoted:
        _refuse_open_quote(file, layout)
    for at, fields in rows(file, layout):
        if len(fields) != len(header):
            problem = f"{len(fields)} fields where {len(header)} are expected ({', '.join(header)})"
            raise ReadError(file.name, problem, "Mend or remove the line.", line=at)
    return min(max(size + 1, BLOCK), 2**31 - 1)
