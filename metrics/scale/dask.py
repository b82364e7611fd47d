"""Runs of any size, scored on Dask workers."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import RepeatError, UsageError
from metrics.evaluation import AS_READ, Evaluation, Policy, ScoringOptions, Unjudged, score_runs
from metrics.evaluation.scoring import names_or_defaults
from metrics.runs import File, MissingScore, Repeated, Runs, Source, as_judgments, as_run, read, with_names
from metrics.runs.columns import BY_NAME
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding
from metrics.runs.joining import no_relevance_error, unused_finding
from metrics.runs.query_doc_keys import Hashes
from metrics.runs.source import build_source
from metrics.runs.writing import refuse_outputs
from metrics.scale.dataset_parts import (
    ROWS,
    DatasetFile,
    Part,
    Paths,
    cut_file,
    dataset_files,
    is_among,
    lists_in_several,
    parts_to_scan,
    row_hashes,
    scan_part,
    take_rows,
    with_final_names,
)
from metrics.scale.part_scoring import PartitionedRuns, PartStats, QueryJudgments, split_by_reranker
from metrics.scale.stored import Stored

if TYPE_CHECKING:
    from metrics.scale.cluster import Client


_TEXTS = ("reranker", "query_id", "doc_id", "target_id")
_PLACES = 40
"""Bits for the number of a row."""


class PartTask(NamedTuple):
    """The work to do for every part.

    Attributes:
        score: evaluates runs.
        repeated: policy for a document that a list holds twice.
        columns: columns to read, ours and further ones.
        dataset: name of all files together.
        missing_score: policy for a score that is not a number.
    """

    score: Callable[[Runs], Evaluation]
    repeated: Repeated
    columns: tuple[str, ...]
    dataset: str
    missing_score: MissingScore = "error"


class ScoredPart(NamedTuple):
    """The result for a part.

    Attributes:
        evaluation: of its lists; None without lists.
        stats: counts of each reranker.
        findings: findings while reading.
    """

    evaluation: Evaluation | None
    stats: tuple[PartStats, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_judgments(
    file: File, columns: dict[str, str], repeated: Repeated, missing_score: MissingScore = "error"
) -> QueryJudgments:
    """Read the judgments of a file.

    Raises:
        ReadError: the file cannot be read, or holds no judgments.
    """
    source = read(file, columns, strict=False, missing_score=missing_score)
    return QueryJudgments.of(as_judgments(source), repeated)


def score_part(part: Part, spread: Hashes, judged: QueryJudgments | None, task: PartTask) -> ScoredPart:
    """Score the lists of a part, except for the `spread` lists, (n,) hashes, that have rows in other parts.

    Raises:
        TieScopeError: rows cannot be read or scored.
    """
    source = part.read(task.columns)
    if judged is not None:
        source = _without_relevance(source, part, judged)
    if len(spread):
        source = take_rows(source, np.flatnonzero(~is_among(row_hashes(source), spread)))
    return _score_source(source, judged, task)


def _without_relevance(source: Source, part: Part, judged: QueryJudgments) -> Source:
    """Drop relevance in the rows, which the judgments override, and report it."""
    inside = [name for name in ("relevance", "target_id") if name in part.member.table.mapping]
    is_judged = set(judged.table.column_names) - {"relevance"}
    unused = [name for name in inside if name not in is_judged]
    table = source.table.drop_columns([name for name in inside if name in source.table.column_names])
    notes = [unused_finding(name, source.file, len(source.table)) for name in unused]
    return replace(source, table=table, noted=(*source.noted, *notes))


def _score_source(source: Source, judged: QueryJudgments | None, task: PartTask) -> ScoredPart:
    if not len(source.table) and "reranker" in source.table.column_names:
        return ScoredPart(None, findings=source.noted)
    lists, noted = split_by_reranker(source, judged, task.repeated)
    evaluation = Evaluation.merge(*(task.score(runs) for runs, _ in lists))
    return ScoredPart(evaluation, tuple(stats for _, rerankers in lists for stats in rerankers), noted)


def empty_table(numbers: Sequence[str]) -> pa.Table:
    """Return a table of query_id, doc_id and number columns, without rows."""
    texts = {name: pa.array([], pa.string()) for name in ("query_id", "doc_id")}
    return pa.table(texts | {name: pa.array([], pa.float64()) for name in numbers})


def frame_of(part: Part | None, spread: Hashes, number: int, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a part that belong to lists spread over several parts; an empty frame for None.

    Returns:
        `key` (the list), `place` (number of the part, and of the row in its file), and the columns: text is
        null and numbers are NaN if the part lacks a column.

    Raises:
        ReadError: the rows cannot be read.
    """
    if part is None:
        empty = {name: pa.array([], pa.string() if name in _TEXTS else pa.float64()) for name in names}
        ids = {name: pa.array([], pa.int64()) for name in ("key", "place")}
        return pa.table(ids | empty).to_pandas()
    source = as_run(part.read(names))
    keys = row_hashes(source)
    rows = np.flatnonzero(is_among(keys, spread))
    source = take_rows(source, rows)
    place = (number << _PLACES) + part.first + rows + 1
    columns: dict[str, pa.Array] = {"key": pa.array(keys[rows].view(np.int64)), "place": pa.array(place)}
    for name in names:
        if name == "reranker" and (part.member.name or not part.member.names):
            columns[name] = pa.array([part.member.reranker] * len(rows), pa.string())
        elif name in source.table.column_names:
            column = source.table[name]
            columns[name] = column.cast(pa.string()) if name in _TEXTS else column
        else:
            columns[name] = pa.nulls(len(rows), pa.string() if name in _TEXTS else pa.float64())
    return pa.table(columns).to_pandas()


