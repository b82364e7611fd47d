"""All formats, and reading a file in the format that its content shows."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from metrics.errors import ReadError
from metrics.runs.columns import GRADES, ColumnChoice, MissingScore, normalised, recognise
from metrics.runs.files import File
from metrics.runs.formats import (
    delimited,
    json_records,
    letor,
    listwise,
    parquet,
    preferences,
    probabilities,
)
from metrics.runs.formats.format import FileTable, Format, Head
from metrics.runs.source import Source
from metrics.support.wording import count_of

_ANSWERS = (*preferences.FORMATS, *probabilities.FORMATS)
_JSON = (*listwise.FORMATS, *_ANSWERS, *json_records.FORMATS)
_LINES = (*letor.FORMATS, *delimited.LINE_FORMATS)
FORMATS: tuple[Format, ...] = (*parquet.FORMATS, *_JSON, *delimited.FORMATS, *_LINES)
"""All formats, in the order in which they are tried."""
_BY_NAME: Mapping[str, Format] = {each.name: each for each in (*FORMATS, letor.PREDICTIONS)}


def read(
    file: File,
    columns: Mapping[str, str] | None = None,
    *,
    strict: bool = True,
    missing_score: MissingScore = "error",
) -> Source:
    """Read a file in the format that its content shows.

    Args:
        file: the file.
        columns: our column → the file's, to override recognition by name.
        strict: whether a chosen column must exist; otherwise missing ones are recognised by name.
        missing_score: what to do with documents without a numeric score: `error`, rank them `last`, or `drop`.

    Returns:
        The rows of the file, its format and columns, and findings of reading.

    Raises:
        ReadError: no format fits, or the file breaks the one that does.
        UsageError: `columns` names a column that does not exist, or `missing_score` is unknown.
    """
    return read_chosen(file, ColumnChoice(columns or {}, strict, missing_score))


def read_chosen(file: File, choice: ColumnChoice) -> Source:
    """Read a file in the format that its content shows; errors as in `read`."""
    head = Head(file)
    source = _recognise_format(head, choice).read(head, choice)
    return replace(source, tie_order=_BY_NAME[source.format].tie_order)


def open_run(
    file: File, columns: Mapping[str, str], missing_score: MissingScore = "error", *, judged: bool = False
) -> FileTable:
    """Open a run before its rows are read; chosen columns that it lacks are recognised by name.

    With judgments given apart (`judged`), grades are the scores of a file without other scores.

    Raises:
        ReadError: no format fits, or only one whose columns are known only from all rows.
        UsageError: `missing_score` is unknown.
    """
    head, choice = Head(file), ColumnChoice(columns, strict=False, missing_score=missing_score)
    recognised = _recognise_format(head, choice)
    if recognised.open is None:
        if recognised.name.endswith("qrels"):
            raise ReadError(file.name, "these are judgments, not a run", "Give them as qrels.")
        hint = "Give a TREC run or a CSV, TSV or Parquet table, or evaluate it in memory."
        raise ReadError(file.name, f"{recognised.name} cannot be read with Dask", hint)
    table = recognised.open(head, choice)
    grades = table.mapping.get("relevance", "")
    if judged and not {"score", "rank"} & table.mapping.keys() and normalised(grades) in GRADES:
        return recognised.open(head, replace(choice, columns={**columns, "score": grades, "relevance": ""}))
    return table


def has_header(format_name: str) -> bool:
    """Return whether files of a format name their columns."""
    return format_name not in _BY_NAME or _BY_NAME[format_name].has_header


def scores_may_be_grades(format_name: str) -> bool:
    """Return whether the numbers in files of a format may be scores or grades."""
    return format_name in _BY_NAME and _BY_NAME[format_name].scores_may_be_grades


def _recognise_format(head: Head, choice: ColumnChoice) -> Format:
    if head.is_parquet:
        return parquet.FORMATS[0]
    head.file.refuse_binary()
    for candidate in _candidates(head):
        if not candidate.has_header and choice.columns and _is_header_named(head, choice):
            continue
        if candidate.recognises(head):
            return candidate
    if choice.among(head.header) and len(head.header) > 1:
        return delimited.TABLE
    _refuse_delimiter(head)
    shape = ", ".join(head.header) if len(head.header) > 1 else count_of(head.width, "field")
    hint = (
        f"Files without a header: {'; '.join(map(_fields_text, delimited.LINE_FORMATS))}. "
        "A table has a header with query_id, doc_id and score."
    )
    error = ReadError(head.file.name, f"not a run, judgments or a table: found {shape}", hint, line=1)
    raise error.with_columns(head.header, {}) if head.may_name_columns else error


def _refuse_delimiter(head: Head) -> None:
    """Raise a ReadError for a table with a delimiter that is not read, or without a header."""
    first = head.file.head.partition(b"\n")[0].decode("utf-8", "replace")
    for delimiter in ("~", "^", "::", "\x01"):
        if len(recognise(first.split(delimiter))) > 1:
            problem, hint = (
                f"{delimiter!r} separates the columns",
                "Separate them by commas, tabs, semicolons or |.",
            )
            raise ReadError(head.file.name, problem, hint, line=1)
    if len(head.header) > 1 and head.ends_in_a_number:
        mark = head.cut.delimiter
        problem = f"the first of the lines separated by {mark!r} is not a header: {', '.join(head.header)}"
        hint = f"Add a header: {mark.join(('query_id', 'doc_id', 'score'))}."
        raise ReadError(head.file.name, problem, hint, line=1)


def _candidates(head: Head) -> Iterator[Format]:
    if head.is_json:
        yield from _JSON
    if len(head.header) > 1 and not head.ends_in_a_number:
        yield from (*_ANSWERS, *delimited.FORMATS)
    yield from (*_LINES, letor.PREDICTIONS)


def _fields_text(line_format: Format) -> str:
    """Describe the lines of a format without a header: `TREC judgments, 4 fields (query 0 ...)`."""
    name, _, fields = line_format.summary.rstrip(".").partition(": ")
    n_fields = len(re.findall(r"\w+", fields))
    return f"{name}, {n_fields} fields ({fields})"


def _is_header_named(head: Head, choice: ColumnChoice) -> bool:
    """Return whether the user chose columns by names in the first line, so that it is a header."""
    return head.may_name_columns and not set(choice.columns.values()).isdisjoint(head.header)
