"""Runs of any size, scored on Dask workers."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack
from weakref import finalize

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import Evaluation, ScoringKeywords, ScoringOptions, score_runs
from metrics.evaluation.evaluation import sum_counts
from metrics.evaluation.scoring import names_or_defaults
from metrics.runs import File, MissingScore, Repeated, Runs, with_names
from metrics.runs.findings import Finding, as_frame, make_finding, reranker_prefix
from metrics.runs.joining import no_relevance_error
from metrics.runs.query_doc_keys import Hashes
from metrics.runs.source import refuse_many_rerankers
from metrics.runs.writing import refuse_outputs
from metrics.scale.dataset_parts import (
    ROWS,
    DatasetFile,
    Part,
    Paths,
    cut_file,
    dataset_files,
    lists_in_several,
    parts_to_scan,
    scan_part,
    with_final_names,
)
from metrics.scale.part_scoring import (
    PartStats,
    PartTask,
    ScoredPart,
    empty_table,
    frame_of,
    read_judgments,
    score_frame,
    score_part,
)
from metrics.scale.stored import Stored
from metrics.support.arrays import BoolArray
from metrics.support.progress import begin_step, progress
from metrics.support.wording import describe_part

if TYPE_CHECKING:
    from metrics.scale.cluster import Client


_LISTS = 2**14
"""Lists without rows that are scored at a time."""


@dataclass
class RerankerCoverage:
    """Which queries and judgments a reranker had rows for, in all parts.

    Attributes:
        file: name of its file.
        has_rows: (n_judged_queries,) whether each judged query has rows.
        n_queries: number of queries with rows.
        n_judged_rows: number of judged rows, with separate judgments.
        query_hashes: of its queries, by part, without separate judgments.
    """

    file: str
    has_rows: BoolArray
    n_queries: int = 0
    n_judged_rows: int = 0
    query_hashes: list[Hashes] = field(default_factory=list)

    def unjudged(self, name: str) -> Iterator[Finding]:
        """Report queries without judgments, and judged queries without judged documents."""
        n_judged = int(self.has_rows.sum())
        if self.n_queries and not n_judged and len(self.has_rows):
            yield self._finding(name, "no-overlap", "No query of the run is judged.", self.n_queries)
            return
        if lacking := self.n_queries - n_judged:
            share = describe_part(lacking, self.n_queries, "query", "have no judgments")
            yield self._finding(name, "queries-unjudged", f"{share}.", lacking)
        if n_judged and not self.n_judged_rows:
            message = "The lists of judged queries contain no judged document."
            yield self._finding(name, "documents-no-overlap", message, n_judged)

    def queries_differ(self, name: str, n_queries: int) -> Iterator[Finding]:
        """Report queries of other rerankers for which it has no rows."""
        if lacking := n_queries - self.n_queries:
            share = describe_part(lacking, n_queries, "query", "have no rows")
            yield self._finding(
                name, "queries-differ", f"{share}; other rerankers have rows for them.", lacking
            )

    def _finding(self, name: str, code: str, message: str, count: int) -> Finding:
        return make_finding(code, self.file, reranker_prefix(name, self.file) + message, count=count)


def merged_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding for each kind and file, with the counts of all parts added."""
    by_kind: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault((finding.file, finding.code), []).append(finding)
    return [_merged(group) for group in by_kind.values()]


def _merged(findings: list[Finding]) -> Finding:
    first, count = findings[0], sum(finding.count for finding in findings)
    if len({finding.message for finding in findings}) == 1:
        return replace(first, count=count)
    return replace(first, count=count, message=f"{first.message} Total in the file: {count:,}.")


