"""Uploads to versions 0.1 and 0.2, which kept the table of a file as Parquet, beside what it was read as."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import file_digest
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dashboard.library.uploads import MISSING_SCORE, StoredFile
from metrics.errors import LibraryError
from metrics.runs import COLUMNS, File, MissingScore, Source, has_header, read, tie_order
from metrics.runs.files import FileProvenance
from metrics.runs.findings import ANSWER_CODES, Finding

_RANKED = "ranked"
"""Format of files that have ranks in place of scores; the Parquet has the ranks."""


@dataclass(frozen=True)
class EarlierUpload(StoredFile):
    """An upload of which there is a Parquet of all its columns, named as in the file.

    Attributes:
        parquet_digest: sha256 of the Parquet.
        reading: what the file was read as: format, mapping, header, unit and first of its rows, findings noted.
    """

    parquet_digest: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def packed(self) -> str | None:
        """How the Parquet is packed as a whole: never."""
        return None

    def read(self, columns: Mapping[str, str], missing_score: MissingScore) -> Source:
        """Return what the file held; LibraryError where the Parquet is gone or damaged."""
        self.verify()
        source = read(self, mapping_with(self.reading, columns), missing_score=missing_score)
        source = replace(
            source,
            origin=FileProvenance(
                self.name, lambda row: row + self.reading["first"], self.reading["unit"], self._ranks
            ),
            format=self.reading["format"],
            header=tuple(self.reading["header"]),
            noted=self._noted(source),
            tie_order=tie_order(self.reading["format"]),
        )
        if source.format != _RANKED or source.mapping.get("score") != "rank":
            return source
        position = source.table.column_names.index("score")
        scores = pc.negate(source.table["score"])
        return replace(source, table=source.table.set_column(position, "score", scores))

    def verify(self) -> None:
        """Raise a LibraryError where the Parquet is not what was written."""
        try:
            with self.path.open("rb") as stream:
                digest = file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            reason = (error.strerror or "cannot be opened").lower()
            raise LibraryError(f"{self.name}: the library's copy: {reason}. Upload the file again.") from error
        if digest != self.parquet_digest:
            raise LibraryError(f"{self.name}: the library's copy is damaged. Upload the file again.")

    def uploaded(self) -> Iterator[bytes]:
        """Yield the Parquet: the bytes that were uploaded are not kept."""
        yield self.path.read_bytes()

    def described(self, source: Source) -> dict[str, Any]:
        """Return what it is read as now, as `reading` says it."""
        mapping = {ours: theirs for ours, theirs in source.mapping.items() if ours in source.table.column_names}
        return {**self.reading, "mapping": mapping, "noted": [asdict(one) for one in source.noted]}

    def _noted(self, source: Source) -> tuple[Finding, ...]:
        """Return what was found in reading; of columns chosen anew, what still holds."""
        then = [replace(Finding(**one), file=self.name) for one in self.reading["noted"]]
        if source.mapping == self.reading["mapping"]:
            return tuple(then)
        lasting = {"comments", *ANSWER_CODES, *(["ranks-as-scores"] * (source.mapping.get("score") == "rank"))}
        unused = None if has_header(self.reading["format"]) else "columns-unused"
        return (
            *(one for one in then if one.code in lasting),
            *(one for one in source.noted if one.code != unused),
        )

    def _ranks(self) -> pa.Array | None:
        if has_header(self.reading["format"]) or "rank" in self.reading["mapping"].values():
            return None
        from pyarrow import parquet  # noqa: PLC0415 30 ms that other formats need not pay

        if "rank" not in parquet.read_schema(self.data).names:
            return None
        ranks = parquet.read_table(self.data, columns=["rank"])["rank"]
        try:
            return ranks.cast(pa.string()).cast(pa.float64()).combine_chunks()
        except pa.ArrowInvalid:
            return None


def mapping_with(reading: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, str]:
    """Map every column of ours to the file's, "" where it is not read, with these choices."""
    mapping = {ours: theirs for ours, theirs in reading["mapping"].items() if theirs not in columns.values()}
    mapping.update(columns)
    return {column.name: mapping.get(column.name, "") for column in COLUMNS}


def as_plain_file(
    name: str, parquet: bytes, reading: Mapping[str, Any], columns: tuple[tuple[str, str], ...]
) -> tuple[File, tuple[tuple[str, str], ...]]:
    """Return a Parquet as a file like any other, and the choice of columns that reads it as before."""
    choices = dict(columns)
    rule = {MISSING_SCORE: choices.pop(MISSING_SCORE)} if MISSING_SCORE in choices else {}
    mapping = mapping_with(reading, choices)
    if reading["format"] != _RANKED or mapping["score"] != "rank":
        return File(name, parquet), tuple(sorted({**mapping, **rule}.items()))
    table = read(File(name, parquet), mapping).table  # within its limits
    lists = zip(*(table[column].to_pylist() for column in ("query_id", "doc_id", "score")), strict=True)
    return File(
        name, "".join(f"{query}\t{document}\t{rank:g}\n" for query, document, rank in lists).encode()
    ), ()
