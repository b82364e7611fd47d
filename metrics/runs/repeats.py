"""Repeats of one reranker, in columns or runs, combined into a mean and its standard deviation."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import ReadError, UsageError
from metrics.runs.columns import MISSING_SCORE_HINT, ColumnChoice, SpreadKind, normalised
from metrics.runs.files import File, FileProvenance
from metrics.runs.findings import Finding, make_finding
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.source import Source
from metrics.runs.stacks import RunStack, Stacks
from metrics.support.arrays import BoolArray, FloatArray, IntArray, coded
from metrics.support.wording import count_of, describe_part, first_names, quote

_DIGITS = 12
"""Significant digits of a mean, so that means that are equal in decimals are tied."""
_CANCELLED = 2
"""Digits that a mean may lose against the largest score before it is rounding noise."""
_STAND_IN = 1e9
"""How many times the median a deviation is if a placeholder such as -1e12 replaces a missing score."""


def mean_scores(scores: FloatArray) -> FloatArray:
    """Return the mean of (n_docs, n_repeats) scores over the repeats that have one; NaN if none has.

    The mean does not depend on the order of repeats. If all repeats agree, it is their score; otherwise it has
    twelve significant digits, so that means that are equal in decimals are tied (fewer if scores of both signs
    nearly cancel). An infinite score makes the mean infinite; infinities of both signs make it NaN.
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
    """Return the (n_docs,) number of repeats that score each document."""
    counts: IntArray = (~np.isnan(scores)).sum(axis=1)
    return counts


def score_deviations(scores: FloatArray, lists: IntArray, kind: SpreadKind = "order") -> FloatArray:
    """Return the standard deviation of each document's score.

    - `run`: s = sqrt(sum((x - mean)^2) / (n - 1)) over the n repeats with the document: the standard deviation
      of one further run.
    - `mean`: s / sqrt(n), the standard error of the mean.
    - `order`: s after subtracting each repeat's shift, its mean over the m documents of the list that all
      repeats have, times sqrt(m / (m - 1)). A seed that raises all scores of a list changes no order, but the
      treatment `noise` takes documents as independent, so such a shift would seem to swap neighbours.

    A document in a single repeat gets the pooled s of all others, sqrt(sum of squares / sum of (n - 1)), or 0.
    Infinite scores, and differences by rounding only, get 0. Documents with a placeholder such as -1e12 in
    place of a score (`_STAND_IN`) count in no shift and are not pooled.

    Shapes: `scores` (n_docs, n_repeats), `lists` (n_docs,).
    """
    counts = repeat_counts(scores)
    is_finite = np.isfinite(scores).sum(axis=1) == np.maximum(counts, 1)
    finite = np.where(is_finite[:, None], scores, np.nan) / 4  # so that no difference overflows
    scattered, factor = finite - np.fmin.reduce(finite, axis=1)[:, None], np.ones(len(scores))
    if kind == "order":
        scattered, factor = _without_shifts(scattered, lists)
    scale = _largest(scattered)  # of each document, so that no square overflows
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
    """Return the pooled standard deviation of documents without placeholders."""
    scattering = deviations[(freedom > 0) & (deviations > 0)]
    middle = np.median(scattering) if len(scattering) else 0.0
    usual = (freedom > 0) & (deviations / _STAND_IN <= middle)
    largest = deviations[usual].max(initial=0.0) or 1.0
    squares = (deviations[usual] / largest) ** 2 @ freedom[usual]
    return float(largest * np.sqrt(squares / max(freedom[usual].sum(), 1)))


def _without_shifts(scores: FloatArray, lists: IntArray) -> tuple[FloatArray, FloatArray]:
    """Subtract each repeat's shift of a list; return the scores and the factor that corrects deviations."""
    is_complete: BoolArray = repeat_counts(scores) == scores.shape[1]
    n_lists = int(lists.max(initial=-1)) + 1
    is_complete[is_complete] = ~_stand_ins(_largest(scores[is_complete]), lists[is_complete], n_lists)
    sizes = np.bincount(lists[is_complete], minlength=n_lists)
    columns = (scores[is_complete] / sizes[lists[is_complete], None]).T
    sums = [np.bincount(lists[is_complete], column, minlength=n_lists) for column in columns]
    shifts = np.stack(sums, axis=1, dtype=float)  # without a complete document, sums are integers
    shifts -= (shifts / shifts.shape[1]).sum(axis=1, keepdims=True)
    shifts[sizes < 2] = 0  # noqa: PLR2004 one document has no order
    factors = np.sqrt(np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0))
    return scores - shifts[lists], np.where(is_complete, factors[lists], 1.0)


