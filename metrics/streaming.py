"""Files larger than memory, scored a few lists at a time: each part is an evaluation by itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.arrays import IntArray
from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.merging import added
from metrics.runs import File, Repeated, Runs, Source, as_judgments, as_run, in_blocks, read
from metrics.runs.blocks import Delimited
from metrics.runs.findings import Finding, as_frame
from metrics.runs.findings.streamed import Known, Noted
from metrics.runs.pairs import Pairs, text_prints

Path = str | PurePath

_LISTS = 2**14
"""Lists without rows that are scored at once."""


class Stream:
    """Runs that are read and scored part by part: parts are given and forgotten, counts are kept.

    Attributes:
        policies: as of an `Evaluation`, of the parts given so far.
    """

    def __init__(
        self,
        files: Iterable[Path],
        qrels: Path | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        repeated: Repeated = "error",
    ) -> None:
        """Open runs, and read the judgments that go with them; arguments as of `read_runs`.

        Raises:
            ReadError: a run cannot be opened or is of a format that is read whole, or the judgments
                cannot be read.
            UsageError: no file has a column of `columns`.
        """
        self._files = [in_blocks(replace(File.open(path), endless=True), columns) for path in files]
        judgments = None if qrels is None else as_judgments(read(File.open(qrels), columns, strict=False))
        _refuse_unused(columns or {}, self._files, judgments)
        self._judged = None if judgments is None else _Judged.of(judgments, repeated)
        self._repeated: Repeated = repeated
        self._known: dict[str, Known] = {}
        self._noted = Noted()
        if self._judged is not None:
            self._noted.add(self._judged.noted)
        self.policies = pd.DataFrame()

    def parts(self, score: Callable[[Runs], Evaluation]) -> Iterator[Evaluation]:
        """Evaluations that merge into that of the whole, each of some queries of one reranker.

        Lists come as the files have them; those without rows after the last row of the file.

        Args:
            score: evaluates the runs it is given, always in the same way.

        Raises:
            ReadError: a file cannot be read, or a query comes again after rows of others.
            UsageError: two runs have one name, or relevance is nowhere.
        """
        for file in self._files:
            for runs in self._runs(file):
                evaluation = score(runs)
                before = [] if self.policies.empty else [self.policies]
                self.policies = added([*before, evaluation.policies])
                yield evaluation

    def _runs(self, file: Delimited) -> Iterator[Runs]:
        """The lists of a file, each with its judgments, those of one reranker at a time."""
        nothing = [] if self._judged is None else [self._judged.nothing]
        here: dict[str, pa.Table] = {}
        for source in file.blocks():
            block = Runs.from_sources([as_run(source), *nothing], self._repeated)
            self._noted.add(block.noted)
            for name in block.rerankers:
                if name in self._known and name not in here:
                    hint = "Rename one file, or the reranker inside it."
                    raise UsageError(f"{file.file.name}: there are two runs named {name!r}. {hint}")
                here[name] = block.tables[name].slice(0, 0)
                yield self._with_judgments(block.arranged({name: name}), name, file.file.name)
        for name, table in here.items():
            if self._judged is not None:
                missing = np.flatnonzero(~self._known[name].seen)
                for at in range(0, len(missing), _LISTS):
                    yield Runs({name: table}, self._judged.rows_of(missing[at : at + _LISTS]))

    def _with_judgments(self, runs: Runs, name: str, file: str) -> Runs:
        """The lists of one reranker, with the judgments of their queries alone."""
        queries = runs.queries[name]
        n_judged = 0 if self._judged is None else len(self._judged.pairs.queries)
        known = self._known.setdefault(name, Known(file, np.zeros(n_judged, bool)))
        known.n_queries += len(queries)
        if self._judged is None:
            known.asked.append(text_prints(queries))
            return runs
        places = self._judged.places(queries)
        known.seen[places[places >= 0]] = True
        runs = runs.judged_by(self._judged.rows_of(places[places >= 0]))
        known.n_judged_rows += len(runs.judged_rows[name][0])
        return runs

    @property
    def left_out(self) -> pd.DataFrame:
        """What was not scored or was changed while reading, of the parts given so far; as of `Runs`."""
        known = self._known.items()
        if self._judged is None:
            everyone = [np.concatenate(one.asked) for one in self._known.values()]
            n_asked = len(np.unique(np.concatenate(everyone))) if everyone else 0
            differ = [one.queries_differ(name, n_asked) for name, one in known]
        else:
            differ = [one.unjudged(name) for name, one in known]
        return as_frame([*self._noted.findings, *(one for some in differ for one in some)])


@dataclass(frozen=True, eq=False)
class _Judged:
    """Judgments, looked up by query.

    Attributes:
        table: query_id, doc_id, relevance, perhaps target_id.
        pairs: query and document of each row.
        order: (n_rows,) rows query by query.
        ends: (n_queries + 1,) first place in `order` of each query, and the end.
        nothing: the source without a row.
        noted: what was found while reading.
    """

    table: pa.Table
    pairs: Pairs
    order: IntArray
    ends: IntArray
    nothing: Source
    noted: tuple[Finding, ...]

    @classmethod
    def of(cls, source: Source, repeated: Repeated) -> "_Judged":
        """Judgments of a file.

        Raises:
            ReadError: a document is judged twice for a query, and that is to be an error.
        """
        runs = Runs.from_sources([source], repeated, judged=False)
        table, pairs = runs.qrels, runs.judged_pairs
        order = np.argsort(pairs.query, kind="stable")
        ends = np.searchsorted(pairs.query[order], np.arange(len(pairs.queries) + 1))
        nothing = replace(source, table=source.table.slice(0, 0), noted=())
        return cls(table, pairs, order, ends, nothing, runs.noted)

    def places(self, queries: pa.Array) -> IntArray:
        """(n,) place of each query among those judged, -1 where it is not."""
        found_at = pc.fill_null(pc.index_in(queries, value_set=self.pairs.queries), -1)
        return np.asarray(found_at).astype(np.int64)

    def rows_of(self, places: IntArray) -> pa.Table:
        """The judgments of some queries, query by query."""
        start, n = self.ends[places], self.ends[places + 1] - self.ends[places]
        at = np.repeat(start - (np.cumsum(n) - n), n) + np.arange(int(n.sum()))
        return self.table.take(pa.array(self.order[at])).combine_chunks()


def _refuse_unused(columns: Mapping[str, str], files: list[Delimited], judgments: Source | None) -> None:
    """Raise a UsageError where no file has a column that was chosen."""
    read_as = [file.mapping for file in files] + ([] if judgments is None else [judgments.mapping])
    unused = [
        theirs
        for ours, theirs in columns.items()
        if theirs and not any(mapping.get(ours) == theirs for mapping in read_as)
    ]
    if unused:
        raise UsageError(f"No file has the columns chosen: {', '.join(unused)}.")
