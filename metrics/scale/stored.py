"""Evaluations stored in Parquet: one row per list, and JSON in the footer of the file."""

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, UsageError
from metrics.evaluation import EQUAL, Evaluation, ScoringOptions
from metrics.evaluation.evaluation import concat_by_reranker, flat_means, sum_counts, summarise
from metrics.measures import parse
from metrics.runs import File
from metrics.runs.writing import open_output
from metrics.support.arrays import FloatArray, IntArray, span_starts
from metrics.support.columns import coded
from metrics.ties import treatment

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy
    from pyarrow.parquet import FileMetaData, ParquetFile


VERSION = 1
"""Version of the format; newer ones are refused."""
KEY = b"tiescope"
"""Key of the JSON in the footer."""
MOVABLE = "movable"
"""Takes the place of a treatment in column names: the number of lists whose worst and best values differ."""
SQUARES = "squares"
"""Takes the place of a treatment in column names: the sum of squared tied values."""
IDS = ["reranker", "query_id"]
GROUP = 2**17
"""Minimum rows of a row group, and rows of a batch."""


def column_of(measure: str, ties: str) -> str:
    """Return the column of a measure under a treatment: `nDCG@10/expected`."""
    return f"{measure}/{ties}"


_NUMBERS = {"n_docs": pa.int64(), "max_tie_size": pa.int64(), "tie_ratio": pa.float64()}


def parse_footer(about: dict[str, Any], footer: "FileMetaData") -> dict[str, Any]:
    """Return the attributes of `Stored` from the JSON of a file.

    Raises:
        ValueError: they do not describe an evaluation, or not these rows; says why.
        LookupError, TypeError, AttributeError, ArithmeticError: likewise.
    """
    measures, ties = tuple(map(str, map(parse, about["measures"]))), tuple(map(str, about["ties"]))
    options = ScoringOptions(**{option.name: about[option.name] for option in fields(ScoringOptions)})
    policies, totals = (
        pd.DataFrame.from_dict(about[name], "index", kind).rename_axis("reranker")
        for name, kind in (("policies", np.int64), ("totals", np.float64))
    )
    values = [column_of(name, treatment(order).name) for name, order in product(measures, ties)]
    squares = [column_of(name, SQUARES) for name in measures if "expected" in ties]
    if not values or totals[["tie_ratio", *values, *squares]].isna().any(axis=None):
        raise ValueError("it holds no values")
    if list(totals.index) != list(policies.index) or policies["n_queries"].sum() != footer.num_rows:
        raise ValueError("its counts are not those of its rows")
    schema = footer.schema.to_arrow_schema()
    for name, kind in (_NUMBERS | dict.fromkeys(values, pa.float64())).items():
        if schema.field(name).type != kind:
            raise ValueError(f"column {name!r} does not hold numbers")
    for name in IDS:
        kind = schema.field(name).type
        if not pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind):
            raise ValueError(f"column {name!r} does not hold names")
    return {"measures": measures, "ties": ties, "options": options, "policies": policies, "totals": totals}


def save_parts(parts: Iterable[Evaluation], path: str | PurePath) -> Iterator[Evaluation]:
    """Write the parts of an evaluation to a file as they come, and yield each.

    The file appears after the last part, complete.
    """
    with open_output(Path(path)) as stream:
        yield from _write_parts(parts, stream)


def _write_parts(parts: Iterable[Evaluation], stream: IO[bytes]) -> Iterator[Evaluation]:
    first: Evaluation | None = None
    writer: Any = None
    policies, totals, rows = list[pd.DataFrame](), list[pd.DataFrame](), list[pa.Table]()
    try:
        for part in parts:
            first = first or part
            part.refuse_other(first)
            policies = [sum_counts([*policies, part.policies])]
            totals = [sum_counts([*totals, _totals(part)])]
            rows.append(_rows(part))
            if sum(map(len, rows)) >= GROUP:
                writer, rows = _write_rows(stream, writer, rows), []
            yield part
        if first is None:
            raise UsageError("There is nothing to store: give at least one part of an evaluation.")
        if rows:
            writer = _write_rows(stream, writer, rows)
        about = {
            **first.design(),
            "version": VERSION,
            "policies": policies[0].to_dict("index"),
            "totals": totals[0].reindex(policies[0].index, fill_value=0.0).to_dict("index"),
        }
        writer.add_key_value_metadata({KEY: json.dumps(about)})
        writer.close()
    finally:
        if writer is not None:
            with suppress(OSError, UsageError):
                writer.close()


