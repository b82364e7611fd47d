"""Runs: what was ranked, as given. Columns as named here, rows in file order, nothing sorted."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.arrays import IntArray, whole
from metrics.errors import ReadError, UsageError
from metrics.runs.columns import BY_NAME, recognise
from metrics.runs.files import File
from metrics.runs.findings import Finding, as_frame, coverage
from metrics.runs.formats import read
from metrics.runs.pairs import Pairs
from metrics.runs.source import Origin, Source, typed

Path = str | PurePath
_JUDGED = ("query_id", "doc_id", "relevance", "target_id")
_NO_VALUES = (bytes, bytearray, list, tuple, dict, set, np.ndarray)


@dataclass(frozen=True, eq=False)
class Runs:
    """The lists of one or more rerankers, with what is known of relevance.

    Attributes:
        tables: reranker → its rows in file order: query_id (text, perhaps as a dictionary), doc_id
            (text), score (float64), and relevance (float64) where there are no qrels.
        qrels: judgments as query_id, doc_id, relevance; None where the tables hold relevance.
        noted: what was found while reading.
    """

    tables: Mapping[str, pa.Table]
    qrels: pa.Table | None = None
    noted: tuple[Finding, ...] = ()
    _pairs: dict[str, Pairs] = field(default_factory=dict, init=False, repr=False)

    def pairs(self, reranker: str) -> Pairs:
        """Query and document of each row of one reranker."""
        if reranker not in self._pairs:
            self._pairs[reranker] = Pairs.of(self.tables[reranker])
        return self._pairs[reranker]

    @cached_property
    def judged_pairs(self) -> Pairs:
        """Query and document of each judgment of the qrels."""
        return Pairs.none() if self.qrels is None else Pairs.of(self.qrels)

    @cached_property
    def judged_rows(self) -> Mapping[str, tuple[IntArray, IntArray]]:
        """Reranker → its rows that the qrels judge, and the judgment of each."""
        found = {}
        for name in self.tables:
            found[name] = self.pairs(name).among(self.judged_pairs)
            self._pairs[name] = replace(self.pairs(name))  # without its prints: they have served
        return found

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in the order given."""
        return list(self.tables)

    @property
    def queries(self) -> Mapping[str, pa.Array]:
        """Reranker → its queries, in order of appearance."""
        return {name: self.pairs(name).queries for name in self.tables}

    @property
    def findings(self) -> pd.DataFrame:
        """What is worth knowing of these runs: severity, code, file, line, message, hint."""
        return as_frame(
            [*self.noted, *coverage(self.queries, None if self.qrels is None else self.judged_pairs.queries)]
        )

    @classmethod
    def from_sources(cls, sources: Iterable[Source]) -> "Runs":
        """Join what was read from several files: runs, tables and judgments, in any order.

        Raises:
            ReadError: a document twice in one list.
            UsageError: no run, no relevance, or two runs of one name.
        """
        tables: dict[str, pa.Table] = {}
        pairs: dict[str, Pairs] = {}
        judged: list[pa.Table] = []
        noted: list[Finding] = []
        for source in sources:
            if source.unused and source.format == "table":
                noted.append(_unused(source))
            if source.kind == "qrels":
                _refuse_repeats(source, Pairs.of(source.table))
                judged.append(_judgments_of(source.table))
                continue
            for name, table, rows in _by_reranker(source):
                if name in tables:
                    raise UsageError(
                        f"{source.file}: there are two runs named {name!r}. "
                        "Rename one file, or the reranker inside it."
                    )
                pairs[name] = Pairs.of(table)
                _refuse_repeats(source, pairs[name], rows)
                tables[name] = table
        return cls._checked(tables, judged, tuple(noted), pairs)

    @classmethod
    def _checked(
        cls,
        tables: dict[str, pa.Table],
        judged: list[pa.Table],
        noted: tuple[Finding, ...],
        pairs: dict[str, Pairs],
    ) -> "Runs":
        if not tables:
            raise UsageError("There is no run. Give a file with a score for each document.")
        qrels = pa.concat_tables(judged, promote_options="default").combine_chunks() if judged else None
        if len(judged) > 1 and qrels is not None and (twice := Pairs.of(qrels).repeats()[0]):
            document, query = (qrels[name][twice[1]].as_py() for name in ("doc_id", "query_id"))
            raise UsageError(f"Document {document!r} is judged for query {query!r} in two files. Give one.")
        without = [name for name, table in tables.items() if "relevance" not in table.column_names]
        if qrels is None and without:
            raise UsageError(
                f"Nothing says which documents of {without[0]!r} are relevant. "
                "Give judgments (--qrels FILE on the command line), or a table with a relevance column."
            )
        if qrels is not None:
            unused = ["relevance", *({"target_id"} - set(qrels.column_names))]
            noted += tuple(
                _inside_unused(name, column)
                for name, table in tables.items()
                for column in unused
                if column in table.column_names
            )
        runs = cls(tables, qrels, noted)
        runs._pairs.update(pairs)
        return runs

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
        plain = frame.set_axis([str(name) for name in frame.columns], axis=1)
        found = ", ".join(plain.columns)
        if not plain.columns.is_unique:
            raise ReadError("table", f"two columns share a name among {found}", "Rename one.")
        mapping = recognise(list(plain.columns), columns)
        for needed in ("query_id", "doc_id", "score"):
            if needed not in mapping:
                raise ReadError(
                    "table", f"no {needed} column among {found}", f"Choose it: columns={{'{needed}': NAME}}."
                )
        extras = [
            name
            for name in plain.columns.difference(list(mapping.values()), sort=False)
            if pd.api.types.is_any_real_numeric_dtype(plain[name]) and name not in BY_NAME
        ]
        raw = {name: _arrow(plain[name]) for name in [*mapping.values(), *extras]}
        origin = Origin("table", lambda row: row + 1)
        table = typed(raw, mapping, origin)
        used = {*mapping.values(), *table.column_names}
        unused = tuple(name for name in plain.columns if name not in used)
        return cls.from_sources([Source(origin, "table", table, mapping, unused)])


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
    return replace(source, table=_judgments_of(source.table))


