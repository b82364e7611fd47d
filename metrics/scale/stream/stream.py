"""Files whose queries stand together, read and scored block by block in one process."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.runs import (
    File,
    MissingScore,
    Repeated,
    Runs,
    as_judgments,
    distinct_file_names,
    is_judgments,
    open_blocks,
    read,
    with_names,
)
from metrics.runs.findings import Finding
from metrics.runs.formats.block_table import BlockTable
from metrics.runs.joining import told_apart_finding, two_runs_error
from metrics.runs.query_doc_keys import Hashes
from metrics.scale.stream.judged import QueryJudgments
from metrics.scale.stream.part_counter import PartCounter, PartitionedRuns, refuse_unused, split_by_reranker

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

        Args:
            score: evaluates the runs it is given, always in the same way.

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
