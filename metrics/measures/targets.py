"""Measures of distinct targets: several documents may satisfy one, and it counts once."""

import numpy as np

from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray, IntArray
from metrics.ties.groups import TieGroups
from metrics.ties.permutations import chance_of_none


def _n_distinct(groups: TieGroups, k: Parameter) -> FloatArray:
    """Expected number of distinct targets in the top k.

    Sum over targets, in the first group that holds one, of 1 - C(n - t, m)/C(n, m): n documents in
    the group, t of the target, m places within the cut-off.
    """
    hit = np.flatnonzero(groups.hits)
    owner = groups.owner[hit]
    lists = groups.lists[owner]
    target = np.arange(len(hit)) if groups.targets is None else groups.targets[hit]
    order = np.lexsort((owner, target, lists))
    owner, lists, target = owner[order], lists[order], target[order]
    new_pair = _starts(lists, target, owner)
    documents = np.diff(np.append(new_pair, len(owner)))
    first_group = np.isin(new_pair, _starts(lists, target))
    group, documents = owner[new_pair][first_group], documents[first_group]
    size = groups.size[group]
    within = np.clip((np.inf if k is None else k) - groups.above[group], 0, size).astype(np.int64)
    chance = 1 - chance_of_none(size, documents, within)
    return np.bincount(groups.lists[group], chance, minlength=groups.n_lists).astype(np.float64)


def _share(groups: TieGroups, k: Parameter) -> FloatArray:
    """Expected distinct targets in the top k, over all targets of the query."""
    return _n_distinct(groups, k) / np.maximum(n_targets(groups), 1)


def n_targets(groups: TieGroups) -> IntArray:
    """(n_lists,) distinct targets of the relevant documents of each query."""
    judgments = groups.judgments
    if judgments.targets is None:
        return judgments.n_relevant
    hit = judgments.grades >= judgments.relevant_from
    pairs = np.unique(np.stack([judgments.lists[hit], judgments.targets[hit]]), axis=1)
    return judgments.by_list(np.bincount(pairs[0], minlength=len(judgments.query_ids)))


def _starts(*keys: IntArray) -> IntArray:
    changes = np.zeros(len(keys[0]), dtype=bool)
    changes[:1] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(changes)


def _depth(_: TieGroups, k: Parameter) -> float:
    return np.inf if k is None else k


distinct_targets = Family("targets", _n_distinct, targets=True, count_depth=_depth)
distinct_recall = Family("targets", _share, targets=True, count_depth=_depth)
