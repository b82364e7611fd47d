"""Delimited text in blocks of whole queries: as much of a file at once as memory is wanted for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.findings import Finding
from metrics.runs.formats.delimited import LARGEST, Parser, columns_of, names_of, numeric, read_delimited
from metrics.runs.reading.columns import BY_NAME
from metrics.runs.reading.files import BLOCK, File
from metrics.runs.reading.lines import Layout, explain, refuse_open_quote, rows, swallowed
from metrics.runs.reading.query_buffer import QueryBuffer, SeenQueries, comes_again
from metrics.runs.reading.source import FileProvenance, Source, build_source

_ATTEMPTS = (BLOCK, 2**21, 2**26, LARGEST)
"""Bytes parsed at once: after the first attempt all is text, and then rows may be longer and longer."""


def _as_read(source: Source) -> Source:
    """Nothing is done to it."""
    return source


@dataclass(frozen=True)
class Delimited:
    """A delimited file, and what is to be read of it.

    Attributes:
        file: the file as given.
        format: name of its format.
        layout: how its lines are cut.
        mapping: our column → the file's.
        finish: what is done to what was read.
    """

    file: File
    format: str
    layout: Layout
    mapping: Mapping[str, str]
    finish: Callable[[Source], Source] = _as_read

    def read(self) -> Source:
        """The whole file.

        Raises:
            ReadError: a line with too few or too many fields, or a value that cannot be read.
        """
        return self.finish(read_delimited(self.file, self.format, self.layout, self.mapping))

    def words(self, name: str) -> pa.Array:
        """One column of the file as text, whatever it is read as otherwise.

        Raises:
            ReadError: a line with too few or too many fields.
        """
        header = names_of(self.file, self.layout)
        return columns_of(Parser(self.file, self.layout, header, {"segment": name}))[name]

    def blocks(self) -> Iterator[Source]:
        """The same in blocks that hold all rows of their queries, without texts; one where there is no row.

        Rerankers of one query may take turns in its rows; else a query's rows stand together.

        Raises:
            ReadError: as above, or a query comes again after rows of other queries. Blocks before that
                are right.
        """
        file, layout = self.file, self.layout
        mapping = {ours: name for ours, name in self.mapping.items() if BY_NAME[ours].kind != "text"}
        names, extras = names_of(file, layout), numeric(file, layout, self.mapping)
        header = [name for name in names if name in mapping.values() or name not in self.mapping.values()]
        ended, at = SeenQueries(self._refuse_again), 0
        for table, notes in _whole_queries(Parser(file, layout, names, mapping, extras)):
            origin = FileProvenance(file.name, partial(self._line_of, before=at))
            columns = {name: table[name] for name in table.column_names}
            source = build_source(columns, mapping, origin, self.format, header, notes)
            ended.add(source.table, at)
            at += len(table)
            yield self.finish(source)
        if layout.quoted and swallowed(file, at + (not layout.names)):
            refuse_open_quote(file, layout)

    def _refuse_again(self, ids: list[str], row: int) -> None:
        places = {name: at for at, name in enumerate(names_of(self.file, self.layout))}
        at = [places[self.mapping[ours]] for ours in ("query_id", "reranker")[: len(ids)]]
        ended = line = None
        for now, fields in islice(rows(self.file, self.layout), row + 1 + (not self.layout.names)):
            if [fields[place] for place in at] == ids:
                ended, line = line, now
        if ended is not None:
            raise ReadError(self.file.name, *comes_again(ids, f"line {ended}"), line=line)

    def _line_of(self, row: int, before: int = 0) -> int:
        return next(islice(rows(self.file, self.layout), before + row + (not self.layout.names), None))[0]


def _whole_queries(parser: Parser) -> Iterator[tuple[pa.Table, list[Finding]]]:
    """The wanted columns block by block, each cut where a query ends; with the last, what was met beside rows.

    Where the parser stumbles it begins again, with more care, at the first row not yet given.
    """
    given = 0
    for block in _ATTEMPTS:
        careful = block > BLOCK
        types = parser.types(text=careful)
        schema = pa.schema([(name, types[name]) for name in parser.wanted])
        held, passed = QueryBuffer(schema, parser.mapping["query_id"]), 0
        try:
            for batch in parser.batches(block, careful=careful):
                fresh = batch.slice(min(given - passed, len(batch)))
                passed += len(batch) - len(fresh)
                held.add(fresh)
                if held.is_full:
                    table = held.take()
                    given, passed = given + len(table), passed + len(table)
                    yield table, []
        except pa.ArrowInvalid:
            if not careful:
                explain(parser.file, parser.header, parser.layout)
            continue
        yield held.table, parser.noted()
        return
    raise ReadError(parser.file.name, "a row is too long to be read", "Leave out the column that makes it so.")
