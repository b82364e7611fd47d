"""Files larger than memory, scored a few lists at a time: each part is an evaluation by itself."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.evaluation.evaluation import sum_counts
from metrics.runs import (
    File,
    MissingScore,
    Repeated,
    Runs,
    Source,
    as_judgments,
    as_run,
    distinct_file_names,
    is_judgments,
    open_blocks,
    read,
    with_names,
)
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, as_frame
from metrics.runs.formats.format import BlockTable
from metrics.runs.inspection import MergedFindings, RerankerCoverage
from metrics.runs.joining import told_apart_finding, two_runs_error
from metrics.runs.query_doc_keys import Hashes, QueryDocKeys, text_hashes
from metrics.runs.source import refuse_many_rerankers
from metrics.runs.stacks import OpenDocuments, count_distinct, grades_of, unjudged_rows
from metrics.support.arrays import IntArray, joined_ranges, places_in
from metrics.ties import asks_for_bounds


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
        open_documents = None
        if self.n_unjudged is not None:
            open_documents = OpenDocuments(self.n_unjudged[places], grades_of([self.table]))
        return replace(runs.judged_by(self.rows_of(places)), whole=open_documents)

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


Path = str | PurePath


def _tell_apart(file_names: Sequence[str], files: list[tuple[str | None, BlockTable]]) -> list[Finding]:
    """Name runs that are named by files of one name, with the folders of these; return what is said of it."""
    unnamed = [
        place for place, (name, table) in enumerate(files) if not name and "reranker" not in table.mapping
    ]
    stems = Counter(files[place][1].file.stem for place in unnamed)
    renamed = {}
    for place in unnamed:
        table = files[place][1]
        if file_names[place] and stems[table.file.stem] > 1:
            renamed[place] = str(PurePath(file_names[place]).parent / table.file.stem)
            files[place] = renamed[place], table
    if not renamed:
        return []
    shared = list(dict.fromkeys(files[place][1].file.stem for place in renamed))
    return [told_apart_finding(files[min(renamed)][1].file.name, shared, list(renamed.values()))]


class Stream(PartitionedRuns):
    """Runs that are read and scored part by part: parts are given and forgotten, counts are kept."""

    def __init__(
        self,
        files: Iterable[Path | tuple[str | None, Path]],
        qrels: Path | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        repeated: Repeated = "error",
        missing_score: MissingScore = "error",
        is_bounded: bool = False,
    ) -> None:
        """Open runs, and read the judgments that go with them; arguments as of `read_runs`.

        Where `lowest` or `highest` are to be asked for (`is_bounded`), files are read once more before, to
        count what nobody judged of all rerankers: 16 bytes a document are held for that.

        Raises:
            ReadError: a run cannot be opened or is of a format that is read whole, or the judgments
                cannot be read.
            UsageError: no file has a column of `columns`, or a file is named whose rows name rerankers.
        """
        qrels_source = (
            None
            if qrels is None
            else read(File.open(qrels), columns, strict=False, missing_score=missing_score)
        )
        named_paths = with_names(files)
        file_names = distinct_file_names([path for _, path in named_paths])
        opened = [
            (name, file_name, open_blocks(replace(File.open(path), endless=True), columns, missing_score))
            for (name, path), file_name in zip(named_paths, file_names, strict=True)
            if qrels_source is None or not is_judgments(qrels_source, path, qrels)
        ]
        self._files = [(name, table) for name, _, table in opened]
        told_apart = _tell_apart([file_name for _, file_name, _ in opened], self._files)
        judgments = None if qrels_source is None else as_judgments(qrels_source)
        mappings = [table.mapping for _, table in self._files]
        for name, table in self._files:
            if name and "reranker" in table.mapping:
                problem = f"{table.file.name}: its rows name their rerankers, so it is not named {name!r}"
                raise UsageError(f"{problem}. Leave the name out, or read it whole (without --stream).")
        refuse_unused(columns or {}, [*mappings, *([] if judgments is None else [judgments.mapping])])
        self._repeated: Repeated = repeated
        self._is_bounded = is_bounded
        self._counter = PartCounter(None if judgments is None else QueryJudgments.of(judgments, repeated))
        self._counter.add_findings(told_apart)

    def parts(self, score: Callable[[Runs], Evaluation]) -> Iterator[Evaluation]:
        """Yield evaluations that merge into the whole, each of some queries; of one reranker if judged apart.

        Lists come as the files have them; those without rows after the last row of the file.

        Raises:
            ReadError: a file cannot be read, or a query comes again after rows of others.
            UsageError: two runs have one name, or relevance is nowhere.
        """
        if self._is_bounded and self._counter.judged is not None:
            self._counter.count_unjudged(self._unjudged_rows(self._counter.judged))
        for name, file in self._files:
            for runs in self._runs(file, name):
                yield self._counter.add_policies(score(runs))

    def _unjudged_rows(self, judged: QueryJudgments) -> Iterator[Hashes]:
        """Yield the documents of each block that nobody judged."""
        for _, file in self._files:
            for source in file.blocks():
                yield judged.unjudged_rows(source)

    def _runs(self, file: BlockTable, name: str | None) -> Iterator[Runs]:
        """Yield the lists of a file, each with its judgments; where these are apart, one reranker at a time."""
        earlier, columns_of = set(self._counter.rerankers), dict[str, pa.Table]()
        for source in file.blocks():
            lists, noted = split_by_reranker(replace(source, name=name), self._counter.judged, self._repeated)
            self._counter.add_findings(noted)
            for runs, rerankers in lists:
                for stats in rerankers:
                    if stats.name in earlier:
                        raise two_runs_error(file.file.name, stats.name)
                    columns_of[stats.name] = runs.tables[stats.name].slice(0, 0)
                    self._counter.add_stats(stats)
                yield runs
        for reranker, table in columns_of.items():
            yield from self._counter.missing(reranker, table)
