"""Best and worst order of ties for inferred average precision, where a pool was judged in part.

A document with a grade below 0 was in the pool, and nobody judged it: below documents that were in no pool,
it may raise what a relevant document below it is worth. With S relevant and N other judged documents, P of
the pool that nobody judged and O that were in no pool above it, at place i = S + N + P + O + 1, that is

(1 + (S + N + P) * g) / i, g = (S + e)/(S + N + 2e).

Two neighbours of which none is of the pool and unjudged are better off with the relevant one first. One of
the pool is better off above a relevant one where g * (1 + O) > 1, and g grows with S. Below place
1/e, e itself could turn this round.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metrics.support.arrays import BoolArray, IntArray
from metrics.ties.groups import ScoredGroups

if TYPE_CHECKING:
    from metrics.ties.ranking import Ranking

EPSILON = 1e-5
"""What trec_eval adds to the relevant and to the other documents above, so that none is no certainty."""


def best_of_pool(ranking: "Ranking", scored: ScoredGroups) -> IntArray:
    """Put relevant documents first, then unjudged ones of the pool, but where these raise the others."""
    key = np.select(_kinds(ranking, scored), [0, 1], 3)
    for tie in _pooled_ties(ranking, scored):
        n_hits = tie.relevant + np.arange(len(tie.hits))
        ratio = (n_hits + EPSILON) / (n_hits + tie.nonrelevant + 2 * EPSILON)
        key[tie.hits[ratio * (1 + tie.unpooled) > 1]] = 2
    return key


def worst_of_pool(ranking: "Ranking", scored: ScoredGroups) -> IntArray:
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


def _pooled_ties(ranking: "Ranking", scored: ScoredGroups) -> Iterator[_PooledTie]:
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


def _kinds(ranking: "Ranking", scored: ScoredGroups) -> list[BoolArray]:
    """Return (n,) whether each document is relevant, and whether it is of the pool and nobody judged it."""
    grades = ranking.grades[scored.documents]
    return [ranking.relevant[scored.documents], grades < 0]