def _stand_ins(ranges: FloatArray, lists: IntArray, n_lists: int) -> BoolArray:
    """Return which documents vary so much more than the median of their list that a score is a placeholder."""
    sizes = np.bincount(lists, minlength=n_lists)
    middles = np.cumsum(sizes) - sizes + np.maximum(sizes - 1, 0) // 2
    medians = np.append(ranges[np.lexsort((ranges, lists))], 0.0)[middles]
    is_beyond: BoolArray = (medians[lists] > 0) & (ranges / _STAND_IN > medians[lists])
    return is_beyond


def _largest(scores: FloatArray) -> FloatArray:
    """Return the (n_docs,) largest finite |score| of each document, or 0."""
    largest: FloatArray = np.abs(np.where(np.isfinite(scores), scores, 0.0)).max(axis=1, initial=0.0)
    return largest


def _exponents(values: FloatArray) -> IntArray:
    """Return the power of ten at or below each |value|, 0 for 0 and infinity."""
    has_exponent = np.isfinite(values) & (values != 0)
    return np.floor(np.log10(np.abs(np.where(has_exponent, values, 1.0)))).astype(np.int64)


def _rounded(values: FloatArray, places: IntArray) -> FloatArray:
    """Round each value to its number of decimals, unless that overflows."""
    rounded = values.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for number in np.unique(places).tolist():
            is_alike = places == number
            rounded[is_alike] = np.round(values[is_alike], number)
    return np.where(np.isfinite(rounded), rounded, values)


_BARE = "seed|repeat|rep|replicate|trial"
"""Words that mean a repeat even alone, unlike run or prompt."""
_WORDS = f"{_BARE}|run|sample|draw|attempt|try|iteration|prompt"
_ENDS = r"[\s_.,;:/|+-]{0,3}"


def _pattern(words: str) -> re.Pattern[str]:
    core = rf"(?<![^\W\d_])(?:{words})[\s_.=:#-]{{0,3}}\d{{1,19}}(?![^\W_]|\.\d)"
    return re.compile(rf"{_ENDS}(?:\({core}\)|\[{core}\]|{core})", re.IGNORECASE)


_SEED, _ANY = _pattern("seed"), _pattern(_WORDS)
_NUMBERED_SCORE = re.compile(r"(.*scores?(?:seed|run|repeat|rep|trial|sample)?)\d{1,9}")
NO_STEM = "repeats"
"""Name of combined repeats whose names are only seeds."""


def repeat_groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Group names that differ only in a seed: common name → two names or more.

    A seed is a number after a word such as seed, run, repeat or prompt: colbert-seed1, x.seed=42, y_run3. Other
    numbers distinguish rerankers (bm25, MiniLM-6, gpt-4). If another reranker has the common name, the number
    of repeats is added to it.
    """
    groups: dict[str, list[str]] = {}
    stems: dict[str, str] = {}
    for name in names:
        pattern = _SEED if _SEED.search(name) else _ANY
        if pattern.search(name):
            template = pattern.sub(lambda seed: re.sub(r"\d+", "\0", seed[0]).casefold(), name)
            groups.setdefault(template, []).append(name)
            is_bare = re.match(rf"\W*(?:{_BARE})", name, re.IGNORECASE)
            stem = re.sub(rf"^{_ENDS}|{_ENDS}$", "", pattern.sub("", name)).strip()
            stems.setdefault(template, stem or (NO_STEM if is_bare else ""))
    combined: dict[str, list[str]] = {}
    every_name = set(names)
    for template, members in groups.items():
        labels = [stems[template], f"{stems[template]} ({len(members)} repeats)"]
        free = (label for label in labels if label not in combined)
        label = next((label for label in free if label not in every_name or label in members), "")
        if len(members) > 1 and stems[template] and label:
            combined[label] = members
    return combined


def numbered_scores(header: Sequence[str]) -> list[str]:
    """Return the first group of two or more numbered score columns (score_1, score_2)."""
    families: dict[str, list[str]] = {}
    for name in header:
        if match := _NUMBERED_SCORE.fullmatch(normalised(name)):
            families.setdefault(match[1], []).append(name)
    return next((columns for columns in families.values() if len(columns) > 1), [])


SEEDS = "seeds"
Repeats: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]] | Literal["seeds"]
"""Score columns; name → rerankers that are its repeats; or "seeds": rerankers whose names differ in a seed."""


def repeat_columns(repeats: Repeats) -> tuple[str, ...]:
    """Return the score columns among the arguments of `read_runs`."""
    return () if isinstance(repeats, str | Mapping) else tuple(repeats)


def repeated_rerankers(repeats: Repeats, rerankers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return combined name → its repeats; a UsageError if no names differ in a seed."""
    if isinstance(repeats, Mapping):
        return {name: [group] if isinstance(group, str) else group for name, group in repeats.items()}
    if not isinstance(repeats, str):
        return {}
    if repeats != SEEDS:
        raise UsageError(f"repeats={repeats!r}: give columns, {{name: rerankers}}, or 'seeds'.")
    if groups := repeat_groups(rerankers):
        return groups
    raise UsageError(
        f"Repeats: among {first_names(rerankers, 20)}, no two names differ only in a seed. Name the repeats: "
        "NAME=A,B,C on the command line, {NAME: [A, B, C]} in Python."
    )


