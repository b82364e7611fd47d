"""Repeats of one reranker, columns or runs, combined: one score and its spread for each document."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError, UsageError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.reading.columns import ColumnChoice
from metrics.runs.reading.files import File
from metrics.runs.reading.provenance import RowProvenance
from metrics.runs.reading.source import Source
from metrics.runs.repeats.choice import numbered_scores
from metrics.runs.repeats.statistics import SpreadKind, mean_scores, repeat_counts, score_deviations
from metrics.runs.stacks import RunStack, Stacks
from metrics.support.arrays import FloatArray, IntArray, coded, combine_chunks
from metrics.support.wording import count_of, first_names, part_of, quote

_UNLIKE = 3.0
"""How many times as far the scores of one repeat may spread as those of another before it is said."""
_FEW = 10
"""Scores of a repeat that are too few to say how far they spread."""
_MEANINGS = {
    "order": "the standard deviation of one within its list",
    "run": "the standard deviation of one",
    "mean": "the standard error of this mean",
}


def repeat_findings(
    name: str,
    members: Sequence[str],
    scores: FloatArray,
    means: FloatArray,
    spread: SpreadKind,
    origin: RowProvenance,
) -> list[Finding]:
    """Return what was combined, which documents repeats lack, and whether their scales differ.

    Args:
        name: of the combined reranker.
        members: names of its repeats, rerankers or columns.
        scores: (n_docs, n_repeats), NaN where a repeat has no score.
        means: (n_docs,) over the repeats.
        spread: whose standard deviation `score_std` is.
        origin: where the documents came from.

    Raises:
        UsageError: no document that two repeats have, or scores of both infinities for one.
    """
    counts = repeat_counts(scores)
    if not (counts > 1).any():
        raise UsageError(
            f"Repeats of {name!r}: no document is in two of {first_names(members)}. Are they repeats?"
        )
    if (np.isnan(means) & (counts > 0)).any():
        raise UsageError(f"Repeats of {name!r}: a document has the scores inf and -inf, which have no mean.")
    message = (
        f"{quote(name)}: the score is the mean of {count_of(len(members), 'repeat')} "
        f"({first_names(members)}), score_std {_MEANINGS[spread]}."
    )
    findings = [make_finding("repeats-combined", origin.file, message, count=len(members))]
    is_incomplete = (counts > 0) & (counts < len(members))
    if n_incomplete := int(is_incomplete.sum()):
        share = part_of(n_incomplete, len(counts), "document")
        message = (
            f"{quote(name)}: missing from some repeat: {share}, averaged over the repeats that have them; "
            f"scored by one alone, with the pooled scatter: {int((counts == 1).sum()):,}."
        )
        line = origin.line_of(int(np.argmax(is_incomplete)))
        findings.append(make_finding("repeats-incomplete", origin.file, message, line=line, count=n_incomplete))
    return [*findings, *_scale_findings(name, members, scores, origin)]


def unused_findings(name: str, columns: Sequence[Sequence[str]], file: str) -> list[Finding]:
    """Return which columns of repeats are not read: those that some lack, and the scatter that each states."""
    counts = Counter(column for names in columns for column in names)
    own = counts.pop("score_std", 0)
    lacking = [f"{column} (in {count:,})" for column, count in counts.items() if count < len(columns)]
    n_repeats = count_of(len(columns), "repeat")
    findings = []
    if lacking:
        message = f"{quote(name)}: not read, for not all of {n_repeats} have them: {', '.join(lacking)}."
        findings.append(make_finding("columns-unused", file, message, count=len(lacking)))
    if own:
        message = f"{quote(name)}: not read: score_std of {own:,} of {n_repeats}; it is made of their scores."
        findings.append(make_finding("columns-unused", file, message))
    return findings


def refuse_unlike_grades(name: str, members: Sequence[str], grades: FloatArray, table: pa.Table) -> None:
    """Raise a UsageError where repeats give one document two grades.

    Args:
        name: of the combined reranker.
        members: names of its repeats.
        grades: (n_docs, n_repeats), NaN where a repeat lacks a document.
        table: query and document of each.
    """
    is_unlike = np.fmax.reduce(grades, axis=1) > np.fmin.reduce(grades, axis=1)
    if not is_unlike.any():
        return
    row = int(np.argmax(is_unlike))
    query, document = (table[column][row].as_py() for column in ("query_id", "doc_id"))
    lowest, highest = int(np.nanargmin(grades[row])), int(np.nanargmax(grades[row]))
    raise UsageError(
        f"Repeats of {name!r}: document {document!r} of query {query!r} has relevance "
        f"{grades[row, lowest]:g} in {members[lowest]!r} and {grades[row, highest]:g} in {members[highest]!r}; "
        f"documents with two grades: {int(is_unlike.sum()):,}. "
        "Make them agree, or give judgments apart (--qrels)."
    )


def _scale_findings(
    name: str, members: Sequence[str], scores: FloatArray, origin: RowProvenance
) -> list[Finding]:
    """Return the finding that scores of one repeat span much more than those of another; arguments as above."""
    finite = np.where(np.isfinite(scores), scores, np.nan)
    ranges = np.nanmax(finite, axis=0, initial=-np.inf) / 2 - np.nanmin(finite, axis=0, initial=np.inf) / 2
    narrowest, widest = int(np.argmin(ranges)), int(np.argmax(ranges))
    is_few = np.isfinite(finite).sum(axis=0).min() < _FEW
    if is_few or ranges[widest] <= _UNLIKE * ranges[narrowest]:
        return []
    message = (
        f"{quote(name)}: scores of {quote(members[widest])} span {2 * ranges[widest]:.3g}, those of "
        f"{quote(members[narrowest])} {2 * ranges[narrowest]:.3g}."
    )
    return [make_finding("repeats-unlike", origin.file, message)]


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
    return _combine_columns(read, choice, names)


def _repeats_among(
    file: str, header: Sequence[str], mapping: Mapping[str, str], columns: Sequence[str]
) -> list[str]:
    """Return the columns of a table that are repeats: those named, else numbered scores of one without a score.

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


