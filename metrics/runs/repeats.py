"""Repeats of one reranker, columns or runs, combined: one score and its spread for each document."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError, UsageError
from metrics.runs.columns import ColumnChoice, SpreadKind, normalised
from metrics.runs.files import File, RowProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.source import Source
from metrics.runs.stacks import RunStack, Stacks
from metrics.support.arrays import BoolArray, FloatArray, IntArray, coded, combine_chunks
from metrics.support.wording import count_of, first_names, part_of, quote

_DIGITS = 12
"""Significant digits of a mean: what is level in decimals stays level."""
_CANCELLED = 2
"""Further digits, counted from a document's largest score, beyond which its mean is rounding alone."""
_STAND_IN = 1e9
"""How many times as far as half of the documents one scatters where a number stands in for a missing score."""


def mean_scores(scores: FloatArray) -> FloatArray:
    """Return the mean of (n_docs, n_repeats) scores over the repeats that have one; NaN where none has.

    It depends on the document's scores alone and not on their order. A score that all repeats give is returned
    as it is, any other mean to twelve digits of its own, so that documents whose means are level in decimals
    are level, however large the scores of others (and to fewer where scores of both signs leave a hundredth of
    the largest). An infinite score makes the mean infinite; one of either sign makes it NaN.
    """
    ordered = np.sort(scores, axis=1)  # NaN last, so that sums do not depend on the order of repeats
    counts = np.maximum(repeat_counts(scores), 1)
    lowest, highest = ordered[:, 0], ordered[np.arange(len(scores)), counts - 1]
    with np.errstate(invalid="ignore"):  # inf - inf
        means = np.nansum(ordered / counts[:, None], axis=1)
    is_missing = np.isnan(lowest)
    places = np.minimum(-_exponents(means), _CANCELLED - _exponents(_largest(scores))) + _DIGITS - 1
    means = _rounded(means, places)
    return np.where(is_missing, np.nan, np.where(lowest == highest, lowest, means))


def repeat_counts(scores: FloatArray) -> IntArray:
    """Return the (n_docs,) number of repeats that have each document."""
    counts: IntArray = (~np.isnan(scores)).sum(axis=1)
    return counts


def score_deviations(scores: FloatArray, lists: IntArray, kind: SpreadKind = "order") -> FloatArray:
    """Return the standard deviation of each document's score.

    - `run`: s = sqrt(sum((x - mean)^2) / (n - 1)) over the n repeats that have the document: how the score of
      one further run would scatter.
    - `mean`: s / sqrt(n), the standard error: how far the mean may lie from that of endless runs.
    - `order`: s of what is left once the shift of a repeat, its mean over the m documents of a list that all
      repeats have, is taken out, times sqrt(m / (m - 1)). A prompt or a seed that raises every score of a list
      changes no order, and the treatment `noise` takes documents as independent: with s in its place, such a
      shift would count as if it reversed neighbours.

    A document that a single repeat has gets the pooled s of all others, sqrt(sum of squares / sum of (n - 1)),
    0 where there is none. An infinite score has 0, and so has what differs by rounding alone. A document that
    scatters a thousand million times as far as half of the others, because one repeat has a number such as
    -1e12 in place of a score, counts in no shift and is not pooled.

    Shapes: `scores` (n_docs, n_repeats), `lists` (n_docs,).
    """
    counts = repeat_counts(scores)
    is_finite = np.isfinite(scores).sum(axis=1) == np.maximum(counts, 1)
    finite = np.where(is_finite[:, None], scores, np.nan) / 4  # so that no difference leaves the floats
    scattered, factor = finite - np.fmin.reduce(finite, axis=1)[:, None], np.ones(len(scores))
    if kind == "order":
        scattered, factor = _without_shifts(scattered, lists)
    scale = _largest(scattered)  # of each document, so that no square leaves them
    scale = np.where(scale > 0, scale, 1.0)
    scaled = scattered / scale[:, None]
    means = np.nansum(scaled, axis=1) / np.maximum(counts, 1)
    squares = np.nansum((scaled - means[:, None]) ** 2, axis=1)
    deviations = scale * np.sqrt(squares / np.maximum(counts - 1, 1)) * factor
    deviations = np.where(counts > 1, deviations, _pooled(deviations, np.where(is_finite, counts - 1, 0)))
    if kind == "mean":
        deviations = deviations / np.sqrt(np.maximum(counts, 1))
    return np.where(is_finite & (deviations > _largest(finite) * 10.0**-_DIGITS), deviations * 4, 0.0)


