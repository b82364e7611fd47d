"""Uploads from versions 0.1 and 0.2, which stored a file's table as Parquet and how it was read."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dashboard.library.uploads import MISSING_SCORE, StoredFile
from metrics.runs import COLUMNS, File, MissingScore, Source, has_header, read, tie_order
from metrics.runs.files import FileProvenance
from metrics.runs.findings import ANSWER_CODES, Finding

_RANKED = "ranked"
"""Format of files with ranks instead of scores; the Parquet has the ranks."""


@dataclass(frozen=True)
class EarlierUpload(StoredFile):
    """An upload stored as a Parquet of all its columns, under the file's column names.

    Attributes:
        reading: format, mapping, header, unit, first row, and findings.
    """

    parquet_digest: str = ""  # sha256 of the Parquet
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def packed(self) -> str | None:
        """Compression of the whole file: none."""
        return None

    def read(self, columns: Mapping[str, str], missing_score: MissingScore) -> Source:
        """Return the content of the file; LibraryError if the Parquet is missing or damaged."""
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

    @property
    def stored_digest(self) -> str:
        """Hash of the Parquet."""
        return self.parquet_digest

    def uploaded(self) -> Iterator[bytes]:
        """Yield the Parquet, because the uploaded bytes were not stored."""
        yield self.path.read_bytes()

    def described(self, source: Source) -> dict[str, Any]:
        """Return `reading` as of now."""
        mapping = {ours: theirs for ours, theirs in source.mapping.items() if ours in source.table.column_names}
        return {**self.reading, "mapping": mapping, "noted": [asdict(one) for one in source.noted]}

    def _noted(self, source: Source) -> tuple[Finding, ...]:
        """Return the findings that still apply to the chosen columns."""
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
    """Return our columns → the file's columns, empty if unused, with these choices applied."""
    mapping = {ours: theirs for ours, theirs in reading["mapping"].items() if theirs not in columns.values()}
    mapping.update(columns)
    return {column.name: mapping.get(column.name, "") for column in COLUMNS}


def as_plain_file(
    name: str, parquet: bytes, reading: Mapping[str, Any], columns: tuple[tuple[str, str], ...]
) -> tuple[File, tuple[tuple[str, str], ...]]:
    """Return a Parquet as an ordinary file, and the columns that read it as before."""
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