def score_frame(
    frame: pd.DataFrame, judged: QueryJudgments | None, task: PartTask, files: Sequence[str]
) -> ScoredPart:
    """Score lists from rows of several parts, in the order of the (n_parts,) files.

    Raises:
        TieScopeError: a list holds a document twice, or rows cannot be scored.
    """
    frame = frame.sort_values("place")
    columns = {name: pa.array(frame[name], from_pandas=True) for name in task.columns if name in frame}
    raw = {
        name: column
        for name, column in columns.items()
        if name == "score" or column.null_count < len(column) or not len(column)
    }
    mapping = {name: name for name in raw if name in BY_NAME}
    places = frame["place"].to_numpy()
    origin = FileProvenance(task.dataset, lambda row: int(places[row]) % 2**_PLACES, "row")
    try:
        source = build_source(raw, mapping, origin, "table", list(raw), missing_score=task.missing_score)
        return _score_source(source, judged, task)
    except RepeatError as error:
        raise _with_both_files(frame, files, error) from error


def _with_both_files(frame: pd.DataFrame, files: Sequence[str], error: RepeatError) -> RepeatError:
    """Return the error for a document that a list holds twice, with the files of both rows."""
    ids = ["reranker", "query_id", "doc_id"]
    twice = frame[frame.duplicated(ids, keep=False)]
    places = twice[(twice[ids] == twice[ids].iloc[0]).all(axis=1)]["place"].to_list()[:2]
    (file, row), (other, again) = ((files[place >> _PLACES], place % 2**_PLACES) for place in places)
    query, document = twice[ids].iloc[0].to_list()[1:]
    problem = f"document {document!r} is listed twice for query {query!r}, first in {file} on row {row}"
    return RepeatError(other, problem, error.hint, line=again, unit="row")


Watch = Callable[[int, int], None]
"""Called with the number of finished tasks, and of tasks in all."""