def _pooled(deviations: FloatArray, freedom: IntArray) -> float:
    """Return the pooled standard deviation of documents, without those that stand-ins for scores scatter."""
    scattering = deviations[(freedom > 0) & (deviations > 0)]
    middle = np.median(scattering) if len(scattering) else 0.0
    usual = (freedom > 0) & (deviations / _STAND_IN <= middle)
    largest = deviations[usual].max(initial=0.0) or 1.0
    squares = (deviations[usual] / largest) ** 2 @ freedom[usual]
    return float(largest * np.sqrt(squares / max(freedom[usual].sum(), 1)))


def _without_shifts(scores: FloatArray, lists: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return scores without what a repeat adds to all of a list, and the factor their deviations lose by it."""
    is_complete: BoolArray = repeat_counts(scores) == scores.shape[1]
    n_lists = int(lists.max(initial=-1)) + 1
    is_complete[is_complete] = ~_stand_ins(_largest(scores[is_complete]), lists[is_complete], n_lists)
    sizes = np.bincount(lists[is_complete], minlength=n_lists)
    columns = (scores[is_complete] / sizes[lists[is_complete], None]).T
    shifts = np.stack(
        [np.bincount(lists[is_complete], column, minlength=n_lists) for column in columns], axis=1
    )
    shifts -= (shifts / shifts.shape[1]).sum(axis=1, keepdims=True)
    shifts[sizes < 2] = 0  # noqa: PLR2004 one document has no order
    factors = np.sqrt(np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0))
    return scores - shifts[lists], np.where(is_complete, factors[lists], 1.0)


def _stand_ins(ranges: FloatArray, lists: IntArray, n_lists: int) -> BoolArray:
    """Return which documents scatter so far beyond half of their list that a score stands for a missing one."""
    sizes = np.bincount(lists, minlength=n_lists)
    middles = np.cumsum(sizes) - sizes + np.maximum(sizes - 1, 0) // 2
    medians = np.append(ranges[np.lexsort((ranges, lists))], 0.0)[middles]
    is_beyond: BoolArray = (medians[lists] > 0) & (ranges / _STAND_IN > medians[lists])
    return is_beyond


def _largest(scores: FloatArray) -> FloatArray:
    """Return the (n_docs,) largest |score| of each document that is finite, 0 where none is."""
    largest: FloatArray = np.abs(np.where(np.isfinite(scores), scores, 0.0)).max(axis=1, initial=0.0)
    return largest


def _exponents(values: FloatArray) -> IntArray:
    """Return the power of ten at or below each |value|, 0 of what has none."""
    has_exponent = np.isfinite(values) & (values != 0)
    return np.floor(np.log10(np.abs(np.where(has_exponent, values, 1.0)))).astype(np.int64)


def _rounded(values: FloatArray, places: IntArray) -> FloatArray:
    """Round each value to its places after the point, negative ones before it; where that overflows, not."""
    rounded = values.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for number in np.unique(places).tolist():
            is_alike = places == number
            rounded[is_alike] = np.round(values[is_alike], number)
    return np.where(np.isfinite(rounded), rounded, values)


_BARE = "seed|repeat|rep|replicate|trial"
"""Words that say repeat by themselves; a run or a prompt alone may be anything."""
_WORDS = f"{_BARE}|run|sample|draw|attempt|try|iteration|prompt"
_ENDS = r"[\s_.,;:/|+-]{0,3}"


def _pattern(words: str) -> re.Pattern[str]:
    core = rf"(?<![^\W\d_])(?:{words})[\s_.=:#-]{{0,3}}\d{{1,19}}(?![^\W_]|\.\d)"
    return re.compile(rf"{_ENDS}(?:\({core}\)|\[{core}\]|{core})", re.IGNORECASE)


_SEED, _ANY = _pattern("seed"), _pattern(_WORDS)
_NUMBERED_SCORE = re.compile(r"(.*scores?(?:seed|run|repeat|rep|trial|sample)?)\d{1,9}")
NO_STEM = "repeats"
"""What repeats are called whose names say nothing else."""


def repeat_groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Return rerankers that look like repeats: what they share → two names or more that differ in a seed alone.

    A seed is a number after a word such as seed, run, repeat or prompt: colbert-seed1, x.seed=42, y_run3. Where
    a name has a seed, its other numbers tell rerankers apart; a number without such a word always does (bm25,
    MiniLM-6, gpt-4). What they share is the combined reranker's name, with the count of repeats behind it where
    that name is another reranker's.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        pattern = _SEED if _SEED.search(name) else _ANY
        if pattern.search(name):
            template = pattern.sub(lambda seed: re.sub(r"\d+", "\0", seed[0]).casefold(), name)
            groups.setdefault(template, []).append(name)
    combined: dict[str, list[str]] = {}
    every_name = set(names)
    for members in groups.values():
        stem = _stem(members[0])
        labels = [stem, f"{stem} ({len(members)} repeats)"] if stem else []
        free = (label for label in labels if label not in combined)
        label = next((label for label in free if label not in every_name or label in members), "")
        if len(members) > 1 and label:
            combined[label] = members
    return combined


def _stem(name: str) -> str:
    """Return a name without its seed; empty where nothing is left that says repeat."""
    pattern = _SEED if _SEED.search(name) else _ANY
    stem = re.sub(rf"^{_ENDS}|{_ENDS}$", "", pattern.sub("", name)).strip()
    is_bare = re.match(rf"\W*(?:{_BARE})", name, re.IGNORECASE)
    return stem or (NO_STEM if is_bare else "")


def numbered_scores(header: Sequence[str]) -> list[str]:
    """Return numbered columns of scores, score_1 and score_2, of the first family that has two; else none."""
    families: dict[str, list[str]] = {}
    for name in header:
        if match := _NUMBERED_SCORE.fullmatch(normalised(name)):
            families.setdefault(match[1], []).append(name)
    return next((columns for columns in families.values() if len(columns) > 1), [])


SEEDS = "seeds"
Repeats: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]] | Literal["seeds"]
"""Columns of scores; name → rerankers that are its repeats; or rerankers whose names differ in a seed alone."""


@dataclass(frozen=True)
class RepeatChoice:
    """What is combined as repeats of one reranker.

    Attributes:
        columns: of scores, in every table that has them.
        rerankers: name of a combined reranker → its repeats.
        by_seed: whether rerankers are repeats whose names differ in a seed alone.
        spread: what `score_std` is: `order`, `run` or `mean`.
    """

    columns: tuple[str, ...] = ()
    rerankers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_seed: bool = False
    spread: SpreadKind = "order"

    @classmethod
    def of(cls, repeats: Repeats = (), spread: SpreadKind = "order") -> "RepeatChoice":
        """Return the choice that `repeats`, as `read_runs` takes it, means; UsageError where none."""
        if spread not in get_args(SpreadKind):
            raise UsageError(f"repeats_std={spread!r}: it is 'order', 'run' or 'mean'.")
        if isinstance(repeats, str):
            if repeats != SEEDS:
                raise UsageError(f"repeats={repeats!r}: give columns, {{name: rerankers}}, or 'seeds'.")
            return cls(by_seed=True, spread=spread)
        if isinstance(repeats, Mapping):
            groups = {
                name: [members] if isinstance(members, str) else members for name, members in repeats.items()
            }
            return cls(rerankers=groups, spread=spread)
        columns = tuple(repeats)
        if len(columns) == 1 or len(set(columns)) < len(columns):
            raise UsageError(f"repeats={list(columns)}: name two columns of scores at least, each once.")
        return cls(columns, spread=spread)

    def groups(self, rerankers: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return name → its repeats; a UsageError where none are to be found by seed."""
        groups = repeat_groups(rerankers) if self.by_seed else self.rerankers
        if self.by_seed and not groups:
            raise UsageError(
                f"Repeats: no names differ in a seed alone among {first_names(rerankers, 20)}. Name them: "
                "NAME=A,B,C on the command line, {NAME: [A, B, C]} in Python."
            )
        return groups


def parse_repeats(texts: Iterable[str]) -> Repeats:
    """Return what repeats are on the command line: `seeds`, `NAME=A,B,C`, or columns `A,B,C`; or UsageError."""
    arguments = list(texts)
    if arguments == [SEEDS]:
        return SEEDS
    pairs = [text.partition("=") for text in arguments if "=" in text]
    if len(pairs) == len(arguments):
        groups = {name: _split(members) for name, _, members in pairs}
        if len(groups) < len(arguments):
            raise UsageError("--repeats: two groups have one name. Give each a name of its own.")
        return groups
    if len(arguments) > 1:
        raise UsageError("--repeats: give seeds, or NAME=A,B,C (repeatable), or one list of columns A,B,C.")
    return _split(arguments[0]) or [arguments[0]]


def _split(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.split(",")) if name]


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

    Shapes: `scores` (n_docs, n_repeats), `means` (n_docs,).

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

    Shapes: `grades` (n_docs, n_repeats).
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
