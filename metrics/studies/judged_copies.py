"""Copy lists query by query with different judgments, to compute the width of their bounds."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.evaluation import ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.holes import BOUNDS, joint_bounds
from metrics.measures import parse
from metrics.runs import Runs
from metrics.support.arrays import FloatArray, IntArray, joined_ranges, span_starts, with_column

_ROWS = 2**20
"""Rows of lists copied at once, about."""
_MOST_ROWS = 2**23
"""Rows of lists copied to compute the narrowing of each document."""
_SCALE = "\x1f"
"""Query with a document of every grade, so that every copy has the same grades."""


def list_weights(
    runs: Runs, options: ScoringOptions, queries: Collection[str] | None = None
) -> "pd.Series[float]":
    """Return the weight of a list in the mean of its reranker: 1 / number of scored lists, 0 without any."""
    judged_queries = pd.Index(runs.judged_pairs.queries.cast(pa.string()).to_pandas())
    if queries is not None:
        judged_queries = judged_queries[judged_queries.isin(list(queries))]
    counts = dict.fromkeys(runs.rerankers, len(judged_queries))
    if options.missing == "skip":
        for name, table in runs.tables.items():
            counts[name] = int(
                judged_queries.isin(table["query_id"].unique().cast(pa.string()).to_pandas()).sum()
            )
    return pd.Series({name: 1 / count if count else 0.0 for name, count in counts.items()}, dtype=float)


def bound_widths(
    runs: Runs, measure: str, options: ScoringOptions, weights: "pd.Series[float]"
) -> "pd.Series[float]":
    """Return by how much the joint bounds of each query widen those of the means, summed over rerankers.

    A missing list has one value and widens nothing.
    """
    bounds = joint_bounds(runs, measure, options)
    lowest, highest = (bounds.xs(bound, axis=1, level="bound").iloc[:, 0] for bound in BOUNDS)
    weight = weights.reindex(bounds.index.get_level_values("reranker")).to_numpy()
    return ((highest - lowest) * weight).groupby(level="query_id").sum()


def judged_below(runs: Runs, documents: RankedDocuments, depth: int) -> Runs:
    """Return the runs with grade 0 for unjudged documents that every reranker has below a depth."""
    rows = np.flatnonzero(~documents.is_judged & (documents.places > depth))
    if runs.qrels is None or not len(rows):
        return runs
    places = pa.array(rows)
    further = _judged(documents.query_ids.take(places), documents.doc_ids.take(places), np.zeros(len(rows)))
    tables = [_judgments(runs.qrels), further]
    return runs.judged_by(pa.concat_tables(tables, promote_options="default").combine_chunks())


def _judgments(qrels: pa.Table) -> pa.Table:
    """Return judgments with ids as text, grades as floats, and targets if there are any."""
    types = {"query_id": pa.string(), "doc_id": pa.string(), "relevance": pa.float64()}
    targets = {name: qrels[name] for name in ("target_id",) if name in qrels.column_names}
    return pa.table({name: qrels[name].cast(type_) for name, type_ in types.items()} | targets)


@dataclass(frozen=True, eq=False)
class _QueryRows:
    """The rows of a table, grouped by query.

    Attributes:
        table: the rows.
        ends: (n_queries + 1,) first row of each query, and the end.
    """

    table: pa.Table
    ends: IntArray

    @classmethod
    def of(cls, table: pa.Table, queries: pd.Index) -> "_QueryRows":
        """Return the rows of some queries, in this order of queries and in table order within."""
        code = queries.get_indexer(table["query_id"].cast(pa.string()).to_pandas())
        order = np.argsort(code, kind="stable")[np.count_nonzero(code < 0) :]
        ends = np.searchsorted(code[order], np.arange(len(queries) + 1))
        return cls(table.take(pa.array(order)).combine_chunks(), ends)

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.ends)

    def copied(self, queries: IntArray, names: pa.Array) -> pa.Table:
        """Return the rows of (n_copies,) queries under other names."""
        sizes = self.sizes[queries]
        copies = self.table.take(pa.array(joined_ranges(self.ends[queries], sizes)))
        return with_column(copies, "query_id", names.take(pa.array(np.repeat(np.arange(len(queries)), sizes))))


class JudgedCopies:
    """Lists of some queries, and the width of their joint bounds under further judgments."""

    def __init__(
        self,
        runs: Runs,
        measure: str,
        options: ScoringOptions,
        queries: pd.Index,
        depth: int,
        weights: "pd.Series[float]",
    ) -> None:
        """Select the lists to copy; with a cut-off only the ranks within it.

        `queries` are the copied queries, `depth` the last rank of an unjudged document, and `weights` come from
        `list_weights`.
        """
        self.queries, self._measure, self._options, self._weights = queries, measure, options, weights
        cutoff = parse(measure).k
        last_place = None if cutoff is None else max(depth, cutoff)
        rows = {name: _top_rows(runs, name, options, last_place) for name in runs.rerankers}
        self._lists = {
            name: _QueryRows.of(runs.tables[name].take(pa.array(top)), queries) for name, top in rows.items()
        }
        judgments = _judgments(runs.qrels)
        grades = judgments["relevance"].to_numpy()
        list_hashes = np.concatenate([runs.pairs(name).hashes[top] for name, top in rows.items()])
        counts = (grades > 0) | np.isin(runs.judged_pairs.hashes, list_hashes)
        counts |= parse(measure).measure.family.counts == "judged"
        counts[np.unique(runs.judged_pairs.query, return_index=True)[1]] = True  # keep every query
        self._judgments = _QueryRows.of(judgments.filter(pa.array(counts)), queries)
        grades = np.unique(grades)
        self.highest_grade = max(float(options.relevant_from), float(grades.max(initial=0.0)))
        self._scale = _judged([_SCALE] * len(grades), [f"{grade}" for grade in grades], grades)
        self.rows_of_query = np.sum([rows.sizes for rows in self._lists.values()], axis=0)

    def widths(self, queries: IntArray, copies: IntArray, doc_ids: pa.Array, grades: FloatArray) -> FloatArray:
        """Return (n_copies,) width of the bounds of each copy, as `bound_widths` defines it.

        `queries` is the number of the copied query of each copy. `copies` (rising), `doc_ids` and `grades` are
        the copy, document and grade of each further judgment.
        """
        n_rows = np.cumsum(self.rows_of_query[queries])
        starts = np.append(span_starts(n_rows // _ROWS), len(queries))
        widths = np.zeros(len(queries))
        for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            judged = slice(*np.searchsorted(copies, (first, end)))
            names = pa.array([str(number) for number in range(first, end)], pa.string())
            further = _judged(
                names.take(pa.array(copies[judged] - first)),
                doc_ids.slice(judged.start, judged.stop - judged.start),
                grades[judged],
            )
            tables = {name: rows.copied(queries[first:end], names) for name, rows in self._lists.items()}
            judgments = self._judgments.copied(queries[first:end], names)
            parts = [judgments, further, self._scale]
            qrels = pa.concat_tables(parts, promote_options="default").combine_chunks()
            copy_widths = bound_widths(Runs(tables, qrels), self._measure, self._options, self._weights)
            widths[first:end] = copy_widths.reindex(names.to_pandas()).to_numpy()
        return widths


def _judged(query_ids: object, doc_ids: object, grades: FloatArray) -> pa.Table:
    return pa.table(
        {
            "query_id": pa.array(query_ids, pa.string()),
            "doc_id": pa.array(doc_ids, pa.string()),
            "relevance": pa.array(grades, pa.float64()),
        }
    )


def _top_rows(runs: Runs, reranker: str, options: ScoringOptions, last_place: int | None) -> IntArray:
    """Return the rows of one reranker that can have this rank or a higher one."""
    if last_place is None:
        return np.arange(len(runs.tables[reranker]))
    ranking = options.ranking(runs, reranker)
    return np.sort(ranking.rows[(ranking.above < last_place)[ranking.groups]])


def narrowings(
    copies: JudgedCopies, query: IntArray, doc_ids: pa.Array, rates: FloatArray, widths: FloatArray
) -> FloatArray:
    """Return (n,) how far judging a document alone narrows the bounds of its query, on average.

    A document has the highest grade at its rate, else grade 0; `widths` are those of the queries now. Beyond
    `_MOST_ROWS`, later documents have NaN.
    """
    n_rows = np.cumsum(2 * copies.rows_of_query[query])
    narrowing = np.full(len(query), np.nan)
    looked_at = slice(int(np.searchsorted(n_rows, _MOST_ROWS)) + 1)
    query, rates = query[looked_at], rates[looked_at]
    numbers = np.arange(len(query))
    irrelevant, relevant = (
        copies.widths(query, numbers, doc_ids[looked_at], np.full(len(query), grade))
        for grade in (0.0, copies.highest_grade)
    )
    narrowing[looked_at] = widths[query] - (1 - rates) * irrelevant - rates * relevant
    return narrowing
