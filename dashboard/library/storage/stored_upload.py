"""Uploads as they are kept: the table of each as Parquet with zstd, beside what it was read as."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import file_digest
from io import BufferedIOBase, BytesIO
from math import inf
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import LibraryError
from metrics.runs import COLUMNS, File, MissingScore, Source, has_header, read, tie_order, unread
from metrics.runs.conversion import NOT_SCORES
from metrics.runs.files import FileProvenance
from metrics.runs.findings import ANSWER_CODES, Finding
from metrics.support.arrays import histogram
from metrics.support.cached import cached_property

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
        """Return what a source was read as."""
        origin, rows = source.origin, len(source.table)
        first = origin.line_of(0) if rows else 1
        sample = {0, min(1, rows - 1), rows - 1} if rows else ()  # rows of one record share its line
        is_contiguous = all(origin.line_of(row) == first + row for row in sample)
        unit, first = (origin.unit, first) if is_contiguous else ("row", 1)
        return cls(source.format, _mapping(source), tuple(source.header), unit, first, source.noted)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Reading":
        """Return what `plain` made of it."""
        findings = tuple(Finding(**one) for one in plain["noted"])
        return cls(**{**plain, "header": tuple(plain["header"]), "noted": findings})

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)

    def with_columns(self, columns: Mapping[str, str]) -> dict[str, str]:
        """Map every column of ours to the file's, "" where it is not read, with these choices."""
        mapping = {ours: theirs for ours, theirs in self.mapping.items() if theirs not in columns.values()}
        mapping.update(columns)
        return {column.name: mapping.get(column.name, "") for column in COLUMNS}


RANKED_COLUMNS = ("query_id", "doc_id", "rank")
"""Columns of the Parquet of a file that has ranks in place of scores."""
MISSING_SCORE = "missing_score"
"""Stands among the choices of columns for what is done about scores that are no numbers."""


def split_choices(choices: Mapping[str, str]) -> tuple[dict[str, str], MissingScore]:
    """Return the choices of columns, and what is done about scores that are no numbers."""
    columns = dict(choices)
    rule = columns.pop(MISSING_SCORE, "error")
    return columns, cast("MissingScore", rule)  # another word is refused as the file is read