class Dataset:
    """Runs in any number of files, read and scored part by part on Dask workers."""

    def __init__(
        self,
        files: Paths,
        qrels: str | PurePath | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        repeated: Repeated = "error",
        missing_score: MissingScore = "error",
        score_columns: Sequence[str] = (),
        scheduler: str | None = None,
    ) -> None:
        """Open the files, and read the judgments; arguments as for `evaluate_dataset`.

        `score_columns` are further columns that rank documents or break ties.

        Raises:
            MissingPackageError: Dask is not installed.
            ReadError: there is no file, the judgments cannot be read, or the columns of a file are known only
                from all its rows.
            UsageError: two runs have the same name, there is no relevance, or a column is missing.
        """
        from metrics.scale import cluster  # noqa: PLC0415 of an extra

        self._cluster, self._scheduler = cluster, scheduler
        Runs.from_sources([], repeated, judged=False)  # refuses an unknown policy
        self._repeated: Repeated = repeated
        self._missing_score: MissingScore = missing_score
        self._score_columns = tuple(score_columns)
        self._qrels = None if qrels is None else (_load(qrels), dict(columns or {}), repeated, missing_score)
        self._judged = None if self._qrels is None else read_judgments(*self._qrels)
        self._findings = [] if self._judged is None else [*self._judged.noted]
        self._coverages: dict[str, RerankerCoverage] = {}
        self._n_by_file = Counter[str]()
        self._policies: list[pd.DataFrame] = []
        self._files = self._open(files, columns or {}, qrels)
        self._name = self._files[0].table.file.name if len(self._files) == 1 else "the files given"
        self._n_done = self._n_known = 0

    def _open(
        self, paths: Paths, columns: Mapping[str, str], qrels: str | PurePath | None
    ) -> list[DatasetFile]:
        """Open the files and check their columns; judgments without scores are not a run."""
        is_run = self._judged is None or "score" in self._judged.nothing.mapping
        files = dataset_files(
            paths, columns, None if is_run else qrels, self._missing_score, judged=self._judged is not None
        )
        mappings = [file.table.mapping for file in files]
        if self._judged is not None:
            mappings.append(self._judged.nothing.mapping)
        used = {pair for mapping in mappings for pair in mapping.items()}
        if unused := [pair[1] for pair in columns.items() if pair[1] and pair not in used]:
            raise UsageError(f"No file has the chosen columns: {', '.join(unused)}.")
        for file in files:
            if self._judged is None and "relevance" not in file.table.mapping:
                raise no_relevance_error(file.table.file.name)
            file.refuse_without(self._score_columns)
        return files

    @property
    def policies(self) -> pd.DataFrame:
        """As in `Evaluation`, over the parts scored so far."""
        return self._policies[0] if self._policies else pd.DataFrame()

    @property
    def left_out(self) -> pd.DataFrame:
        """Findings on rows that were skipped or changed while reading, as in `Runs`."""
        coverages = self._coverages.items()
        hashes = [query_hashes for _, coverage in coverages for query_hashes in coverage.query_hashes]
        n_queries = len(np.unique(np.concatenate(hashes))) if hashes else 0
        findings = merged_findings(self._findings)
        for name, coverage in coverages:
            findings += coverage.unjudged(name) if self._judged else coverage.queries_differ(name, n_queries)
        return as_frame(findings)

    @property
    def _columns(self) -> tuple[str, ...]:
        """Columns to read: ours, and further score columns."""
        names = {name for file in self._files for name in file.table.mapping}
        judged = () if self._judged else ("relevance", "target_id")
        inside = (name for name in judged if name in names)
        return ("reranker", "query_id", "doc_id", "score", *inside, *self._score_columns)

    def parts(self, score: Callable[[Runs], Evaluation]) -> Iterator[Evaluation]:
        """Yield evaluations of some lists each, which merge into the evaluation of the whole.

        Raises:
            ReadError: a file cannot be read.
            UsageError: a name does not exist, no scheduler or worker answers, or there is no run.
        """
        nothing = empty_table(("score", *self._score_columns))
        score(Runs({"": nothing}, empty_table(("relevance",))))  # refuses unknown names before workers start
        task = PartTask(score, self._repeated, self._columns, self._name, self._missing_score)
        with self._cluster.connect(self._scheduler) as client:
            for scored in self._scored(client, task):
                self._findings += scored.findings
                for stats in scored.stats:
                    self._add_stats(stats)
                if scored.evaluation is not None:
                    yield self._with_policies(scored.evaluation)
        if not self._coverages:
            raise UsageError("There is no run: the files have no rows.")
        for name in self._coverages:
            for runs in self._missing(name, nothing):
                yield self._with_policies(score(runs))

    def _scored(self, client: "Client", task: PartTask) -> Iterator[ScoredPart]:
        """Yield the results of the parts, then of the lists that are spread over several."""
        judged = client.submit(read_judgments, *self._qrels) if self._qrels else None
        parts, hashes = self._parts_of_files(client)
        in_several = lists_in_several(hashes)
        shared = [np.intersect1d(lists, in_several) for lists in hashes]
        futures = [
            client.submit(score_part, part, lists, judged, task, pure=False)
            for part, lists in zip(parts, shared, strict=True)
        ]
        yield from self._watched(futures)
        if len(in_several):
            numbers = [number for number, lists in enumerate(shared) if len(lists)]
            n_rows = sum(parts[n].n_rows * len(shared[n]) / len(hashes[n]) for n in numbers)
            arguments = [(parts[number], shared[number], number, self._columns) for number in numbers]
            frames = self._cluster.shuffle_frames(client, frame_of, arguments, math.ceil(n_rows / ROWS))
            files = client.submit(tuple, [part.member.table.file.name for part in parts], pure=False)
            yield from self._watched(self._cluster.map_frames(client, score_frame, frames, judged, task, files))

    def _parts_of_files(self, client: "Client") -> tuple[list[Part], list[Hashes]]:
        """Return the parts of all files, and the hashes of their lists."""
        to_scan = [list(parts_to_scan(file)) for file in self._files]
        results = self._watched(
            [client.submit(scan_part, part, pure=False) for part in chain.from_iterable(to_scan)]
        )
        scans = [list(islice(results, len(parts))) for parts in to_scan]
        rerankers = [{name for scan in of_file for name in scan.rerankers} for of_file in scans]
        files = with_final_names(self._files, rerankers)
        cuts = list(chain.from_iterable(map(cut_file, files, scans)))
        return [part for part, _ in cuts], [hashes for _, hashes in cuts]

    def _add_stats(self, stats: PartStats) -> None:
        n_judged = 0 if self._judged is None else len(self._judged.pairs.queries)
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

    def _with_policies(self, part: Evaluation) -> Evaluation:
        """Add the counts of a scored part, and return the part."""
        self._policies = [sum_counts([*self._policies, part.policies])]
        return part

    def _missing(self, name: str, nothing: pa.Table) -> Iterator[Runs]:
        """Yield a reranker's judged lists without rows, a few at a time; `nothing` has its columns."""
        if self._judged is None:
            return
        missing = np.flatnonzero(~self._coverages[name].has_rows)
        for start in range(0, len(missing), _LISTS):
            yield self._judged.judge(Runs({name: nothing}), missing[start : start + _LISTS])

    def _watched(self, futures: list[Any]) -> Iterator[Any]:
        """Yield the results of tasks in order, and report progress."""
        self._n_known += len(futures)
        for result in self._cluster.results_in_order(futures):
            begin_step("Scoring", self._n_done, self._n_known)
            self._n_done += 1
            yield result


