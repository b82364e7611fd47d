"""Inferred average precision: judged documents above a relevant one stand for the whole pool above it."""

from functools import partial
from typing import NamedTuple

import numpy as np

from metrics.errors import UsageError, needs
from metrics.measures.model import Family
from metrics.measures.weights import Parameter
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth, joined_ranges
from metrics.ties.groups import TieGroups
from metrics.ties.permutations import MAX_STEPS, variances_over_orders
from metrics.ties.treatments import EPSILON


def _mean(groups: TieGroups, _: Parameter) -> FloatArray:
    """Return the expected inferred average precision.

    A relevant document at rank i, below S relevant, N judged irrelevant and P unjudged pool documents, is worth
    1/i + (S + N + P)/i * (S + e)/(S + N + 2e), e = 0.00001.

    Among the judged documents of its tie, r relevant and s irrelevant, it is the t-th from 0 with the same
    chance for all t. Then t(r - 1)/(r + s - 1) relevant ones are expected above it in the tie. Of the other
    documents above it, a share rho is in the pool: u of n - r - s. With A judged or pool documents above the
    tie, c of them relevant, and h_t as in `_reciprocal_places`,

    E = 1/R * sum over groups of r/(r + s) * sum over t of
    h_t * (1 + g_t * (A + t - rho * (b + 1 + t))) + rho * g_t, g_t the ratio of judged documents above.

    Source: Yilmaz & Aslam, CIKM 2006, as m_infap.c of trec_eval 9 has it.
    """
    scored = np.flatnonzero(groups.relevant)
    b, n, r, u = (column[scored] for column in (groups.above, groups.size, groups.relevant, groups.pooled))
    c, judged_above, pooled_above = (column[scored] for column in _above(groups))
    n_judged = r + groups.nonrelevant[scored]
    share = u / np.maximum(n - n_judged, 1)
    per_document = partial(np.repeat, repeats=n_judged)
    numbers = joined_ranges(np.zeros_like(n_judged), n_judged)
    expected_hits = per_document(c) + numbers * per_document((r - 1) / np.maximum(n_judged - 1, 1))
    ratio = (expected_hits + EPSILON) / (joined_ranges(judged_above, n_judged) + 2 * EPSILON)
    in_pool_above = joined_ranges(judged_above + pooled_above, n_judged)
    in_pool = in_pool_above - per_document(share) * joined_ranges(b + 1, n_judged)
    worth = _reciprocal_places(b, n, n_judged) * (1 + ratio * in_pool) + per_document(share) * ratio
    terms, owner = np.zeros(len(groups.size)), per_document(np.arange(len(scored)))
    terms[scored] = r / n_judged * np.bincount(owner, worth, minlength=len(scored))
    return groups.per_list(terms) / np.maximum(groups.n_relevant, 1)


def _above(groups: TieGroups) -> tuple[IntArray, IntArray, IntArray]:
    """Return (n_groups,) relevant, judged, and unjudged pool documents above each group."""
    n_judged = groups.relevant + groups.nonrelevant
    return groups.relevant_above, groups.above_in_list(n_judged), groups.above_in_list(groups.pooled)


def _reciprocal_places(above: IntArray, size: IntArray, n_judged: IntArray) -> FloatArray:
    """Return (sum of n_judged,) the expected reciprocal rank of each judged document of groups.

    Where all n are judged, the t-th from 0 is at rank b + t + 1. Otherwise it has t of q others above it, and

    (b + t)(q - t + 1) * h_(t-1) + t(b + n - q + t) * h_t = q + 1

    links neighbours, from C(i - 1, t) = C(i - 1, t - 1)(i - t)/t and the same for the documents below.
    """
    values = 1 / joined_ranges(above + 1, n_judged)
    partly_judged = np.flatnonzero(size > n_judged)
    if len(partly_judged):
        rows = np.flatnonzero(np.repeat(size > n_judged, n_judged))
        numbers = joined_ranges(np.zeros_like(n_judged), n_judged)
        values[rows] = _solved_places(
            above[partly_judged], size[partly_judged], n_judged[partly_judged], numbers[rows]
        )
    return values


