"""Runs: what was ranked, as given. Columns as named here, rows in file order, nothing sorted."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, UsageError
from metrics.runs.columns import recognise
from metrics.runs.files import File
from metrics.runs.findings import Finding, as_frame, coverage
from metrics.runs.formats import read
from metrics.runs.source import Origin, Source, typed

Path = str | PurePath


@dataclass(frozen=True)
class Runs:
    """The lists of one or more rerankers, with what is known of relevance.

    Attributes:
        tables: reranker → its rows in file order: query_id, doc_id (text), score (float64), and
            relevance (float64) where there are no qrels.
        qrels: judgments as query_id, doc_id, relevance; None where the tables hold relevance.
        noted: what was found while reading.
    """

    tables: Mapping[str, pa.Table]
    qrels: pa.Table | None = None
    noted: tuple[Finding, ...] = field(default=())

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in the order given."""
        return list(self.tables)

    @property
    def findings(self) -> pd.DataFrame:
        """What is worth knowing of these runs: severity, code, file, line, message, hint."""
        return as_frame([*self.noted, *coverage(self.tables, self.qrels)])

    @classmethod
    def from_sources(cls, sources: Iterable[Source]) -> "Runs":
        """Join what was read from several files: runs, tables and judgments, in any order.

        Raises:
            ReadError: a document twice in one list.
            UsageError: no run, no relevance, or two runs of one name.
        """
        tables: dict[str, pa.Table] = {}
        judged: list[pa.Table] = []
        noted: list[Finding] = []
        for source in sources:
            _refuse_duplicates(source)
            if source.unused and source.format == "table":
                noted.append(_unused(source))
            if source.kind == "qrels":
                judged.append(source.table.select(["query_id", "doc_id", "relevance"]))
                continue
            for name, table in _by_reranker(source):
                if name in tables:
                    raise UsageError(
                        f"{source.file}: there are two runs named {name!r}. "
                        "Rename one file, or the reranker inside it."
                    )
                tables[name] = table
        return cls._checked(tables, judged, tuple(noted))

    @classmethod
    def _checked(
        cls, tables: dict[str, pa.Table], judged: list[pa.Table], noted: tuple[Finding, ...]
    ) -> "Runs":
        if not tables:
            raise UsageError("There is no run, only judgments. Add a file with a score for each document.")
        qrels = pa.concat_tables(judged) if judged else None
        without = [name for name, table in tables.items() if "relevance" not in table.column_names]
        if qrels is None and without:
            raise UsageError(
                f"Nothing says which documents of {without[0]!r} are relevant. "
                "Give judgments (--qrels FILE), or a table with a relevance column."
            )
        return cls(tables, qrels, noted)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, columns: Mapping[str, str] | None = None) -> "Runs":
        """Runs from one long table in memory, with relevance inside.

        Args:
            frame: one row a document: query_id, doc_id, score, relevance, and reranker where
                there are several. Other names are recognised as in a file.
            columns: our column → the frame's, where the name says it otherwise.

        Raises:
            ReadError: a missing column, an empty id, a score that is no number, a repeated document.
        """
        plain = frame.rename(columns=str)
        mapping = recognise(list(plain.columns), columns)
        for needed in ("query_id", "doc_id", "score"):
            if needed not in mapping:
                found = ", ".join(plain.columns)
                raise ReadError("table", f"no {needed} column among {found}", f"Choose it: {needed}=NAME.")
        raw = pa.Table.from_pandas(plain[list(mapping.values())], preserve_index=False)

        origin = Origin("table", lambda row: row + 1)
        unused = tuple(name for name in plain.columns if name not in mapping.values())
        return cls.from_sources([Source(origin, "table", typed(raw, mapping, origin), mapping, unused)])


def read_runs(files: Mapping[str, Path] | Iterable[Path], qrels: Path | None = None) -> Runs:
    """Read run files, and the judgments that go with them.

    Args:
        files: reranker → path, or paths: a reranker is then named by its column, else by the
            stem of its file.
        qrels: path of the judgments; not needed where the tables hold relevance.

    Raises:
        ReadError: a file cannot be read; names file, line and value.
        UsageError: relevance is nowhere, or two runs share a name.
    """
    if isinstance(files, str | PurePath):
        files = [files]
    named = files.items() if isinstance(files, Mapping) else [(None, path) for path in files]
    sources = [replace(as_run(read(File.open(path))), name=name) for name, path in named]
    if qrels is not None:
        sources.append(as_judgments(read(File.open(qrels))))
    return Runs.from_sources(sources)


def read_table(path: Path, columns: Mapping[str, str] | None = None) -> Runs:
    """Read one long table with relevance, and perhaps several rerankers, inside.

    Args:
        path: a CSV, TSV or semicolon file with a header.
        columns: our column → the file's, where the header says it otherwise.

    Raises:
        ReadError: the table cannot be read; names file, line and value.
    """
    return Runs.from_sources([read(File.open(path), columns)])


def as_run(source: Source) -> Source:
    """The source, if it has scores."""
    if source.kind == "qrels":
        found = ", ".join(source.mapping.values())
        hint = "A run needs a score for each document; judgments are given as qrels."
        raise ReadError(source.file, f"no score column among {found}", hint, line=1)
    return source


def as_judgments(source: Source) -> Source:
    """The grades of the source, if it has any; scores beside them are left."""
    if "relevance" not in source.table.column_names:
        hint = "Judgments are lines of query 0 document grade."
        raise ReadError(source.file, "this is a run, not judgments", hint, line=1)
    return replace(source, table=source.table.select(["query_id", "doc_id", "relevance"]))


def _by_reranker(source: Source) -> Iterable[tuple[str, pa.Table]]:
    """The rows of each reranker, named by the user, else by a column, else by the file."""
    table = source.table
    if "reranker" not in table.column_names:
        yield source.name or File(source.file, b"").stem, table
        return
    codes = table["reranker"].combine_chunks().dictionary_encode()
    rest = table.drop_columns(["reranker"])
    only = source.name if len(codes.dictionary) == 1 else None
    for code, name in enumerate(codes.dictionary.to_pylist()):
        yield only or name, rest.filter(pc.equal(codes.indices, code))


def _refuse_duplicates(source: Source) -> None:
    """A document has one place in a list: name the first that has two, and how many there are."""
    keys = [name for name in ("reranker", "query_id", "doc_id") if name in source.table.column_names]
    key = np.zeros(len(source.table), dtype=np.int64)
    for name in keys:
        encoded = source.table[name].combine_chunks().dictionary_encode()
        key = key * len(encoded.dictionary) + encoded.indices.to_numpy()
    ordered = np.sort(key)
    if not (repeats := np.count_nonzero(ordered[1:] == ordered[:-1])):
        return
    rows = defaultdict(list)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    for row in np.flatnonzero(np.isin(key, twice)):
        rows[int(key[row])].append(int(row))
    first, second = next(iter(rows.values()))[:2]
    document, query = source.table["doc_id"][second].as_py(), source.table["query_id"][second].as_py()
    problem = (
        f"document {document!r} is listed twice for query {query!r}, "
        f"first on line {source.origin.line_of(first)} ({repeats} repeated in all)"
    )
    raise ReadError(source.file, problem, "Keep one row of each.", line=source.origin.line_of(second))


def _unused(source: Source) -> Finding:
    names = ", ".join(source.unused)
    return Finding(
        "info", "columns-unused", source.file, 1, f"Not read: {names}.", "Scores do not depend on them."
    )
