"""What is worth knowing of repeats that were combined."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from metrics.errors import UsageError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.reading.provenance import RowProvenance
from metrics.runs.repeats.statistics import SpreadKind, repeat_counts
from metrics.support.arrays import FloatArray
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
    """Return which columns of repeats are not read: those that some lack, and the scatter that each states.

    Args:
        name: of the combined reranker.
        columns: of each repeat.
        file: where the repeats came from.
    """
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
