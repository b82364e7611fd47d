"""Orders inside ties: the keys by which treatments cut tie groups.

**Distinct targets.** Of the documents of a tie, at most the cut-off's group is cut, so only its own order
matters: best brings one document of each target not seen above to the front; worst brings everything that
adds no target first, then targets with the most documents, so that a place is spent on the same target as
long as possible.

**Inferred average precision**, where a pool was judged in part. A document with a grade below 0 was in the
pool, and nobody judged it: below documents that were in no pool, it may raise what a relevant document below
it is worth. With S relevant and N other judged documents, P of the pool that nobody judged and O that were in
no pool above it, at place i = S + N + P + O + 1, that is

(1 + (S + N + P) * g) / i, g = (S + e)/(S + N + 2e).

Two neighbours of which none is of the pool and unjudged are better off with the relevant one first. One of
the pool is better off above a relevant one where g * (1 + O) > 1, and g grows with S. Below place
1/e, e itself could turn this round.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from metrics.runs.query_doc_keys import reseed
from metrics.support.arrays import BoolArray, IntArray
from metrics.ties.ranking import Ranking, ScoredGroups

Key = Callable[[Ranking, ScoredGroups], IntArray]
"""(n,) whole numbers from 0 for the documents of some tie groups; the smallest first in a group."""


def input_order(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return the row of each document in its table."""
    return ranking.rows[scored.documents]


def docid_ascending(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Place of each document's id by code point; UTF-8 bytes sort like code points."""
    ranks = pc.rank(ranking.ids(scored.documents), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks).astype(np.int64)


def docid_descending(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Place of each document's id from the last code point on."""
    ascending = docid_ascending(ranking, scored)
    return np.asarray(ascending.max(initial=0) - ascending)


def seeded_order(seed: int) -> Key:
    """Order by a hash of seed, query and document: even, and the same whatever else is in the table."""

    def key(ranking: Ranking, scored: ScoredGroups) -> IntArray:
        hashes = reseed(ranking.pairs.hashes[ranking.rows[scored.documents]], seed)
        rank = np.empty(len(hashes), dtype=np.int64)
        rank[np.argsort(hashes, kind="stable")] = np.arange(len(hashes))
        return rank

    return key


def lowest_grade_first(_: Ranking, scored: ScoredGroups) -> IntArray:
    """Return the lowest gain first; what nobody judged before what was judged and found worthless."""
    return scored.worth


def highest_grade_first(_: Ranking, scored: ScoredGroups) -> IntArray:
    """Return the highest gain first; what was judged and found worthless before what nobody judged."""
    return np.asarray(scored.worth.max(initial=0) - scored.worth)


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


EPSILON = 1e-5
"""What trec_eval adds to the relevant and to the other documents above, so that none is no certainty."""


def best_of_pool(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Put relevant documents first, then unjudged ones of the pool, but where these raise the others."""
    key = np.select(_kinds(ranking, scored), [0, 1], 3)
    for tie in _pooled_ties(ranking, scored):
        n_hits = tie.relevant + np.arange(len(tie.hits))
        ratio = (n_hits + EPSILON) / (n_hits + tie.nonrelevant + 2 * EPSILON)
        key[tie.hits[ratio * (1 + tie.unpooled) > 1]] = 2
    return key


def worst_of_pool(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Put relevant documents last, but for those of the pool that nobody judged where these would raise them.

    Whatever number of the pool stands above each relevant document, to have as many above all is no better.
    """
    key = np.select(_kinds(ranking, scored), [2, 1], 0)
    for tie in _pooled_ties(ranking, scored):
        n_pooled, sums = np.arange(len(tie.pooled) + 1.0), np.zeros(len(tie.pooled) + 1)
        nonrelevant, unpooled = tie.nonrelevant + tie.nonrelevant_inside, tie.unpooled + tie.unpooled_inside
        for n_hits in range(tie.relevant, tie.relevant + len(tie.hits)):
            ratio = (n_hits + EPSILON) / (n_hits + nonrelevant + 2 * EPSILON)
            n_pool_above = n_hits + nonrelevant + tie.pooled_above + n_pooled
            sums += (1 + n_pool_above * ratio) / (n_pool_above + unpooled + 1)
        key[tie.pooled[int(sums.argmin()) :]] = 3
    return key


class _PooledTie(NamedTuple):
    """A tie of relevant documents and some of the pool that nobody judged.

    Attributes:
        hits: places of its relevant documents among those of all ties.
        pooled: places of those of the pool that nobody judged.
        relevant: relevant documents of the list above it: S.
        nonrelevant: judged ones above it that are not relevant: N.
        pooled_above: those above it of the pool that nobody judged: P.
        unpooled: those above it that were in no pool: O.
        nonrelevant_inside: judged ones in it that are not relevant.
        unpooled_inside: those in it that were in no pool.
    """

    hits: IntArray
    pooled: IntArray
    relevant: int
    nonrelevant: int
    pooled_above: int
    unpooled: int
    nonrelevant_inside: int
    unpooled_inside: int


def _pooled_ties(ranking: Ranking, scored: ScoredGroups) -> Iterator[_PooledTie]:
    is_hit, is_pooled = _kinds(ranking, scored)
    n_hits, n_pooled = (
        np.bincount(scored.owner[kind], minlength=len(scored.size)) for kind in (is_hit, is_pooled)
    )
    ties = np.flatnonzero((n_hits > 0) & (n_pooled > 0))
    if not len(ties):
        return
    kinds = ranking.relevant, ranking.judged & (ranking.grades < 0), ranking.judged
    upto = np.stack([np.append(0, np.cumsum(kind)) for kind in kinds])
    starts, above = ranking.starts[scored.groups], ranking.above[scored.groups]
    first = np.cumsum(scored.size) - scored.size
    for tie in ties.tolist():
        start, size, n_above = int(starts[tie]), int(scored.size[tie]), int(above[tie])
        relevant, pooled, in_qrels = (upto[:, start] - upto[:, start - n_above]).tolist()
        inside = (upto[:, start + size] - upto[:, start]).tolist()
        places = np.arange(size) + first[tie]
        yield _PooledTie(
            hits=places[is_hit[places]],
            pooled=places[is_pooled[places]],
            relevant=relevant,
            nonrelevant=in_qrels - relevant - pooled,
            pooled_above=pooled,
            unpooled=n_above - in_qrels,
            nonrelevant_inside=inside[2] - inside[0] - inside[1],
            unpooled_inside=size - inside[2],
        )


def _kinds(ranking: Ranking, scored: ScoredGroups) -> list[BoolArray]:
    """Return (n,) whether each document is relevant, and whether it is of the pool and nobody judged it."""
    grades = ranking.grades[scored.documents]
    return [ranking.relevant[scored.documents], grades < 0]
