"""What Dask workers do: read a part, join the judgments, and score its lists."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import RepeatError
from metrics.evaluation import Evaluation
from metrics.runs import File, MissingScore, Repeated, Runs, Source, as_judgments, as_run, read
from metrics.runs.columns import BY_NAME
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding
from metrics.runs.joining import unused_finding
from metrics.runs.query_doc_keys import Hashes, QueryDocKeys, text_hashes
from metrics.runs.source import build_source
from metrics.scale.dataset_parts import Part, is_among, row_hashes, take_rows
from metrics.support.arrays import IntArray, joined_ranges


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

    def judge(self, runs: Runs, places: IntArray) -> Runs:
        """Join the judgments of some queries to runs, sorted by query."""
        start, n = self.ends[places], self.ends[places + 1] - self.ends[places]
        rows = self.order[joined_ranges(start, n)]
        return runs.judged_by(self.table.take(pa.array(rows)).combine_chunks())


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
    block = Runs.from_sources([as_run(source), *([] if judged is None else [judged.nothing])], repeated)
    parts, stats = list[tuple[Runs, list[PartStats]]](), list[PartStats]()
    for name in block.rerankers:
        queries = block.pairs(name).queries
        if judged is None:
            none = np.empty(0, np.int64)
            stats.append(PartStats(name, source.file, len(queries), none, 0, text_hashes(queries)))
            continue
        places = judged.pairs.places_of(queries)
        places = places[places >= 0]
        runs = judged.judge(block.arranged({name: name}), places)
        n_judged_rows = int(np.isfinite(np.asarray(runs.matched_stacks.reranker(name).grades)).sum())
        counts = PartStats(name, source.file, len(queries), places, n_judged_rows, np.empty(0, np.uint64))
        parts.append((runs, [counts]))
    return parts if judged is not None else [(block, stats)], block.noted


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