def parse_repeats(texts: Iterable[str]) -> Repeats:
    """Parse the command line's repeats (`seeds`, `NAME=A,B,C`, or columns `A,B,C`); a UsageError if invalid."""
    arguments = list(texts)
    if arguments == [SEEDS]:
        return SEEDS
    pairs = [text.partition("=") for text in arguments if "=" in text]
    if len(pairs) == len(arguments):
        groups = {name: _split(members) for name, _, members in pairs}
        if len(groups) < len(arguments):
            raise UsageError("--repeats: two groups have the same name. Give each a name of its own.")
        return groups
    if len(arguments) > 1:
        raise UsageError("--repeats: give seeds, or NAME=A,B,C (repeatable), or one list of columns A,B,C.")
    return _split(arguments[0]) or [arguments[0]]


def _split(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.split(",")) if name]


_UNLIKE = 3.0
"""Ratio of the ranges of two repeats from which it is reported."""
_FEW = 10
"""Fewest scores of a repeat whose range is compared."""
_MEANINGS = {
    "order": "the standard deviation between repeats, without differences that shift all scores of a list "
    "alike",
    "run": "the standard deviation between repeats",
    "mean": "the standard error of this mean",
}


def _repeat_findings(
    name: str,
    members: Sequence[str],
    scores: FloatArray,
    means: FloatArray,
    spread: SpreadKind,
    origin: FileProvenance,
) -> Iterator[Finding]:
    """Report the combined repeats, incomplete documents and different scales.

    Raises:
        UsageError: no document is in two repeats, or one has the scores inf and -inf.
    """
    counts = repeat_counts(scores)
    if not (counts > 1).any():
        raise UsageError(
            f"Repeats of {name!r}: no document appears in two of the repeats {first_names(members)}. "
            "Are they repeats?"
        )
    if (np.isnan(means) & (counts > 0)).any():
        raise UsageError(f"Repeats of {name!r}: a document has the scores inf and -inf, which have no mean.")
    message = (
        f"{quote(name)}: the score is the mean of {count_of(len(members), 'repeat')} "
        f"({first_names(members)}), and score_std is {_MEANINGS[spread]}."
    )
    yield make_finding("repeats-combined", origin.file, message, count=len(members))
    is_incomplete = (counts > 0) & (counts < len(members))
    if n_incomplete := int(is_incomplete.sum()):
        message = (
            f"{quote(name)}: {describe_part(n_incomplete, len(counts), 'document', 'are missing')} from some "
            "repeats. The mean is over the other repeats. Documents in only one repeat (their score_std is "
            f"pooled from the other documents): {int((counts == 1).sum()):,}."
        )
        line = origin.line_of(int(np.argmax(is_incomplete)))
        yield make_finding("repeats-incomplete", origin.file, message, line=line, count=n_incomplete)
    finite = np.where(np.isfinite(scores), scores, np.nan)
    ranges = np.nanmax(finite, axis=0, initial=-np.inf) / 2 - np.nanmin(finite, axis=0, initial=np.inf) / 2
    narrowest, widest = int(np.argmin(ranges)), int(np.argmax(ranges))
    is_few = np.isfinite(finite).sum(axis=0).min() < _FEW
    if not is_few and ranges[widest] > _UNLIKE * ranges[narrowest]:
        message = (
            f"{quote(name)}: the range of scores is {2 * ranges[widest]:.3g} in {quote(members[widest])} and "
            f"{2 * ranges[narrowest]:.3g} in {quote(members[narrowest])}."
        )
        yield make_finding("repeats-unlike", origin.file, message)


