"""Delimited text: TREC files, and tables with a header."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME, ColumnChoice, beir_columns, recognise
from metrics.runs.conversion import answer_column, parse_number, parse_ranks
from metrics.runs.files import BLOCK, FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.format import (
    Cut,
    FileTable,
    Format,
    Head,
    check_lines,
    check_quotes,
    count_lines,
    rows,
)
from metrics.runs.formats.json_records import cell_documents, records_source
from metrics.runs.formats.shapes import RANKINGS, excerpt, holds_objects, may_list_documents, singular
from metrics.runs.source import Source, build_source
from metrics.support.columns import coded_runs

_WHOLE_BLOCK = 4 * BLOCK
"""Bytes parsed at once: faster than `BLOCK`."""
_LARGEST_BLOCK = _MAX_TEXT = 2**31 - 1
"""Largest block of the parser, in bytes."""
_FIRST_ROWS = 100
"""Rows that are searched for the first value of a column."""


@dataclass(frozen=True, kw_only=True)
class DelimitedTable(FileTable):
    """A delimited file, and the columns to read from it.

    Attributes:
        format: name of its format.
        cut: how its lines are cut.
        n_skipped: lines before the first row; None for a table without rows.
        texts: further columns to read as text.
    """

    format: str
    cut: Cut
    n_skipped: int | None = 0
    texts: tuple[str, ...] = ()

    def read(self) -> Source:
        """Read the whole file; a ReadError names a line with too few or too many fields, or a wrong value."""
        columns, findings = self._parse()
        origin = self.provenance(len(next(iter(columns.values()))))

        source = build_source(
            columns, self.mapping, origin, self.format, self.header, findings, self.missing_score
        )
        return source.note_unused() if self.cut.has_header else source

    def provenance(self, n_rows: int) -> FileProvenance:
        """Return where the rows stand, given their number."""

        @cache
        def has_a_row_a_line() -> bool:
            return count_lines(self.file) == n_rows + self.cut.has_header

        def line_of(row: int) -> int:
            if has_a_row_a_line():
                return row + self.cut.has_header + 1
            lines = rows(self.file, self.cut, len(self.header))
            return next(islice(lines, row + self.cut.has_header, None))[0]

        first, tag = Head(self.file).split(self.cut.delimiter.strip(" ").encode() or None)[0], ""
        if self.format == "trec-run" and len(first) == len(self.header):
            tag = first[-1].decode("utf-8", "replace").strip()
        return FileProvenance(self.file.name, line_of, ranks=self._ranks, tag=tag)

    def values(self) -> dict[str, pa.Array]:
        """Return the file's columns before conversion; a ReadError names a wrong line."""
        return self._parse()[0]

    def column_text(self, name: str) -> pa.Array:
        """Return the text of one column, whatever its kind."""
        return replace(self, mapping={}, extras=(), texts=(name,)).values()[name]

    def _parse(self) -> tuple[dict[str, pa.Array], list[Finding]]:
        """Return the file's columns before conversion, and findings of comments."""
        try:
            columns, n_comments = self._build(_WHOLE_BLOCK, careful=False)
        except pa.ArrowInvalid:
            block_size = check_lines(self.file, self.header, self.cut) + 1
            columns, n_comments = self._build(block_size, careful=True)
        if self.cut.has_header:
            check_quotes(self.file, self.cut, len(next(iter(columns.values()))))
        if not n_comments:
            return columns, []
        message = f"Comment lines (starting with #) skipped: {n_comments:,}."
        return columns, [make_finding("comments", self.file.name, message, count=n_comments)]

    def _build(self, block_size: int, *, careful: bool) -> tuple[dict[str, pa.Array], int]:
        """Return the columns before conversion, and the number of comments; a pa.ArrowInvalid on failure.

        Numbers become float64, or text with `careful`.
        """
        n_comments = 0

        def skip_other_rows(row: arrow_csv.InvalidRow) -> str:
            nonlocal n_comments
            is_comment = row.text.startswith("#")
            if self.cut.has_header or (row.text.strip() and not is_comment):  # blank lines at the start
                return "error"
            n_comments += is_comment
            return "skip"

        kinds: dict[str, str] = {theirs: BY_NAME[ours].kind for ours, theirs in self.mapping.items()}
        kinds |= dict.fromkeys(self.extras, "number") | dict.fromkeys(self.texts, "text")
        schema = pa.schema(
            (name, pa.float64() if kind in ("number", "rank") and not careful else pa.string())
            for name, kind in kinds.items()
        )
        columns = {
            name: _RepeatedTexts() if kind in ("shared", "word") else _Values(self.file.name)
            for name, kind in kinds.items()
        }
        options = {
            "read_options": arrow_csv.ReadOptions(
                column_names=self.header,
                skip_rows=self.n_skipped or 0,
                block_size=min(max(block_size, BLOCK), _LARGEST_BLOCK),
                use_threads=not careful,
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.cut.delimiter,
                quote_char='"' if self.cut.has_header else False,
                newlines_in_values=self.cut.has_header,
                invalid_row_handler=skip_other_rows if careful else None,  # it can only be called with UTF-8
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=schema, include_columns=schema.names, null_values=[], strings_can_be_null=False
            ),
        }
        if self.n_skipped is not None:
            with self.cut.open(self.file) as stream:
                for batch in arrow_csv.open_csv(stream, **options):
                    for name, column in columns.items():
                        column.add(batch[name])
        arrays = {name: column.joined(schema.field(name).type) for name, column in columns.items()}
        return arrays, n_comments

    def _ranks(self) -> pa.Array | None:
        """Return the ranks that lines without a header state, unless they are read anyway."""
        if self.cut.has_header or "rank" not in self.header or "rank" in self.mapping.values():
            return None
        column = replace(self, mapping={"rank": "rank"}, extras=()).values()["rank"]
        return parse_ranks(column)


