"""Best and worst orders for measures that count distinct targets.

Of the documents of a tie, at most the cut-off's group is cut, so only its own order matters: best
brings one document of each target not seen above to the front; worst brings everything that adds
no target first, then targets with the most documents, so that a place is spent on the same target
as long as possible.
"""

import numpy as np

from metrics.support.arrays import IntArray
from metrics.ties.groups import ScoredGroups
from metrics.ties.ranking import Ranking


def most_targets_first(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return 0 for the first document of a target not seen in groups above, else 1."""
    target, new = _new_targets(ranking, scored)
    key = np.ones(len(target), dtype=np.int64)
    positions = np.flatnonzero(new)
    pairs = np.stack([scored.owner[positions], target[positions]])
    _, leader = np.unique(pairs, axis=1, return_index=True)
    key[positions[leader]] = 0
    return key


def most_targets_last(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return 0 for what adds no target; else the place of targets by falling number of documents."""
    target, new = _new_targets(ranking, scored)
    key = np.zeros(len(target), dtype=np.int64)
    positions = np.flatnonzero(new)
    pairs = np.stack([scored.owner[positions], target[positions]])
    _, pair, count = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    rank = np.empty(len(count), dtype=np.int64)
    rank[np.argsort(-count, kind="stable")] = np.arange(len(count))
    key[positions] = 1 + rank[pair]
    return key


def _new_targets(ranking: Ranking, scored: ScoredGroups) -> tuple[IntArray, IntArray]:
    """Return the target of each document, and whether it is relevant and its target is in no group above."""
    documents = scored.documents
    relevant = ranking.relevant[documents]
    if ranking.targets is None:
        return np.arange(len(documents)), relevant.astype(np.int64)
    target = ranking.targets[documents]
    groups = scored.groups[scored.owner]
    lists = ranking.group_lists[groups]
    positions = np.flatnonzero(relevant)
    _, pair = np.unique(np.stack([lists[positions], target[positions]]), axis=1, return_inverse=True)
    first = np.full(int(pair.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, pair, groups[positions])
    new = np.zeros(len(documents), dtype=np.int64)
    new[positions] = groups[positions] == first[pair]
    return target, new