def _write_rows(stream: IO[bytes], writer: Any, rows: list[pa.Table]) -> Any:  # noqa: ANN401 as pyarrow's
    from pyarrow import parquet  # noqa: PLC0415 30 ms that others need not pay

    table = pa.concat_tables(rows)
    writer = writer or parquet.ParquetWriter(stream, table.schema, compression="zstd")
    writer.write_table(table, row_group_size=max(len(table), 1))
    return writer


def _rows(part: Evaluation) -> pa.Table:
    scores = part.scores.set_axis([column_of(*name) for name in part.scores.columns], axis=1)
    columns = _ids(part.scores.index)
    for table in (part.lists, scores):
        columns |= {str(name): pa.array(values.to_numpy()) for name, values in table.items()}
    skipped = [pa.table(_ids(part.skipped))] if len(part.skipped) else []
    return pa.concat_tables([pa.table(columns), *skipped], promote_options="default")


def _totals(part: Evaluation) -> pd.DataFrame:
    columns = {"tie_ratio": part.lists["tie_ratio"]}
    columns |= {column_of(*name): part.scores[name] for name in part.scores.columns}
    for measure in part.measures if {"optimistic", "pessimistic"} <= set(part.ties) else ():
        best, worst = part.scores[measure, "optimistic"], part.scores[measure, "pessimistic"]
        columns[column_of(measure, MOVABLE)] = (best > worst).astype(float)
    for measure in part.measures if "expected" in part.ties else ():
        columns[column_of(measure, SQUARES)] = part.scores[measure, "expected"] ** 2
    owner = part.scores.index.codes[0]
    starts = span_starts(owner)
    sums: dict[str, Any] = {
        name: np.add.reduceat(one.to_numpy(), starts) if len(starts) else [] for name, one in columns.items()
    }
    return pd.DataFrame(sums, part.scores.index.levels[0][owner[starts]].rename("reranker"), dtype=float)


def _ids(index: pd.MultiIndex) -> dict[str, pa.Array]:
    names = pa.array(index.levels[0], pa.string())
    owner = pa.DictionaryArray.from_arrays(pa.array(index.codes[0], pa.int32()), names)
    return {"reranker": owner, "query_id": pa.array(index.get_level_values("query_id"), pa.string())}


_HINT = "`tiescope evaluate --save` and metrics.Stored.write make such files."


