"""Every format that can be read, and the functions that read a file in whichever its content shows."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from metrics.errors import ReadError
from metrics.runs.columns import ColumnChoice, MissingScore
from metrics.runs.files import File
from metrics.runs.formats import (
    delimited,
    json_records,
    listwise,
    parquet,
    preferences,
    probabilities,
)
from metrics.runs.formats.format import BlockTable, Format, Head
from metrics.runs.repeats import read_with_repeats
from metrics.runs.source import Source
from metrics.support.wording import count_of

FORMATS: tuple[Format, ...] = (
    *parquet.FORMATS,
    *listwise.FORMATS,
    *preferences.FORMATS,
    *probabilities.FORMATS,
    *json_records.NESTED_FORMATS,
    *json_records.FORMATS,
    *delimited.FORMATS,
    *delimited.LINE_FORMATS,
)
"""Every format that can be read, tried in this order."""
_BY_NAME: Mapping[str, Format] = {known.name: known for known in FORMATS}


def read(
    file: File,
    columns: Mapping[str, str] | None = None,
    *,
    strict: bool = True,
    missing_score: MissingScore = "error",
) -> Source:
    """Read one file in whatever format its content shows.

    Args:
        file: the file as given.
        columns: our column → the file's, where recognition would choose another or none.
        strict: whether a chosen column must exist; else what does not is left to recognition.
        missing_score: what is done about a score that is no number: `error`, put the document `last`, or
            `drop` it.

    Returns:
        The rows of the file, with its format, its columns and what was noted on the way.

    Raises:
        ReadError: no format fits, or the file breaks the one that does.
        UsageError: `columns` names a column that does not exist, or `missing_score` is another word.
    """
    return read_chosen(file, ColumnChoice(columns or {}, strict, missing_score))


def read_chosen(file: File, choice: ColumnChoice) -> Source:
    """Read one file in whatever format its content shows; errors as of `read`."""
    head = Head(file)
    recognised = _recognise_format(head, choice)
    if recognised.has_header or choice.repeats:
        source = read_with_repeats(partial(recognised.read, head), choice)
    else:
        source = recognised.read(head, choice)
    return replace(source, tie_order=recognised.tie_order)


def open_blocks(
    file: File, columns: Mapping[str, str] | None = None, missing_score: MissingScore = "error"
) -> BlockTable:
    """Open one file to be read in blocks; a chosen column it lacks is left to recognition.

    Args:
        file: the file as given.
        columns: as of `read`.
        missing_score: as of `read`.

    Returns:
        The open table, whose rows are yet to be read.

    Raises:
        ReadError: no format fits, or one that is read whole.
        UsageError: `missing_score` is another word.
    """
    head, choice = Head(file), ColumnChoice(columns or {}, strict=False, missing_score=missing_score)
    recognised = _recognise_format(head, choice)
    if recognised.open_blocks is None:
        hint = "Give a TREC run, a CSV, TSV or Parquet table, or read it whole, into memory."
        raise ReadError(file.name, f"{recognised.name} cannot be read in blocks", hint)
    return recognised.open_blocks(head, choice)


def has_header(format_name: str) -> bool:
    """Return whether files of a format, by its name, name their columns."""
    return format_name not in _BY_NAME or _BY_NAME[format_name].has_header


def scores_may_be_grades(format_name: str) -> bool:
    """Return whether files of a format, by its name, do not say if their numbers are scores or grades."""
    return format_name in _BY_NAME and _BY_NAME[format_name].scores_may_be_grades


def tie_order(format_name: str) -> str:
    """Return the treatment that files of a format, by its name, get from the software they are written for."""
    return _BY_NAME[format_name].tie_order if format_name in _BY_NAME else "input"


def _recognise_format(head: Head, choice: ColumnChoice) -> Format:
    if not head.is_parquet:
        head.file.refuse_binary()
    for candidate in FORMATS:
        if candidate.recognises(head) and (candidate.has_header or not _is_header_named(head, choice)):
            return candidate
    if choice.among(head.header) and len(head.header) > 1:
        return delimited.TABLE
    shape = ", ".join(head.header) if len(head.header) > 1 else count_of(head.width, "field")
    fixed = [known for known in FORMATS if known.open_blocks and not known.has_header]
    hint = (
        f"Files without a header: {'; '.join(map(_fields_text, fixed))}. "
        "A table has a header with query_id, doc_id and score."
    )
    error = ReadError(head.file.name, f"not a run, judgments or a table: found {shape}", hint, line=1)
    raise error.with_columns(head.header, {}) if head.may_name_columns else error


def _fields_text(known: Format) -> str:
    """Write the fields of a line of a format without a header: `TREC judgments, 4 fields (query 0 ...)`."""
    name, _, fields = known.summary.rstrip(".").partition(": ")
    n_fields = len(re.findall(r"\w+", fields))
    return f"{name}, {n_fields} fields ({fields})"


def _is_header_named(head: Head, choice: ColumnChoice) -> bool:
    """Return whether the user chose columns by names that stand in the first line: it is a header."""
    return head.may_name_columns and not set(choice.columns.values()).isdisjoint(head.header)