def _solved_places(above: IntArray, size: IntArray, n_judged: IntArray, number: IntArray) -> FloatArray:
    """Solve the equations of `_reciprocal_places` outward from the rank where the larger factor changes.

    From there every step reduces errors. One rank of each group is computed as a sum.
    """
    with needs("stats"):
        from scipy.linalg import solve_banded  # noqa: PLC0415 only where some of a tie are judged

    owner, t = np.repeat(np.arange(len(size)), n_judged), number.astype(np.float64)
    b, n, q = above[owner], size[owner], n_judged[owner] - 1
    of_upper, of_own = (b + t) * (q - t + 1), t * (b + n - q + t)
    middle = np.bincount(owner, (of_own < of_upper) & (t > 0), minlength=len(size)).astype(np.int64)
    is_below, is_above = t > middle[owner], t < middle[owner]
    diagonal = np.where(is_below, of_own, np.where(is_above, np.roll(of_upper, -1), 1.0))
    right = (q + 1) / diagonal
    right[~is_below & ~is_above] = _reciprocal_place(above, size, n_judged - 1, middle)
    lower = np.where(is_below, of_upper, 0.0) / diagonal
    upper = np.where(is_above, np.roll(of_own, -1), 0.0) / diagonal
    band = np.stack([np.roll(upper, 1), np.ones(len(t)), np.roll(lower, -1)])
    return np.asarray(solve_banded((1, 1), band, right))


def _reciprocal_place(above: IntArray, size: IntArray, n_others: IntArray, number: IntArray) -> FloatArray:
    """Return the (n_groups,) expected reciprocal rank of a judged document by a sum over its ranks i.

    P(i + 1)/P(i) = i/(i - t) * (n - i - q + t)/(n - i): logs are summed, then normalised.
    """
    values = np.empty(len(size))
    for part, deepest in batch_by_depth(size - n_others):
        b, n, q, t = (column[part, None] for column in (above, size, n_others, number))
        i = t + np.arange(deepest)
        is_place = (i > t) & (i < n - q + t)
        step = np.where(is_place, i / np.maximum(i - t, 1) * ((n - i - q + t) / np.maximum(n - i, 1)), 1.0)
        logs = np.cumsum(np.log(step), axis=1)
        shares = np.where(i < n - q + t, np.exp(logs - logs.max(axis=1, keepdims=True)), 0.0)
        values[part] = (shares / (b + i + 1)).sum(axis=1) / shares.sum(axis=1)
    return values


def _variance(groups: TieGroups, _: Parameter) -> FloatArray:
    """Return the variance of inferred average precision: `worth_variance` of its ties, over R^2."""
    mixed = np.flatnonzero((groups.relevant > 0) & (groups.relevant < groups.size))
    columns = groups.above, groups.size, groups.relevant, groups.nonrelevant, groups.pooled, *_above(groups)
    rows = np.stack([column[mixed] for column in columns], axis=1)
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    variances = np.zeros(len(groups.size))
    variances[mixed] = np.array([worth_variance(JudgedTie(*row)) for row in kinds.tolist()])[kind.ravel()]
    return groups.per_list(variances) / np.square(np.maximum(groups.n_relevant, 1.0))


inferred_ap = Family(
    "inferred_ap",
    _mean,
    _variance,
    "judged",
    pools=True,
    noisy=False,
)


class JudgedTie(NamedTuple):
    """A tie and the documents above it.

    Attributes:
        above: documents above it: b.
        size: its documents: n.
        relevant: its relevant documents.
        nonrelevant: its judged irrelevant documents.
        pooled: its unjudged pool documents.
        relevant_above: relevant documents above it.
        judged_above: judged documents above it.
        pooled_above: unjudged pool documents above it.
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
        """Its relevant, judged irrelevant and unjudged pool documents."""
        return self.relevant, self.nonrelevant, self.pooled


def worth_variance(tie: JudgedTie) -> float:
    """Return the variance over all orders of the summed worths of a tie's relevant documents."""
    _refuse_large(tie)
    x, y, z = np.ogrid[tuple(slice(number + 1) for number in tie.kinds)]
    judged, hits = tie.judged_above + x + y, tie.relevant_above + x
    gain = 1 + (judged + tie.pooled_above + z) * ((hits + EPSILON) / (judged + 2 * EPSILON))
    worth, no_gain = gain[..., None], np.zeros(1)

    def gains(place: int) -> list[FloatArray]:
        return [worth / (tie.above + place), no_gain, no_gain]

    return float(variances_over_orders(tie.size, tie.kinds, tie.size, gains, (1, 1, 1))[0])


def _refuse_large(tie: JudgedTie) -> None:
    steps = tie.size * float(np.prod([number + 1.0 for number in tie.kinds]))
    if steps > MAX_STEPS:
        raise UsageError(
            f"infAP: the standard deviation over the orders of {tie.size:,} tied documents "
            f"({tie.relevant:,} relevant, {tie.nonrelevant:,} judged irrelevant) would take {steps:.1g} "
            f"steps; the limit is {MAX_STEPS:.1g}. Use AP instead: if no grade is below 0, AP equals infAP to "
            "four decimals."
        )
