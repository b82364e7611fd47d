"""Lists copied query by query, each copy with judgments of its own: how wide bounds would be."""

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
"""Rows of the lists that are copied at once, about."""
_MOST_ROWS = 2**23
"""Rows of lists that are copied to see what each document narrows."""
_SCALE = "\x1f"
"""Query that holds a document of every grade, so that each copy may have all of them."""


def list_weights(
    runs: Runs, options: ScoringOptions, queries: Collection[str] | None = None
) -> "pd.Series[float]":
    """Return what a list weighs in the mean of its reranker: 1 / n, n those that count; 0 where none does."""
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

    A list that a run lacks has one value whatever is judged, and widens nothing.

    Args:
        runs: what was ranked.
        measure: name of the measure.
        options: how lists are scored.
        weights: as of `list_weights`.
    """
    bounds = joint_bounds(runs, measure, options)
    lowest, highest = (bounds.xs(bound, axis=1, level="bound").iloc[:, 0] for bound in BOUNDS)
    weight = weights.reindex(bounds.index.get_level_values("reranker")).to_numpy()
    return ((highest - lowest) * weight).groupby(level="query_id").sum()


def judged_below(runs: Runs, documents: RankedDocuments, depth: int) -> Runs:
    """Return the runs with a grade of 0 for what nobody judged and every reranker has below a depth."""
    rows = np.flatnonzero(~documents.is_judged & (documents.places > depth))
    if runs.qrels is None or not len(rows):
        return runs
    places = pa.array(rows)
    further = _judged(documents.query_ids.take(places), documents.doc_ids.take(places), np.zeros(len(rows)))
    tables = [_judgments(runs.qrels), further]
    return runs.judged_by(pa.concat_tables(tables, promote_options="default").combine_chunks())


def _judgments(qrels: pa.Table) -> pa.Table:
    """Return judgments with ids as text and grades as floats, the targets beside them where there are any."""
    types = {"query_id": pa.string(), "doc_id": pa.string(), "relevance": pa.float64()}
    targets = {name: qrels[name] for name in ("target_id",) if name in qrels.column_names}
    return pa.table({name: qrels[name].cast(type_) for name, type_ in types.items()} | targets)


@dataclass(frozen=True, eq=False)
class _QueryRows:
    """The rows of a table, those of each query together.

    Attributes:
        table: the rows.
        ends: (n_queries + 1,) first row of each query, and the end.
    """

    table: pa.Table
    ends: IntArray

    @classmethod
    def of(cls, table: pa.Table, queries: pd.Index) -> "_QueryRows":
        """Return the rows of some queries, the first query first, in the order of the table within."""
        code = queries.get_indexer(table["query_id"].cast(pa.string()).to_pandas())
        order = np.argsort(code, kind="stable")[np.count_nonzero(code < 0) :]
        ends = np.searchsorted(code[order], np.arange(len(queries) + 1))
        return cls(table.take(pa.array(order)).combine_chunks(), ends)

    @property
    def sizes(self) -> IntArray:
        """(n_queries,) rows of each query."""
        return np.diff(self.ends)

    def copied(self, queries: IntArray, names: pa.Array) -> pa.Table:
        """Return the rows of queries under other names: (n_copies,) query and name of each copy."""
        sizes = self.sizes[queries]
        copies = self.table.take(pa.array(joined_ranges(self.ends[queries], sizes)))
        return with_column(copies, "query_id", names.take(pa.array(np.repeat(np.arange(len(queries)), sizes))))


class JudgedCopies:
    """Lists of some queries, and how wide their joint bounds are under further judgments."""

    def __init__(
        self,
        runs: Runs,
        measure: str,
        options: ScoringOptions,
        queries: pd.Index,
        depth: int,
        weights: "pd.Series[float]",
    ) -> None:
        """Take the lists that are copied; of those with a cut-off only the places within it.

        Args:
            runs: what was ranked, with judgments apart.
            measure: name of the measure.
            options: how lists are scored.
            queries: ids of the queries that are copied.
            depth: the last place at which a document may be open.
            weights: as of `list_weights`.
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
        counts[np.unique(runs.judged_pairs.query, return_index=True)[1]] = True  # no query is lost
        self._judgments = _QueryRows.of(judgments.filter(pa.array(counts)), queries)
        grades = np.unique(grades)
        self.highest_grade = max(float(options.relevant_from), float(grades.max(initial=0.0)))
        self._scale = _judged([_SCALE] * len(grades), [f"{grade}" for grade in grades], grades)
        self.rows_of_query = np.sum([rows.sizes for rows in self._lists.values()], axis=0)

    def widths(self, queries: IntArray, copies: IntArray, doc_ids: pa.Array, grades: FloatArray) -> FloatArray:
        """Return (n_copies,) width of the bounds of each copy, as of `bound_widths`.

        Args:
            queries: (n_copies,) number of the query that each is a copy of.
            copies: (n_judged,) copy in which a document is judged, in rising order.
            doc_ids: (n_judged,) the document.
            grades: (n_judged,) its grade.
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
    """Return the rows of one reranker that may stand at some place or above; all where None."""
    if last_place is None:
        return np.arange(len(runs.tables[reranker]))
    ranking = options.ranking(runs, reranker)
    return np.sort(ranking.rows[(ranking.above < last_place)[ranking.groups]])


def narrowings(
    copies: JudgedCopies, query: IntArray, doc_ids: pa.Array, rates: FloatArray, widths: FloatArray
) -> FloatArray:
    """Return (n,) by how much the bounds of its query narrow once a document is judged, others as they are.

    Where there are too many to look at each, the later ones have NaN.

    Args:
        copies: the lists.
        query: (n,) number of the query of each document.
        doc_ids: (n,) the documents.
        rates: (n,) chance of each to be relevant, and then of the highest grade.
        widths: (n_queries,) width of the bounds of each query now.
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
