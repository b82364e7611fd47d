"""Mean and spread of the scores that repeats of one reranker give to documents."""

from typing import Literal

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

SpreadKind = Literal["order", "run", "mean"]
"""What `score_std` is: of one run within its list, of one run, or of the mean of all (its standard error)."""
_DIGITS = 12
"""Significant digits of a mean, counted from the largest score: what is level in decimals stays level."""


def mean_scores(scores: FloatArray) -> FloatArray:
    """Return the mean score of each document over the repeats that have it; NaN where none has.

    It depends on the scores alone and not on their order. A score that all repeats give is returned as it is,
    any other mean to twelve digits, so that documents whose means are level in decimals are level. An infinite
    score makes the mean infinite; one of either sign makes it NaN.

    Args:
        scores: (n_docs, n_repeats), NaN where a repeat has no score.
    """
    ordered = np.sort(scores, axis=1)  # NaN last, so that sums do not depend on the order of repeats
    counts = np.maximum(repeat_counts(scores), 1)
    lowest, highest = ordered[:, 0], ordered[np.arange(len(scores)), counts - 1]
    with np.errstate(invalid="ignore"):  # inf - inf
        means = np.nansum(ordered / counts[:, None], axis=1)
    is_missing = np.isnan(lowest)
    largest = np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    if largest:
        exponent = int(np.floor(np.log10(largest)))
        means = _rounded(means, _DIGITS - 1 - exponent)
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
    0 where there is none. An infinite score has 0, and so has what differs by rounding alone.

    Args:
        scores: (n_docs, n_repeats), NaN where a repeat has no score.
        lists: (n_docs,) number of each document's list, from 0.
        kind: which of these.
    """
    counts = repeat_counts(scores)
    is_finite = np.isfinite(scores).sum(axis=1) == np.maximum(counts, 1)
    scale = np.abs(scores[np.isfinite(scores)]).max(initial=0.0) or 1.0  # so that no square leaves the floats
    scaled, factor = np.where(is_finite[:, None], scores, np.nan) / scale, np.ones(len(scores))
    if kind == "order":
        scaled, factor = _without_shifts(scaled, lists)
    means = np.nansum(scaled, axis=1) / np.maximum(counts, 1)
    squares = np.nansum((scaled - means[:, None]) ** 2, axis=1) * factor**2
    several = (counts > 1) & is_finite
    pooled = np.sqrt(squares[several].sum() / max((counts[several] - 1).sum(), 1))
    deviations = np.where(counts > 1, np.sqrt(squares / np.maximum(counts - 1, 1)), pooled)
    if kind == "mean":
        deviations = deviations / np.sqrt(np.maximum(counts, 1))
    return np.where(is_finite & (deviations > 10.0**-_DIGITS), deviations * scale, 0.0)


def _without_shifts(scores: FloatArray, lists: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return scores without what a repeat adds to all of a list, and what their deviations are short by then.

    Args:
        scores: (n_docs, n_repeats), NaN where a repeat has no score.
        lists: (n_docs,) number of each document's list.

    Returns:
        (n_docs, n_repeats) scores, as they were in lists of fewer than two documents that all repeats have; and
        (n_docs,) sqrt(m / (m - 1)) of these documents, 1 of others.
    """
    is_complete = ~np.isnan(scores).any(axis=1)
    n_lists = int(lists.max(initial=-1)) + 1
    sizes = np.bincount(lists[is_complete], minlength=n_lists)
    columns = scores[is_complete].T
    sums = [np.bincount(lists[is_complete], column, minlength=n_lists) for column in columns]
    shifts = np.stack(sums, axis=1) / np.maximum(sizes, 1)[:, None]
    shifts -= shifts.mean(axis=1, keepdims=True)
    shifts[sizes < 2] = 0  # noqa: PLR2004 one document has no order
    factors = np.sqrt(np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0))
    return scores - shifts[lists], np.where(is_complete, factors[lists], 1.0)


def _rounded(values: FloatArray, places: int) -> FloatArray:
    """Round to a number of places after the point, negative ones before it; where that overflows, not."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(values, places)
    return np.where(np.isfinite(rounded), rounded, values)
