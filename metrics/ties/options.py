"""How lists are scored, whatever the measure and the tie order: which scores are equal, and what counts."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

import numpy as np

from metrics.errors import UsageError, relevant_from_error
from metrics.support.arrays import FloatArray, IntArray, sort_descending
from metrics.ties.fronts import criterion

if TYPE_CHECKING:
    from metrics.runs.model import Runs

_DECIMAL_ERROR = 2.0**-50
"""Largest rounding error of the difference of two decimals, as a share of the larger."""


def near_tops(scores: FloatArray, starts: IntArray, distance: float) -> FloatArray:
    """Replace each score by the highest of its group of near scores.

    The first group of a segment starts at its highest score h and takes every score s >= h - distance; the next
    group starts at the next score, and so on. No group spans more than the distance, and the order of rows does
    not matter. (Single linkage would chain scores that are far apart.)

    Scores are compared as the decimals they were written as: 0.10 and 0.09 are within 0.01, although their
    doubles are 0.010000000000000009 apart. The exact condition is s >= h - distance - 2**-50 * max(|h|,
    distance). At a distance of 0, and among infinite scores, only equal scores tie.

    Shapes: `scores` (n_docs,), `starts` (n_segments + 1,).

    Returns (n_docs,) scores, equal within each group.
    """
    if distance == 0 or not len(scores):
        return scores
    order, (sorted_scores,), _ = sort_descending([scores], starts)
    with np.errstate(over="ignore", invalid="ignore"):
        lowest = sorted_scores - distance - _DECIMAL_ERROR * np.maximum(np.abs(sorted_scores), distance)
    lowest = np.where(np.isfinite(sorted_scores), np.maximum(lowest, np.finfo(np.float64).min), sorted_scores)
    is_head = np.zeros(len(sorted_scores) + 1, dtype=np.bool_)
    is_head[starts] = True
    is_head[1:-1] |= sorted_scores[1:] < lowest[:-1]
    stretches = np.flatnonzero(is_head)
    is_long = sorted_scores[stretches[1:] - 1] < lowest[stretches[:-1]]  # more than one group
    rising, limits = (-sorted_scores).tolist(), (-lowest).tolist()
    for head, end in zip(stretches[:-1][is_long].tolist(), stretches[1:][is_long].tolist(), strict=True):
        next_head = bisect_right(rising, limits[head], head + 1, end)
        while next_head < end:
            is_head[next_head] = True
            next_head = bisect_right(rising, limits[next_head], next_head + 1, end)
    heads = np.flatnonzero(is_head[:-1])
    tops = np.empty_like(sorted_scores)
    tops[order] = np.repeat(sorted_scores[heads], np.diff(heads, append=len(sorted_scores)))
    return tops


PRECISIONS = ("float64", "float32", "float16", "bfloat16", "decimals:N", "within:E")
"""Every way to round scores, or to tie near ones."""

_MOST_DECIMALS = 17
"""Decimals that distinguish all doubles between 0.1 and 1."""
_SPLIT = 2.0**27 + 1
"""Veltkamp's constant: splits the 53 bits of a double into two halves."""
_INTEGERS = 2.0**53
"""Smallest double from which neighbours are more than 1 apart."""


def near_distance(precision: str) -> float | None:
    """Return E of `within:E`, the largest distance within a group; None for every other precision."""
    number = re.fullmatch(r"within:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?)", precision)
    return float(number[1]) if number and isfinite(float(number[1])) else None


def compared_scores(scores: FloatArray, starts: IntArray, precision: str) -> FloatArray:
    """Return (n_docs,) compared scores: rounded, or the highest of their group of near ties.

    Shapes: `scores` (n_docs,), `starts` (n_lists + 1,).
    """
    distance = None if precision == "float64" else near_distance(precision)
    return rounded(scores, precision) if distance is None else near_tops(scores, starts, distance)


def runs_at_precision(runs: "Runs", precision: str) -> "Runs":
    """Return the runs with their scores replaced by the compared ones."""
    if precision == "float64":
        return runs
    compared = {}
    for name, table in runs.tables.items():
        query = runs.pairs(name).query
        by_query = np.argsort(query, kind="stable")
        starts = np.flatnonzero(np.diff(query[by_query], prepend=-1, append=-1))
        compared[name] = np.empty(len(query))
        scores = table["score"].to_numpy()
        compared[name][by_query] = compared_scores(scores[by_query], starts, precision)
    return runs.rescored(compared)


