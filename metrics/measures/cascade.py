"""Expected reciprocal rank: a reader goes down the list and stops at the first satisfying document."""

from collections import defaultdict

import numpy as np

from metrics.errors import UsageError
from metrics.measures.model import Family, Parameter
from metrics.support.arrays import BoolArray, FloatArray, IntArray, batch_by_depth, span_lengths, span_starts
from metrics.ties.groups import TieGroups

_HIGHEST = 4
"""Highest grade, which satisfies 15 of 16 readers, as in gdeval."""
_NEGLIGIBLE = 45.0
"""Minus the log of a chance that does not change a sum in float64: later ranks are left out."""
_CELLS = 2**21
"""Numbers of one table."""
_MAX_STEPS = 2**28
"""Most steps of a recurrence over a tie: a few seconds."""
_OVERHEAD = 512
"""Ranks that take as long as the first step of each document."""


def _mean(groups: TieGroups, k: Parameter) -> FloatArray:
    """Return expected reciprocal rank.

    A document satisfies a share R = (2^grade - 1)/16 of its readers. The share prod (1 - R) passes all
    documents above, in any order. Of those who reach a tie, S_i = e_i / C(n, i) are left after i of its
    documents, where e_i is the elementary symmetric sum of the 1 - R. So with m ranks within the cut-off,

    E = sum over groups of prod over documents above of (1 - R) * sum over i = 1..m of (S_(i-1) - S_i)/(b + i).

    Source: Chapelle, Metzler, Zhang & Grinspan, CIKM 2009, with the highest grade of gdeval (TREC web track).
    """
    satisfied = _satisfied(groups.grades)
    terms, depth = np.zeros(len(groups.size)), _depths(groups, satisfied, k)
    n_graded = span_lengths(groups.first, len(satisfied))
    steps = n_graded * (depth + _OVERHEAD)
    if steps.max(initial=0) > _MAX_STEPS:
        worst = int(steps.argmax())
        raise _too_large("mean", groups.size[worst], n_graded[worst], steps[worst])
    for part, deepest in batch_by_depth(depth):
        for rows, width in batch_by_depth(n_graded[part]):
            group, place = part[rows], np.arange(1, deepest + 1)
            is_document = np.arange(width) < n_graded[group, None]
            documents = np.where(is_document, groups.first[group, None] + np.arange(width), 0)
            stops = _stops(groups.size[group], satisfied[documents], is_document, deepest)
            worth = np.where(place <= depth[group, None], 1 / (groups.above[group, None] + place), 0.0)
            terms[group] = (stops * worth).sum(axis=1)
    return groups.per_list(terms * _readers(groups, satisfied))


def _variance(groups: TieGroups, k: Parameter) -> FloatArray:
    """Return the variance of expected reciprocal rank.

    The number of readers who reach a tie is the same in every order, so groups are independent. With B the
    worth of the documents below, a document at rank i makes it R/(b + i) + (1 - R) B: `_variances_over_orders`.
    """
    satisfied = _satisfied(groups.grades)
    if not len(satisfied):
        return np.zeros(groups.judgments.n_lists)
    depth = _depths(groups, satisfied, k)
    ends = np.append(groups.first[1:], len(satisfied))
    lowest, highest = (extreme.reduceat(satisfied, groups.first) for extreme in (np.minimum, np.maximum))
    is_mixed = ~((lowest == highest) & (ends - groups.first == groups.size)) & (depth > 0)
    alike = defaultdict(list)
    for group in np.flatnonzero(is_mixed).tolist():
        shares = np.sort(satisfied[groups.first[group] : ends[group]])
        alike[int(groups.size[group]), int(depth[group]), tuple(shares.tolist())].append(group)
    variances = np.zeros(len(groups.size))
    for tie, members in alike.items():
        variances[members] = _tie_variances(*tie, groups.above[members])
    return groups.per_list(variances * np.square(_readers(groups, satisfied)))


expected_reciprocal_rank = Family("cascade", _mean, _variance, by_relevance=False)


def _satisfied(grades: FloatArray) -> FloatArray:
    """Return the (n,) share R of readers that each document satisfies; UsageError for a grade above 4."""
    if grades.max(initial=0) > _HIGHEST:
        raise UsageError(
            f"ERR takes grades up to {_HIGHEST}, as gdeval does, but the judgments have grade "
            f"{grades.max():g}. Map the grades to 0 to 4, or use nDCG."
        )
    return np.asarray((np.exp2(np.maximum(grades, 0)) - 1) / 2**_HIGHEST)


def _readers(groups: TieGroups, satisfied: FloatArray) -> FloatArray:
    """Return the (n_groups,) share of readers that reach each group: the product of 1 - R above it.

    The product is taken list by list, so that no value depends on other lists.
    """
    factors = np.append(np.multiply.reduceat(1 - satisfied, groups.first) if len(satisfied) else [], 1.0)
    starts, readers = span_starts(groups.lists), np.ones(len(factors))
    ends = np.append(starts[1:], len(groups.lists))
    for rows, deepest in batch_by_depth(ends - starts):
        table = starts[rows, None] + np.arange(deepest)
        table = np.where(table < ends[rows, None], table, len(groups.lists))
        readers[table[:, 1:]] = np.cumprod(factors[table], axis=1)[:, :-1]
    return readers[:-1]