@dataclass(frozen=True)
class StoredUpload(File):
    """A file the library keeps, read from its Parquet.

    Attributes:
        digest: sha256 of the bytes that were uploaded.
        uploaded_size: how many they were.
        reading: what they were read as.
        parquet_digest: sha256 of the Parquet.
        claim: where it came in a board file, sha256 and size of the upload it is said to be; not kept yet.
    """

    digest: str = ""
    uploaded_size: int = 0
    reading: Reading = Reading("", {})
    parquet_digest: str = ""
    claim: tuple[str, int] | None = None

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes that were uploaded."""
        return self.digest

    @cached_property
    def size(self) -> int:
        """Bytes that were uploaded."""
        return self.uploaded_size

    @cached_property
    def packed(self) -> str | None:
        """How the Parquet is packed as a whole: never."""
        return None

    @property
    def limit(self) -> float:
        """Most bytes that it may unpack to: any number, for it was within the limit when it was kept."""
        return super().limit if self.claim else inf

    def read(self, columns: Mapping[str, str]) -> Source:
        """Return what the file holds.

        Raises:
            LibraryError: the Parquet is gone or damaged.
            ReadError: it cannot be read with these columns.
        """
        self.verify()
        chosen, missing_score = split_choices(columns)
        source = read(self, self.reading.with_columns(chosen), missing_score=missing_score)
        noted = tuple(replace(one, file=self.name) for one in self._findings(source))
        return _swap_ranks_and_scores(
            replace(
                source,
                origin=self.provenance,
                format=self.reading.format,
                header=self.reading.header,
                noted=noted,
                tie_order=tie_order(self.reading.format),
            )
        )

    @property
    def provenance(self) -> FileProvenance:
        """Where its rows stood in the file that was uploaded."""
        return FileProvenance(self.name, lambda row: row + self.reading.first, self.reading.unit, self._ranks)

    def verify(self) -> None:
        """Raise a LibraryError where the Parquet is not what was written."""
        try:
            with self.open_parquet() as stream:
                digest = file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            reason = (error.strerror or "cannot be opened").lower()
            raise LibraryError(f"{self.name}: the library's copy: {reason}. Upload the file again.") from error
        if digest != self.parquet_digest:
            raise LibraryError(f"{self.name}: the library's copy is damaged. Upload the file again.")

    def open_parquet(self) -> BufferedIOBase:
        """Return the Parquet; OSError where it is gone."""
        return BytesIO(self.data) if isinstance(self.data, bytes) else self.data.open("rb")

    def _findings(self, source: Source) -> Iterable[Finding]:
        """Return what was found in reading; of columns chosen anew, what still holds."""
        if source.mapping == self.reading.mapping:
            return self.reading.noted
        ranks = {"ranks-as-scores"} if source.mapping.get("score") == "rank" else set()
        lasting = {"comments"} | ANSWER_CODES | ranks
        names = [f"The column {theirs!r} is" for theirs in source.mapping.values()]
        then = [
            one
            for one in self.reading.noted
            if one.code in lasting
            or (NOT_SCORES in one.message and not any(one.message.startswith(name) for name in names))
        ]
        unused = None if has_header(self.reading.format) else "columns-unused"
        return (*then, *(one for one in source.noted if one.code != unused))

    def _ranks(self) -> pa.Array | None:
        if has_header(self.reading.format) or "rank" in self.reading.mapping.values():
            return None
        from pyarrow import parquet  # noqa: PLC0415 30 ms that other formats need not pay

        with self.open_parquet() as stream, parquet.ParquetFile(stream) as table:
            if "rank" not in table.schema_arrow.names:
                return None
            ranks = table.read(["rank"])["rank"]
        try:
            return ranks.cast(pa.string()).cast(pa.float64()).combine_chunks()
        except pa.ArrowInvalid:
            return None


def write_parquet(file: File, source: Source, into: Path | IO[bytes]) -> None:
    """Write all columns of a file as Parquet with zstd, named and ordered as there; a kept file as it is.

    Args:
        file: as it was given, or one the library has.
        source: what was read of it.
        into: a path, or a stream.

    Raises:
        OSError: the disk is full or cannot be written.
    """
    if isinstance(file, StoredUpload):
        with file.open_parquet() as stream:
            if isinstance(into, Path):
                with into.open("wb") as copy:
                    copyfileobj(stream, copy)
            else:
                copyfileobj(stream, into)
        return
    from pyarrow import parquet  # noqa: PLC0415 as above

    read_as = _swap_ranks_and_scores(source).table
    source = replace(source, mapping=_mapping(source))
    table = read_as.rename_columns([source.mapping.get(name, name) for name in read_as.column_names])
    for name, column in unread(file, source).items():
        table = table.append_column(name, column)
    in_order = [name for name in source.header if name in table.column_names]
    parquet.write_table(table.select(in_order), into, compression="zstd")


def _mapping(source: Source) -> dict[str, str]:
    """Map our columns to the file's, of those that were read: judgments leave scores beside them."""
    return {ours: theirs for ours, theirs in source.mapping.items() if ours in source.table.column_names}


def _swap_ranks_and_scores(source: Source) -> Source:
    """Return a source; where ranks are all there is, minus-rank scores as ranks, or these as scores."""
    if source.format != "ranked" or source.mapping.get("score") != "rank":
        return source
    position = source.table.column_names.index("score")
    return replace(source, table=source.table.set_column(position, "score", pc.negate(source.table["score"])))


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
        """Return the profile of what was read."""
        scored = source.kind == "run"
        column = "score" if scored else "relevance"
        keys = [name for name in ("reranker", "query_id") if name in source.table.column_names]
        lists = source.table.group_by(keys).aggregate([([], "count_all")])
        ties = source.table.group_by([*keys, column]).aggregate([([], "count_all")])["count_all"]
        tied = pc.sum(ties.filter(pc.greater(ties, 1))).as_py() or 0
        return cls(
            len(pc.unique(source.table["query_id"])),
            pc.max(lists["count_all"]).as_py() or 0,
            tied / max(len(source.table), 1) if scored else None,
            tuple(histogram(source.table[column].to_numpy(), BARS)[0].tolist()),
        )
