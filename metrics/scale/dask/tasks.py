"""What a worker does: read rows, and score the lists in them as everywhere else."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import RepeatError
from metrics.evaluation import Evaluation
from metrics.runs import File, MissingScore, Repeated, Runs, Source, as_judgments, as_run, read
from metrics.runs.findings import Finding
from metrics.runs.joining import unused_finding
from metrics.runs.query_doc_keys import Hashes
from metrics.runs.reading.columns import BY_NAME
from metrics.runs.reading.provenance import FileProvenance
from metrics.runs.reading.source import build_source
from metrics.scale.dask.parts import Part, is_among, row_hashes, take_rows
from metrics.scale.stream import PartStats, QueryJudgments, split_by_reranker

_TEXTS = ("reranker", "query_id", "doc_id", "target_id")
_PLACES = 40
"""Bits of the number of a row."""


class PartTask(NamedTuple):
    """What is wanted of every part.

    Attributes:
        score: evaluates the runs it is given.
        repeated: what is done about a document twice in one list.
        columns: those that are read: ours, and further ones by name.
        dataset: how the files are called together.
        missing_score: what is done about a score that is no number.
    """

    score: Callable[[Runs], Evaluation]
    repeated: Repeated
    columns: tuple[str, ...]
    dataset: str
    missing_score: MissingScore = "error"


class ScoredPart(NamedTuple):
    """What comes of a part.

    Attributes:
        evaluation: of its lists; None where it has none.
        stats: what was met of each reranker.
        findings: what was found while reading.
    """

    evaluation: Evaluation | None
    stats: tuple[PartStats, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_judgments(
    file: File, columns: dict[str, str], repeated: Repeated, missing_score: MissingScore = "error"
) -> QueryJudgments:
    """Read the judgments of a file.

    Raises:
        ReadError: it cannot be read, or holds none.
    """
    source = read(file, columns, strict=False, missing_score=missing_score)
    return QueryJudgments.of(as_judgments(source), repeated)


def unjudged_rows(part: Part, judged: QueryJudgments) -> Hashes:
    """Return the documents of a part that nobody judged, as `QueryJudgments.unjudged_rows`."""
    return judged.unjudged_rows(as_run(part.read(("query_id", "doc_id", "score"))))


def score_part(part: Part, spread: Hashes, judged: QueryJudgments | None, task: PartTask) -> ScoredPart:
    """Score the lists of a part, but for those that are spread over several.

    Args:
        part: whose rows.
        spread: (n,) hashes of the lists that other parts have rows of, in order.
        judged: judgments; None where the rows hold relevance.
        task: what is wanted.

    Returns:
        Their evaluation, and what was met and found on the way.

    Raises:
        TieScopeError: rows cannot be read, or not be scored.
    """
    source = part.read(task.columns)
    if judged is not None:
        source = _without_relevance(source, part, judged)
    if len(spread):
        source = take_rows(source, np.flatnonzero(~is_among(row_hashes(source), spread)))
    return _score_source(source, judged, task)


def _without_relevance(source: Source, part: Part, judged: QueryJudgments) -> Source:
    """Return rows without what is said of relevance beside the judgments; that it is not used is noted."""
    inside = [name for name in ("relevance", "target_id") if name in part.member.table.mapping]
    unused = [name for name in inside if name == "relevance" or name not in judged.table.column_names]
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
    """Return a table of query_id, doc_id and columns of numbers, without a row."""
    texts = {name: pa.array([], pa.string()) for name in ("query_id", "doc_id")}
    return pa.table(texts | {name: pa.array([], pa.float64()) for name in numbers})


def frame_of(part: Part | None, spread: Hashes, number: int, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a part that belong to lists spread over several; none of no part.

    Args:
        part: whose rows.
        spread: hashes of the lists.
        number: of the part.
        names: of columns: ours, and further ones.

    Returns:
        `key` (the list), `place` (number of the part, and of the row in its file), and the columns; text is
        null and numbers are NaN where the part lacks a column.

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
    """Score lists whose rows came together, in the order of the files.

    Args:
        frame: rows, as `frame_of` makes them.
        judged: judgments; None where the rows hold relevance.
        task: what is wanted.
        files: (n_parts,) name of the file of each part.

    Returns:
        Their evaluation, and what was met and found on the way.

    Raises:
        TieScopeError: a document twice in a list, or rows that cannot be scored.
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
    """Return the error of a document twice in a list, which names the files of both rows."""
    ids = ["reranker", "query_id", "doc_id"]
    twice = frame[frame.duplicated(ids, keep=False)]
    places = twice[(twice[ids] == twice[ids].iloc[0]).all(axis=1)]["place"].to_list()[:2]
    (file, row), (other, again) = ((files[place >> _PLACES], place % 2**_PLACES) for place in places)
    query, document = twice[ids].iloc[0].to_list()[1:]
    problem = f"document {document!r} is listed twice for query {query!r}, first in {file} on row {row}"
    return RepeatError(other, problem, error.hint, line=again, unit="row")