FORMAT = "repeated-scores"
MEAN, STD = "mean_score", "score_std"
"""Columns computed from repeats."""
MAX_REPEATS = 50
"""Most score columns of one table: it is read once for each."""
Reader = Callable[[ColumnChoice], Source]


def read_with_repeats(read: Reader, choice: ColumnChoice) -> Source:
    """Read a table, and combine its score columns if they are repeats.

    Repeats are the columns that the user names, or numbered ones (score_1, score_2) in a table without a score.

    Raises:
        ReadError: the table cannot be read, lacks some of the named columns, or a column holds no number.
    """
    if choice.columns.get("score") == "":
        return read(choice)
    try:
        source = read(choice)
    except ReadError as error:
        if not (names := _repeats_among(error, choice.repeats)):
            raise
    except UsageError:  # the choice may name columns that were computed from repeats
        own = {ours: theirs for ours, theirs in choice.columns.items() if theirs not in (MEAN, STD)}
        if own == choice.columns:
            raise
        return read_with_repeats(read, replace(choice, columns=own))
    else:
        if not (names := _repeats_among(source, choice.repeats)):
            return source
    return _combine_columns(read, choice, names)


def _repeats_among(table: Source | ReadError, columns: Sequence[str]) -> list[str]:
    """Return the columns that are repeats; a ReadError if some are missing, or they are too many."""
    if not columns and "score" not in table.mapping:
        columns = numbered_scores(table.header)
    if len(columns) > MAX_REPEATS:
        problem = f"{len(columns):,} score columns, more than {MAX_REPEATS}"
        raise ReadError(table.file, problem, "Choose one as the score, or name fewer repeats.", line=1)
    missing = [name for name in columns if name not in table.header]
    if missing and len(missing) < len(columns):
        problem = f"no column {missing[0]!r} among {', '.join(table.header)}"
        raise ReadError(
            table.file, problem, "Give the full name of each score column that is a repeat.", line=1
        )
    return [] if missing else list(columns)


def _combine_columns(read: Reader, choice: ColumnChoice, names: Sequence[str]) -> Source:
    free = {ours: theirs for ours, theirs in choice.columns.items() if theirs not in names}
    choices = [replace(choice, columns={**free, "score": name}, missing_score="last") for name in names]
    first, spread = read(choices[0]), choice.spread
    other_scores = [read(one_choice).table["score"].to_numpy() for one_choice in choices[1:]]
    scores = np.stack([first.table["score"].to_numpy(), *other_scores], axis=1)
    _refuse_missing(first, scores, names, is_refused=choice.missing_score == "error")
    means, stem = mean_scores(scores), File(first.file, b"").stem
    findings = list(_repeat_findings(stem, names, scores, means, spread, first.origin))
    computed = {*names, "score", "score_std"}
    table = first.table.select([name for name in first.table.column_names if name not in computed])
    deviations = score_deviations(scores, _list_numbers(first.table), spread)
    table = table.append_column("score", pa.array(means)).append_column("score_std", pa.array(deviations))
    header = [*(name for name in first.header if name not in {*names, MEAN, STD}), MEAN, STD]
    if first.mapping.get("score_std") == STD:
        message = f"Not read: {STD} of the table. It is computed from {first_names(names)}."
        findings.append(make_finding("columns-unused", first.file, message, line=1))
    noted = [finding for finding in first.noted if finding.code != "columns-unused"]
    return replace(
        first,
        format=FORMAT,
        table=table,
        mapping={**first.mapping, "score": MEAN, "score_std": STD},
        header=tuple(header),
        noted=(*noted, *findings),
        missing_score=choice.missing_score,
    ).note_unused()


def _list_numbers(table: pa.Table) -> IntArray:
    """Return the (n_rows,) number of each row's list."""
    number = np.zeros(len(table), np.int64)
    for name in ("reranker", "query_id"):
        if name in table.column_names:
            codes = coded(table[name])
            number = number * len(codes.dictionary) + codes.indices.to_numpy()
    places: IntArray = pd.factorize(number)[0]
    return places


def _refuse_missing(source: Source, scores: FloatArray, names: Sequence[str], *, is_refused: bool) -> None:
    is_missing = np.isnan(scores)
    blank = np.flatnonzero(is_missing.all(axis=0))
    if len(blank) and len(scores):
        problem = f"the score column {names[blank[0]]!r} holds no number"
        raise ReadError(source.file, problem, "Choose other columns as repeats.", line=1)
    if is_refused and is_missing.all(axis=1).any():
        hint = f"Give a score. {MISSING_SCORE_HINT}"
        row = int(np.argmax(is_missing.all(axis=1)))
        raise source.origin.error(row, f"no number in any of {first_names(names)}", hint)


