"""Reading a file in the format that its content shows."""

from collections.abc import Mapping
from dataclasses import replace

from metrics.errors import ReadError
from metrics.runs.columns import GRADES, ColumnChoice, MissingScore, normalised, recognise
from metrics.runs.files import File
from metrics.runs.formats import delimited, json_records, letor, tables
from metrics.runs.formats.delimited import Head
from metrics.runs.formats.format import FORMATS_BY_NAME, LINE_FORMATS, FileTable, Format
from metrics.runs.formats.parquet import ParquetTable, read_parquet
from metrics.runs.source import Source
from metrics.support.wording import count_of


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
    name = _format_name(head, choice)
    if name in _LINES:
        source = delimited.read_lines(head, _LINES[name], choice)
    elif name in _READERS:
        source = _READERS[name](file, choice)
    else:
        source = tables.read_table(head, name, choice)
    return replace(source, tie_order=FORMATS_BY_NAME[source.format].tie_order)


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
    name = _format_name(head, choice)
    if name == "trec-qrels":
        raise ReadError(file.name, "these are judgments, not a run", "Give them as qrels.")
    if name not in (*_LINES, "parquet", "beir-qrels", "answers", "table"):
        hint = "Give a TREC run or a CSV, TSV or Parquet table, or evaluate it in memory."
        raise ReadError(file.name, f"{name} cannot be read with Dask", hint)

    def open_file(choice: ColumnChoice) -> FileTable:
        if name == "parquet":
            return ParquetTable.open(file, choice)
        if name in _LINES:
            return delimited.open_lines(head, _LINES[name], choice)
        return tables.open_table(head, name, choice)

    table = open_file(choice)
    grades = table.mapping.get("relevance", "")
    if judged and not {"score", "rank"} & table.mapping.keys() and normalised(grades) in GRADES:
        return open_file(replace(choice, columns={**columns, "score": grades, "relevance": ""}))
    return table


_LINES: Mapping[str, Format] = {each.name: each for each in LINE_FORMATS}
_READERS = {
    "parquet": read_parquet,
    "json": json_records.read_json,
    "letor": letor.read_letor,
    "predictions": letor.read_predictions,
}
"""Format → its reader; `json` stands for JSON of any shape."""


def _format_name(head: Head, choice: ColumnChoice) -> str:
    """Return the name of the format of a file; a ReadError if there is none."""
    start = head.file.head
    if start.startswith(b"PAR1") and b"\0" in start:
        return "parquet"
    head.file.refuse_binary()
    if start.lstrip().startswith((b"[", b"{")) and json_records.is_json(head.file):
        return "json"
    if len(head.header) > 1 and (name := tables.table_format(head, choice)):
        return name
    if name := delimited.line_format(head):
        return name
    if choice.among(head.header) and len(head.header) > 1:
        return "table"
    raise _not_recognised(head)


def _not_recognised(head: Head) -> ReadError:
    """Return the error of a file of no format: it names another delimiter, or the lack of a header."""
    name, mark = head.file.name, head.cut.delimiter
    first = head.file.head.partition(b"\n")[0].decode("utf-8", "replace")
    for delimiter in ("~", "^", "::", "\x01"):
        if len(recognise(first.split(delimiter))) > 1:
            hint = "Separate them by commas, tabs, semicolons or |."
            return ReadError(name, f"{delimiter!r} separates the columns", hint, line=1)
    if len(head.header) > 1 and head.ends_in_a_number:
        problem = f"the first of the lines separated by {mark!r} is not a header: {', '.join(head.header)}"
        hint = f"Add a header: {mark.join(('query_id', 'doc_id', 'score'))}."
        return ReadError(name, problem, hint, line=1)
    shape = ", ".join(head.header) if len(head.header) > 1 else count_of(len(head.lines[0]), "field")
    lines = [f"{of.summary.rstrip('.').replace(': ', f', {len(of.fields)} fields (')})" for of in LINE_FORMATS]
    hint = f"Files without a header: {'; '.join(lines)}. A table has a header with query_id, doc_id and score."
    error = ReadError(name, f"not a run, judgments or a table: found {shape}", hint, line=1)
    return error.with_columns(head.header, {}) if head.may_name_columns else error