def _depths(groups: TieGroups, satisfied: FloatArray, k: Parameter) -> IntArray:
    """Return the (n_groups,) ranks of each group that can matter.

    S_i is at most the i-th power of the mean of 1 - R: past some rank no reader is left (Maclaurin).
    """
    lost = -np.log1p(-groups.sum(satisfied) / groups.size)
    last = np.ceil(_NEGLIGIBLE / np.maximum(lost, np.finfo(float).tiny))
    return np.minimum(groups.within(k), last).astype(np.int64)


def _stops(size: IntArray, shares: FloatArray, is_document: BoolArray, deepest: int) -> FloatArray:
    """Return the (n, deepest) readers D_i = S_(i-1) - S_i that stop at each rank of groups.

    Documents are added one at a time; the t-th is equally likely at each of t ranks. So D_i <- (t - i)/t D_i +
    (i - 1)/t (1 - R) D_(i-1) + 1/t R S_(i-1) and S_i <- (t - i)/t S_i + i/t (1 - R) S_(i-1): nothing is
    subtracted.

    Shapes: `size` (n,), `shares` (n, most) R of documents with a grade above 0, `is_document` (n, most).
    """
    place = np.arange(1, deepest + 1)
    stops, remaining = np.zeros((len(size), deepest)), np.ones((len(size), deepest + 1))
    n_taken = size - is_document.sum(axis=1)
    for share, is_taken in zip(shares.T[..., None], is_document.T, strict=True):
        n_taken = n_taken + is_taken
        chance = (is_taken / n_taken)[:, None]
        upto = np.minimum(place * chance, 1.0)
        added = share * chance * remaining[:, :-1]
        added[:, 1:] += np.minimum((place - 1) * chance, 1.0)[:, 1:] * (1 - share) * stops[:, :-1]
        stops *= 1 - upto
        stops += added
        remaining[:, 1:] = (1 - upto) * remaining[:, 1:] + upto * (1 - share) * remaining[:, :-1]
    return stops


def _tie_variances(size: int, within: int, shares: tuple[float, ...], above: IntArray) -> FloatArray:
    kinds, counts = np.unique(shares, return_counts=True)
    steps = within * float(np.prod(counts + 1.0))
    if steps > _MAX_STEPS:
        raise _too_large("standard deviation", size, len(shares), steps)
    parts = np.array_split(above, int(len(above) * np.prod(counts + 1.0)) // _CELLS + 1)
    return np.concatenate(
        [_variances_over_orders(size, counts.tolist(), within, kinds, part) for part in parts if len(part)]
    )


def _variances_over_orders(
    size: int, counts: list[int], within: int, shares: FloatArray, above: IntArray
) -> FloatArray:
    """Return the (n_ties,) variances of the worth of ties that differ only in the documents above them.

    Built up from the last document, with m and v the mean and variance of the worth B of the documents below,
    given the documents of each share R above, and p the chance that the next document is of a share (R = 0 and
    no gain for the others): m <- sum of p * (R/(b + i) + (1 - R) m'), v <- sum of p * ((1 - R)^2 v' + (R/(b +
    i) + (1 - R) m' - m)^2).

    Shapes: `counts` and `shares` (n_shares,), `above` (n_ties,).
    """
    n_above = [axis[..., None] for axis in np.ogrid[tuple(slice(count + 1) for count in counts)]]
    inside = tuple(slice(count + 1) for count in counts)
    below = [inside]
    for kind, span in enumerate(inside):
        below.append((*inside[:kind], slice(1, span.stop + 1), *inside[kind + 1 :]))
    n_others, keeps = size - sum(counts), [1.0, *(1 - shares)]
    means, variances = np.zeros((2, *(count + 2 for count in counts), len(above)))
    for place in range(within, 0, -1):
        others = place - 1 - sum(n_above)
        remaining = [n_others - others, *(n - seen for n, seen in zip(counts, n_above, strict=True))]
        chances = [np.maximum(number, 0) / (size - place + 1) for number in remaining]
        gains = [0.0, *(share / (above + place) for share in shares)]
        to_come = [gain + keep * means[span] for gain, keep, span in zip(gains, keeps, below, strict=True)]
        mean = sum(chance * value for chance, value in zip(chances, to_come, strict=True))
        spreads = [
            chance * (keep**2 * variances[span] + (value - mean) ** 2)
            for chance, value, keep, span in zip(chances, to_come, keeps, below, strict=True)
        ]
        is_state = (others >= 0) & (others <= n_others)
        means[inside], variances[inside] = np.where(is_state, mean, 0.0), np.where(is_state, sum(spreads), 0.0)
    return np.asarray(variances[(0,) * len(counts)])


def _too_large(quantity: str, size: int, n_graded: int, steps: float) -> UsageError:
    return UsageError(
        f"ERR: the {quantity} over the orders of {size:,} tied documents, {n_graded:,} of them with a grade "
        f"above 0, would take {steps:.1g} steps; the limit is {_MAX_STEPS:.1g}. Give a cut-off, as in "
        "ERR@10, or use nDCG."
    )