class Dataset(PartitionedRuns):
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
        watch: Watch | None = None,
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

        self._cluster, self._scheduler, self._watch = cluster, scheduler, watch
        Runs.from_sources([], repeated, judged=False)  # refuses an unknown policy
        self._repeated: Repeated = repeated
        self._missing_score: MissingScore = missing_score
        self._score_columns = tuple(score_columns)
        self._qrels = None if qrels is None else (_load(qrels), dict(columns or {}), repeated, missing_score)
        judged = None if self._qrels is None else read_judgments(*self._qrels)
        super().__init__(judged)
        self._files = self._open(files, columns or {}, qrels)
        self._name = self._files[0].table.file.name if len(self._files) == 1 else "the files given"
        self._n_done = self._n_known = 0

    def _open(
        self, paths: Paths, columns: Mapping[str, str], qrels: str | PurePath | None
    ) -> list[DatasetFile]:
        """Open the files and check their columns; judgments without scores are not a run."""
        is_run = self.judged is None or "score" in self.judged.nothing.mapping
        files, findings = dataset_files(paths, columns, None if is_run else qrels, self._missing_score)
        self.add_findings(findings)
        mappings = [file.table.mapping for file in files]
        if self.judged is not None:
            mappings.append(self.judged.nothing.mapping)
        used = {pair for mapping in mappings for pair in mapping.items()}
        if unused := [pair[1] for pair in columns.items() if pair[1] and pair not in used]:
            raise UsageError(f"No file has the chosen columns: {', '.join(unused)}.")
        for file in files:
            if self.judged is None and "relevance" not in file.table.mapping:
                raise no_relevance_error(file.table.file.name)
            file.refuse_without(self._score_columns)
        return files

    @property
    def _columns(self) -> tuple[str, ...]:
        """Columns to read: ours, and further score columns."""
        names = {name for file in self._files for name in file.table.mapping}
        judged = () if self.judged else ("relevance", "target_id")
        inside = (name for name in ("score_std", *judged) if name in names)
        return ("reranker", "query_id", "doc_id", "score", *inside, *self._score_columns)

    def parts(self, score: Callable[[Runs], Evaluation]) -> Iterator[Evaluation]:
        """Yield evaluations of some lists each, which merge into the evaluation of the whole.

        Raises:
            ReadError: a file cannot be read.
            UsageError: a name does not exist, no scheduler or worker answers, or there is no run.
        """
        spread = [name for name in self._columns if name == "score_std"]
        nothing = empty_table(("score", *spread, *self._score_columns))
        score(Runs({"": nothing}, empty_table(("relevance",))))  # refuses unknown names before workers start
        task = PartTask(score, self._repeated, self._columns, self._name, self._missing_score)
        with self._cluster.connect(self._scheduler) as client:
            for scored in self._scored(client, task):
                self.add_findings(scored.findings)
                for stats in scored.stats:
                    self.add_stats(stats)
                if scored.evaluation is not None:
                    yield self.add_policies(scored.evaluation)
        if not self.rerankers:
            raise UsageError("There is no run: the files have no rows.")
        for name in self.rerankers:
            for runs in self.missing(name, nothing):
                yield self.add_policies(score(runs))

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

    def _watched(self, futures: list[Any]) -> Iterator[Any]:
        """Yield the results of tasks in order, and report progress."""
        self._n_known += len(futures)
        for result in self._cluster.results_in_order(futures):
            self._n_done += 1
            if self._watch is not None:
                self._watch(self._n_done, self._n_known)
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
    precision: str = "float64",
    missing: Policy = "zero",
    empty: Policy = "zero",
    relevant_from: float = 1,
    tiebreak_by: Sequence[str] = (),
    criteria: Sequence[str] = (),
    unjudged: Unjudged | None = None,
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
        precision: as for `evaluate`.
        missing: as for `evaluate`.
        empty: as for `evaluate`.
        relevant_from: as for `evaluate`.
        tiebreak_by: as for `evaluate`.
        criteria: as for `evaluate`.
        unjudged: as for `evaluate`.

    Returns:
        the scores of each list, in a file; `summary()` and `load()` return the same as for `evaluate`.

    Raises:
        MissingPackageError: Dask is not installed (`pip install "tiescope[distributed]"`).
        ReadError: a file cannot be read; names file and row.
        UsageError: as for `evaluate` and `read_runs`; or the scheduler does not answer, a part exceeds a
            worker's memory, or `output` cannot be written or is an input.
    """
    from metrics.support.progress import progress  # noqa: PLC0415 only a terminal needs its library

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
        )
        stored = Stored.write(path, dataset.parts(score))
        finalize(stored, stack.pop_all().close)
    return stored
