"""What is known of runs whose rows were read and forgotten: who had which queries, and what was left out."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.evaluation.merging import sum_counts
from metrics.runs import Repeated, Runs, Source, as_run
from metrics.runs.findings import Finding, as_frame
from metrics.runs.findings.coverage import MergedFindings, RerankerCoverage
from metrics.runs.open_documents import count_distinct
from metrics.runs.query_doc_keys import Hashes, text_hashes
from metrics.runs.reading.source import refuse_many_rerankers
from metrics.scale.stream.judged import QueryJudgments
from metrics.support.arrays import IntArray
from metrics.ties import asks_for_bounds

_LISTS = 2**14
"""Lists without rows that are scored at once."""


@dataclass(frozen=True)
class PartStats:
    """What was met of one reranker in some rows that hold whole lists.

    Attributes:
        name: of the reranker.
        file: where the rows are.
        n_queries: lists in them.
        places: places of their queries among those judged, of those that are.
        n_judged_rows: rows that are judged; of judgments apart.
        query_hashes: hashes of the queries; without judgments apart.
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
    """Return the lists of some rows: all at once, or by reranker with the judgments of its queries alone.

    Args:
        source: rows that hold whole lists.
        judged: judgments; None where the rows hold relevance.
        repeated: as of `read_runs`.

    Returns:
        lists with what was met of each of their rerankers, and what was found while reading.

    Raises:
        ReadError: a document twice in a list.
        UsageError: relevance is nowhere.
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


class PartCounter:
    """Counts of what was met, part by part.

    Attributes:
        policies: as of an `Evaluation`, of the parts so far.
    """

    def __init__(self, judged: QueryJudgments | None) -> None:
        self._judged = judged
        self._known: dict[str, RerankerCoverage] = {}
        self._n_by_file = Counter[str]()
        self._noted = MergedFindings()
        if judged is not None:
            self._noted.add(judged.noted)
        self._policies: list[pd.DataFrame] = []

    @property
    def rerankers(self) -> list[str]:
        """Those met, in order of appearance."""
        return list(self._known)

    @property
    def policies(self) -> pd.DataFrame:
        """As of an `Evaluation`, of the parts scored so far."""
        return self._policies[0] if self._policies else pd.DataFrame()

    def add_findings(self, noted: Sequence[Finding]) -> None:
        """Take in what was found while reading a part."""
        self._noted.add(noted)

    def add_stats(self, stats: PartStats) -> None:
        """Take in what was met in a part."""
        n_judged = 0 if self._judged is None else len(self._judged.pairs.queries)
        if stats.name not in self._known:
            self._n_by_file[stats.file] += 1
            refuse_many_rerankers(stats.file, "reranker", self._n_by_file[stats.file], stats.name)
        coverage = self._known.setdefault(stats.name, RerankerCoverage(stats.file, np.zeros(n_judged, bool)))
        coverage.n_queries += stats.n_queries
        coverage.n_judged_rows += stats.n_judged_rows
        coverage.has_rows[stats.places] = True
        coverage.query_hashes.append(stats.query_hashes)

    @property
    def judged(self) -> QueryJudgments | None:
        """The judgments; None where the rows hold relevance."""
        return self._judged

    @property
    def n_unjudged(self) -> IntArray | None:
        """(n_queries,) documents of all rerankers that nobody judged, once they are counted."""
        return None if self._judged is None else self._judged.n_unjudged

    def count_unjudged(self, rows: Iterable[Hashes]) -> None:
        """Count the documents nobody judged, of `QueryJudgments.unjudged_rows`, before any part is scored."""
        if self._judged is not None:
            self._judged = self._judged.with_counts(count_distinct(list(rows), len(self._judged.pairs.queries)))

    def add_policies(self, part: Evaluation) -> Evaluation:
        """Take in the counts of a scored part; the part."""
        is_counted = self._judged is None or self._judged.n_unjudged is not None
        if asks_for_bounds(part.ties) and not is_counted:
            raise UsageError("lowest and highest need what nobody judged of all runs: give is_bounded=True.")
        self._policies = [sum_counts([*self._policies, part.policies])]
        return part

    def missing(self, name: str, nothing: pa.Table) -> Iterator[Runs]:
        """Yield the judged lists of a reranker that no part had, a few at a time; `nothing` has its columns."""
        if self._judged is None:
            return
        missing = np.flatnonzero(~self._known[name].has_rows)
        for start in range(0, len(missing), _LISTS):
            yield self._judged.judge(Runs({name: nothing}), missing[start : start + _LISTS])

    @property
    def left_out(self) -> pd.DataFrame:
        """What was not scored or was changed while reading, of the parts so far; as of `Runs`."""
        coverages = self._known.items()
        if self._judged is None:
            everyone = [hashes for _, coverage in coverages for hashes in coverage.query_hashes]
            n_asked = len(np.unique(np.concatenate(everyone))) if everyone else 0
            differ = [one.queries_differ(name, n_asked) for name, one in coverages]
        else:
            differ = [one.unjudged(name) for name, one in coverages]
        return as_frame([*self._noted.findings, *(one for some in differ for one in some)])


class PartitionedRuns(ABC):
    """Runs that are given and scored part by part."""

    _counter: PartCounter

    @abstractmethod
    def parts(self, score: Callable[[Runs], Evaluation]) -> Iterator[Evaluation]:
        """Yield evaluations that merge into that of the whole."""

    @property
    def policies(self) -> pd.DataFrame:
        """As of an `Evaluation`, of the parts given so far."""
        return self._counter.policies

    @property
    def left_out(self) -> pd.DataFrame:
        """What was not scored or was changed while reading, of the parts given so far; as of `Runs`."""
        return self._counter.left_out


def refuse_unused(columns: Mapping[str, str], read_as: Sequence[Mapping[str, str]]) -> None:
    """Raise a UsageError where no file has a column that was chosen; files by how they are read."""
    unused = [
        theirs
        for ours, theirs in columns.items()
        if theirs and not any(mapping.get(ours) == theirs for mapping in read_as)
    ]
    if unused:
        raise UsageError(f"No file has the columns chosen: {', '.join(unused)}.")