def _combine_columns(read: Reader, choice: ColumnChoice, names: Sequence[str]) -> Source:
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


_OF_ONE_RUN = ("rank", "score_std")
"""Columns that say something of one repeat alone."""


def combine_repeats(
    stacks: Stacks, repeats: Mapping[str, Sequence[str]], spread: SpreadKind, *, is_graded: bool
) -> tuple[Stacks, list[Finding]]:
    """Return rerankers with repeats combined, each in the place of its first repeat, and what is to be said.

    Raises:
        UsageError: a repeat that does not exist or is one twice, fewer than two of them, a name that another
            reranker has, no document that two of them have, or scores of both infinities or two grades for one.
    """
    names = list(stacks.places)
    _refuse_unusable(names, repeats)
    combined_name = {member: name for name, members in repeats.items() for member in members}
    parts: list[RunStack] = []
    findings: list[Finding] = []
    alone: list[str] = []
    begun: set[str] = set()
    for reranker in names:
        name = combined_name.get(reranker)
        if name is None:
            alone.append(reranker)
        elif name not in begun:
            begun.add(name)
            parts += stacks.renamed({other: other for other in alone}).stacks
            alone = []
            runs = {member: stacks.reranker(member) for member in repeats[name]}
            stack, of_stack = _combine_rerankers(name, runs, spread, is_graded=is_graded)
            parts.append(stack)
            findings += of_stack
    return Stacks([*parts, *stacks.renamed({other: other for other in alone}).stacks]), findings


def _refuse_unusable(names: Sequence[str], repeats: Mapping[str, Sequence[str]]) -> None:
    members = [member for group in repeats.values() for member in group]
    if unknown := next((member for member in members if member not in names), None):
        raise UsageError(f"Repeats: there is no reranker {unknown!r}. Rerankers: {first_names(names, 20)}.")
    if twice := next((member for member in members if members.count(member) > 1), None):
        raise UsageError(f"Repeats: {twice!r} is named twice. A run is a repeat of one reranker, once.")
    for name, group in repeats.items():
        if len(group) < 2:  # noqa: PLR2004 a spread needs two
            raise UsageError(f"Repeats of {name!r}: name two rerankers at least.")
        if not name.strip() or (name in names and name not in members):
            raise UsageError(f"Repeats: {name!r} is no name of its own. Call the combined reranker otherwise.")


def _combine_rerankers(
    name: str, repeats: Mapping[str, RunStack], spread: SpreadKind, *, is_graded: bool
) -> tuple[RunStack, list[Finding]]:
    """Return one reranker made of its repeats, and what is to be said of it.

    A document stands once, with all columns but scores of the first repeat that has it.
    """
    members, runs = list(repeats), list(repeats.values())
    shared = set.intersection(*(set(run.table.column_names) for run in runs)).difference(_OF_ONE_RUN)
    columns = [column for column in runs[0].table.column_names if column in shared]
    lengths = [len(run.table) for run in runs]
    table = pa.concat_tables([_with_texts(run.table.select(columns)) for run in runs])
    keys = QueryDocKeys.of(table)
    row_places = pd.factorize(keys.pair_codes)[0]
    rows = np.unique(row_places, return_index=True)[1]
    repeat = np.repeat(np.arange(len(runs)), lengths)

    def by_repeat(column: str) -> FloatArray:
        values = np.full((len(rows), len(runs)), np.nan)
        values[row_places, repeat] = table[column].to_numpy()
        return values

    scores = by_repeat("score")
    means = mean_scores(scores)
    origin = _combined_origin(runs, members, lengths).take(rows)
    findings = repeat_findings(name, members, scores, means, spread, origin)
    findings += unused_findings(name, [run.table.column_names for run in runs], origin.file)
    combined = {
        "score": means,
        "score_std": score_deviations(scores, keys.query[rows].astype(np.int64), spread),
    }
    if "latency" in columns:
        combined["latency"] = mean_scores(by_repeat("latency"))
    grades = by_repeat("relevance") if is_graded and "relevance" in columns else None
    table = table.take(pa.array(rows)).combine_chunks()
    if grades is not None:
        refuse_unlike_grades(name, members, grades, table)
    for column, values in combined.items():
        table = table.drop_columns([column]) if column in table.column_names else table
        table = table.append_column(column, pa.array(values))
    return RunStack.single(name, table, origin), findings


def _with_texts(table: pa.Table) -> pa.Table:
    """Return a table whose texts are plain, so that those of several tables go together."""
    fields = [
        pa.field(field.name, pa.string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _combined_origin(runs: Sequence[RunStack], members: Sequence[str], lengths: Sequence[int]) -> RowProvenance:
    """Return where the rows of repeats came from, one repeat after the other; each file is named once."""
    parts = [run.origin or RowProvenance.memory(member) for run, member in zip(runs, members, strict=True)]
    origin = RowProvenance.concat(parts, lengths).origin
    files = list(dict.fromkeys(part.file for part in parts))
    return RowProvenance(replace(origin, file=first_names(files), unit=parts[0].unit))