_OF_ONE_RUN = ("rank", "score_std")
"""Columns that describe a single repeat."""


def combine_repeats(
    stacks: Stacks, repeats: Mapping[str, Sequence[str]], spread: SpreadKind, *, is_graded: bool
) -> tuple[Stacks, list[Finding]]:
    """Combine repeats of rerankers, each in the place of its first repeat; return them with findings.

    Raises:
        UsageError: an unknown or repeated member, fewer than two members, a name in use, no shared document,
            infinite scores of both signs, or two grades for one document.
    """
    _refuse_unusable(list(stacks.places), repeats)
    combined_name = {member: name for name, members in repeats.items() for member in members}
    parts, findings, waiting = list[RunStack](), list[Finding](), dict(repeats)
    for name, group in groupby(stacks.places, combined_name.get):
        if name is None:
            parts += stacks.renamed({reranker: reranker for reranker in group}).stacks
        elif members := waiting.pop(name, None):
            runs = {member: stacks.reranker(member) for member in members}
            parts.append(_combine_rerankers(name, runs, spread, findings, is_graded=is_graded))
    return Stacks(parts), findings


def _refuse_unusable(names: Sequence[str], repeats: Mapping[str, Sequence[str]]) -> None:
    members = [member for group in repeats.values() for member in group]
    if unknown := next((member for member in members if member not in names), None):
        raise UsageError(f"Repeats: {unknown!r} is not a reranker. Rerankers: {first_names(names, 20)}.")
    if twice := next((member for member in members if members.count(member) > 1), None):
        raise UsageError(f"Repeats: {twice!r} is named twice. Name each run once, in one group.")
    for name, group in repeats.items():
        if len(group) < 2:  # noqa: PLR2004 a standard deviation needs two
            raise UsageError(f"Repeats of {name!r}: name at least two rerankers.")
        if not name.strip() or (name in names and name not in members):
            raise UsageError(
                f"Repeats: {name!r} is empty or already in use. Give the combined reranker another name."
            )


def _combine_rerankers(
    name: str, repeats: Mapping[str, RunStack], spread: SpreadKind, noted: list[Finding], *, is_graded: bool
) -> RunStack:
    """Combine the repeats of one reranker; a document's other columns are those of its first repeat."""
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
    combined = {"score": mean_scores(scores)}
    parts = [run.provenance for run in runs]
    files = first_names(list(dict.fromkeys(part.file for part in parts)))
    origin = replace(FileProvenance.concat(parts, lengths), file=files, unit=parts[0].unit).take(rows)
    noted += _repeat_findings(name, members, scores, combined["score"], spread, origin)
    noted += _unused_findings(name, [run.table.column_names for run in runs], files)
    combined["score_std"] = score_deviations(scores, keys.query[rows].astype(np.int64), spread)
    if "latency" in columns:
        combined["latency"] = mean_scores(by_repeat("latency"))
    if is_graded and "relevance" in columns:
        _refuse_unlike_grades(name, members, by_repeat("relevance"), table.take(pa.array(rows)))
    others = [column for column in columns if column not in combined]
    table = table.select(others).take(pa.array(rows)).combine_chunks()
    for column, values in combined.items():
        table = table.append_column(column, pa.array(values))
    return RunStack.single(name, table, origin)


def _unused_findings(name: str, columns: Sequence[Sequence[str]], file: str) -> Iterator[Finding]:
    """Report columns that some repeats lack, and the repeats' own standard deviations."""
    counts = Counter(column for names in columns for column in names)
    own, n_repeats = counts.pop("score_std", 0), count_of(len(columns), "repeat")
    lacking = [f"{column} (in {count:,})" for column, count in counts.items() if count < len(columns)]
    if lacking:
        reason = f"some of the {n_repeats} lack them: {', '.join(lacking)}"
        message = f"{quote(name)}: columns not read because {reason}."
        yield make_finding("columns-unused", file, message, count=len(lacking))
    if own:
        message = (
            f"{quote(name)}: the score_std column in {own:,} of {n_repeats} is ignored; score_std is computed "
            "from the scores."
        )
        yield make_finding("columns-unused", file, message)


def _refuse_unlike_grades(name: str, members: Sequence[str], grades: FloatArray, table: pa.Table) -> None:
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
        "Make them agree, or give separate judgments (--qrels)."
    )


def _with_texts(table: pa.Table) -> pa.Table:
    """Decode dictionaries, so that tables can be concatenated."""
    fields = [
        pa.field(field.name, pa.string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))
