"""Parts of a dataset: rows that are read at once, cut so that a list lies in one of them wherever it can."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from metrics.runs import File, Source
from metrics.runs.formats.parquet import ParquetTable
from metrics.runs.query_doc_keys import Hashes, hashes_after, text_hashes
from metrics.scale.dask.files import DatasetFile
from metrics.support.arrays import IntArray, coded, span_starts

ROWS = 2**20
"""Rows of a part, at least: few enough for a worker of 1 GB."""
_SCANNED = 8
"""Parts whose queries are looked at in one go."""


@dataclass(frozen=True)
class Part:
    """Rows of one file.

    Attributes:
        member: the file.
        first: its first row; of a Parquet table.
        end: the row after its last; None where it is the whole file.
    """

    member: DatasetFile
    first: int = 0
    end: int | None = None

    def read(self, columns: Collection[str]) -> Source:
        """Return the rows: these columns, ours or further ones, of a Parquet table; of text all."""
        table = self.member.table
        source = (
            table.select(columns).rows(self.first, self._end)
            if isinstance(table, ParquetTable)
            else table.read()
        )
        return replace(source, name=self.member.name)

    @property
    def n_rows(self) -> int:
        """Rows in it; 0 of text that nobody looked at."""
        return self._end - self.first

    @property
    def _end(self) -> int:
        table = self.member.table
        return sum(table.groups) if self.end is None and isinstance(table, ParquetTable) else self.end or 0


class RowGroupLists(NamedTuple):
    """The lists that rows hold, by their hashes.

    Attributes:
        end: the row after the last.
        keys: (n,) hash of each, in order.
        first: that of the first row's.
        last: that of the last row's.
        last_start: where its rows begin that go on to the end.
        is_last_once: whether it has no other rows here.
        rerankers: those that the rows around name.
    """

    end: int
    keys: Hashes
    first: np.uint64
    last: np.uint64
    last_start: int
    is_last_once: bool
    rerankers: tuple[str, ...]

    def is_more_of_last(self, before: "RowGroupLists") -> bool:
        """Return whether all these rows are of the list that the rows before end with."""
        return bool(before.last == self.first) and before.end == self.last_start


def parts_to_scan(member: DatasetFile) -> Iterator[Part]:
    """Yield parts of a file whose lists must be looked at, to know what other parts hold rows of them."""
    if not isinstance(member.table, ParquetTable):
        if not member.is_alone:
            yield Part(member)
        return
    ends = np.cumsum(member.table.groups)
    if len(ends) > 1 or not member.is_alone:
        cuts = np.searchsorted(ends, np.arange(0, ends[-1] if len(ends) else 0, ROWS * _SCANNED))
        bounds = np.unique([0, *ends[cuts], *ends[-1:]])
        yield from (Part(member, first, end) for first, end in pairwise(bounds.tolist()))


def scan_part(part: Part) -> list[RowGroupLists]:
    """Return the lists of each row group of a part, or of its file."""
    source = part.read(("reranker", "query_id"))
    starts, keys = list_spans(source)
    bounds = [0, len(source.table)]
    if isinstance(part.member.table, ParquetTable):
        ends = np.cumsum(part.member.table.groups) - part.first
        bounds = np.unique([0, *ends[(ends > 0) & (ends <= len(source.table))]]).tolist()
    is_named = "reranker" in source.table.column_names
    names = tuple(source.table["reranker"].unique().to_pylist()) if is_named else ()
    cuts = [both for both in pairwise(bounds) if both[0] < both[1]]
    return [RowGroupLists(*_row_group_lists(starts, keys, *both, part.first), names) for both in cuts]


def _row_group_lists(
    starts: IntArray, keys: Hashes, first: int, end: int, before: int
) -> tuple[int, Hashes, np.uint64, np.uint64, int, bool]:
    """Return what the rows from `first` to before `end` hold, as attributes of `RowGroupLists`."""
    inside = slice(np.searchsorted(starts, first, "right") - 1, np.searchsorted(starts, end))
    own = keys[inside]
    is_last_once = np.count_nonzero(own == own[-1]) == 1
    last_start = max(int(starts[inside][-1]), first)
    return before + end, np.unique(own), own[0], own[-1], before + last_start, bool(is_last_once)


def list_spans(source: Source) -> tuple[IntArray, Hashes]:
    """Return the (n,) first row of each span of rows of one list, and the hash of its reranker and query."""
    queries = coded(source.table["query_id"])
    query = queries.indices.to_numpy()
    names = pa.array([source.name or File(source.file, b"").stem])
    owner: npt.NDArray[np.int32] = np.zeros(len(query), np.int32)
    if "reranker" in source.table.column_names:
        rerankers = coded(source.table["reranker"])
        names, owner = rerankers.dictionary, rerankers.indices.to_numpy()
    starts = span_starts(query, owner)
    texts = queries.dictionary.take(pa.array(query[starts]))
    return starts, hashes_after(text_hashes(names), owner[starts], texts)


def cut_file(file: DatasetFile, row_groups: Sequence[RowGroupLists]) -> Iterator[tuple[Part, Hashes]]:
    """Yield parts of a file, with the hashes of their lists: cut between lists where these stand together."""
    if not row_groups:
        yield Part(file, 0, None), np.empty(0, np.uint64)
        return
    if len(row_groups) == 1 or not isinstance(file.table, ParquetTable):
        yield Part(file, 0, row_groups[0].end), row_groups[0].keys
        return
    yield from _cut_between_lists(file, row_groups)


def _cut_between_lists(file: DatasetFile, row_groups: Sequence[RowGroupLists]) -> Iterator[tuple[Part, Hashes]]:
    """Yield parts of a file of several row groups: of `ROWS` rows or more, but for the last."""
    start, last_start, hashes, before_last = 0, 0, list[Hashes](), np.empty(0, np.uint64)
    for before, group, after in zip([None, *row_groups], row_groups, [*row_groups[1:], None], strict=False):
        if before is None or not group.is_more_of_last(before):
            last_start = group.last_start
            before_last = group.keys[group.keys != group.last] if group.is_last_once else group.keys
            hashes.append(group.keys)
        goes_on = after is not None and after.first == group.last
        end = last_start if goes_on else group.end
        if after is None or (group.end - start >= ROWS and end > start):
            inside = [*hashes[:-1], before_last] if goes_on else hashes
            yield Part(file, start, end), np.unique(np.concatenate(inside))
            start, hashes = end, [np.array([group.last])] if goes_on else []


def lists_in_several(parts: Sequence[Hashes]) -> Hashes:
    """Return the lists that more than one part has rows of."""
    hashes = np.sort(np.concatenate([np.empty(0, np.uint64), *parts]))
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def row_hashes(source: Source) -> Hashes:
    """Return the (n_rows,) hash of the list that each row is of."""
    starts, keys = list_spans(source)
    return np.repeat(keys, np.diff(starts, append=len(source.table)))


def is_among(keys: Hashes, lists: Hashes) -> npt.NDArray[np.bool_]:
    """Return (n_rows,) whether each row is of one of these lists, whose hashes are in order; there is one."""
    near: Hashes = lists[np.minimum(np.searchsorted(lists, keys), len(lists) - 1)]
    return np.equal(near, keys)


def take_rows(source: Source, rows: IntArray) -> Source:
    """Return some rows, which know where they came from."""
    origin = replace(source.origin, line_of=partial(_line_of, source, rows))
    return replace(source, table=source.table.take(pa.array(rows)), origin=origin)


def _line_of(source: Source, rows: IntArray, row: int) -> int:
    return source.origin.line_of(int(rows[row]))