def _judgments_of(table: pa.Table) -> pa.Table:
    return table.select([name for name in _JUDGED if name in table.column_names])


def _arrow(column: pd.Series) -> pa.Array:
    """A column of a frame: real numbers as they are, everything else as the text it prints as."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if pd.api.types.is_any_real_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return pa.array(
            column.to_numpy(np.float64, na_value=np.nan) if column.dtype.kind == "f" else column,
            from_pandas=True,
        )
    missing = column.isna().to_numpy()
    text = []
    for row, (value, gone) in enumerate(zip(column, missing, strict=True), 1):
        if isinstance(value, _NO_VALUES):
            problem = f"{column.name} holds a {type(value).__name__}"
            raise ReadError("table", problem, "Give text or a number.", line=row)
        text.append(None if gone else str(value))
    try:
        return pa.array(text, pa.string())
    except UnicodeEncodeError as error:
        raise ReadError("table", f"{column.name} holds text that is not Unicode", "Mend it.") from error


def _by_reranker(source: Source) -> Iterator[tuple[str, pa.Table, IntArray | None]]:
    """Name, rows and their numbers of each reranker, named by the user, else by a column, else by the file."""
    table = source.table
    if "reranker" not in table.column_names:
        yield source.name or File(source.file, b"").stem, table, None
        return
    codes = whole(table["reranker"])
    rest = table.drop_columns(["reranker"])
    only = source.name if len(codes.dictionary) == 1 else None
    for code, name in enumerate(codes.dictionary.to_pylist()):
        rows = np.flatnonzero(codes.indices.to_numpy() == code)
        yield only or name, rest.take(pa.array(rows)).combine_chunks(), rows


def _refuse_repeats(source: Source, pairs: Pairs, rows: IntArray | None = None) -> None:
    """A document has one place in a list: name the first that has two, and how many there are."""
    twice, repeats = pairs.repeats()
    if twice:
        lines = [source.origin.line_of(row if rows is None else int(rows[row])) for row in twice]
        document = pairs.documents[twice[1]].as_py()
        query = pairs.queries[int(pairs.query[twice[1]])].as_py()
        problem = (
            f"document {document!r} is listed twice for query {query!r}, first on line {lines[0]} "
            f"({repeats} repeated in all)"
        )
        raise ReadError(source.file, problem, "Keep one row of each.", line=lines[1])


def _inside_unused(name: str, column: str) -> Finding:
    message = f"The {column} inside the table is not used: judgments were given apart."
    return Finding(
        "info",
        f"{column.removesuffix('_id')}-unused",
        name,
        None,
        message,
        "Leave the judgments out to use it.",
    )


def _unused(source: Source) -> Finding:
    names = ", ".join(source.unused)
    return Finding(
        "info", "columns-unused", source.file, 1, f"Not read: {names}.", "Scores do not depend on them."
    )
