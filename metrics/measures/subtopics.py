"""alpha_nDCG: gain of the subtopics that documents cover, discounted for repetition."""

from functools import lru_cache, partial
from typing import NoReturn

import numpy as np

from metrics.errors import UsageError
from metrics.measures.model import Family
from metrics.measures.weights import Parameter
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth, joined_ranges, span_starts
from metrics.ties.groups import TieGroups
from metrics.ties.judgments import Judgments, Subtopics
from metrics.ties.permutations import MAX_STEPS

_NEGLIGIBLE = 45.0
"""Minus the log of a factor that does not change a sum in float64: later ranks are left out."""


def _mean(groups: TieGroups, k: Parameter, *, alpha: float) -> FloatArray:
    """Return the expected gain of each list, divided by the gain of the ideal order.

    A document at rank i adds (1 - alpha)^c / log2(i + 1) for each subtopic it is relevant to, where c documents
    above it are relevant to the same subtopic. If a tie holds n documents below b others, and r of the n and c
    of the b are relevant to a subtopic, the subtopic adds

    (1 - alpha)^c r/n * sum over i = 1..min(n, k - b) of E[(1 - alpha)^X] / log2(b + i + 1).

    X is hypergeometric: i - 1 documents are drawn from n - 1, of which r - 1 are relevant to the subtopic.

    Source: Clarke et al., SIGIR 2008. The ideal order is greedy, as in ndeval.
    """
    subtopics = groups.judgments.subtopics
    if subtopics is None or groups.rows is None:
        raise UsageError(
            "alpha_nDCG needs judgments of subtopics: lines with query, subtopic, document and grade, or a "
            "table with a subtopic column."
        )
    rows = np.maximum(groups.rows, 0)
    starts, n_subtopics = subtopics.starts[rows], np.diff(subtopics.starts)[rows] * (groups.rows >= 0)
    subtopic = subtopics.subtopic[joined_ranges(starts, n_subtopics)]
    group = np.repeat(groups.owner, n_subtopics)
    order = np.lexsort((group, subtopic, groups.lists[group]))
    group, subtopic = group[order], subtopic[order]
    lists = groups.lists[group]
    first = span_starts(lists, subtopic, group)
    covering = np.diff(first, append=len(group))
    group = group[first]
    first_of_subtopic = np.searchsorted(first, span_starts(lists, subtopic))
    before = np.cumsum(covering) - covering
    n_pairs = np.diff(first_of_subtopic, append=len(first))
    covering_above = before - np.repeat(before[first_of_subtopic], n_pairs)
    gains = (1 - alpha) ** covering_above * covering / groups.size[group]
    gains *= _discounted(groups.size[group], covering, groups.above[group], k, alpha)
    totals = np.bincount(lists[first], gains, groups.n_lists)
    ideal = groups.judgments.memoize(
        ("alpha_nDCG", alpha, k), lambda: _ideal_gains(groups.judgments, subtopics, alpha, k)
    )
    ideal = groups.judgments.by_list(ideal)
    return np.divide(totals, ideal, out=np.zeros(groups.n_lists), where=ideal > 0)


def _discounted(size: IntArray, covering: IntArray, above: IntArray, k: Parameter, alpha: float) -> FloatArray:
    """Return the (n,) sums over the ranks of ties of E[(1 - alpha)^X] / log2(rank + 1), with X as in `_mean`.

    S_j is E[(1 - alpha)^X] for j documents drawn from a pool. A document that covers the subtopic and makes the
    pool one of t documents changes S_j to (t - j)/t S_j + j/t (1 - alpha) S_(j-1). From some j on, S_j is
    negligible (Maclaurin's inequality).

    `size`, `covering` and `above` are (n,) documents in the tie, covering the subtopic, and above the tie.
    """
    others, repeats = size - 1, covering - 1
    within = size if k is None else np.clip(int(k) - above, 0, size)
    lost = -np.log1p(-alpha * repeats / np.maximum(others, 1))
    depth = np.minimum(within, np.ceil(_NEGLIGIBLE / np.maximum(lost, 1e-300)) + 1)
    if (depth * repeats).max(initial=0) > MAX_STEPS:
        largest = int((depth * repeats).argmax())
        raise UsageError(
            f"alpha_nDCG: the mean over the orders of {size[largest]:,} tied documents, {covering[largest]:,} "
            "of them relevant to one subtopic, would take minutes. Give a cut-off, as in alpha_nDCG@10."
        )
    sums = np.zeros(len(size))
    for part, deepest in batch_by_depth(depth.astype(np.int64)):
        for rows, n_most in batch_by_depth(repeats[part] + 1):
            pair, place = part[rows], np.arange(deepest)
            chances, n_drawn_from = np.ones((len(pair), deepest)), others[pair] - repeats[pair]
            for number in range(1, n_most):
                is_added = repeats[pair] >= number
                n_drawn_from = n_drawn_from + is_added
                share = np.minimum(place * (is_added / np.maximum(n_drawn_from, 1))[:, None], 1.0)
                chances[:, 1:] += share[:, 1:] * ((1 - alpha) * chances[:, :-1] - chances[:, 1:])
            discounts = 1 / np.log2(above[pair, None] + place + 2)
            sums[pair] = np.where(place < depth[pair, None], chances * discounts, 0.0).sum(axis=1)
    return sums


def _ideal_gains(judgments: Judgments, subtopics: Subtopics, alpha: float, k: Parameter) -> FloatArray:
    """Return the (n_queries,) gain of the judged documents in greedy order: the largest gain at each rank.

    Of equal gains, the last document ID is taken, as in ndeval. The best of all orders is a covering problem.
    """
    rows = np.arange(len(judgments.lists)) if judgments.rows is None else judgments.rows
    rows = rows[np.lexsort((-subtopics.id_order[rows], judgments.lists))]
    n_subtopics = np.diff(subtopics.starts)[rows]
    ends = np.cumsum(np.bincount(judgments.lists, minlength=len(judgments.query_ids)))
    gains = np.zeros(len(ends))
    for query, (start, end) in enumerate(zip(ends - np.diff(ends, prepend=0), ends, strict=True)):
        listed, counts = rows[start:end], n_subtopics[start:end]
        entries = subtopics.subtopic[joined_ranges(subtopics.starts[listed], counts)]
        distinct, codes = np.unique(entries, return_inverse=True)
        covers = np.zeros((len(distinct), len(listed)), dtype=bool)
        covers[codes, np.repeat(np.arange(len(listed)), counts)] = True
        covers, worth = covers[:, counts > 0], np.ones((len(distinct), 1))
        for rank in range(1, covers.shape[1] + 1 if k is None else min(covers.shape[1], int(k)) + 1):
            new_gains = (covers * worth).sum(axis=0)
            best = int(new_gains.argmax())
            gains[query] += new_gains[best] / np.log2(rank + 1)
            worth[covers[:, best]] *= 1 - alpha
            covers = np.delete(covers, best, axis=1)
    return gains


def _no_variance(*_: object) -> NoReturn:
    raise UsageError(NO_EXTREMES)


NO_EXTREMES = (
    "alpha_nDCG has only the tied score (`expected`) and traditional scores (such as `input`). Its best "
    "case, worst case and standard deviation over orders are not computed, because they would take too long."
)


@lru_cache
def subtopic_gain(alpha: float) -> Family:
    """Return the family of alpha_nDCG, where `alpha` is the discount for each repetition of a subtopic."""
    return Family(
        "subtopics",
        partial(_mean, alpha=alpha),
        _no_variance,
        noisy=False,
        no_extremes=NO_EXTREMES,
    )
