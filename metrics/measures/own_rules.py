"""Measures with a rule for ties of their own; no treatment applies to them."""

import numpy as np

from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties.groups import TieGroups


def _leading(groups: TieGroups) -> tuple[IntArray, FloatArray]:
    """The first group with a relevant document, and E[L] = (n + 1) / (r + 1), its expected place inside."""
    leading = groups.leading
    return leading, (groups.size[leading] + 1) / (groups.relevant[leading] + 1)


def _reciprocal(groups: TieGroups, leading: IntArray, rank: FloatArray) -> FloatArray:
    """One over the rank of each leading group, as a value of its list."""
    value = np.zeros(groups.n_lists)
    value[groups.lists[leading]] = 1 / rank
    return value


def _tie_aware_rr(groups: TieGroups, _: Parameter) -> FloatArray:
    """1 / (b + E[L])."""
    leading, place = _leading(groups)
    return _reciprocal(groups, leading, groups.above[leading] + place)


def _pessimistic_rr(groups: TieGroups, _: Parameter) -> FloatArray:
    """1 / (b + n - r + 1): every other document of the group stands before the relevant ones."""
    leading = groups.leading
    last = groups.size[leading] - groups.relevant[leading] + 1
    return _reciprocal(groups, leading, (groups.above[leading] + last).astype(np.float64))


def _tie_sensitive_rr(groups: TieGroups, _: Parameter) -> FloatArray:
    """1 / (b + (1 - tau) * E[L] + tau * (n - r + 1)).

    tau is the share of the irrelevant documents of the list that stand in the group; 0 where all
    are relevant.
    """
    leading, place = _leading(groups)
    n, r = groups.size[leading], groups.relevant[leading]
    n_listed = groups.per_list(groups.relevant.astype(np.float64))[groups.lists[leading]]
    irrelevant = groups.n_docs[groups.lists[leading]] - n_listed
    tau = (n - r) / np.maximum(irrelevant, 1)
    return _reciprocal(groups, leading, groups.above[leading] + (1 - tau) * place + tau * (n - r + 1))


def _grag_rr(groups: TieGroups, _: Parameter) -> FloatArray:
    """Mean over all relevant documents of 1 / (b + (n + 1) / 2); one that is not listed adds 0."""
    each = groups.relevant / (groups.above + (groups.size + 1) / 2)
    return groups.per_list(each) / np.maximum(groups.n_relevant, 1)


def _grag_hits(groups: TieGroups, k: Parameter) -> FloatArray:
    """Mean over all relevant documents of clip(k - b, 0, n) / n; one that is not listed adds 0."""
    within = np.clip((k or 0) - groups.above, 0, groups.size) / groups.size
    return groups.per_list(groups.relevant * within) / np.maximum(groups.n_relevant, 1)


def _no_variance(groups: TieGroups, _: Parameter) -> FloatArray:
    """0: no ordering changes the value."""
    return np.zeros(groups.n_lists)


tie_aware_rr = Family("own_rules", _tie_aware_rr, _no_variance, own_rule=True)
tie_sensitive_rr = Family("own_rules", _tie_sensitive_rr, _no_variance, own_rule=True)
pessimistic_rr = Family("own_rules", _pessimistic_rr, _no_variance, own_rule=True)
grag_rr = Family("own_rules", _grag_rr, _no_variance, own_rule=True)
grag_hits = Family("own_rules", _grag_hits, _no_variance, own_rule=True)
