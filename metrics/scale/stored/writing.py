"""Evaluations into Parquet, part by part, with the totals of all lists in the footer."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import IO, Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.evaluation.evaluation import sum_counts
from metrics.runs.writing import open_output
from metrics.scale.stored.layout import GROUP, KEY, MOVABLE, SQUARES, VERSION, column_of
from metrics.support.arrays import span_starts


def save_parts(parts: Iterable[Evaluation], path: str | PurePath) -> Iterator[Evaluation]:
    """Yield the parts of an evaluation as they come, each kept before it is handed on.

    The file is there after the last part, and then it is whole.
    """
    with open_output(Path(path)) as stream:
        yield from write_parts(parts, stream)


def write_parts(parts: Iterable[Evaluation], stream: IO[bytes]) -> Iterator[Evaluation]:
    """Yield the parts of an evaluation as they come, each written to a file before it is handed on."""
    with _GrowingParquet(stream) as file:
        for part in parts:
            file.add(part)
            yield part


class _GrowingParquet:
    """A Parquet file to which parts are added."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._first: Evaluation | None = None
        self._policies: list[pd.DataFrame] = []
        self._totals: list[pd.DataFrame] = []
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
                with suppress(OSError, UsageError):
                    self._writer.close()

    def add(self, part: Evaluation) -> None:
        """Add the next part."""
        self._first = self._first or part
        part.refuse_other(self._first)
        self._policies = [sum_counts([*self._policies, part.policies])]
        self._totals = [sum_counts([*self._totals, _totals(part)])]
        self._waiting.append(_rows(part))
        if sum(map(len, self._waiting)) >= GROUP:
            self._flush()

    def _flush(self) -> None:
        from pyarrow import parquet  # noqa: PLC0415 30 ms that others need not pay

        table = pa.concat_tables(self._waiting)
        self._waiting = []
        self._writer = self._writer or parquet.ParquetWriter(self._stream, table.schema, compression="zstd")
        self._writer.write_table(table, row_group_size=max(len(table), 1))

    def _finish(self) -> None:
        if self._first is None:
            raise UsageError("There is nothing to keep: no part of an evaluation was given.")
        if self._waiting:
            self._flush()
        policies = self._policies[0]
        totals = self._totals[0].reindex(policies.index, fill_value=0.0)
        about = {
            **self._first.design(),
            "version": VERSION,
            "policies": policies.to_dict("index"),
            "totals": totals.to_dict("index"),
        }
        self._writer.add_key_value_metadata({KEY: json.dumps(about)})
        self._writer.close()


def _rows(part: Evaluation) -> pa.Table:
    """Return a row a list; those left out come last."""
    scores = part.scores.set_axis([column_of(*name) for name in part.scores.columns], axis=1)
    columns = _ids(part.scores.index)
    for table in (part.lists, scores):
        columns |= {str(name): pa.array(values.to_numpy()) for name, values in table.items()}
    skipped = [pa.table(_ids(part.skipped))] if len(part.skipped) else []
    return pa.concat_tables([pa.table(columns), *skipped], promote_options="default")


def _totals(part: Evaluation) -> pd.DataFrame:
    """Return the sums of `Stored.totals` over the lists of a part."""
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
