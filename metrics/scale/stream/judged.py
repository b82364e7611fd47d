"""Judgments in memory, looked up by query for runs that are not."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from metrics.runs import Repeated, Runs, Source
from metrics.runs.findings import Finding
from metrics.runs.open_documents import OpenDocuments, grades_of, unjudged_rows
from metrics.runs.query_doc_keys import Hashes, QueryDocKeys
from metrics.runs.reading.provenance import FileProvenance
from metrics.support.arrays import IntArray, joined_ranges, places_in


@dataclass(frozen=True, eq=False)
class QueryJudgments:
    """Judgments, looked up by query.

    Attributes:
        table: query_id, doc_id, relevance, perhaps target_id.
        pairs: query and document of each row.
        order: (n_rows,) rows query by query.
        ends: (n_queries + 1,) first place in `order` of each query, and the end.
        nothing: the source without a row.
        noted: what was found while reading.
        n_unjudged: (n_queries,) documents that some reranker has and nobody judged; None: nobody counted them.
    """

    table: pa.Table
    pairs: QueryDocKeys
    order: IntArray
    ends: IntArray
    nothing: Source
    noted: tuple[Finding, ...]
    n_unjudged: IntArray | None = None

    @classmethod
    def of(cls, source: Source, repeated: Repeated) -> "QueryJudgments":
        """Return the judgments of a file; ReadError where one is judged twice, unless repeats are allowed."""
        runs = Runs.from_sources([source], repeated, judged=False)
        table, pairs = runs.qrels, runs.judged_pairs
        order = np.argsort(pairs.query, kind="stable")
        ends = np.searchsorted(pairs.query[order], np.arange(len(pairs.queries) + 1))
        origin = FileProvenance(source.file, int)  # it has no lines, and can be sent to another process
        nothing = replace(source, table=source.table.slice(0, 0), noted=(), origin=origin)
        return cls(table, pairs, order, ends, nothing, runs.noted)

    def places(self, queries: pa.Array) -> IntArray:
        """Return the (n,) place of each query among those judged, -1 where it is not."""
        return places_in(queries, self.pairs.queries)

    def judge(self, runs: Runs, places: IntArray) -> Runs:
        """Return runs judged by the judgments of some queries, which know what is open in the whole."""
        whole = None
        if self.n_unjudged is not None:
            whole = OpenDocuments(self.n_unjudged[places], grades_of([self.table]))
        return replace(runs.judged_by(self.rows_of(places)), whole=whole)

    def unjudged_rows(self, source: Source) -> Hashes:
        """Return numbers of the documents of some rows that nobody judged."""
        pairs = QueryDocKeys.of(source.table)
        is_unjudged = np.ones(len(pairs.query), dtype=bool)
        is_unjudged[pairs.match(self.pairs)[0]] = False
        return unjudged_rows(pairs, is_unjudged, self.pairs.queries)

    def with_counts(self, n_unjudged: IntArray) -> "QueryJudgments":
        """Return the same judgments, which know how many documents of each query all rerankers have besides."""
        return replace(self, n_unjudged=n_unjudged)

    def rows_of(self, places: IntArray) -> pa.Table:
        """Return the judgments of some queries, query by query."""
        start, n = self.ends[places], self.ends[places + 1] - self.ends[places]
        return self.table.take(pa.array(self.order[joined_ranges(start, n)])).combine_chunks()
