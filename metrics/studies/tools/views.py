"""What a tool makes of the files before it scores them."""

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs import Runs
from metrics.support.arrays import FloatArray, with_column
from metrics.ties import Ranking

View = Callable[[Runs, float], Runs]
"""How a tool changes the runs; relevant is a grade from the second on."""


def unchanged(runs: Runs, _: float) -> Runs:
    """Return the runs as they are."""
    return runs


def keep_listed(runs: Runs, _: float) -> Runs:
    """Keep the relevance of listed documents only: the ideal holds no other, and queries without rows go."""
    if runs.qrels is None:
        return runs
    tables = {}
    for name, table in runs.tables.items():
        ranking = Ranking.of(runs, name)
        rows = table.select(["query_id", "doc_id", "score"]).take(pa.array(ranking.rows))
        tables[name] = rows.append_column("relevance", pa.array(ranking.grades))
    return Runs(tables)


def keep_two_sided(runs: Runs, level: float) -> Runs:
    """Keep listed documents of queries that list a relevant document and one that is not."""
    listed_runs = keep_listed(runs, level)
    tables = {}
    for name, table in listed_runs.tables.items():
        queries, is_relevant = listed_runs.pairs(name).query, table["relevance"].to_numpy() >= level
        relevant, documents = np.bincount(queries, is_relevant), np.bincount(queries)
        has_both = (relevant > 0) & (relevant < documents)
        tables[name] = table.filter(pa.array(has_both[queries]))
    return Runs(tables)


def binarise(runs: Runs, level: float) -> Runs:
    """Replace each relevant grade by the smallest one, and others by 0."""

    def cut(table: pa.Table) -> pa.Table:
        is_relevant = pc.cast(pc.greater_equal(table["relevance"], level), pa.float64())
        return with_column(table, "relevance", pc.multiply(is_relevant, float(level)))

    if runs.qrels is not None:
        return replace(runs, qrels=cut(runs.qrels))
    return Runs({name: cut(table) for name, table in runs.tables.items()})


def binarise_listed(runs: Runs, level: float) -> Runs:
    """Keep listed documents, relevant or not."""
    return binarise(keep_listed(runs, level), level)


def binarise_two_sided(runs: Runs, level: float) -> Runs:
    """Keep listed documents, relevant or not, of queries that list both."""
    return binarise(keep_two_sided(runs, level), level)


BINARY: Collection[View] = (binarise, binarise_listed, binarise_two_sided)
"""Views that tell relevant from not, and no more."""


def drop_query_documents(runs: Runs, _: float) -> Runs:
    """Drop documents whose id is that of their query."""

    def drop(table: pa.Table) -> pa.Table:
        query, document = (table[name].cast(pa.string()) for name in ("query_id", "doc_id"))
        return table.filter(pc.not_equal(query, document))

    return replace(runs, tables={name: drop(table) for name, table in runs.tables.items()})


def only_queries(runs: Runs, queries: Collection[str]) -> Runs:
    """Keep the rows and judgments of some queries."""
    query_ids = pa.array(list(queries), pa.string())

    def keep(table: pa.Table) -> pa.Table:
        return table.filter(pc.is_in(table["query_id"].cast(pa.string()), query_ids))

    return replace(
        runs,
        tables={name: keep(table) for name, table in runs.tables.items()},
        qrels=None if runs.qrels is None else keep(runs.qrels),
    )


def grades(runs: Runs) -> FloatArray:
    """Return the distinct grades of all judgments."""
    tables = list(runs.tables.values()) if runs.qrels is None else [runs.qrels]
    return np.unique(np.concatenate([table["relevance"].to_numpy() for table in tables]))
