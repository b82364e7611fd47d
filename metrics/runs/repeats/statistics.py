"""Mean and spread of the scores that repeats of one reranker give to documents."""

from typing import Literal

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray

SpreadKind = Literal["order", "run", "mean"]
"""What `score_std` is: of one run within its list, of one run, or of the mean of all (its standard error)."""
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

    Args:
        scores: (n_docs, n_repeats), NaN where a repeat has no score.
        lists: (n_docs,) number of each document's list, from 0.
        kind: which of these.
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
