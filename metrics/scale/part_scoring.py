"""Lists of a part joined with the judgments, and counts over all parts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.evaluation import Evaluation
from metrics.evaluation.evaluation import sum_counts
from metrics.runs import Repeated, Runs, Source, as_run
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, as_frame
from metrics.runs.inspection import MergedFindings, RerankerCoverage
from metrics.runs.query_doc_keys import Hashes, QueryDocKeys, text_hashes
from metrics.runs.source import refuse_many_rerankers
from metrics.support.arrays import IntArray, joined_ranges, places_in


@dataclass(frozen=True, eq=False)
class QueryJudgments:
    """Judgments that can be looked up by query.

    Attributes:
        table: query_id, doc_id, relevance, and sometimes target_id.
        pairs: query and document of each row.
        order: (n_rows,) rows sorted by query.
        ends: (n_queries + 1,) first position of each query in `order`, and the end.
        nothing: the source without rows.
        noted: findings while reading.
    """

    table: pa.Table
    pairs: QueryDocKeys
    order: IntArray
    ends: IntArray
    nothing: Source
    noted: tuple[Finding, ...]

    @classmethod
    def of(cls, source: Source, repeated: Repeated) -> "QueryJudgments":
        """Return the judgments of a file; ReadError for a repeated judgment, unless `repeated` allows it."""
        runs = Runs.from_sources([source], repeated, judged=False)
        table, pairs = runs.qrels, runs.judged_pairs
        order = np.argsort(pairs.query, kind="stable")
        ends = np.searchsorted(pairs.query[order], np.arange(len(pairs.queries) + 1))
        origin = FileProvenance(source.file, int)  # without lines it can be sent to another process
        nothing = replace(source, table=source.table.slice(0, 0), noted=(), origin=origin)
        return cls(table, pairs, order, ends, nothing, runs.noted)

    def places(self, queries: pa.Array) -> IntArray:
        """Return the (n,) position of each query among the judged queries, -1 if it is not judged."""
        return places_in(queries, self.pairs.queries)

    def judge(self, runs: Runs, places: IntArray) -> Runs:
        """Join the judgments of some queries to runs."""
        return runs.judged_by(self.rows_of(places))

    def rows_of(self, places: IntArray) -> pa.Table:
        """Return the judgments of some queries, sorted by query."""
        start, n = self.ends[places], self.ends[places + 1] - self.ends[places]
        return self.table.take(pa.array(self.order[joined_ranges(start, n)])).combine_chunks()


_LISTS = 2**14
"""Lists without rows that are scored at a time."""


@dataclass(frozen=True)
class PartStats:
    """Counts of one reranker in rows that hold whole lists.

    Attributes:
        name: the reranker.
        file: file of the rows.
        n_queries: number of lists.
        places: positions of its queries among the judged queries.
        n_judged_rows: number of judged rows, if judgments are in a file of their own.
        query_hashes: hashes of the queries, if they are not.
    """

    name: str
    file: str
    n_queries: int
    places: IntArray
    n_judged_rows: int
    query_hashes: Hashes


def split_by_reranker(
    source: Source, judged: QueryJudgments | None, repeated: Repeated
) -> tuple[list[tuple[Runs, list[PartStats]]], tuple[Finding, ...]]:
    """Return the lists of some rows: together, or by reranker if judgments are in a file of their own.

    Raises:
        ReadError: a list holds a document twice.
        UsageError: there is no relevance.
    """
    sources = [as_run(source), *([] if judged is None else [judged.nothing])]
    block = Runs.from_sources(sources, repeated)
    if judged is not None:
        return [_one_reranker(block, name, source.file, judged) for name in block.rerankers], block.noted
    return [(block, [_unjudged_stats(block, name, source.file) for name in block.rerankers])], block.noted


def _unjudged_stats(block: Runs, name: str, file: str) -> PartStats:
    queries = block.pairs(name).queries
    return PartStats(name, file, len(queries), np.empty(0, np.int64), 0, text_hashes(queries))


def _one_reranker(block: Runs, name: str, file: str, judged: QueryJudgments) -> tuple[Runs, list[PartStats]]:
    runs, queries = block.arranged({name: name}), block.pairs(name).queries
    places = judged.places(queries)
    places = places[places >= 0]
    runs = judged.judge(runs, places)
    n_judged_rows = int((runs.judgment_places(name) >= 0).sum())
    return runs, [PartStats(name, file, len(queries), places, n_judged_rows, np.empty(0, np.uint64))]


class PartitionedRuns:
    """Runs that are read and scored part by part, with counts over the parts so far.

    Attributes:
        judged: the judgments; None if the rows hold relevance.
    """

    def __init__(self, judged: QueryJudgments | None) -> None:
        self.judged = judged
        self._coverages: dict[str, RerankerCoverage] = {}
        self._n_by_file = Counter[str]()
        self._noted = MergedFindings()
        if judged is not None:
            self._noted.add(judged.noted)
        self._policies: list[pd.DataFrame] = []

    @property
    def rerankers(self) -> list[str]:
        """Rerankers so far, in order of appearance."""
        return list(self._coverages)

    @property
    def policies(self) -> pd.DataFrame:
        """As in `Evaluation`, over the parts scored so far."""
        return self._policies[0] if self._policies else pd.DataFrame()

    def add_findings(self, noted: Sequence[Finding]) -> None:
        """Add the findings of a part."""
        self._noted.add(noted)

    def add_stats(self, stats: PartStats) -> None:
        """Add the counts of a part."""
        n_judged = 0 if self.judged is None else len(self.judged.pairs.queries)
        if stats.name not in self._coverages:
            self._n_by_file[stats.file] += 1
            refuse_many_rerankers(stats.file, "reranker", self._n_by_file[stats.file], stats.name)
        coverage = self._coverages.setdefault(
            stats.name, RerankerCoverage(stats.file, np.zeros(n_judged, bool))
        )
        coverage.n_queries += stats.n_queries
        coverage.n_judged_rows += stats.n_judged_rows
        coverage.has_rows[stats.places] = True
        coverage.query_hashes.append(stats.query_hashes)

    def add_policies(self, part: Evaluation) -> Evaluation:
        """Add the counts of a scored part, and return the part."""
        self._policies = [sum_counts([*self._policies, part.policies])]
        return part

    def missing(self, name: str, nothing: pa.Table) -> Iterator[Runs]:
        """Yield a reranker's judged lists without rows, a few at a time; `nothing` has its columns."""
        if self.judged is None:
            return
        missing = np.flatnonzero(~self._coverages[name].has_rows)
        for start in range(0, len(missing), _LISTS):
            yield self.judged.judge(Runs({name: nothing}), missing[start : start + _LISTS])

    @property
    def left_out(self) -> pd.DataFrame:
        """Findings on rows that were skipped or changed while reading, as in `Runs`."""
        coverages = self._coverages.items()
        hashes = [query_hashes for _, coverage in coverages for query_hashes in coverage.query_hashes]
        n_queries = len(np.unique(np.concatenate(hashes))) if hashes else 0
        findings = [*self._noted.findings]
        for name, coverage in coverages:
            findings += coverage.unjudged(name) if self.judged else coverage.queries_differ(name, n_queries)
        return as_frame(findings)
