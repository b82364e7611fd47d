"""Tables with a header in delimited text: a row a document, a query or a comparison."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice

import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice, beir_columns, recognise, refuse_many_columns
from metrics.runs.formats.answers import (
    grade_columns,
    has_probabilities,
    preference_columns,
    preferences_source,
    probabilities_source,
)
from metrics.runs.formats.delimited import DelimitedTable, Head, rows
from metrics.runs.formats.json_records import cell_documents, records_source
from metrics.runs.formats.shapes import RANKINGS, excerpt, holds_objects, may_list_documents, singular
from metrics.runs.source import Source, parse_number
from metrics.runs.worded_grades import answer_column

_FIRST_ROWS = 100
"""Rows that are searched for the first value of a column."""


def table_format(head: Head, choice: ColumnChoice) -> str:
    """Return the format of a table with a header, by its names or the chosen columns; empty for other files."""
    if len(head.header) <= 1 or head.ends_in_a_number:
        return ""
    refuse_many_columns(head.file.name, head.header)
    names, _, first = _first_rows(head)
    ours, is_chosen = recognise(names).keys(), not {*names}.isdisjoint(choice.columns.values())
    is_table = bool({"query_id", "doc_id"} & ours) or (is_chosen and head.may_name_columns)
    is_graded = {"query_id", "doc_id"} <= ours and has_probabilities(names) and len({*names}) == len(names)
    candidates = {
        "preferences": bool(preference_columns(names, choice.columns)),
        "grade-probabilities": is_graded,
        "beir-qrels": bool(beir_columns(names)),
        "ranked-cells": bool(_list_column(head)),
        "answers": is_table and bool(answer_column(names, first)),
        "table": is_table,
    }
    return next((name for name, is_recognised in candidates.items() if is_recognised), "")


def read_table(head: Head, name: str, choice: ColumnChoice) -> Source:
    """Read a table of one of these formats; a ReadError names the line that cannot be read."""
    if name == "preferences":
        columns = preference_columns(head.header, choice.columns)
        table = _table(head, {}, name, texts=tuple(columns.values()))
        values = table.values()
        return preferences_source(values, columns, table.provenance(len(values[columns["first"]])), choice)
    if name == "grade-probabilities":
        return _read_probabilities(head, choice)
    if name == "ranked-cells":
        return _read_cells(head, choice)
    source = open_table(head, name, choice).read()
    if name != "beir-qrels" or "score" in source.mapping:
        return source
    is_run = bool((source.table["relevance"].to_numpy() % 1 != 0).any())
    return source.renamed("relevance", "score") if is_run else source


def open_table(head: Head, name: str, choice: ColumnChoice) -> DelimitedTable:
    """Open a table with a row a document; a ReadError if the columns of a run or of judgments are missing."""
    header, _, values = _first_rows(head)
    usual = answer_column(header, values) if name == "answers" else {}
    mapping = choice.mapping(head.file.name, header, usual)
    first = list(values)
    if not all(first):
        for _, fields in islice(rows(head.file, head.cut), 2, _FIRST_ROWS):
            first = [value or field for value, field in zip(first, fields, strict=False)]
    numbers = [name for name, value in zip(header, first, strict=False) if parse_number(value) is not None]
    extras = dict.fromkeys(name for name in numbers if name not in {*mapping.values(), *BY_NAME})
    return replace(_table(head, mapping, name, tuple(extras)), missing_score=choice.missing_score)


def _table(
    head: Head,
    mapping: Mapping[str, str],
    name: str,
    extras: tuple[str, ...] = (),
    texts: tuple[str, ...] = (),
) -> DelimitedTable:
    """Return a table with a header, of which these columns are read."""
    header, line, _ = _first_rows(head)
    return DelimitedTable(
        file=head.file,
        header=header,
        mapping=mapping,
        extras=extras,
        texts=texts,
        format=name,
        cut=head.cut,
        n_skipped=None if line is None else line - 1,
    )


def _first_rows(head: Head) -> tuple[tuple[str, ...], int | None, list[str]]:
    """Return the header of a table, the line of its first row, None if there is none, and its fields."""
    first = list(islice(rows(head.file, head.cut), 2))
    header = tuple(first[0][1]) if first else ()
    line, values = first[1] if len(first) > 1 else (None, [])
    return header, line, values


def _read_probabilities(head: Head, choice: ColumnChoice) -> Source:
    """Read `query_id,doc_id,p_0,p_1,p_2`."""
    header, _, first = _first_rows(head)
    grades = grade_columns(header)
    plain = [name for name in header if name not in grades]
    mapping = recognise(plain, replace(choice, strict=False).among(plain))
    further = [
        name
        for name, value in zip(header, first, strict=False)
        if name not in {*mapping.values(), *grades, *BY_NAME} and parse_number(value) is not None
    ]
    table = _table(head, mapping, "grade-probabilities", (*grades, *further))
    columns = table.values()
    return probabilities_source(columns, header, mapping, table.provenance(len(columns[grades[0]])), choice)


def _list_column(head: Head) -> str:
    """Return the column of a table whose first cell lists several document IDs, or an empty string."""
    header, _, values = _first_rows(head)
    plain = [name for name in header if not recognise([name]) or name != singular(name)]
    if not may_list_documents([name for name in header if name not in plain]):
        return ""
    cells = dict(zip(header, map(cell_documents, values), strict=False))
    ids = [name for name in plain if "doc_id" in recognise([singular(name)]) or name in RANKINGS]
    hits = [name for name in plain if isinstance(cell := cells.get(name), list) and holds_objects(cell)]
    texts = (name for name in ids if isinstance(cell := cells.get(name), str) and len(_ids_in(cell)) > 1)
    lists = (name for name in ids if isinstance(cells.get(name), list))
    return next(chain(hits, lists, texts), "")


def _ids_in(cell: str) -> list[str]:
    """Return the IDs that a cell lists: `d1 d2`, `d1,d2`, `["d1", "d2"]`."""
    return [text for text in re.split(r"[\s,;|\[\]'\"]+", cell) if text]


def _read_cells(head: Head, choice: ColumnChoice) -> Source:
    """Read a row for each query, with its documents in one cell, best first."""
    header, column = _first_rows(head)[0], _list_column(head)
    others = [name for name in header if name != column]
    names = recognise(others, {ours: name for ours, name in choice.columns.items() if name in others})
    query = names.get("query_id", others[0] if len(others) == 1 else "")
    if not query:
        problem = f"no query_id column among {', '.join(header)}"
        raise ReadError(head.file.name, problem, "Rename the correct column to query_id.", line=1)
    table = _table(head, {"query_id": query}, "ranked-cells", texts=(column,))
    texts = table.values()
    queries, cells = texts[query].cast(pa.string()).to_pylist(), texts[column].to_pylist()
    origin, records = table.provenance(len(cells)), list[dict[str, object]]()
    for row, cell in enumerate(cells):
        documents = cell_documents(cell)
        if isinstance(documents, str):
            if documents.lstrip().startswith(("[", "{")) and {*"{("} & {*documents}:
                problem = f"{column} holds {excerpt(documents)}, which is not JSON"
                raise origin.error(row, problem, 'Write IDs, ["d7", "d2"] or {"d7": 0.9, "d2": 0.9}.')
            documents = _ids_in(documents)
        name = "hits" if isinstance(documents, list) and holds_objects(documents) else "doc_ids"
        records.append({"query_id": queries[row], name: documents})
    return records_source(records, origin, "ranked-cells", replace(choice, columns={}))