class _Values:
    """A column that grows in place, without nulls: chunks joined at the end take twice the memory."""

    def __init__(self, file: str) -> None:
        self._file, self._bytes, self._ends = file, bytearray(), bytearray(4)

    def add(self, piece: pa.Array) -> None:
        """Append numbers or texts."""
        if not pa.types.is_string(piece.type):
            self._bytes += piece.to_numpy().data
            return
        _, offsets, letters = piece.buffers()
        ends = np.frombuffer(offsets, np.int32)[piece.offset : piece.offset + len(piece) + 1]
        if len(self._bytes) + int(ends[-1] - ends[0]) > _MAX_TEXT:
            raise ReadError(self._file, "a column has more than 2 GB of text", "Split the file by query.")
        self._ends += (ends[1:] + np.int32(len(self._bytes) - ends[0])).data
        self._bytes += memoryview(letters or b"")[ends[0] : ends[-1]]

    def joined(self, kind: pa.DataType) -> pa.Array:
        """Return all values."""
        values, ends = pa.py_buffer(self._bytes), pa.py_buffer(self._ends)
        if pa.types.is_string(kind):
            return pa.Array.from_buffers(kind, len(self._ends) // 4 - 1, [None, ends, values])
        return pa.Array.from_buffers(kind, len(self._bytes) // 8, [None, values])


class _RepeatedTexts:
    """A column of texts that mostly equal the one before."""

    def __init__(self) -> None:
        self._runs: list[pa.RunEndEncodedArray] = []

    def add(self, piece: pa.Array) -> None:
        """Append texts."""
        self._runs.append(pc.run_end_encode(piece, run_end_type=pa.int32()))

    def joined(self, _: pa.DataType) -> pa.Array:
        """Return all texts, dictionary-encoded."""
        return coded_runs(self._runs)


def open_table(
    head: Head,
    choice: ColumnChoice,
    format_name: str,
    usual: Callable[[Sequence[str]], Mapping[str, str]] = lambda _: {},
) -> DelimitedTable:
    """Open a table with a header; `usual` maps our columns to a header's where names do not tell them.

    Raises:
        ReadError: the columns of a run or of judgments are missing.
    """
    header, _, values = head_row(head)
    mapping = choice.mapping(head.file.name, header, usual(header))
    first = list(values)
    if not all(first):
        for _, fields in islice(rows(head.file, head.cut), 2, _FIRST_ROWS):
            first = [value or field for value, field in zip(first, fields, strict=False)]
    numbers = [name for name, value in zip(header, first, strict=False) if parse_number(value) is not None]
    extras = dict.fromkeys(name for name in numbers if name not in {*mapping.values(), *BY_NAME})
    table = header_table(head, mapping, format_name, tuple(extras))
    return replace(table, missing_score=choice.missing_score)


def header_table(
    head: Head,
    mapping: Mapping[str, str],
    format_name: str,
    extras: tuple[str, ...] = (),
    texts: tuple[str, ...] = (),
) -> DelimitedTable:
    """Return a table with a header, of which these columns are read."""
    header, line, _ = head_row(head)
    return DelimitedTable(
        file=head.file,
        header=header,
        mapping=mapping,
        extras=extras,
        texts=texts,
        format=format_name,
        cut=head.cut,
        n_skipped=None if line is None else line - 1,
    )


def head_row(head: Head) -> tuple[tuple[str, ...], int | None, list[str]]:
    """Return the header of a table, the line of its first row, None if there is none, and its fields."""
    first = list(islice(rows(head.file, head.cut), 2))
    header = tuple(first[0][1]) if first else ()
    line, values = first[1] if len(first) > 1 else (None, [])
    return header, line, values


def table_format(
    name: str,
    summary: str,
    example: str,
    recognises: Callable[[Head], bool],
    usual: Callable[[Sequence[str]], Mapping[str, str]] = lambda _: {},
) -> Format:
    """Declare a format of tables with a header; arguments as in `Format` and `open_table`."""

    def open_file(head: Head, choice: ColumnChoice) -> DelimitedTable:
        return open_table(head, choice, name, usual)

    return Format(
        name, summary, example, recognises, lambda head, choice: open_file(head, choice).read(), open_file
    )


def line_format(
    name: str,
    summary: str,
    example: str,
    columns: tuple[str, ...],
    usual: Mapping[str, str],
    recognises: Callable[[Head], bool] | None = None,
    tie_order: str = "input",
) -> Format:
    """Declare a format of spaced lines without a header; `usual` maps our columns to their fields."""

    def open_file(head: Head, choice: ColumnChoice) -> DelimitedTable:
        mapping = dict(usual)
        if choice.columns or "rank" in usual.values():
            mapping = choice.mapping(head.file.name, columns, usual, only_usual=True)
        if "rank" == usual.get("score") == mapping.get("score"):
            mapping = {"rank" if ours == "score" else ours: theirs for ours, theirs in mapping.items()}
        return DelimitedTable(
            file=head.file,
            header=columns,
            mapping=mapping,
            format=name,
            cut=Cut("\t" if _is_tabbed(head, len(columns)) else " ", has_header=False),
            missing_score=choice.missing_score,
        )

    def read_file(head: Head, choice: ColumnChoice) -> Source:
        try:
            return open_file(head, choice).read()
        except ReadError as error:
            if error.line == 1 and head.may_name_columns:
                error.with_columns(head.header, {})
            first = [field.decode("utf-8", "replace") for field in head.lines[0]]
            if error.line == 1 and recognise(first):
                problem, hint = f"line 1 is a header ({', '.join(first)})", "Delete it: these files have none."
                raise ReadError(head.file.name, problem, hint) from error
            raise

    return Format(
        name,
        summary,
        example,
        recognises or (lambda head: head.width == len(columns) or _is_tabbed(head, len(columns))),
        read_file,
        None if "relevance" in usual else open_file,
        has_header=False,
        tie_order=tie_order,
    )


def _is_tabbed(head: Head, width: int) -> bool:
    """Return whether tabs separate the fields of the first lines, and a field holds spaces."""
    lines = head.split(b"\t")
    has_spaces = any(b" " in field.strip() for fields in lines for field in fields)
    has_numbers = any(parse_number(field.decode("utf-8", "replace")) is not None for field in lines[0][-2:])
    return has_spaces and has_numbers and all(len(fields) == width for fields in lines[:-1] or lines)


def is_table(head: Head) -> bool:
    """Return whether the first line names columns of ours, and does not look like a run."""
    names_columns = bool({"query_id", "doc_id"} & recognise(head.header).keys())
    return names_columns and len(head.header) > 1 and not head.ends_in_a_number


def _is_answers(head: Head) -> bool:
    return is_table(head) and bool(answer_column(head.header, head_row(head)[2]))


TABLE = table_format(
    "table",
    f"CSV, TSV or semicolon table with a header; columns {', '.join(BY_NAME)}.",
    "reranker,query_id,doc_id,score,relevance\nllm,q1,d7,0.9,1\nllm,q1,d2,0.9,0",
    is_table,
)


def _list_column(head: Head) -> str:
    """Return the column of a table whose first cell lists several document IDs, or an empty string."""
    header, _, values = head_row(head)
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
    header, column = head_row(head)[0], _list_column(head)
    others = [name for name in header if name != column]
    names = recognise(others, {ours: name for ours, name in choice.columns.items() if name in others})
    query = names.get("query_id", others[0] if len(others) == 1 else "")
    if not query:
        problem = f"no query_id column among {', '.join(header)}"
        raise ReadError(head.file.name, problem, "Rename the correct column to query_id.", line=1)
    table = header_table(head, {"query_id": query}, "ranked-cells", texts=(column,))
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


BEIR = table_format(
    "beir-qrels",
    "BEIR judgments: query-id, corpus-id, score. If a score is not a whole number, they are a run.",
    "query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td2\t0",
    lambda head: bool(beir_columns(head.header)),
)


def _read_beir(head: Head, choice: ColumnChoice) -> Source:
    source = BEIR.read(head, choice)
    grades = source.table["relevance"].to_numpy() if "relevance" in source.table.column_names else np.zeros(0)
    is_run = "score" not in source.mapping and bool((grades % 1 != 0).any())
    return source.renamed("relevance", "score") if is_run else source


FORMATS = (
    replace(BEIR, read=_read_beir),
    Format(
        "ranked-cells",
        "Table with one row per query and its documents in one cell, best first, as in submissions to Kaggle, "
        'or with scores as JSON: {"d7": 0.9, "d2": 0.9}.',
        "query_id,doc_ids\nq1,d7 d2 d9\nq2,d4 d1",
        lambda head: bool(_list_column(head)),
        _read_cells,
    ),
    table_format(
        "answers",
        "Table with the answers of a language model. The score is the number that an answer is, or has after a "
        "label such as Score or in JSON (7/10 gives 7). Other answers have no score.",
        'query_id,doc_id,answer\nq1,d7,**Relevance: 3**\nq1,d2,"I\'d rate this 2/3, being partial."',
        _is_answers,
        lambda header: answer_column(header, ["score: 1"] * len(header)),
    ),
    TABLE,
)


_RANKED_COLUMNS = ("query_id", "doc_id", "rank")
_MAX_DIGITS = 9
"""Most digits of a rank."""


def _counts_up(head: Head, width: int) -> bool:
    """Return whether lines have so many fields, and the third counts up by one in the first list."""
    if head.width != width or any(len(line) != width for line in head.lines[:-1]):
        return False
    fields = [line[2] for line in head.lines if line[0] == head.lines[0][0] and len(line) == width]
    if not all(field.isdigit() and len(field) <= _MAX_DIGITS for field in fields):
        return False
    ranks = [int(field) for field in fields]
    return ranks[0] in (0, 1) and all(after - before == 1 for before, after in pairwise(ranks))


def _is_colbert(head: Head) -> bool:
    """Return whether lines are a query, a document, its rank and its score, and not judgments."""
    iterations = {line[1].lower() for line in head.lines if len(line) > 1}
    return _counts_up(head, len(_COLBERT_FIELDS)) and not iterations <= {b"0", b"q0"}


_COLBERT_FIELDS = ("query_id", "doc_id", "rank", "score")
LINE_FORMATS = (
    line_format(
        "trec-run",
        "TREC run: query Q0 document rank score tag.",
        "q1 Q0 d7 1 0.9 llm\nq1 Q0 d2 2 0.9 llm\nq2 Q0 d4 1 0.3 llm",
        ("query_id", "Q0", "doc_id", "rank", "score", "tag"),
        {"query_id": "query_id", "doc_id": "doc_id", "score": "score"},
        tie_order="docid_desc",
    ),
    line_format(
        "colbert",
        "ColBERT ranking: query document rank score.",
        "0\t7\t1\t0.9\n0\t2\t2\t0.9\n1\t4\t1\t0.3",
        _COLBERT_FIELDS,
        {"query_id": "query_id", "doc_id": "doc_id", "score": "score"},
        _is_colbert,
    ),
    line_format(
        "trec-qrels",
        "TREC judgments: query 0 document grade.",
        "q1 0 d7 1\nq1 0 d2 0\nq2 0 d4 2",
        ("query_id", "iteration", "doc_id", "relevance"),
        {"query_id": "query_id", "doc_id": "doc_id", "relevance": "relevance"},
    ),
    line_format(
        "ranked",
        "MS MARCO run: query document rank.",
        "q1\td7\t1\nq1\td2\t2\nq2\td4\t1",
        _RANKED_COLUMNS,
        {"query_id": "query_id", "doc_id": "doc_id", "score": "rank"},
        lambda head: _counts_up(head, len(_RANKED_COLUMNS)),
    ),
)
