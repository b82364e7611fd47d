"""Treatments: how ties are resolved before a measure is computed.

A treatment is a second sort key. It splits each tie group where documents differ in the key; equal keys stay
tied. `expected` has no key and keeps the groups.

**Distinct targets.** The best order puts one document of each target not seen above first. The worst order
puts documents that add no target first, then targets with the most documents.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.errors import UsageError
from metrics.support.arrays import FloatArray, IntArray, sort_descending, span_lengths, span_starts
from metrics.ties.groups import TieGroups
from metrics.ties.ranking import Ranking, ScoredGroups

Key = Callable[[Ranking, ScoredGroups], IntArray | FloatArray]
"""(n,) numbers for the documents of some tie groups, the smallest first in a group.

They are whole numbers from 0, or floats if the documents are shuffled.
"""


def input_order(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return the row of each document in its table."""
    return ranking.rows[scored.documents]


def docid_ascending(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return the rank of each document's ID by code point, which is the order of its UTF-8 bytes."""
    import pyarrow.compute as pc  # noqa: PLC0415 plain lists need numpy alone

    ranks = pc.rank(ranking.ids(scored.documents), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks).astype(np.int64)


def docid_descending(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return the rank of each document's ID from the last code point on."""
    ascending = docid_ascending(ranking, scored)
    return np.asarray(ascending.max(initial=0) - ascending)


_SHIFT = np.uint64(11)
"""Bits of a hash that a float does not hold."""


def seed_bits(seeds: Iterable[int]) -> npt.NDArray[np.uint64]:
    """Return the (n_seeds,) random bits of seeds."""
    bits = [np.random.default_rng(seed).integers(0, 2**64, dtype=np.uint64) for seed in seeds]
    return np.array(bits, dtype=np.uint64)


def seeded_order(bits: npt.NDArray[np.uint64]) -> Key:
    """Return a key that orders by a hash of seed, query and document: uniform, independent of other rows.

    `bits` has the `seed_bits` of each copy of a ranking's lists, one after another.
    """

    def key(ranking: Ranking, scored: ScoredGroups) -> FloatArray:
        copies = scored.documents // max(1, len(ranking.rows) // len(bits))
        hashes = ranking.pairs.seeded_hashes(ranking.rows[scored.documents], bits[copies])
        return (hashes >> _SHIFT).astype(np.float64)

    return key


def lowest_grade_first(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return 0 for unjudged documents, 1 for those not graded above 0, then 2, 3, ... by rising grade."""
    worth = ranking.judged[scored.documents].astype(np.int64)
    grades = ranking.grades[scored.documents]
    graded = np.flatnonzero(grades > 0)
    worth[graded] = 2 + np.searchsorted(ranking.judgments.levels, grades[graded])
    return worth


def highest_grade_first(ranking: Ranking, scored: ScoredGroups) -> IntArray:
    """Return the highest grade first; documents judged irrelevant before unjudged ones."""
    worth = lowest_grade_first(ranking, scored)
    return np.asarray(worth.max(initial=0) - worth)


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
    """Return 0 for documents that add no target, then the rank of targets by falling number of documents."""
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
    """Return the target of each document, and whether it is relevant and no group above has its target."""
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


@dataclass(frozen=True)
class Treatment:
    """One way to resolve ties.

    Attributes:
        name: as typed on the command line, and in machine-readable tables.
        label: the choice in a menu: the tool that sorts so, and its rule.
        heading: the treatment as the heading of a column of values.
        order: the treatment in a sentence.
        summary: one line that explains it.
        used_by: software that sorts like this.
        key: order inside a tie group; None keeps groups whole.
        target_key: the key for measures of distinct targets, where it differs.
        spread: true if it gives the standard deviation over orders instead of their mean.
    """

    name: str
    label: str
    heading: str
    order: str
    summary: str
    used_by: str
    key: Key | None = None
    target_key: Key | None = None
    spread: bool = False


TREATMENTS: tuple[Treatment, ...] = (
    Treatment(
        "expected",
        "mean over all orders",
        "Tied",
        "every order of the tied documents",
        "The mean over all orders of the tied documents: the tied score.",
        "MTRR and TMHits@k; scikit-learn's nDCG",
    ),
    Treatment(
        "input",
        "file order",
        "File order",
        "file order",
        "Ties keep file order.",
        "many scripts; LightGBM, XGBoost",
        input_order,
    ),
    Treatment(
        "docid_desc",
        "trec_eval: id, descending",
        "trec_eval",
        "trec_eval's order",
        "Ties are sorted by document ID, descending by code point.",
        "trec_eval, pytrec_eval, MTEB, trectools",
        docid_descending,
    ),
    Treatment(
        "docid_asc",
        "Anserini: id, ascending",
        "Anserini",
        "Anserini's order",
        "Ties are sorted by document ID, ascending by code point.",
        "sentence-transformers IR evaluator, Anserini, Milvus",
        docid_ascending,
    ),
    Treatment(
        "optimistic",
        "best order of each tie",
        "Best order",
        "the best order",
        "The best case: the highest grade first inside each tie.",
        "PyKEEN, OGB",
        highest_grade_first,
        most_targets_first,
    ),
    Treatment(
        "pessimistic",
        "worst order of each tie",
        "Worst order",
        "the worst order",
        "The worst case: the lowest grade first inside each tie.",
        "PyKEEN, OGB; the PRR of TsRR",
        lowest_grade_first,
        most_targets_last,
    ),
    Treatment(
        "std",
        "standard deviation over all orders",
        "SD from ties",
        "every order of the tied documents",
        "The standard deviation over all orders of the tied documents.",
        "no other tool",
        spread=True,
    ),
)
"""Every treatment but `random:SEED`, one seeded draw, which is made when asked for."""
_BY_NAME = {ties.name: ties for ties in TREATMENTS}


def treatment(name: str) -> Treatment:
    """Return the treatment of that name; UsageError where there is none."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if seed := re.fullmatch(r"random:(\d{1,18})", name):
        return Treatment(
            name,
            f"one random order, seed {seed[1]}",
            "Random order",
            "one random order",
            "One random order, by seed.",
            "tools that shuffle",
            seeded_order(seed_bits([int(seed[1])])),
        )
    if name.startswith("within:"):
        raise UsageError(
            f"{name} rounds scores, so that close scores tie; it is not a tie order. Write --precision {name}."
        )
    names = ", ".join(_BY_NAME)
    meant = {"best": "optimistic", "worst": "pessimistic", "tied": "expected"}.get(name.casefold())
    suggestion = f"Did you mean {meant}? " if meant else ""
    raise UsageError(f"There is no tie order {name!r}. {suggestion}Tie orders: {names}, random:SEED.")


def order_of_ties(name: str) -> Treatment:
    """Return the treatment of that name that orders each tie; UsageError where there is none."""
    order = treatment(name)
    if order.key is None:
        raise UsageError(
            f"{name} does not order ties: {order.summary} Choose an order such as input or docid_desc."
        )
    return order


def treatments_by_name() -> dict[str, Treatment]:
    """Return every treatment by the name to type: seeded draws as `random:SEED`."""
    return _BY_NAME | {"random:SEED": treatment("random:0")}


def ordered_documents(ranking: Ranking, query_id: str, name: str, *, targets: bool = False) -> IntArray:
    """Return the (n_docs,) documents of one list, top first, with its ties in the order of a treatment.

    `targets` tells whether distinct targets are measured.
    """
    ties, documents = order_of_ties(name), ranking.documents_of(query_id)
    scored = ranking.groups_with(np.isin(np.arange(len(ranking.rows)), documents))
    key = (ties.target_key if targets else None) or ties.key or input_order
    keys = key(ranking, scored)
    return scored.documents[np.lexsort((ranking.rows[scored.documents], keys, scored.owner))]


def refine(ranking: Ranking, ties: Treatment, *, all_judged: bool = False, targets: bool = False) -> TieGroups:
    """Split the tie groups of a ranking by a treatment, and keep those with a contributing document.

    A strict order leaves groups of one document.

    Args:
        ranking: sorted by score.
        ties: the treatment.
        all_judged: whether every judged document counts, not only those with a grade above 0.
        targets: whether distinct targets are measured.
    """
    key = (ties.target_key if targets else None) or ties.key
    if key is None:
        documents = (ranking.judged if all_judged else ranking.grades > 0).nonzero()[0]
        group_of = ranking.starts.searchsorted(documents, side="right") - 1
        start = span_starts(group_of)
        groups = group_of[start]
        above, size = ranking.above[groups], ranking.sizes[groups]
    else:
        scored = ranking.judged_groups if all_judged else ranking.graded_groups
        keys = key(ranking, scored)
        if keys.dtype == np.float64:  # shuffled: sorted group by group
            order, _, first = sort_descending([-keys.astype(np.float64)], np.append(0, np.cumsum(scored.size)))
            order = np.arange(len(keys))[order]
        else:
            value = scored.owner * (int(keys.max(initial=0)) + 1) + keys
            order = np.argsort(value, kind="stable")  # most stand in order, which this kind makes use of
            first = span_starts(value[order])
        sizes = span_lengths(first, len(order))
        contributing = scored.contributes[order].nonzero()[0]
        part_of, documents = (
            np.arange(len(first)).repeat(sizes)[contributing],
            scored.documents[order[contributing]],
        )
        start = span_starts(part_of)
        parts = part_of[start]
        owner = scored.owner[first[parts]]
        groups = scored.groups[owner]
        above, size = scored.offset[owner] + first[parts], sizes[parts]
    return TieGroups(
        judgments=ranking.judgments,
        n_docs=ranking.n_docs,
        lists=ranking.group_lists[groups],
        above=above,
        size=size,
        first=start,
        grades=ranking.grades[documents],
        targets=None if ranking.targets is None else ranking.targets[documents],
    )
