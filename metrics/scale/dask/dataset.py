"""Runs of any size, scored wherever Dask has workers."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.runs import File, Repeated, Runs
from metrics.runs.joining import no_relevance_error
from metrics.runs.query_doc_keys import Hashes
from metrics.scale.dask.files import Paths, members, renamed
from metrics.scale.dask.parts import ROWS, Part, cut, scan, spread_over, to_scan
from metrics.scale.dask.tasks import Asked, Scored, frame_of, judgments, nothing_of, score_frame, score_part
from metrics.scale.stream import Judged, PartCounter, PartitionedRuns, refuse_unused

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
        tiebreak_by: Sequence[str] = (),
        scheduler: str | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Look at the files, and read the judgments that go with them; arguments as of `evaluate_dataset`.

        Raises:
            MissingPackageError: Dask is not installed.
            ReadError: nothing is there, a file cannot be read in blocks, or the judgments cannot be read.
            UsageError: two runs of one name, relevance nowhere, or a column that is not there.
        """
        from metrics.scale.dask import cluster  # noqa: PLC0415 of an extra

        self._cluster, self._scheduler, self._watch = cluster, scheduler, watch
        Runs.from_sources([], repeated, judged=False)  # a word that is known
        self._judged: Judged | None = None
        self._qrels: tuple[Any, ...] = ()
        if qrels is not None:
            file = File.open(qrels)
            with file.given() as stream:
                self._qrels = File(file.name, stream.read()), dict(columns or {}), repeated
            self._judged = judgments(*self._qrels)
        apart = self._judged is not None and "score" not in self._judged.nothing.mapping
        self._members = members(files, columns or {}, qrels if apart else None)
        mappings = [one.table.mapping for one in self._members]
        refuse_unused(columns or {}, [*mappings, *([self._judged.nothing.mapping] if self._judged else [])])
        for one in self._members:
            if self._judged is None and "relevance" not in one.table.mapping:
                raise no_relevance_error(one.table.file.name)
            one.refuse_without(tiebreak_by)
        judged = () if self._judged else ("relevance", "target_id")
        inside = [name for name in judged if any(name in one for one in mappings)]
        self._tiebreak_by = tuple(tiebreak_by)
        self._columns = ("reranker", "query_id", "doc_id", "score", *inside, *tiebreak_by)
        self._repeated: Repeated = repeated
        self._dataset = self._members[0].table.file.name if len(self._members) == 1 else "the files given"
        self._tally = PartCounter(self._judged)
        self._done = self._known = 0

    def parts(self, score: Callable[[Runs], Evaluation]) -> Iterator[Evaluation]:
        """Evaluations that merge into that of the whole, each of some lists.

        Args:
            score: evaluates the runs it is given, always in the same way; it is sent to the workers.

        Raises:
            ReadError: a file cannot be read.
            UsageError: a name that does not exist, no scheduler or worker, or there is no run.
        """
        nothing = nothing_of(("score", *self._tiebreak_by))
        score(Runs({"": nothing}, nothing_of(("relevance",))))  # names are known, before anything is started
        asked = Asked(score, self._repeated, self._columns, self._dataset)
        with self._cluster.connected(self._scheduler) as client:
            for scored in self._scored(client, asked):
                self._tally.note(scored.noted)
                for met in scored.met:
                    self._tally.meet(met)
                if scored.evaluation is not None:
                    yield self._tally.count(scored.evaluation)
        if not self._tally.rerankers:
            raise UsageError("There is no run: no file has a row.")
        for name in self._tally.rerankers:
            for runs in self._tally.missing(name, nothing):
                yield self._tally.count(score(runs))

    def _scored(self, client: "Client", asked: Asked) -> Iterator[Scored]:
        """What comes of each part, and then of the lists that are spread over several."""
        judged = client.submit(judgments, *self._qrels) if self._qrels else None
        parts, keys = self._cut(client)
        spread = spread_over(keys)
        own = [np.intersect1d(one, spread) for one in keys]
        tasks = zip(parts, own, strict=True)
        futures = [client.submit(score_part, *task, judged, asked, pure=False) for task in tasks]
        yield from self._watched(futures)
        if len(spread):
            torn = [at for at, prints in enumerate(own) if len(prints)]
            rows = sum(parts[at].n_rows * len(own[at]) / len(keys[at]) for at in torn)
            read = [(parts[at], own[at], at, self._columns) for at in torn]
            frames = self._cluster.shuffled(client, frame_of, read, math.ceil(rows / ROWS))
            files = client.submit(tuple, [part.member.table.file.name for part in parts], pure=False)
            yield from self._watched(self._cluster.each(client, score_frame, frames, judged, asked, files))

    def _cut(self, client: "Client") -> tuple[list[Part], list[Hashes]]:
        """The parts of all files, and the prints of the lists in each.

        Raises:
            ReadError: a file cannot be read.
            UsageError: two runs of one name.
        """
        scans = [list(to_scan(member)) for member in self._members]
        futures = [client.submit(scan, part, pure=False) for some in scans for part in some]
        results = self._watched(futures)
        seen = [[group for _ in some for group in next(results)] for some in scans]
        inside = [{name for group in groups for name in group.rerankers} for groups in seen]
        files = renamed(self._members, inside)
        found = [both for pair in zip(files, seen, strict=True) for both in cut(*pair)]
        return [part for part, _ in found], [prints for _, prints in found]

    def _watched(self, futures: list[Any]) -> Iterator[Any]:
        self._known += len(futures)
        for result in self._cluster.in_order(futures):
            self._done += 1
            if self._watch is not None:
                self._watch(self._done, self._known)
            yield result