def _load(path: str | PurePath) -> File:
    """Return a file with its bytes, to send to workers."""
    file = File.open(path)
    with file.given() as stream:
        return File(file.name, stream.read())


def evaluate_dataset(
    files: Paths,
    qrels: str | PurePath | None = None,
    measures: Sequence[str] | str | None = None,
    ties: Sequence[str] | str | None = None,
    *,
    scheduler: str | None = None,
    output: str | PurePath | None = None,
    columns: Mapping[str, str] | None = None,
    repeated: Repeated = "error",
    missing_score: MissingScore = "error",
    **options: Unpack[ScoringKeywords],
) -> Stored:
    """Score runs of any size on the workers of a Dask scheduler, to the same values as `evaluate`.

    Parquet is read by row groups, and only the columns needed; text is read file by file. The rows of a list
    that spans several parts are joined first. If a worker is lost, its parts are scored again. A terminal shows
    progress.

    Args:
        files: a path, a URL, a pattern such as `runs/*.parquet`, several of these, or reranker → one of
            these. The files of a folder are parts of one table, and so are the files of a named reranker. A
            folder `reranker=BM25` names the reranker of its files. Other files without a reranker column are
            runs named by their stems.
        qrels: judgments, path or URL; not needed if the tables hold relevance.
        measures: as for `evaluate`.
        ties: as for `evaluate`.
        scheduler: address of a Dask scheduler (`tcp://HOST:8786`) whose workers can open the files and have
            this package; None starts one worker per core of this machine.
        output: the Parquet file for the scores of each list; None uses a temporary file that is deleted with
            the result.
        columns: our column → the column in the files, as for `read_runs`.
        repeated: as for `read_runs`.
        missing_score: as for `read_runs`.
        options: how lists are scored, as for `evaluate`.

    Returns:
        the scores of each list, in a file; `summary()` and `load()` return the same as for `evaluate`.

    Raises:
        MissingPackageError: Dask is not installed (`pip install "tiescope[distributed]"`).
        ReadError: a file cannot be read; names file and row.
        UsageError: as for `evaluate` and `read_runs`; or the scheduler does not answer, a part exceeds a
            worker's memory, or `output` cannot be written or is an input.
    """
    scoring, files = ScoringOptions(**options), with_names(files)
    measures, ties = names_or_defaults(measures, ties)
    score = partial(score_runs, measures=measures, ties=ties, options=scoring)
    if output is not None:
        runs = [path for _, path in files]
        refuse_outputs([Path(str(output))], runs if qrels is None else [*runs, qrels])
    with ExitStack() as stack, progress("Scoring"):
        path = Path(str(output))
        if output is None:
            path = Path(stack.enter_context(TemporaryDirectory(prefix="tiescope-")), "scores.parquet")
        dataset = Dataset(
            files,
            qrels,
            columns=columns,
            repeated=repeated,
            missing_score=missing_score,
            score_columns=scoring.further_columns,
            scheduler=scheduler,
        )
        stored = Stored.write(path, dataset.parts(score))
        finalize(stored, stack.pop_all().close)
    return stored
