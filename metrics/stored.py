"""Evaluations kept in Parquet: a row a list, however many there are, read a column at a time."""

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.arrays import IntArray, coded
from metrics.errors import ReadError, UsageError
from metrics.evaluation import OPTIONS, Evaluation, Policy, refuse_other
from metrics.measures import parse
from metrics.merging import added, summarised, together
from metrics.ties import treatment

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy
    from pyarrow.parquet import FileMetaData, ParquetFile

VERSION = 1
"""Of the format; what is newer is refused."""
_KEY = b"tiescope"
_IDS = ["reranker", "query_id"]
_COUNTS = ["n_queries", "n_missing", "n_empty", "n_scored"]
_GROUP = 2**17
"""Rows written at once, at least; so many are read at once where all of them are gone over."""
_HINT = "`tiescope evaluate --save` and metrics.Stored.write make such files."


def column_of(measure: str, ties: str) -> str:
    """Name of the column with the values of a measure under a treatment: `nDCG@10/expected`."""
    return f"{measure}/{ties}"


class Piece(NamedTuple):
    """Some columns of a few lists that have values.

    Attributes:
        rows: (n,) places of the lists in the file.
        owner: (n,) places of their rerankers among all.
        values: column → its (n,) values.
    """

    rows: IntArray
    owner: IntArray
    values: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Stored:
    """An evaluation in a Parquet file; of the lists only what is asked for is read.

    The file has a row a list: reranker, query_id, the columns of `Evaluation.lists`, and one column a
    measure and treatment, named as by `column_of`. Lists that a policy left out have nulls there.

    Attributes:
        path: of the file.
        policies, measures, ties, missing, empty, precision, relevant_from, tiebreak_by: as of `Evaluation`.
    """

    path: Path
    policies: pd.DataFrame
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    missing: Policy
    empty: Policy
    precision: str
    relevant_from: float
    tiebreak_by: tuple[str, ...]

    @classmethod
    def open(cls, path: str | PurePath) -> "Stored":
        """An evaluation that was kept.

        Raises:
            ReadError: there is no such file, or it holds something else.
        """
        from pyarrow import parquet  # noqa: PLC0415 30 ms that others need not pay

        name = PurePath(path).name
        try:
            footer = parquet.read_metadata(path)
            described = json.loads((footer.metadata or {}).get(_KEY, b"null"))
        except FileNotFoundError as error:
            raise ReadError(str(path), "no such file", "Check the path.") from error
        except (OSError, pa.ArrowException, ValueError, RecursionError) as error:
            raise ReadError(name, "damaged, or no Parquet file", _HINT) from error
        if not isinstance(described, dict):
            raise ReadError(name, "no evaluation is kept in it", _HINT)
        if described.get("version") != VERSION:
            raise ReadError(name, f"its format is {described.get('version')!r}", "Use a newer TieScope.")
        try:
            return cls(path=Path(path), **_described(described, footer))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ReadError(name, f"what it says of its evaluation is damaged ({error})", _HINT) from error

    @classmethod
    def write(cls, path: str | PurePath, parts: Iterable[Evaluation]) -> "Stored":
        """Keep an evaluation, given whole or in parts as `Evaluation.merge` takes them.

        Raises:
            UsageError: no part, parts that do not belong together, or a file that cannot be written.
        """
        for _ in saving(parts, path):
            pass
        return cls.open(path)

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in order of appearance."""
        return list(self.policies.index)

    @property
    def n_lists(self) -> int:
        """Lists that have values."""
        return int(self.policies["n_scored"].sum())

    @cached_property
    def owner(self) -> "pd.Series[Any]":
        """(n_lists,) reranker of each list that has values; categories as `rerankers`."""
        names = coded(self._scored(["reranker"])["reranker"])
        place = pd.Index(self.rerankers).get_indexer(names.dictionary.to_pylist()).astype(np.int16)
        return pd.Series(pd.Categorical.from_codes(place[names.indices], self.rerankers), name="reranker")

    def columns(self, names: Sequence[str]) -> pd.DataFrame:
        """Columns of the file, for each list that has values; row by row they belong to `owner`.

        Args:
            names: query_id, those of `Evaluation.lists`, or as `column_of` says.

        Raises:
            ReadError: there is no such column, or the file is gone.
        """
        table = self._scored(names)
        return pd.DataFrame({name: table[name].to_pandas() for name in names}, copy=False)

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """As `columns`, a few lists at a time, the next ones read meanwhile; in the order of the file."""
        places, wanted = pd.Index(self.rerankers), ["reranker", "n_docs", *names]
        with self._file(wanted) as file:
            batches, first = file.iter_batches(_GROUP, columns=wanted, use_threads=False), 0
            for batch in _ahead(batches):
                if batch["n_docs"].null_count:
                    kept = np.flatnonzero(batch["n_docs"].is_valid())
                    lists = batch.take(pa.array(kept))
                else:
                    kept, lists = np.arange(len(batch)), batch
                owner = coded(lists["reranker"])
                place = places.get_indexer(owner.dictionary.to_pylist())
                values = {name: lists[name].to_numpy(zero_copy_only=False) for name in names}
                yield Piece(first + kept, place.astype(np.int32)[owner.indices.to_numpy()], values)
                first += len(batch)

    def at(self, rows: IntArray, names: Sequence[str]) -> pd.DataFrame:
        """Columns of a few lists, at these places in the file; only what is around them is read."""
        found = []
        with self._file(names) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            ends = np.cumsum(sizes)
            group, order = np.searchsorted(ends, rows, side="right"), []
            for one in np.unique(group):
                here = np.flatnonzero(group == one)
                place = pa.array(rows[here] - (ends[one] - sizes[one]))
                found.append(file.read_row_group(one, list(names), use_threads=False).take(place))
                order.append(here)
        if not found:
            return pd.DataFrame(columns=list(names))
        table = pa.concat_tables(found).select(list(names)).to_pandas()
        return table.iloc[np.argsort(np.concatenate(order))].reset_index(drop=True)

    def means(self, measure: str) -> pd.DataFrame:
        """As of `Evaluation`."""
        return self._by_reranker([measure]).mean()[measure]

    def summary(self) -> pd.DataFrame:
        """As of `Evaluation`; a measure is read at a time."""
        order = self.policies.index
        return pd.concat([summarised(self._by_reranker([name]), order) for name in self.measures], axis=1)

    def load(self) -> Evaluation:
        """All of it in memory.

        Raises:
            ReadError: the file is gone.
        """
        values = [column_of(*name) for name in self._names(self.measures)]
        table = self._scored(None)
        index, lists = _lists(table), table.drop_columns([*_IDS, *values]).to_pandas()
        scores = pd.DataFrame({name: table[name].to_numpy() for name in values}, index, copy=False)
        return Evaluation(
            scores=together([scores.set_axis(self._names(self.measures), axis=1)], self.policies.index),
            lists=together([lists.set_index(index)], self.policies.index),
            policies=self.policies,
            skipped=_lists(self._read([*_IDS, "n_docs"]).filter(pc.field("n_docs").is_null())),
            **{name: getattr(self, name) for name in OPTIONS},
        )

    def _by_reranker(self, measures: Sequence[str]) -> "DataFrameGroupBy[Any]":
        """Values of some measures, columns (measure, ties), grouped by reranker."""
        names = self._names(measures)
        values = self.columns([column_of(*name) for name in names]).set_axis(names, axis=1)
        return values.groupby(self.owner, observed=False)

    def _names(self, measures: Sequence[str]) -> pd.MultiIndex:
        return pd.MultiIndex.from_product([measures, self.ties], names=["measure", "ties"])

    def _scored(self, columns: Sequence[str] | None) -> pa.Table:
        """Some columns, or all, of the lists that have values."""
        if self.n_lists == self.policies["n_queries"].sum():
            return self._read(columns)
        table = self._read(columns if columns is None else [*columns, "n_docs"])
        return table.filter(pc.field("n_docs").is_valid())

    def _read(self, columns: Sequence[str] | None) -> pa.Table:
        with self._file(columns or []) as file:
            return file.read(columns)

    @contextmanager
    def _file(self, columns: Sequence[str]) -> Iterator["ParquetFile"]:
        """The file, which has these columns."""
        from pyarrow import parquet  # noqa: PLC0415 as above

        try:
            with parquet.ParquetFile(self.path, memory_map=True) as file:
                if unknown := set(columns) - set(file.schema_arrow.names):
                    raise ReadError(self.path.name, f"there is no column {min(unknown)!r}", _HINT)
                yield file
        except (OSError, pa.ArrowException) as error:
            raise ReadError(self.path.name, "it is gone or damaged", "Open it again.") from error


def is_stored(given: str | PurePath | bytes) -> bool:
    """Whether a file, or its bytes, say that they keep an evaluation, of whatever version."""
    from pyarrow import parquet  # noqa: PLC0415 as above

    if not isinstance(given, bytes) and not Path(given).is_file():
        return False  # a pipe can be read but once
    try:
        footer = parquet.read_metadata(pa.BufferReader(given) if isinstance(given, bytes) else given)
    except (OSError, pa.ArrowException):
        return False
    return _KEY in (footer.metadata or {})


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same, the next one read while the last is worked on."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


def saving(parts: Iterable[Evaluation], path: str | PurePath) -> Iterator[Evaluation]:
    """The parts of an evaluation as they come, each kept before it is handed on.

    The file is there after the last part, and then it is whole.

    Raises:
        UsageError: no part, parts that do not belong together, or a file that cannot be written.
    """
    with _Writing(Path(path)) as file:
        for part in parts:
            file.add(part)
            yield part


class _Writing:
    """A Parquet file that grows beside its place."""

    def __init__(self, path: Path) -> None:
        self._path, self._beside = path, path.with_name(f"{path.name}.part")
        self._first: Evaluation | None = None
        self._policies: list[pd.DataFrame] = []
        self._waiting: list[pa.Table] = []
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            if self._writer is not None:
                with suppress(OSError):
                    self._writer.close()
            self._beside.unlink(missing_ok=True)

    def add(self, part: Evaluation) -> None:
        """The next part."""
        self._first = self._first or part
        refuse_other(part, self._first)
        self._policies = [added([*self._policies, part.policies])]
        self._waiting.append(_rows(part))
        if sum(map(len, self._waiting)) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        from pyarrow import parquet  # noqa: PLC0415 as above

        table = pa.concat_tables(self._waiting)
        self._waiting = []
        with _refused(self._path):
            self._writer = self._writer or parquet.ParquetWriter(self._beside, table.schema, compression="zstd")
            self._writer.write_table(table, row_group_size=len(table))

    def _finish(self) -> None:
        if self._first is None:
            raise UsageError("There is nothing to keep: no part of an evaluation was given.")
        if self._waiting:
            self._flush()
        about = {name: getattr(self._first, name) for name in OPTIONS}
        about |= {"version": VERSION, "policies": self._policies[0].to_dict("index")}
        with _refused(self._path):
            self._writer.add_key_value_metadata({_KEY: json.dumps(about)})
            self._writer.close()
            self._beside.replace(self._path)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _rows(part: Evaluation) -> pa.Table:
    """A row a list; those left out come last."""
    scores = part.scores.set_axis([column_of(*name) for name in part.scores.columns], axis=1)
    columns = _ids(part.scores.index)
    for table in (part.lists, scores):
        columns |= {str(name): pa.array(values.to_numpy()) for name, values in table.items()}
    skipped = [pa.table(_ids(part.skipped))] if len(part.skipped) else []
    return pa.concat_tables([pa.table(columns), *skipped], promote_options="default")


def _ids(index: pd.MultiIndex) -> dict[str, pa.Array]:
    names = pa.array(index.levels[0], pa.string())
    owner = pa.DictionaryArray.from_arrays(pa.array(index.codes[0], pa.int32()), names)
    return {"reranker": owner, "query_id": pa.array(index.get_level_values("query_id"), pa.string())}


def _lists(table: pa.Table) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([table[name].cast(pa.string()).to_pandas() for name in _IDS], names=_IDS)


def _described(about: dict[str, Any], footer: "FileMetaData") -> dict[str, Any]:
    """What a file says of its evaluation, as the attributes of `Stored`.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: it is not as it was written.
    """
    found = {name: about[name] for name in OPTIONS}
    found |= {name: tuple(map(str, about[name])) for name in ("measures", "ties", "tiebreak_by")}
    policies = pd.DataFrame.from_dict(about["policies"], orient="index", columns=_COUNTS).astype(np.int64)
    columns = {column.name: column.physical_type for column in footer.schema}
    for measure, ties in product(map(parse, found["measures"]), map(treatment, found["ties"])):
        if columns.get(name := column_of(str(measure), ties.name)) != "DOUBLE":
            raise ValueError(f"no numbers in column {name!r}")
    if not {*_IDS, "n_docs", "tie_ratio"} <= columns.keys() or footer.num_rows != policies["n_queries"].sum():
        raise ValueError("columns or rows are not those of its lists")
    return found | {"policies": policies.rename_axis("reranker")}
