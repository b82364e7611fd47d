"""Delimited text in blocks of whole queries: as much of a file at once as memory is wanted for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.arrays import IntArray, whole
from metrics.errors import ReadError
from metrics.runs.columns import BY_NAME
from metrics.runs.delimited import LARGEST, Parser, columns_of, names_of, numeric, read_delimited
from metrics.runs.files import BLOCK, File
from metrics.runs.findings import Finding
from metrics.runs.lines import Layout, explain, refuse_open_quote, rows, swallowed
from metrics.runs.pairs import Prints, text_prints
from metrics.runs.source import Origin, Source, source_of

HELD = 2**21
"""Bytes of columns that make a block; eight times as many are twice as fast, and hold 45 MB more."""
_ATTEMPTS = (BLOCK, 2**21, 2**26, LARGEST)
"""Bytes parsed at once: after the first attempt all is text, and then rows may be longer and longer."""


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
    finish: Callable[[Source], Source] = lambda source: source

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
        ended, at = _Ended(file, layout, mapping), 0
        for table, notes in _whole_queries(Parser(file, layout, names, mapping, extras)):
            origin = Origin(file.name, partial(self._line_of, before=at))
            columns = {name: table[name] for name in table.column_names}
            source = source_of(columns, mapping, origin, self.format, header, notes)
            ended.add(source.table, at)
            at += len(table)
            yield self.finish(source)
        if layout.quoted and swallowed(file, at + (not layout.names)):
            refuse_open_quote(file, layout)

    def _line_of(self, row: int, before: int = 0) -> int:
        return next(islice(rows(self.file, self.layout), before + row + (not self.layout.names), None))[0]


def _whole_queries(parser: Parser) -> Iterator[tuple[pa.Table, list[Finding]]]:
    """The wanted columns block by block, each cut where a query ends; with the last, what was met beside rows.

    Where the parser stumbles it begins again, with more care, at the first row not yet given.
    """
    given = 0
    for block in _ATTEMPTS:
        careful = block > BLOCK
        held, passed = _Held(parser, careful=careful), 0
        try:
            for batch in parser.batches(block, careful=careful):
                fresh = batch.slice(min(given - passed, len(batch)))
                passed += len(batch) - len(fresh)
                held.add(fresh)
                if held.size >= HELD and held.cut:
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


class _Held:
    """Rows that were parsed and not yet given.

    Attributes:
        cut: where the last query among them begins, which may go on.
        size: their bytes.
    """

    def __init__(self, parser: Parser, *, careful: bool) -> None:
        types = parser.types(text=careful)
        self._schema = pa.schema([(name, types[name]) for name in parser.wanted])
        self._query = parser.mapping["query_id"]
        self._batches: list[pa.RecordBatch] = []
        self._rows, self._last, self.cut, self.size = 0, "", 0, 0

    def add(self, batch: pa.RecordBatch) -> None:
        """The next rows."""
        if not len(batch):
            return
        stretches = pc.run_end_encode(batch[self._query], run_end_type=pa.int32())
        if len(stretches.values) > 1:
            self.cut = self._rows + stretches.run_ends[-2].as_py()
        elif stretches.values[0].as_py() != self._last:
            self.cut = self._rows
        self._last = stretches.values[-1].as_py()
        self._batches.append(batch)
        self._rows, self.size = self._rows + len(batch), self.size + batch.nbytes

    @property
    def table(self) -> pa.Table:
        """All of them."""
        return pa.Table.from_batches(self._batches, self._schema)

    def take(self) -> pa.Table:
        """Those of whole queries, which are held no longer."""
        table = self.table
        rest = table.slice(self.cut)
        self._batches, self._rows, self.size = rest.to_batches(), len(rest), rest.nbytes
        table, self.cut = table.slice(0, self.cut), 0
        return table


class _Ended:
    """The queries of each reranker whose rows have ended, as prints: eight bytes each."""

    def __init__(self, file: File, layout: Layout, mapping: Mapping[str, str]) -> None:
        self._file, self._layout = file, layout
        places = {name: at for at, name in enumerate(names_of(file, layout))}
        self._at = [places[mapping[ours]] for ours in ("query_id", "reranker") if ours in mapping]
        self._prints: dict[str, Prints] = {}

    def add(self, table: pa.Table, before: int) -> None:
        """The next block, so many rows of the file before it.

        Raises:
            ReadError: a query comes again.
        """
        queries = whole(table["query_id"])
        query = queries.indices.to_numpy()
        stretch = np.cumsum(np.diff(query, prepend=-1) != 0)
        for reranker, own in _by_reranker(table):
            heads = own[np.diff(stretch[own], prepend=0) > 0]
            prints = text_prints(queries.dictionary.take(pa.array(query[heads])))
            first = np.unique(query[heads], return_index=True)[1]
            again = np.isin(prints, self._prints.get(reranker, prints[:0]))
            again |= ~np.isin(np.arange(len(heads)), first)
            for row in heads[again]:
                ids = [queries[int(row)].as_py(), *([reranker] if len(self._at) > 1 else [])]
                self._refuse_again(ids, before + int(row))
            known = np.concatenate([self._prints.get(reranker, prints[:0]), prints])
            self._prints[reranker] = np.sort(known, kind="stable")

    def _refuse_again(self, ids: list[str], row: int) -> None:
        """Raise a ReadError if there are rows of the query before this one; else only prints are equal."""
        ended = line = None
        for now, fields in islice(rows(self._file, self._layout), row + 1 + (not self._layout.names)):
            if [fields[at] for at in self._at] == ids:
                ended, line = line, now
        if ended is not None:
            of = "".join(f" of {name!r}" for name in ids[1:])
            problem = f"query {ids[0]!r}{of} comes again, after its rows ended on line {ended}"
            hint = "Sort the file by query, or read it whole (without --stream)."
            raise ReadError(self._file.name, problem, hint, line=line)


def _by_reranker(table: pa.Table) -> Iterator[tuple[str, IntArray]]:
    """The rows of each reranker; of one without a name where the file names none."""
    if "reranker" not in table.column_names:
        yield "", np.arange(len(table))
        return
    names = whole(table["reranker"])
    codes = names.indices.to_numpy()
    for code, name in enumerate(names.dictionary.to_pylist()):
        yield name, np.flatnonzero(codes == code)