def rounded(scores: FloatArray, precision: str) -> FloatArray:
    """Return (n,) scores rounded to the nearest value of the format, ties to even; too large ones are infinite.

    `decimals:N` rounds as C's and Python's `%.Nf` do; `within:E` does not round.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if precision == "float64" or near_distance(precision) is not None:
        return scores
    with np.errstate(over="ignore"):
        if precision in ("float32", "float16"):
            return scores.astype(precision).astype(np.float64)
        if precision == "bfloat16":
            return _bfloat16(scores)
        decimals = re.fullmatch(r"decimals:(\d{1,2})", precision)
        if decimals and int(decimals[1]) <= _MOST_DECIMALS:
            return _decimals(scores, 10.0 ** int(decimals[1]))
    raise UsageError(f"There is no precision {precision!r}. Precisions: {', '.join(PRECISIONS)}.")


def _decimals(scores: FloatArray, scale: float) -> FloatArray:
    """Return (n,) the decimals nearest to the exact values of scores, ties to even; `scale` is 10^decimals.

    A rounded product is a half only where the exact one is at or next to a half, and elsewhere on the same
    side of it: only halves need a residual. From 2**53 on a score has no digit to lose.
    """
    with np.errstate(invalid="ignore"):
        product = scores * scale
        nearest = np.rint(product)
        half = np.flatnonzero(np.abs(product - nearest) == 0.5)  # noqa: PLR2004 halfway between two decimals
        residual = _residual(scores[half], scale, product[half])
        away = product[half] + np.copysign(0.5, residual)
        nearest[half] = np.where(residual == 0, nearest[half], away)
        return np.where(np.abs(product) >= _INTEGERS, scores, nearest / scale)


def _residual(factor: FloatArray, scale: float, product: FloatArray) -> FloatArray:
    """Return the (n,) exact residuals of the rounded products of scores and the scale.

    Source: T. J. Dekker, A floating-point technique for extending the available precision, 1971.
    """
    (upper, lower), (scale_upper, scale_lower) = _halves(factor), _halves(np.array(scale))
    cross = ((upper * scale_upper - product) + upper * scale_lower) + lower * scale_upper
    return np.asarray(cross + lower * scale_lower)


def _halves(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return doubles as sums of two numbers of 26 bits, which multiply exactly."""
    shifted = values * _SPLIT
    upper = shifted - (shifted - values)
    return upper, values - upper


def _bfloat16(scores: FloatArray) -> FloatArray:
    """Return the upper 16 bits of each float32, rounded to nearest, ties to even."""
    bits = scores.astype(np.float32).view(np.uint32)
    finite = np.isfinite(scores.astype(np.float32))
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(finite, upper, bits).astype(np.uint32).view(np.float32).astype(np.float64)


Policy = Literal["zero", "skip"]
"""Whether queries without a value count 0 or are left out."""
EmptyPolicy = Literal["zero", "one", "skip"]
"""Whether queries without relevant documents count 0, count 1, or are left out."""
Unjudged = Literal["nonrelevant", "leave_out"]
"""Unjudged documents are not relevant, or are left out of the lists."""


class ScoringKeywords(TypedDict, total=False):
    """Keywords that make `ScoringOptions`, each explained by `metrics.evaluate`."""

    precision: str
    missing: Policy
    empty: EmptyPolicy
    relevant_from: float
    tiebreak_by: Sequence[str]
    criteria: Sequence[str]
    unjudged: Unjudged


@dataclass(frozen=True)
class ScoringOptions:
    """The options of `metrics.evaluate` that apply to all measures and treatments.

    Raises:
        UsageError: an option has a value that does not exist, or at which unjudged documents would be relevant.
    """

    precision: str = "float64"
    missing: Policy = "zero"
    empty: EmptyPolicy = "zero"
    relevant_from: float = 1
    tiebreak_by: Sequence[str] = ()
    criteria: Sequence[str] = ()
    unjudged: Unjudged = "nonrelevant"

    def __post_init__(self) -> None:
        for name, policies in (("missing", Policy), ("empty", EmptyPolicy), ("unjudged", Unjudged)):
            if (policy := getattr(self, name)) not in get_args(policies):
                raise UsageError(f"{name}={policy!r}: use {' or '.join(map(repr, get_args(policies)))}.")
        if not self.relevant_from > 0:
            raise relevant_from_error(self.relevant_from)
        rounded(np.empty(0), self.precision)  # refuses an unknown precision
        object.__setattr__(self, "tiebreak_by", tuple(self.tiebreak_by))
        object.__setattr__(self, "criteria", tuple(self.criteria))

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Score columns to read besides the score."""
        names = [*(criterion(text)[0] for text in self.criteria), *self.tiebreak_by]
        return tuple(dict.fromkeys(name for name in names if name != "score"))


AS_READ = ScoringOptions()
"""The defaults: scores as read, every judged query counts."""
