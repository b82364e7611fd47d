"""Lines as they come, cut into lists: a list ends where the next query begins, or at a blank line."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from metrics.errors import ReadError, UsageError
from metrics.runs import File, Source, read
from metrics.runs.formats.format import Head
from metrics.runs.formats.json_records import DOCUMENT_ARRAYS, leaf_fields, parse
from metrics.runs.formats.tables import is_table
from metrics.runs.reading.columns import ColumnChoice, recognise
from metrics.runs.reading.files import MAX_LINE

LineShape = Literal["table", "trec", "jsonl"]
"""A table whose first line is its header, fields without a header, or a JSON record a line."""
MAX_LIST = 2**26
"""Most bytes of one list."""
_HEAD = 2**16
"""Bytes of a line that is too long in which its query is looked for."""
_WHOLE_LIST, _COMMENT = object(), object()
"""Keys of a record that is a whole list, and of a line that is no row."""
_TREC_FIELDS = 6


@dataclass(frozen=True)
class ListLines:
    """The lines of one list.

    Attributes:
        lines: as they came.
        numbers: number of each line, the first of all 1.
    """

    lines: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


class LineCutter:
    """Cuts what is written to a stream into lists, and reads these."""

    def __init__(self, name: str, choice: ColumnChoice, shape: LineShape | None = None) -> None:
        """Begin a stream."""
        self._name, self._choice, self._shape = name, choice, shape
        self._header: list[bytes] = []
        self._key_of: Callable[[bytes], object] | None = None
        self._rest, self._n_lines, self._size = b"", 0, 0
        self._open, self._key = ListLines(), object()
        self._refused_key, self._is_cut = object(), False

    def feed(self, data: bytes) -> Iterator[ListLines]:
        """Take the next bytes, and yield the lists that they end.

        Raises:
            ReadError: a line or list is too long. It is left out; the stream goes on.
            UsageError: the first line is to name the columns, and names no query.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._is_cut and lines:  # the end of a line that was too long
            self._n_lines, self._is_cut = self._n_lines + 1, False
            del lines[0]
        for line in lines:
            yield from self._add(line.removesuffix(b"\r"))
        if self._is_cut:
            self._rest = b""
        elif len(self._rest) > MAX_LINE or self._size > MAX_LIST:
            yield from self._refuse_list()
            problem = (
                f"a line of more than {MAX_LINE // 2**20} MB, or a list of more than {MAX_LIST // 2**20} MB"
            )
            raise ReadError(
                self._name, problem, "Begin a line for each document of a list.", line=self._n_lines + 1
            )

    def _refuse_list(self) -> Iterator[ListLines]:
        """Forget the list that is too long, and its further lines; yield the one before where it is whole."""
        if len(self._rest) > MAX_LINE:
            key = self._key_of(self._rest[:_HEAD]) if self._key_of else None
            self._rest, self._is_cut = b"", True
            if key is not None and key != self._key:
                yield from self._close()
                self._key = key
        self._refused_key, self._open, self._size = self._key, ListLines(), 0

    def end(self) -> Iterator[ListLines]:
        """Yield the last list, if there is one."""
        last_line, self._rest = self._rest, b""
        if last_line.strip():
            yield from self._add(last_line)
        yield from self._close()

    def read(self, lists: Sequence[ListLines]) -> Source:
        """Read lists, as a file that holds them alone would be; a ReadError names lines of the stream."""
        lines = [*self._header, *(line for entry in lists for line in entry.lines)]
        numbers = [1] * len(self._header) + [number for entry in lists for number in entry.numbers]

        def number_of(line: int) -> int:
            return numbers[min(line, len(numbers)) - 1]

        try:
            file = File(self._name, b"\n".join([*lines, b""]))
            source = read(file, self._choice.columns, strict=False, missing_score=self._choice.missing_score)
        except ReadError as error:
            line = None if error.line is None else number_of(error.line)
            raise ReadError(error.file, error.problem, error.hint, line=line, unit=error.unit) from error
        line_of = source.origin.line_of
        origin = replace(source.origin, line_of=lambda row: number_of(line_of(row)))
        return replace(source, origin=origin)

    def _add(self, line: bytes) -> Iterator[ListLines]:
        """Take a line, and yield the lists that it ends."""
        self._n_lines += 1
        if not line.strip():
            yield from self._close()
            self._refused_key = object()
            return
        if self._key_of is None:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._key_of = self._recognise(line)
            if self._header:
                return
        key = self._key_of(line)
        if key is _COMMENT or key == self._refused_key:
            return
        self._refused_key = object() if key is not None else self._refused_key
        if key is not None and (key != self._key or key is _WHOLE_LIST):
            yield from self._close()
            self._key = key
        is_loose = key is None and not self._open.lines
        self._open.lines.append(line)
        self._open.numbers.append(self._n_lines)
        self._size += len(line)
        if key is _WHOLE_LIST or is_loose:
            yield from self._close()

    def _close(self) -> Iterator[ListLines]:
        """Yield the list whose lines were taken, if there are any."""
        complete_list, self._open, self._key, self._size = self._open, ListLines(), object(), 0
        if complete_list.lines:
            yield complete_list

    def _recognise(self, line: bytes) -> Callable[[bytes], object]:
        """Return what tells the query of a line, None where it cannot; keep a header."""
        head = Head(File(self._name, line + b"\n"))
        shape = self._shape or ("jsonl" if head.is_json else "table" if is_table(head) else "trec")
        if shape == "jsonl":
            return self._key_of_record
        if shape == "trec":
            return self._key_of_fields
        columns = recognise(head.header, replace(self._choice, strict=False).among(head.header))
        delimiter, query = head.layout.delimiter, columns.get("query_id")
        if query is None:
            names = ", ".join(head.header)
            raise UsageError(
                f"{self._name}: no query_id column among {names}. Begin with a line that names the columns."
            )
        self._header, place = [line], head.header.index(query)

        def key_of_row(text: bytes) -> object:
            try:
                fields = next(csv.reader([text.decode("utf-8", "replace")], delimiter=delimiter), [])
            except csv.Error:  # such as a field that is too long: reading says what is wrong
                return None
            return fields[place] if place < len(fields) else None

        return key_of_row

    @staticmethod
    def _key_of_fields(line: bytes) -> object:
        fields = line.split()
        is_comment = line.startswith(b"#") and len(fields) != _TREC_FIELDS
        return _COMMENT if is_comment else fields[0]

    def _key_of_record(self, line: bytes) -> object:
        """Return the query of a JSON record, `_WHOLE_LIST` where it holds documents, None for no JSON."""
        try:
            record = parse(File(self._name, line), line)
        except ReadError:
            return None
        if not isinstance(record, dict):
            return None
        leaves = dict(leaf_fields(record))
        if any(_holds_documents(name, value) for name, value in leaves.items()):
            return _WHOLE_LIST
        header = list(leaves)
        query = recognise(header, replace(self._choice, strict=False).among(header)).get("query_id")
        return _WHOLE_LIST if query is None else str(leaves[query])


def _holds_documents(name: str, value: object) -> bool:
    """Return whether a field of a record is an array of documents."""
    return isinstance(value, list) and (
        name in DOCUMENT_ARRAYS or (bool(value) and all(isinstance(entry, dict) for entry in value))
    )
