"""How far the orders of one tie move inferred average precision: place by place, from the last one up."""

from typing import NamedTuple

import numpy as np

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray
from metrics.ties.extremes.pools import EPSILON

_MAX_STEPS = 2**28
"""Numbers of documents of each kind above a place, over all places of a tie, that are gone through: seconds."""


class JudgedTie(NamedTuple):
    """A tie, and what stands above it.

    Attributes:
        above: documents above it: b.
        size: its documents: n.
        relevant: of these.
        nonrelevant: judged ones of these that are not relevant.
        pooled: those of these that are of the pool and unjudged.
        relevant_above: documents above it that are relevant.
        judged_above: judged ones above it.
        pooled_above: those above it that are of the pool and unjudged.
    """

    above: int
    size: int
    relevant: int
    nonrelevant: int
    pooled: int
    relevant_above: int
    judged_above: int
    pooled_above: int

    @property
    def kinds(self) -> tuple[int, int, int]:
        """Its documents of each kind that counts: relevant, judged and not, pooled."""
        return self.relevant, self.nonrelevant, self.pooled


def worth_variance(tie: JudgedTie) -> float:
    """Return the variance over all orders of the sum of the worths of a tie's relevant documents.

    With the mean m and the variance v of what is still to come, after so many documents of each kind, and p the
    chance of each kind to come next, worth w: v <- sum of p * (v' + (w + m' - m)^2), m <- sum of p * (w + m').
    Nothing is subtracted from what is larger.

    Args:
        tie: what is tied.

    Raises:
        UsageError: there is too much to go through.
    """
    _refuse_large(tie)
    x, y, z = np.ogrid[tuple(slice(number + 1) for number in tie.kinds)]
    judged, hits = tie.judged_above + x + y, tie.relevant_above + x
    gain = 1 + (judged + tie.pooled_above + z) * ((hits + EPSILON) / (judged + 2 * EPSILON))
    means, variances = np.zeros((2, *(number + 2 for number in tie.kinds)))
    n_others = tie.size - sum(tie.kinds)
    inside = tuple(slice(number + 1) for number in tie.kinds)
    for place in range(tie.size, 0, -1):
        others = place - 1 - x - y - z
        n_open = tie.size - place + 1
        steps = [((n_others - others) / n_open, (0, 0, 0)), ((tie.relevant - x) / n_open, (1, 0, 0))]
        steps += [((tie.nonrelevant - y) / n_open, (0, 1, 0)), ((tie.pooled - z) / n_open, (0, 0, 1))]
        to_come = [_after(tie, means, step) + step[0] * gain / (tie.above + place) for _, step in steps]
        mean = np.sum(
            [chance * gain_below for (chance, _), gain_below in zip(steps, to_come, strict=True)], axis=0
        )
        variance = np.zeros_like(mean)
        for (chance, step), gain_below in zip(steps, to_come, strict=True):
            variance += chance * (_after(tie, variances, step) + (gain_below - mean) ** 2)
        is_state = (others >= 0) & (others <= n_others)
        means[inside], variances[inside] = np.where(is_state, mean, 0.0), np.where(is_state, variance, 0.0)
    return float(variances[0, 0, 0])


def _after(tie: JudgedTie, values: FloatArray, step: tuple[int, int, int]) -> FloatArray:
    """Return values of the numbers that one document more of a kind leads to."""
    return values[
        tuple(
            slice(gain_below, number + 1 + gain_below)
            for gain_below, number in zip(step, tie.kinds, strict=True)
        )
    ]


def _refuse_large(tie: JudgedTie) -> None:
    """Raise a UsageError where a tie has too many numbers of documents above its places."""
    steps = tie.size * float(np.prod([number + 1.0 for number in tie.kinds]))
    if steps > _MAX_STEPS:
        raise UsageError(
            f"infAP: the standard deviation over the orders of {tie.size:,} tied documents, of them "
            f"{tie.relevant:,} relevant and {tie.nonrelevant:,} judged and not, would take {steps:.1g} steps; "
            f"{_MAX_STEPS:.1g} can be. Take AP, which is infAP to four decimals where no grade is below 0."
        )
