"""Treatments: what is done about ties before a measure is taken.

A treatment is a second sort key. It cuts each tie group further, where documents differ in the key;
what it leaves level stays tied. `expected` has no key and leaves the groups as they are. There is no
other way from a run to a score.

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

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.runs.query_doc_keys import reseed
from metrics.support.arrays import BoolArray, IntArray, span_starts
from metrics.ties.groups import TieGroups
from metrics.ties.noise import Noise, parse_noise
from metrics.ties.noisy_orders import NoisyOrder
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


@dataclass(frozen=True)
class Treatment:
    """One way to deal with ties.

    Attributes:
        name: as typed on the command line, and in tables for machines.
        label: what people choose it by: the tool that sorts so, and its rule.
        heading: the same at the head of a column of values.
        order: the same in a sentence.
        summary: one line for people.
        used_by: software that sorts like this.
        key: order inside a tie group; None leaves groups whole.
        target_key: the same for measures that count distinct targets, where it differs.
        pool_key: the same for measures to which documents of the pool matter that nobody judged.
        spread: whether the standard deviation over orderings is asked for, not their mean.
        noise: how far true scores lie from those given: it leaves open more orders than ties do.
        bound: -1 or 1 where the smallest or largest value is asked for, over all orders and all grades that
            documents nobody judged may have; else 0.
    """

    name: str
    label: str
    heading: str
    order: str
    summary: str
    used_by: str
    key: Key | None = None
    target_key: Key | None = None
    pool_key: Key | None = None
    spread: bool = False
    noise: Noise | None = None
    bound: Literal[-1, 0, 1] = 0


TREATMENTS: tuple[Treatment, ...] = (
    Treatment(
        "expected",
        "mean of every order",
        "Tied",
        "every order of the ties",
        "The mean over every ordering the scores allow: the tied value.",
        "MTRR and TMHits@k; scikit-learn's nDCG",
    ),
    Treatment(
        "input",
        "as in the file",
        "File order",
        "file order",
        "Ties stay as the file lists them.",
        "most scripts of one's own; LightGBM, XGBoost",
        input_order,
    ),
    Treatment(
        "docid_desc",
        "trec_eval: id, descending",
        "trec_eval",
        "trec_eval's order",
        "Ties fall by document id, descending by code point.",
        "trec_eval, pytrec_eval, MTEB, trectools",
        docid_descending,
    ),
    Treatment(
        "docid_asc",
        "Anserini: id, ascending",
        "Anserini",
        "Anserini's order",
        "Ties fall by document id, ascending by code point.",
        "sentence-transformers IR evaluator, Anserini, Milvus",
        docid_ascending,
    ),
    Treatment(
        "optimistic",
        "best order of each tie",
        "Best order",
        "the best order",
        "The best ordering: the highest grade first inside each tie.",
        "PyKEEN, OGB",
        highest_grade_first,
        most_targets_first,
        best_of_pool,
    ),
    Treatment(
        "pessimistic",
        "worst order of each tie",
        "Worst order",
        "the worst order",
        "The worst ordering: the lowest grade first inside each tie.",
        "PyKEEN, OGB; the PRR of TsRR",
        lowest_grade_first,
        most_targets_last,
        worst_of_pool,
    ),
    Treatment(
        "std",
        "spread over every order",
        "Spread",
        "every order of the ties",
        "The standard deviation over every ordering the scores allow.",
        "nobody else",
        spread=True,
    ),
)
"""Every treatment but `random:SEED`, one seeded draw, which is made when asked for."""

JOINT_BOUNDS: tuple[Treatment, ...] = (
    Treatment(
        "lowest",
        "smallest value of any judgments",
        "Lowest",
        "every order and judgment",
        "The smallest value over every ordering and every grade that unjudged documents may have.",
        "nobody else",
        bound=-1,
    ),
    Treatment(
        "highest",
        "largest value of any judgments",
        "Highest",
        "every order and judgment",
        "The largest value over every ordering and every grade that unjudged documents may have.",
        "nobody else",
        bound=1,
    ),
)
"""Asked for like a treatment where documents have no judgment: proven, and reached but for shared targets."""


def treatment(name: str) -> Treatment:
    """Return the treatment of that name; UsageError where there is none."""
    for declared in (*TREATMENTS, *JOINT_BOUNDS):
        if declared.name == name:
            return declared
    if seed := re.fullmatch(r"random:(\d{1,18})", name):
        return Treatment(
            name,
            f"one random order, seed {seed[1]}",
            "Random order",
            "one random order",
            "One draw of all orderings, by seed.",
            "tools that shuffle",
            seeded_order(int(seed[1])),
        )
    if name.startswith("within:"):
        raise UsageError(f"{name} groups scores and orders no ties: give it as precision (--precision {name}).")
    if noise := parse_noise(name):
        limit = (
            "tied as noise ends, where documents of one score have one deviation"
            if noise.by_row
            else "tied as noise ends"
        )
        return Treatment(
            name,
            "mean over noisy scores",
            "Noisy",
            "every order that noise of the scores allows",
            f"The mean over every ordering, each as likely as {noise.summary} makes it: {limit}.",
            "nobody else",
            noise=noise,
        )
    names = ", ".join(one.name for one in (*TREATMENTS, *JOINT_BOUNDS))
    raise UsageError(f"There is no treatment {name!r}. Treatments: {names}, random:SEED, noise:SIGMA.")


def asks_for_bounds(names: Sequence[str] | str) -> bool:
    """Return whether a treatment of these names is a bound over judgments."""
    return any(treatment(str(name)).bound for name in ([names] if isinstance(names, str) else names))


def order_of_ties(name: str) -> Treatment:
    """Return the treatment of that name that orders each tie; UsageError where there is none."""
    order = treatment(name)
    if order.key is None:
        raise UsageError(
            f"{name} is no order of ties: {order.summary} A traditional order is one, such as input or "
            "docid_desc."
        )
    return order


def treatments_by_name() -> dict[str, Treatment]:
    """Return every treatment by the name that is typed: seeded draws as `random:SEED`, noise `noise:SIGMA`."""
    noisy = replace(
        treatment("noise:1"),
        summary="The mean over every ordering, each as likely as normal noise of standard deviation SIGMA "
        "makes it: tied as noise ends. noise reads SIGMA of each row from score_std; noise:bfloat16, other "
        "formats and noise:decimals:N put true scores evenly within half a step.",
    )
    by_pattern = {"random:SEED": treatment("random:0"), "noise:SIGMA": noisy}
    return {ties.name: ties for ties in (*TREATMENTS, *JOINT_BOUNDS)} | by_pattern


def refine(
    ranking: Ranking, ties: Treatment, *, all_judged: bool = False, targets: bool = False, pools: bool = False
) -> TieGroups:
    """Cut the tie groups of a ranking as a treatment says; keep those with a contributing document.

    Groups without such a document are never looked into. Noise cuts nothing: it joins groups whose documents
    it may bring into another order.

    Args:
        ranking: sorted by score.
        ties: the treatment.
        all_judged: whether every judged document counts, not only those with a grade above 0.
        targets: whether distinct targets are what is measured.
        pools: whether documents of the pool matter that nobody judged.

    Returns:
        The tie groups that are left; under a strict order all of one document.
    """
    spreads = None if ties.noise is None else ranking.spreads(ties.noise)
    if spreads is not None:
        ranking = replace(ranking, starts=spreads.starts)
    scored = ranking.judged_groups if all_judged else ranking.graded_groups
    key = (ties.target_key if targets else ties.pool_key if pools else None) or ties.key
    if key is None:
        first, part = np.cumsum(scored.size) - scored.size, scored.owner
        contributing = places = np.flatnonzero(scored.contributes)
    else:
        rank = key(ranking, scored)
        value = scored.owner * (int(rank.max(initial=0)) + 1) + rank
        order = np.argsort(value, kind="stable")  # most stand in order, which this kind makes use of
        first = span_starts(value[order])
        part = np.repeat(np.arange(len(first)), np.diff(first, append=len(value)))
        contributing = np.flatnonzero(scored.contributes[order])
        places = order[contributing]
    part_of, documents = part[contributing], scored.documents[places]
    start = span_starts(part_of)
    parts = part_of[start]
    owner = scored.owner[first[parts]]
    above = scored.offset[owner] + first[parts]
    size = np.append(first, len(part))[parts + 1] - first[parts]
    n_documents = np.diff(np.append(start, len(documents)))
    noise = None
    if spreads is not None:
        firsts = scored.documents[first[parts]]
        noise = NoisyOrder(spreads, firsts, size, above, documents, n_documents)
    return TieGroups(
        judgments=ranking.judgments,
        n_docs=ranking.n_docs,
        lists=ranking.group_lists[scored.groups[owner]],
        above=above,
        size=size,
        first=start,
        grades=ranking.grades[documents],
        targets=None if ranking.targets is None else ranking.targets[documents],
        rows=None if ranking.judgments.subtopics is None else ranking.judgment[documents].astype(np.int64),
        noise=noise,
    )
