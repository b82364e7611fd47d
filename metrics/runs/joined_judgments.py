"""Judgments of several files as those of one: what two of them judge, and where they contradict each other."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import RepeatError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.reading.provenance import RowProvenance
from metrics.runs.stacks import RunStack
from metrics.support.arrays import IntArray, combine_chunks, with_column
from metrics.support.wording import quote

Repeated = Literal["error", "first", "max"]
"""What is done about a document twice in one list, or judged twice."""
_JUDGMENT_COLUMNS = ("query_id", "doc_id", "relevance", "target_id")


def judgment_columns(table: pa.Table) -> pa.Table:
    """Return the columns of a table that judge."""
    return table.select([name for name in _JUDGMENT_COLUMNS if name in table.column_names])


def concat_judgments(files: Sequence[RunStack], repeated: Repeated, noted: list[Finding]) -> RunStack:
    """Return the judgments of files, each document of a query once.

    What two files judge alike is one judgment; where their grades differ, one of them is chosen or refused.

    Args:
        files: judgments, no file with a document twice for a query.
        repeated: what is done about grades that differ.
        noted: gets findings of what several files judge.

    Raises:
        RepeatError: grades differ, and that is to be an error; names both files and lines.
    """
    tables = [judgment_columns(file.table) for file in files]
    origins = [file.origin or RowProvenance.memory("judgments") for file in files]
    origin = RowProvenance.concat(origins, [*map(len, tables)])
    table = pa.concat_tables(tables, promote_options="default").combine_chunks()
    judgments = RunStack.single("", table, origin)
    if len(files) == 1 or judgments.pairs.repeats[0] is None:
        return judgments
    ends = np.cumsum([*map(len, tables)])
    pairs, grades = judgments.pairs, table["relevance"].to_numpy()
    first = pairs.one_row_each()
    places = np.unique(pairs.pair_codes, return_inverse=True)[1]
    first_row = np.empty(len(first), np.int64)
    first_row[places[first]] = first
    later = np.setdiff1d(np.arange(len(table)), first, assume_unique=True)
    differs = grades[later] != grades[first_row[places[later]]]
    for rows, code in ((later[~differs], "judged-twice"), (later[differs], "grades-contradict")):
        if len(rows):
            example = int(first_row[places[rows[0]]]), int(rows[0])
            places_in_files = [_file_and_line(origins, ends, row) for row in example]
            noted.append(_finding(code, judgments, rows, example, places_in_files, repeated))
    judgments = _with_known_targets(judgments, places)
    return judgments.take(first if repeated == "first" else pairs.one_row_each(grades))


def _with_known_targets(judgments: RunStack, places: IntArray) -> RunStack:
    """Return judgments in which a document without a target has the first that another judgment of it gives."""
    table = judgments.table
    if "target_id" not in table.column_names or not table["target_id"].null_count:
        return judgments
    targets = combine_chunks(table["target_id"])
    target_rows = np.flatnonzero(np.asarray(targets.is_valid()))
    documents, rows = np.unique(places[target_rows], return_index=True)
    target_row_of = np.full(places.max() + 1, -1)
    target_row_of[documents] = target_rows[rows]
    replacements = pa.array(target_row_of[places], mask=target_row_of[places] < 0)
    column = pc.coalesce(targets, targets.take(replacements))
    return RunStack.single("", with_column(table, "target_id", column), judgments.origin)


def _file_and_line(origins: Sequence[RowProvenance], ends: IntArray, row: int) -> tuple[str, int, str]:
    """Return the file of a judgment, its line there, and what lines are called."""
    file = int(np.searchsorted(ends, row, side="right"))
    start = int(ends[file - 1]) if file else 0
    return origins[file].file, origins[file].line_of(row - start), origins[file].unit


def _finding(
    code: str,
    judgments: RunStack,
    rows: IntArray,
    example: tuple[int, int],
    places_in_files: Sequence[tuple[str, int, str]],
    repeated: Repeated,
) -> Finding:
    """Return the finding of what several files judge.

    Args:
        code: of the finding.
        judgments: all of them.
        rows: those that another file holds, too.
        example: rows of two judgments of one document.
        places_in_files: the file, line and unit of each of the two.
        repeated: what is done about grades that differ.

    Raises:
        RepeatError: grades differ, and that is to be an error.
    """
    pairs = judgments.pairs
    document, query = pairs.documents[example[1]].as_py(), pairs.queries[int(pairs.query[example[1]])].as_py()
    before, now = (judgments.table["relevance"][row].as_py() for row in example)
    (other, other_line, other_unit), (file, line, unit) = places_in_files
    place = f"{other}, {other_unit} {other_line}"
    if code == "judged-twice":
        message = f"Judged alike in two files: {len(rows):,}, such as document {quote(document)} ({place})."
        return make_finding(code, file, message, line=line, count=len(rows))
    if repeated == "error":
        problem = (
            f"document {document!r} has grade {now:g} for query {query!r}, and {before:g} in {place} "
            f"({len(rows):,} graded unlike in all)"
        )
        hint = "Settle which holds, or choose to keep the first or the highest (repeated: first, max)."
        raise RepeatError(file, problem, hint, line=line, unit=unit)
    choice = "the first" if repeated == "first" else "the highest"
    message = (
        f"Graded unlike in two files: {len(rows):,}, such as document {quote(document)} of query "
        f"{quote(query)}, {now:g} here and {before:g} in {place}; {choice} grade is kept."
    )
    return make_finding(code, file, message, line=line, count=len(rows))
