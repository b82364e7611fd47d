"""Several columns of scores that are repeats of one reranker, read as one score and its spread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from metrics.errors import ReadError, UsageError
from metrics.runs.findings import make_finding
from metrics.runs.reading.columns import ColumnChoice
from metrics.runs.reading.files import File
from metrics.runs.reading.provenance import RowProvenance
from metrics.runs.reading.source import Source
from metrics.runs.repeats.findings import repeat_findings
from metrics.runs.repeats.names import numbered_scores
from metrics.runs.repeats.statistics import mean_scores, score_deviations
from metrics.support.arrays import FloatArray, IntArray, coded, combine_chunks
from metrics.support.wording import first_names

FORMAT = "repeated-scores"
MEAN, STD = "mean_score", "score_std"
"""Columns that are made of repeats."""
MAX_REPEATS = 50
"""Most columns of scores of one table: it is read once for each."""
Reader = Callable[[ColumnChoice], Source]
"""Reads a table with the columns chosen."""


def read_with_repeats(read: Reader, choice: ColumnChoice) -> Source:
    """Read a table; where its columns of scores are repeats, one score is made of them.

    They are where the user names them, or where the table has no score and numbered ones (score_1, score_2).
    A table that has none of the columns named is read as it is.

    Args:
        read: reads the table.
        choice: columns the user chose, and those that are repeats.

    Raises:
        ReadError: the table cannot be read, has some of the columns named and not all, or a column without a
            number.
    """
    if choice.columns.get("score") == "":
        return read(choice)
    try:
        return _read_or_combine(read, choice)
    except UsageError:  # columns that are made of repeats may be chosen again as if the file had them
        own = {ours: theirs for ours, theirs in choice.columns.items() if theirs not in (MEAN, STD)}
        if own == choice.columns:
            raise
        return _read_or_combine(read, replace(choice, columns=own))


def _read_or_combine(read: Reader, choice: ColumnChoice) -> Source:
    """Read a table, by its repeats where it has any; arguments as above."""
    try:
        source = read(choice)
    except ReadError as error:
        if not (names := _repeats_among(error.file, error.header, error.mapping, choice.repeats)):
            raise
    else:
        if not (names := _repeats_among(source.file, source.header, source.mapping, choice.repeats)):
            return source
    return _combined(read, choice, names)


def _repeats_among(
    file: str, header: Sequence[str], mapping: Mapping[str, str], columns: Sequence[str]
) -> list[str]:
    """Return the columns of a table that are repeats: those named, else numbered scores of one without a score.

    Args:
        file: its name.
        header: names of its columns.
        mapping: our column → the table's.
        columns: those named.

    Raises:
        ReadError: some of those named are not there, or they are too many.
    """
    if not columns:
        columns = numbered_scores(header) if "score" not in mapping else []
    if len(columns) > MAX_REPEATS:
        problem = f"{len(columns):,} columns of scores, more than {MAX_REPEATS}"
        raise ReadError(file, problem, "Choose one as the score, or name fewer as repeats.", line=1)
    missing = [name for name in columns if name not in header]
    if missing and len(missing) < len(columns):
        problem = f"no column {missing[0]!r} among {', '.join(header)}"
        raise ReadError(file, problem, "Name columns of scores as repeats, each by its whole name.", line=1)
    return [] if missing else list(columns)


def _combined(read: Reader, choice: ColumnChoice, names: Sequence[str]) -> Source:
    """Read a table once for each named column of scores, and make one score of them."""
    free = {ours: theirs for ours, theirs in choice.columns.items() if theirs not in names}
    first, columns = None, []
    for name in names:
        source = read(replace(choice, columns={**free, "score": name}, missing_score="last"))
        first = first or source
        columns.append(source.table["score"].to_numpy())
    assert first is not None  # noqa: S101 two names at least
    scores, spread = np.stack(columns, axis=1), choice.spread
    _refuse_missing(first, scores, names, is_refused=choice.missing_score == "error")
    means = mean_scores(scores)
    findings = repeat_findings(
        File(first.file, b"").stem, names, scores, means, spread, RowProvenance(first.origin)
    )
    lists = _list_numbers(first.table)
    other_columns = [name for name in first.table.column_names if name not in {*names, "score", "score_std"}]
    table = first.table.select(other_columns)
    for column, values in (("score", means), ("score_std", score_deviations(scores, lists, spread))):
        table = table.append_column(column, pa.array(values))
    header = [*(name for name in first.header if name not in {*names, MEAN, STD}), MEAN, STD]
    mapping = {**first.mapping, "score": MEAN, "score_std": STD}
    if first.mapping.get("score_std") == STD:
        message = f"Not read: {STD} of the table; it is made of {first_names(names)}."
        findings.append(make_finding("columns-unused", first.file, message, line=1))
    noted = [finding for finding in first.noted if finding.code != "columns-unused"]
    return replace(
        first,
        format=FORMAT,
        table=table,
        mapping=mapping,
        header=tuple(header),
        noted=(*noted, *findings),
        missing_score=choice.missing_score,
    ).note_unused()


def _list_numbers(table: pa.Table) -> IntArray:
    """Return the (n_rows,) number of the list of each row."""
    keys = [combine_chunks(table[name]) for name in ("reranker", "query_id") if name in table.column_names]
    codes = [np.asarray(coded(key).indices, dtype=np.int64) for key in keys]
    number = codes[0] if len(codes) == 1 else codes[0] * (codes[1].max(initial=0) + 1) + codes[1]
    return np.unique(number, return_inverse=True)[1].ravel()


def _refuse_missing(source: Source, scores: FloatArray, names: Sequence[str], *, is_refused: bool) -> None:
    """Raise a ReadError where a column of scores holds no number at all, or a row none that has to."""
    is_missing = np.isnan(scores)
    blank = np.flatnonzero(is_missing.all(axis=0))
    if len(blank) and len(scores):
        problem = f"the score column {names[blank[0]]!r} holds no number"
        raise ReadError(source.file, problem, "Choose other columns as repeats.", line=1)
    if is_refused and is_missing.all(axis=1).any():
        hint = "Give a score, drop the row, or have such documents put last or dropped (missing score)."
        row = int(np.argmax(is_missing.all(axis=1)))
        raise source.origin.error(row, f"no number in any of {first_names(names)}", hint)
