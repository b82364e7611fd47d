"""Uploads as they are kept: the table of each as Parquet with zstd, beside what it was read as."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import LibraryError
from metrics.runs import COLUMNS, File, Source, read, unread
from metrics.runs.findings import Finding
from metrics.runs.source import FIXED, Origin

BARS = 24
"""Bars of the histogram that is kept of each upload."""


@dataclass(frozen=True)
class Reading:
    """What a file was read as: all that its Parquet does not say.

    Attributes:
        format: name of the format it came in.
        mapping: our column → the file's.
        header: names of the file's columns.
        unit: what its rows are counted in: lines, rows or entries.
        first: where its first row stands, if all rows follow one by one.
        noted: what was found while reading.
    """

    format: str
    mapping: Mapping[str, str]
    header: tuple[str, ...] = ()
    unit: str = "line"
    first: int = 1
    noted: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, source: Source) -> "Reading":
        """What a source was read as."""
        origin, rows = source.origin, len(source.table)
        first = origin.line_of(0) if rows else 1
        together = not rows or origin.line_of(rows - 1) == first + rows - 1
        unit, first = (origin.unit, first) if together else ("row", 1)
        return cls(source.format, dict(source.mapping), tuple(source.header), unit, first, source.noted)

    @classmethod
    def loaded(cls, plain: Mapping[str, Any]) -> "Reading":
        """What `plain` made of it."""
        found = tuple(Finding(**one) for one in plain["noted"])
        return cls(**{**plain, "header": tuple(plain["header"]), "noted": found})

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    def amended(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """Every column of ours → the file's, "" where it is not read, with these choices."""
        kept = {ours: theirs for ours, theirs in self.mapping.items() if theirs not in chosen.values()}
        kept.update(chosen)
        return {column.name: kept.get(column.name, "") for column in COLUMNS}


@dataclass(frozen=True)
class Kept(File):
    """A file the library keeps, read from its Parquet.

    Attributes:
        digest: sha256 of the bytes that were uploaded.
        given_size: how many they were.
        reading: what they were read as.
        parquet_digest: sha256 of the Parquet.
    """

    digest: str = ""
    given_size: int = 0
    reading: Reading = Reading("", {})
    parquet_digest: str = ""

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes that were uploaded."""
        return self.digest

    @cached_property
    def size(self) -> int:
        """Bytes that were uploaded."""
        return self.given_size

    @cached_property
    def packed(self) -> str | None:
        """How the Parquet is packed as a whole: never."""
        return None

    def read(self, chosen: Mapping[str, str]) -> Source:
        """What the file holds.

        Raises:
            LibraryError: the Parquet is gone or damaged.
            ReadError: it cannot be read with these columns.
        """
        self.verify()
        source = read(self, self.reading.amended(chosen))
        origin = Origin(self.name, lambda row: row + self.reading.first, self.reading.unit, self._ranks)
        noted = tuple(replace(one, file=self.name) for one in self.reading.noted)
        return replace(
            source, origin=origin, format=self.reading.format, header=self.reading.header, noted=noted
        )

    def verify(self) -> None:
        """Raise a LibraryError where the Parquet is not what was written."""
        try:
            with Path(str(self.data)).open("rb") as stream:
                found = file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            reason = (error.strerror or "cannot be opened").lower()
            raise LibraryError(f"{self.name}: the library's copy: {reason}. Upload the file again.") from error
        if found != self.parquet_digest:
            raise LibraryError(f"{self.name}: the library's copy is damaged. Upload the file again.")

    def _ranks(self) -> pa.Array | None:
        if self.reading.format not in FIXED or "rank" in self.reading.mapping.values():
            return None
        from pyarrow import parquet  # noqa: PLC0415 30 ms that other formats need not pay

        names = parquet.read_schema(str(self.data)).names
        if "rank" not in names:
            return None
        ranks = parquet.read_table(str(self.data), columns=["rank"])["rank"]
        try:
            return ranks.cast(pa.string()).cast(pa.float64()).combine_chunks()
        except pa.ArrowInvalid:
            return None


def write_parquet(file: File, source: Source, path: Path) -> None:
    """Write all columns of a file, under the file's own names, as Parquet with zstd.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    from pyarrow import parquet  # noqa: PLC0415 as above

    names = [source.mapping.get(name, name) for name in source.table.column_names]
    table = source.table.rename_columns(names)
    for name, column in unread(file, source).items():
        table = table.append_column(name, column)
    parquet.write_table(table, path, compression="zstd")


@dataclass(frozen=True)
class Profile:
    """What a library shows of an upload.

    Attributes:
        queries: how many.
        depth: documents of the longest list.
        tied: share of rows that share their score with another of their list; None of judgments.
        bars: histogram of its finite scores or grades.
    """

    queries: int
    depth: int
    tied: float | None
    bars: tuple[int, ...]

    @classmethod
    def of(cls, source: Source) -> "Profile":
        """The profile of what was read."""
        scored = source.kind == "run"
        column = "score" if scored else "relevance"
        keys = [name for name in ("reranker", "query_id") if name in source.table.column_names]
        lists = source.table.group_by(keys).aggregate([([], "count_all")])
        ties = source.table.group_by([*keys, column]).aggregate([([], "count_all")])["count_all"]
        tied = pc.sum(ties.filter(pc.greater(ties, 1))).as_py() or 0
        values = source.table[column]
        bars, _ = np.histogram(values.filter(pc.is_finite(values)).to_numpy(), BARS)
        return cls(
            len(pc.unique(source.table["query_id"])),
            pc.max(lists["count_all"]).as_py() or 0,
            tied / max(len(source.table), 1) if scored else None,
            tuple(map(int, bars)),
        )