class Piece(NamedTuple):
    """Some columns of a few scored lists.

    Attributes:
        rows: (n,) rows of the lists in the file.
        queries: (n,) their queries.
        owner: (n,) positions of their rerankers.
        columns: column → its (n,) values.
    """

    rows: IntArray
    queries: pa.Array
    owner: IntArray
    columns: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Stored:
    """An evaluation in a Parquet file, read only as far as needed.

    The file has one row per list: reranker, query_id, the columns of `Evaluation.lists`, and one column per
    measure and treatment, named by `column_of`. Skipped lists have nulls there.

    Attributes:
        path: of the file.
        policies, measures, ties, options: as in `Evaluation`.
        totals: index reranker; sums over its lists of tie_ratio and of each column of values.
            `column_of(measure, MOVABLE)` counts the lists whose best value exceeds the worst.
            `column_of(measure, SQUARES)` sums the squares of the tied values.
    """

    path: Path
    policies: pd.DataFrame
    totals: pd.DataFrame
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    options: ScoringOptions

    @classmethod
    def open(cls, path: str | PurePath) -> "Stored":
        """Open a stored evaluation.

        Raises:
            ReadError: there is no such file, or it is not a stored evaluation.
        """
        from pyarrow import parquet  # noqa: PLC0415 30 ms that others need not pay

        name = PurePath(path).name
        try:
            footer = parquet.read_metadata(path)
            about = json.loads((footer.metadata or {}).get(KEY, b"null"))
        except FileNotFoundError as error:
            raise ReadError(str(path), "no such file", "Check the path.") from error
        except (OSError, pa.ArrowException, ValueError, RecursionError) as error:
            raise ReadError(name, "damaged, or not a Parquet file", _HINT) from error
        if not isinstance(about, dict):
            raise ReadError(name, "it is not a stored evaluation", _HINT)
        if about.get("version") != VERSION:
            raise ReadError(name, f"its format is {about.get('version')!r}", "Use a newer TieScope.")
        try:
            return cls(path=Path(path), **parse_footer(about, footer))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise ReadError(name, f"the description of its evaluation is damaged ({error})", _HINT) from error

    @classmethod
    def write(cls, path: str | PurePath, parts: Iterable[Evaluation]) -> "Stored":
        """Store an evaluation, given whole or in parts as for `Evaluation.merge`.

        Raises:
            UsageError: there is no part, parts do not match, or the file cannot be written.
        """
        for _ in save_parts(parts, path):
            pass
        return cls.open(path)

    def __repr__(self) -> str:
        parts = f"lists={self.n_lists}, measures={self.measures}, ties={self.ties}"
        return f"Stored({str(self.path)!r}, rerankers={len(self.policies)}, {parts})"

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in order of appearance."""
        return list(self.policies.index)

    @property
    def n_lists(self) -> int:
        """Number of scored lists."""
        return int(self.policies["n_scored"].sum())

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Yield columns of numbers in batches of lists, in file order, while the next batch is read."""
        places, is_complete = pd.Index(self.rerankers), self.n_lists == self.policies["n_queries"].sum()
        to_read = [*IDS, *names, *([] if is_complete else ["n_docs"])]
        with self._file(to_read) as file:
            batches, first = file.iter_batches(GROUP, columns=to_read, use_threads=False), 0
            for batch in _read_ahead(batches):
                is_scored = np.arange(len(batch)) if is_complete else np.flatnonzero(batch["n_docs"].is_valid())
                lists = batch if is_complete else batch.take(pa.array(is_scored))
                owner = coded(lists["reranker"])
                place = places.get_indexer(owner.dictionary.to_pylist()).astype(np.int32)
                columns = {name: self._sound(name, lists[name]) for name in names}
                if (place < 0).any():
                    raise ReadError(
                        self.path.name, "a list belongs to a reranker that the file does not name", _HINT
                    )
                yield Piece(first + is_scored, lists["query_id"], place[owner.indices.to_numpy()], columns)
                first += len(batch)

    def _sound(self, name: str, column: pa.Array) -> FloatArray:
        values: FloatArray = column.to_numpy(zero_copy_only=False)
        if len(values) and not (values.min() >= 0 and values.max() < np.inf):
            raise ReadError(
                self.path.name, f"column {name!r} holds numbers that are not values of a measure", _HINT
            )
        return values

    def at(self, rows: IntArray, names: Sequence[str]) -> pd.DataFrame:
        """Return columns of a few lists, given by row of the file; only their row groups are read."""
        tables = []
        with self._file(names) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            ends = np.cumsum(sizes)
            group, order = np.searchsorted(ends, rows, side="right"), []
            for number in np.unique(group):
                inside = np.flatnonzero(group == number)
                place = pa.array(rows[inside] - (ends[number] - sizes[number]))
                tables.append(file.read_row_group(number, list(names), use_threads=False).take(place))
                order.append(inside)
        if not tables:
            return pd.DataFrame(columns=list(names))
        table = pa.concat_tables(tables).select(list(names)).to_pandas()
        return table.iloc[np.argsort(np.concatenate(order))].reset_index(drop=True)

    def means(self, measure: str) -> pd.DataFrame:
        """Return the means as `Evaluation.means`, without reading a list."""
        sums = self.totals[[column_of(measure, ties) for ties in self.ties]].set_axis(list(self.ties), axis=1)
        return sums.div(self.policies["n_scored"], axis=0)

    @property
    def tie_ratios(self) -> "pd.Series[float]":
        """Mean tie ratio of each reranker, without reading a list."""
        return self.totals["tie_ratio"] / self.policies["n_scored"]

    def standard_errors(self, measure: str) -> "pd.Series[float]":
        """Return the standard error of each reranker's tied mean, without reading a list.

        sqrt((sum of squares / n - mean^2) / (n - 1)); 0 if that is rounding error; NaN for a single list.
        """
        n, mean = self.policies["n_scored"], self.means(measure)["expected"]
        squares = self.totals[column_of(measure, SQUARES)] / n
        variance = (squares - mean**2).where(lambda spread: spread > EQUAL * squares, 0.0)
        return np.sqrt(variance / (n - 1).where(n > 1))

    def summary(self, *, flat: bool = False) -> pd.DataFrame:
        """Return the same as `Evaluation.summary`, reading one measure at a time."""
        order = self.policies.index
        table = pd.concat([summarise(self._by_reranker(name), order) for name in self.measures], axis=1)
        return flat_means(table) if flat else table

    def load(self) -> Evaluation:
        """Load the whole evaluation into memory.

        Raises:
            ReadError: the file is gone.
        """
        values = [column_of(*name) for name in self._names(self.measures)]
        table = self._scored(None)
        index, lists = _lists(table), table.drop_columns([*IDS, *values]).to_pandas()
        scores = pd.DataFrame({name: table[name].to_numpy() for name in values}, index, copy=False)
        return Evaluation(
            scores=concat_by_reranker(
                [scores.set_axis(self._names(self.measures), axis=1)], self.policies.index
            ),
            lists=concat_by_reranker([lists.set_index(index)], self.policies.index),
            policies=self.policies,
            measures=self.measures,
            ties=self.ties,
            options=self.options,
            skipped=_lists(self._read([*IDS, "n_docs"]).filter(pc.field("n_docs").is_null())),
        )

    def _by_reranker(self, measure: str) -> "DataFrameGroupBy[Any]":
        names = self._names([measure])
        table = self._scored(["reranker", *(column_of(*name) for name in names)])
        owner = coded(table["reranker"]).to_pandas()
        values = table.drop_columns("reranker").to_pandas().set_axis(names, axis=1)
        return values.groupby(owner.rename("reranker"), observed=True)

    def _names(self, measures: Sequence[str]) -> pd.MultiIndex:
        return pd.MultiIndex.from_product([measures, self.ties], names=["measure", "ties"])

    def _scored(self, columns: Sequence[str] | None) -> pa.Table:
        if self.n_lists == self.policies["n_queries"].sum():
            return self._read(columns)
        table = self._read(columns and [*columns, "n_docs"]).filter(pc.field("n_docs").is_valid())
        return table.select(columns) if columns else table

    def _read(self, columns: Sequence[str] | None) -> pa.Table:
        with self._file(columns or []) as file:
            return file.read(columns)

    @contextmanager
    def _file(self, columns: Sequence[str]) -> Iterator["ParquetFile"]:
        from pyarrow import parquet  # noqa: PLC0415 as above

        try:
            with parquet.ParquetFile(self.path, memory_map=True) as file:
                if unknown := set(columns) - set(file.schema_arrow.names):
                    raise ReadError(self.path.name, f"there is no column {min(unknown)!r}", _HINT)
                yield file
        except (OSError, pa.ArrowException) as error:
            raise ReadError(self.path.name, "it was removed or damaged", "Open it again.") from error


def is_stored(file: File) -> bool:
    """Tell whether a file is a stored evaluation, of any version."""
    from pyarrow import parquet  # noqa: PLC0415 as above

    try:
        with file.given() as stream:
            return KEY in (parquet.read_metadata(stream).metadata or {})
    except (OSError, pa.ArrowException, ReadError):
        return False


def _read_ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


def _lists(table: pa.Table) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([table[name].cast(pa.string()).to_pandas() for name in IDS], names=IDS)
