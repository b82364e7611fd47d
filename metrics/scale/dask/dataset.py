"""Runs of any size, scored wherever Dask has workers."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, Evaluation, Policy, ScoringOptions, Unjudged, score_runs
from metrics.evaluation.scoring import names_or_defaults
from metrics.runs import File, MissingScore, Repeated, Runs, with_names
from metrics.runs.joining import no_relevance_error
from metrics.runs.query_doc_keys import Hashes
from metrics.runs.writing import refuse_outputs
from metrics.scale.dask.files import DatasetFile, Paths, dataset_files, with_final_names
from metrics.scale.dask.parts import ROWS, Part, cut_file, lists_in_several, parts_to_scan, scan_part
from metrics.scale.dask.tasks import (
    PartTask,
    ScoredPart,
    empty_table,
    frame_of,
    read_judgments,
    score_frame,
    score_part,
    unjudged_rows,
)
from metrics.scale.stored import Stored
from metrics.scale.stream import PartCounter, PartitionedRuns, QueryJudgments, refuse_unused
from metrics.ties import asks_for_bounds

if TYPE_CHECKING:
    from metrics.scale.dask.cluster import Client


Watch = Callable[[int, int], None]
"""Told of tasks that are done, and of how many are known."""


class Dataset(PartitionedRuns):
    """Runs in any number of files, read and scored by Dask: parts are given and forgotten, counts are kept."""

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
        watch: Watch | None = None,
        is_bounded: bool = False,
    ) -> None:
        """Look at the files, and read the judgments that go with them; arguments as of `evaluate_dataset`.

        Further score columns are those that rank or split ties besides the score. Where `lowest` or `highest`
        are to be asked for (`is_bounded`), parts are read once more before, to count what nobody judged.

        Raises:
            MissingPackageError: Dask is not installed.
            ReadError: nothing is there, a file cannot be read in blocks, or the judgments cannot be read.
            UsageError: two runs of one name, relevance nowhere, or a column that is not there.
        """
        from metrics.scale.dask import cluster  # noqa: PLC0415 of an extra

        self._cluster, self._scheduler, self._watch = cluster, scheduler, watch
        Runs.from_sources([], repeated, judged=False)  # a word that is known
        self._repeated: Repeated = repeated
        self._missing_score: MissingScore = missing_score
        self._score_columns = tuple(score_columns)
        self._qrels = None if qrels is None else (_load(qrels), dict(columns or {}), repeated, missing_score)
        judged = None if self._qrels is None else read_judgments(*self._qrels)
        self._is_bounded = is_bounded and judged is not None
        self._counter = PartCounter(judged)
        self._files = self._open(files, columns or {}, qrels)
        self._name = self._files[0].table.file.name if len(self._files) == 1 else "the files given"
        self._n_done = self._n_known = 0

    def _open(
        self, paths: Paths, columns: Mapping[str, str], qrels: str | PurePath | None
    ) -> list[DatasetFile]:
        """Open the files, and see that they have what is needed; judgments without scores are no run."""
        is_run = self._counter.judged is None or "score" in self._counter.judged.nothing.mapping
        files = dataset_files(paths, columns, None if is_run else qrels, self._missing_score)
        mappings = [file.table.mapping for file in files]
        refuse_unused(
            columns,
            [*mappings, *([] if self._counter.judged is None else [self._counter.judged.nothing.mapping])],
        )
        for file in files:
            if self._counter.judged is None and "relevance" not in file.table.mapping:
                raise no_relevance_error(file.table.file.name)
            file.refuse_without(self._score_columns)
        return files

    @property
    def _columns(self) -> tuple[str, ...]:
        """Columns that are read: ours, and further scores by name."""
        names = {name for file in self._files for name in file.table.mapping}
        judged = () if self._counter.judged else ("relevance", "target_id")
        inside = (name for name in ("score_std", *judged) if name in names)
        return ("reranker", "query_id", "doc_id", "score", *inside, *self._score_columns)

    def parts(self, score: Callable[[Runs], Evaluation]) -> Iterator[Evaluation]:
        """Yield evaluations that merge into that of the whole, each of some lists.

        Args:
            score: evaluates the runs it is given, always in the same way; it is sent to the workers.

        Raises:
            ReadError: a file cannot be read.
            UsageError: a name that does not exist, no scheduler or worker, or there is no run.
        """
        spread = [name for name in self._columns if name == "score_std"]
        nothing = empty_table(("score", *spread, *self._score_columns))
        score(Runs({"": nothing}, empty_table(("relevance",))))  # names are known, before anything is started
        task = PartTask(score, self._repeated, self._columns, self._name, self._missing_score)
        with self._cluster.connect(self._scheduler) as client:
            for scored in self._scored(client, task):
                self._counter.add_findings(scored.findings)
                for stats in scored.stats:
                    self._counter.add_stats(stats)
                if scored.evaluation is not None:
                    yield self._counter.add_policies(scored.evaluation)
        if not self._counter.rerankers:
            raise UsageError("There is no run: no file has a row.")
        for name in self._counter.rerankers:
            for runs in self._counter.missing(name, nothing):
                yield self._counter.add_policies(score(runs))

    def _scored(self, client: "Client", task: PartTask) -> Iterator[ScoredPart]:
        """Yield what comes of each part, and then of the lists that are spread over several."""
        judged = client.submit(read_judgments, *self._qrels) if self._qrels else None
        parts, hashes = self._parts_of_files(client)
        in_several = lists_in_several(hashes)
        shared = [np.intersect1d(lists, in_several) for lists in hashes]
        if self._is_bounded:
            rows = [client.submit(unjudged_rows, part, judged, pure=False) for part in parts]
            self._counter.count_unjudged(self._watched(rows))
            judged = client.submit(QueryJudgments.with_counts, judged, self._counter.n_unjudged, pure=False)
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
        """Return the parts of all files, and the hashes of the lists in each."""
        to_scan = [list(parts_to_scan(file)) for file in self._files]
        scans = self._watched(
            [client.submit(scan_part, part, pure=False) for part in chain.from_iterable(to_scan)]
        )
        row_groups = [list(chain.from_iterable(islice(scans, len(parts)))) for parts in to_scan]
        rerankers = [{name for group in groups for name in group.rerankers} for groups in row_groups]
        files = with_final_names(self._files, rerankers)
        cuts = list(chain.from_iterable(map(cut_file, files, row_groups)))
        return [part for part, _ in cuts], [hashes for _, hashes in cuts]

    def _watched(self, futures: list[Any]) -> Iterator[Any]:
        """Yield the results of tasks in their order, and tell who watches how many are done."""
        self._n_known += len(futures)
        for result in self._cluster.results_in_order(futures):
            self._n_done += 1
            if self._watch is not None:
                self._watch(self._n_done, self._n_known)
            yield result


def _load(path: str | PurePath) -> File:
    """Return a file with all its bytes, which can be sent to workers."""
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
    precision: str = "float64",
    missing: Policy = "zero",
    empty: Policy = "zero",
    relevant_from: float = 1,
    tiebreak_by: Sequence[str] = (),
    criteria: Sequence[str] = (),
    unjudged: Unjudged | None = None,
) -> Stored:
    """Score runs of any size on the workers of a Dask scheduler; to the same values as `evaluate`.

    Parquet is read by row groups, and only the columns needed; text file by file. Rows of a list that lie
    in several parts are brought together first. A worker that is lost costs time: its parts are scored
    again. Progress is shown where a person is watching.

    Args:
        files: a path, a URL, a pattern such as `runs/*.parquet`, several of these, or reranker → one of
            these. The files of a folder are parts of one table, as are those of a named reranker; a
            folder `reranker=BM25` names that of its files. Other files without a reranker column are
            runs named by their stems.
        qrels: judgments, path or URL; not needed where the tables hold relevance.
        measures: as of `evaluate`.
        ties: as of `evaluate`.
        scheduler: address of a Dask scheduler (`tcp://HOST:8786`), whose workers can open the files and
            have this package; None: one worker a core of this machine, for as long as this takes.
        output: the Parquet file to keep the values of each list in; None: one that goes with the result.
        columns: our column → the files', as of `read_runs`.
        repeated: as of `read_runs`.
        missing_score: as of `read_runs`.
        precision: as of `evaluate`.
        missing: as of `evaluate`.
        empty: as of `evaluate`.
        relevant_from: as of `evaluate`.
        tiebreak_by: as of `evaluate`.
        criteria: as of `evaluate`.
        unjudged: as of `evaluate`.

    Returns:
        what each list scored, in a file; `summary()` and `load()` give what `evaluate` gives.

    Raises:
        MissingPackageError: Dask is not installed (`pip install "tiescope[distributed]"`).
        ReadError: a file cannot be read; names file and row.
        UsageError: as of `evaluate` and `read_runs`; or the scheduler does not answer, a part is more
            than a worker's memory holds, or `output` cannot be written or is read.
    """
    from metrics.support.progress import progress  # noqa: PLC0415 its library need not be there where nothing is shown

    options = ScoringOptions(
        precision,
        missing,
        empty,
        relevant_from,
        tuple(tiebreak_by),
        tuple(criteria),
        unjudged or AS_READ.unjudged,
    )
    files = with_names(files)
    measures, ties = names_or_defaults(measures, ties)
    score = partial(score_runs, measures=measures, ties=ties, options=options)
    if output is not None:
        runs = [path for _, path in files]
        refuse_outputs([Path(str(output))], runs if qrels is None else [*runs, qrels])
    with ExitStack() as stack, progress("Scoring") as watch:
        path = Path(str(output))
        if output is None:
            path = Path(stack.enter_context(TemporaryDirectory(prefix="tiescope-")), "scores.parquet")
        dataset = Dataset(
            files,
            qrels,
            columns=columns,
            repeated=repeated,
            missing_score=missing_score,
            score_columns=options.further_columns,
            scheduler=scheduler,
            watch=watch,
            is_bounded=asks_for_bounds(ties),
        )
        stored = Stored.write(path, dataset.parts(score))
        finalize(stored, stack.pop_all().close)
    return stored
