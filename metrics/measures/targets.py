"""Measures of distinct targets: several documents may satisfy one target, which counts once."""

import numpy as np

from metrics.measures.first_hit import chance_of_none, chance_of_some
from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray, IntArray, batch_by_depth, span_lengths, span_starts
from metrics.ties.groups import TieGroups


def _n_distinct(groups: TieGroups, k: Parameter) -> FloatArray:
    """Return the expected number of distinct targets in the top k.

    Sum over targets, in the first group that holds one, of 1 - C(n - t, m)/C(n, m): n documents in
    the group, t of the target, m ranks within the cut-off.
    """
    group, documents = _new_targets(groups)
    chance = 1 - chance_of_none(groups.size[group], documents, groups.within(k)[group])
    counts = np.bincount(group, chance, minlength=len(groups.size)).astype(np.float64)
    return groups.per_list(counts)


def _n_distinct_variance(groups: TieGroups, k: Parameter) -> FloatArray:
    """Return the variance of the number of distinct targets in the top k.

    Only the group that the cut-off splits is random. With z(t) = C(n - t, m)/C(n, m),

    Var = sum over targets j of z(t_j) (1 - z(t_j)) - sum over j, l of z(t_j) z(t_l) `_shared_chances`,

    j and l different; targets with equally many documents are grouped. Two cases have a shorter form, exactly
    0 without variation: f targets of one document, z(1) (1 - z(1)) f (n - f)/(n - 1), and one rank
    within the cut-off, s (n - s)/n^2 with s documents of any target.
    """
    n_groups, within = len(groups.size), groups.within(k)
    group, documents = _new_targets(groups)
    is_divided = ((within > 0) & (within < groups.size))[group]
    rows = np.stack([group[is_divided], documents[is_divided]])
    (group, documents), alike = np.unique(rows, axis=1, return_counts=True)
    size, places = groups.size[group], within[group]
    none = chance_of_none(size, documents, places)
    target_terms = alike * none * chance_of_some(size, documents, places)
    target_terms *= np.where(documents == 1, (size - alike) / (size - 1), 1.0)
    first, second = _pairs_of_rows(group)
    n_pairs = np.where(first == second, (documents[first] > 1) * (alike[first] - 1), 2 * alike[first])
    shared = _shared_chances(size, documents, places, first, documents[second])
    pair_terms = n_pairs * alike[second] * none[first] * none[second] * shared
    variances = np.bincount(group, target_terms, n_groups) - np.bincount(group[first], pair_terms, n_groups)
    n_hits = np.bincount(group, alike * documents, n_groups)
    one_place = n_hits / groups.size * ((groups.size - n_hits) / groups.size)
    variances = np.where(within == 1, one_place, variances)
    return groups.per_list(np.maximum(variances, 0))


def _shared_chances(
    size: IntArray, documents: IntArray, within: IntArray, row: IntArray, fewer: IntArray
) -> FloatArray:
    """Return how much rarer two targets of a group both miss the first ranks than if they were independent.

    1 - z(s + t)/(z(s) z(t)) = 1 - prod (1 - t m/((n - i - t)(n - i - m))), i from 0 to s - 1. One running
    product gives it for every s, without a difference of similar numbers.
    """
    chances, place = np.zeros(len(row)), np.empty(len(size), dtype=np.int64)
    for part, deepest in batch_by_depth(documents):
        remaining, t, m = (column[part, None].astype(np.float64) for column in (size, documents, within))
        remaining = remaining - np.arange(deepest)
        missed = np.minimum(t * m / np.maximum((remaining - t) * (remaining - m), 1), 1)
        missed[:, 1:] *= np.cumprod(1 - missed[:, :-1], axis=1)
        upto = np.cumsum(missed, axis=1)
        place.fill(-1)
        place[part] = np.arange(len(part))
        pairs = np.flatnonzero(place[row] >= 0)
        chances[pairs] = upto[place[row[pairs]], fewer[pairs] - 1]
    return chances


def _pairs_of_rows(group: IntArray) -> tuple[IntArray, IntArray]:
    """Return both rows of every pair of one group, each row with itself included; the later row first."""
    start: IntArray = np.searchsorted(group, group)
    n_before = np.arange(len(group)) - start + 1
    first = np.repeat(np.arange(len(group)), n_before)
    skipped = np.cumsum(n_before) - n_before - start
    return first, np.arange(len(first)) - skipped[first]


def _share(groups: TieGroups, k: Parameter) -> FloatArray:
    """Return the expected distinct targets in the top k, over all targets of the query."""
    return _n_distinct(groups, k) / np.maximum(n_targets(groups), 1)


def _share_variance(groups: TieGroups, k: Parameter) -> FloatArray:
    return _n_distinct_variance(groups, k) / np.square(np.maximum(n_targets(groups), 1.0))


def n_targets(groups: TieGroups) -> IntArray:
    """Return the (n_lists,) distinct targets of the relevant documents of each query."""
    judgments = groups.judgments
    if judgments.targets is None:
        return judgments.n_relevant
    hit = judgments.grades >= judgments.relevant_from
    pairs = np.unique(np.stack([judgments.lists[hit], judgments.targets[hit]]), axis=1)
    return judgments.by_list(np.bincount(pairs[0], minlength=len(judgments.query_ids)))


def _new_targets(groups: TieGroups) -> tuple[IntArray, IntArray]:
    """Return, for each target of a list, the first group with it and its documents in that group."""

    def new_targets() -> tuple[IntArray, IntArray]:
        hit = np.flatnonzero(groups.hits)
        owner = groups.owner[hit]
        lists = groups.lists[owner]
        target = np.arange(len(hit)) if groups.targets is None else groups.targets[hit]
        order = np.lexsort((owner, target, lists))
        owner, lists, target = owner[order], lists[order], target[order]
        new_pair = span_starts(lists, target, owner)
        documents = span_lengths(new_pair, len(owner))
        first_group = np.isin(new_pair, span_starts(lists, target))
        return owner[new_pair][first_group], documents[first_group]

    return groups.memoize(_new_targets, new_targets)


distinct_targets = Family("targets", _n_distinct, _n_distinct_variance, targets=True)
distinct_recall = Family("targets", _share, _share_variance, targets=True)
