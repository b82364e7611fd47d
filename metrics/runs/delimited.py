"""Delimited text, parsed by pyarrow; where it fails, the line at fault is found again in plain Python."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice

import pyarrow as pa
from pyarrow import csv as arrow_csv

from metrics.runs.columns import BY_NAME
from metrics.runs.files import BLOCK, File
from metrics.runs.findings import found
from metrics.runs.growing import Growing, Numbers, Texts, Words
from metrics.runs.lines import (
    Layout,
    count_lines,
    explain,
    is_comment,
    refuse_open_quote,
    rows,
    swallowed,
)
from metrics.runs.source import Origin, Source, number, source_of
from metrics.runs.text import quickest, spaced

_NUMBERS = ("number", "rank")
_SHARED = ("shared", "word")


def read_delimited(file: File, format_name: str, layout: Layout, mapping: Mapping[str, str]) -> Source:
    """Read the columns in `mapping` (ours → the file's) of a delimited file, and others that hold numbers.

    Args:
        file: the file as given.
        format_name: name of its format.
        layout: how its lines are cut.
        mapping: our column → the file's.

    Raises:
        ReadError: a line with too few or too many fields, or a value that cannot be read.
    """
    header = layout.names or tuple(next(rows(file, layout), (0, []))[1])
    extras = [] if layout.names else _numeric(file, header, layout, mapping)
    columns, comments = _columns(file, header, layout, mapping, [*mapping.values(), *extras])

    @cache
    def lines() -> int:
        return count_lines(file)

    def line_of(row: int) -> int:
        before = row + (not layout.names)
        if lines() == n_rows + (not layout.names):
            return before + 1
        return next(islice(rows(file, layout), before, None))[0]

    def ranks() -> pa.Array | None:
        if not layout.names or "rank" not in header or "rank" in mapping.values():
            return None
        only = {"rank": "rank"}
        found_ranks = source_of(
            _columns(file, header, layout, only, ["rank"])[0], only, origin, format_name, ()
        )
        return found_ranks.table["rank"] if found_ranks.table.num_columns else None

    n_rows = len(next(iter(columns.values())))
    origin = Origin(file.name, line_of, ranks=ranks)
    noted = []
    if comments:
        message = f"Lines that begin with #, and are no rows: {comments:,}."
        noted.append(found("comments", file.name, message, count=comments))
    return source_of(columns, mapping, origin, format_name, header, noted)


def _numeric(file: File, header: Sequence[str], layout: Layout, mapping: Mapping[str, str]) -> list[str]:
    """Columns beside those mapped whose first value is a number."""
    first = list(islice(rows(file, layout), 2))[1:]
    values = dict(zip(header, first[0][1], strict=False)) if first else {}
    free = [name for name in values if name not in mapping.values() and name not in BY_NAME]
    return [name for name in free if number(values[name]) is not None]


def _columns(
    file: File, header: Sequence[str], layout: Layout, mapping: Mapping[str, str], wanted: Sequence[str]
) -> tuple[dict[str, pa.Array], int]:
    """The wanted columns as they stand, and how many lines are comments."""
    try:
        columns, comments = _parse(file, header, layout, mapping, wanted)
    except pa.ArrowInvalid:
        size = explain(file, header, layout)
        columns, comments = _parse(file, header, layout, mapping, wanted, whole=size + 1)
    n_rows = len(next(iter(columns.values())))
    if layout.quoted and swallowed(file, n_rows + (not layout.names)):
        refuse_open_quote(file, layout)
    return columns, comments


def _parse(
    file: File,
    header: Sequence[str],
    layout: Layout,
    mapping: Mapping[str, str],
    wanted: Sequence[str],
    *,
    whole: int | None = None,
) -> tuple[dict[str, pa.Array], int]:
    """The wanted columns of the file as they stand, and how many lines are comments.

    Numbers become float64; where `whole` is given, the bytes of the file, all is text and parsed at once.
    """
    numbers = {name for name in wanted if name not in mapping.values()}
    numbers |= {theirs for ours, theirs in mapping.items() if BY_NAME[ours].kind in _NUMBERS}
    types = {name: pa.float64() if name in numbers and not whole else pa.string() for name in header}
    skipped, comments = 0, 0
    if layout.names is None:
        first = list(islice(rows(file, layout), 2))
        if len(first) == 1:
            return {name: pa.array([], types[name]) for name in wanted}, 0
        skipped = first[1][0] - 1

    def odd(row: arrow_csv.InvalidRow) -> str:
        nonlocal comments
        comment = is_comment(row.text, row.actual_columns, layout)
        comments += comment
        return "skip" if comment else "error"

    block = min(max(whole or 0, BLOCK), 2**31 - 1)
    options = {
        "read_options": arrow_csv.ReadOptions(
            column_names=header,
            skip_rows=skipped,
            block_size=block,
            use_threads=False,  # two cores gain a tenth of the whole, and hold a sixth more
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.quoted else False,
            newlines_in_values=layout.quoted,
            invalid_row_handler=odd if whole else None,  # it can only be called with UTF-8
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=list(wanted),
            null_values=[],
            strings_can_be_null=False,
        ),
    }
    shared = {theirs for ours, theirs in mapping.items() if BY_NAME[ours].kind in _SHARED}
    columns = {name: _growing(types[name], name in shared, 1.1 * file.size / block) for name in wanted}
    tidy = layout.spaced and whole
    with spaced(file, tidy=True) if tidy else quickest(file, single=layout.spaced) as text:
        for batch in arrow_csv.open_csv(text, **options):
            for name, column in columns.items():
                column.add(batch[name])
    return {name: column.whole() for name, column in columns.items()}, comments


def _growing(kind: pa.DataType, shared: bool, times: float) -> Growing:  # noqa: FBT001 private
    """An empty column of a type, with room for so many batches like its first."""
    if shared:
        return Words()
    return Texts(times) if pa.types.is_string(kind) else Numbers(times)
