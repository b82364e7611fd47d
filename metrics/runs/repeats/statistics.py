"""Mean and spread of the scores that repeats of one reranker give to documents."""

from typing import Literal

import numpy as np

from metrics.support.arrays import FloatArray, IntArray

SpreadKind = Literal["run", "mean"]
"""Whose standard deviation `score_std` is: that of one run, or that of the mean of all (its standard error)."""
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


def score_deviations(scores: FloatArray, means: FloatArray, kind: SpreadKind = "run") -> FloatArray:
    """Return the standard deviation of each document's score.

    Of a run it is s = sqrt(sum((x - mean)^2) / (n - 1)) over the n repeats that have the document: how the
    score of one further run would scatter. Of the mean it is s / sqrt(n), the standard error: how far the mean
    may lie from that of endless runs. A document that a single repeat has gets the pooled s of all others,
    sqrt(sum of squares / sum of (n - 1)), 0 where there is none. An infinite mean has 0.

    Args:
        scores: (n_docs, n_repeats), NaN where a repeat has no score.
        means: (n_docs,) of `mean_scores`.
        kind: of one run, or of the mean.
    """
    counts = repeat_counts(scores)
    scale = np.abs(scores[np.isfinite(scores)]).max(initial=0.0) or 1.0  # so that no square leaves the floats
    is_level = np.nanmin(scores, axis=1, initial=np.inf) == np.nanmax(scores, axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        squares = np.nansum(((scores - means[:, None]) / scale) ** 2, axis=1)
    squares = np.where(is_level | ~np.isfinite(means), 0.0, squares)
    several = (counts > 1) & np.isfinite(means)
    pooled = np.sqrt(squares[several].sum() / max((counts[several] - 1).sum(), 1))
    deviations = np.where(counts > 1, np.sqrt(squares / np.maximum(counts - 1, 1)), pooled)
    if kind == "mean":
        deviations = deviations / np.sqrt(np.maximum(counts, 1))
    return np.where(np.isfinite(means), deviations * scale, 0.0)


def _rounded(values: FloatArray, places: int) -> FloatArray:
    """Round to a number of places after the point, negative ones before it; where that overflows, not."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(values, places)
    return np.where(np.isfinite(rounded), rounded, values)
