"""Measures with their own rule for ties; no treatment applies to them."""

from collections.abc import Callable

import numpy as np

from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties.groups import TieGroups


def _no_variance(groups: TieGroups, _: Parameter) -> FloatArray:
    return np.zeros(groups.judgments.n_lists)


def _of_first_tie(place_of: Callable[[IntArray, IntArray, IntArray], FloatArray]) -> Family:
    """Return the measure 1 / (b + place), of the first tie with a relevant document."""

    def mean(groups: TieGroups, _: Parameter) -> FloatArray:
        leading = groups.leading
        lists = groups.lists[leading]
        n_listed = groups.per_list(groups.relevant.astype(np.float64))[lists].astype(np.int64)
        place = place_of(groups.size[leading], groups.relevant[leading], groups.n_docs[lists] - n_listed)
        value = np.zeros(groups.judgments.n_lists)
        value[lists] = 1 / (groups.above[leading] + place)
        return value

    return Family("own_rules", mean, _no_variance, own_rule=True)


def _expected_place(n: IntArray, r: IntArray, _: IntArray) -> FloatArray:
    """Return E[L] = (n + 1) / (r + 1), the expected rank of the first relevant document in its tie."""
    return np.asarray((n + 1) / (r + 1))


def _last_place(n: IntArray, r: IntArray, _: IntArray) -> FloatArray:
    return (n - r + 1).astype(np.float64)


def _tie_sensitive_place(n: IntArray, r: IntArray, irrelevant: IntArray) -> FloatArray:
    """Return (1 - tau) * E[L] + tau * (n - r + 1).

    tau is the share of the list's irrelevant documents that are in the group; 0 where all are relevant.
    """
    tau = (n - r) / np.maximum(irrelevant, 1)
    return (1 - tau) * _expected_place(n, r, irrelevant) + tau * _last_place(n, r, irrelevant)


def _of_every_tie(worth: Callable[[IntArray, IntArray, Parameter], FloatArray]) -> Family:
    """Return the mean worth of the ties of all relevant documents, 0 for unlisted ones."""

    def mean(groups: TieGroups, k: Parameter) -> FloatArray:
        each = groups.relevant * worth(groups.above, groups.size, k)
        return np.asarray(groups.per_list(each) / np.maximum(groups.n_relevant, 1))

    return Family("own_rules", mean, _no_variance, own_rule=True)


def _reciprocal_mean_rank(b: IntArray, n: IntArray, _: Parameter) -> FloatArray:
    return 1 / (b + (n + 1) / 2)


def _share_within(b: IntArray, n: IntArray, k: Parameter) -> FloatArray:
    return np.asarray(np.clip((k or 0) - b, 0, n) / n)


tie_aware_rr = _of_first_tie(_expected_place)
tie_sensitive_rr = _of_first_tie(_tie_sensitive_place)
pessimistic_rr = _of_first_tie(_last_place)
grag_rr = _of_every_tie(_reciprocal_mean_rank)
grag_hits = _of_every_tie(_share_within)
