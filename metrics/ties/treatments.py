"""Treatments: what is done about ties before a measure is taken.

A treatment is a second sort key. It cuts each tie group further, where documents differ in the key;
what it leaves level stays tied. `expected` has no key and leaves the groups as they are. There is no
other way from a run to a score.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.ties.ranking import IntArray, Ranking

Key = Callable[[Ranking, IntArray], npt.NDArray[np.generic]]


@dataclass(frozen=True)
class Treatment:
    """One way to deal with ties.

    Attributes:
        name: as in tables and on the command line.
        summary: one line for people.
        used_by: software that sorts like this.
        key: (ranking, documents) → (n,) sort key inside a tie group, smallest first; None leaves
            groups whole.
    """

    name: str
    summary: str
    used_by: str
    key: Key | None


@dataclass(frozen=True)
class TieGroups:
    """The tie groups that matter to a score: those that hold a relevant document, top first.

    Attributes:
        n_lists: number of lists.
        lists: (n,) list of each group.
        above: (n,) documents of the list strictly above the group: b.
        size: (n,) documents in the group: n.
        relevant: (n,) relevant documents in it, at least 1: r.
        n_relevant: (n_lists,) relevant documents of each query, listed or not: R.
    """

    n_lists: int
    lists: IntArray
    above: IntArray
    size: IntArray
    relevant: IntArray
    n_relevant: IntArray


def _input(ranking: Ranking, documents: IntArray) -> IntArray:
    return ranking.rows[documents]


def _docid_rank(ranking: Ranking, documents: IntArray) -> IntArray:
    """Place of each document's id by code point; UTF-8 bytes sort like code points."""
    ids = ranking.doc_ids.take(documents)
    ranks = pc.rank(ids, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks, dtype=np.int64)


TREATMENTS: tuple[Treatment, ...] = (
    Treatment(
        "expected",
        "The mean over every ordering the scores allow: the tied value.",
        "MTRR and TMHits@k; scikit-learn's nDCG",
        None,
    ),
    Treatment(
        "input",
        "Ties stay as the file lists them.",
        "the usual script; sentence-transformers reranking MRR; LightGBM, XGBoost",
        _input,
    ),
    Treatment(
        "docid_desc",
        "Ties fall by document id, descending by code point.",
        "trec_eval, pytrec_eval, MTEB, trectools",
        lambda ranking, documents: -_docid_rank(ranking, documents),
    ),
    Treatment(
        "docid_asc",
        "Ties fall by document id, ascending by code point.",
        "sentence-transformers IR evaluator, Anserini, Milvus",
        _docid_rank,
    ),
    Treatment(
        "optimistic",
        "The best ordering: the highest grade first inside each tie.",
        "PyKEEN, OGB",
        lambda ranking, documents: -ranking.grades[documents],
    ),
    Treatment(
        "pessimistic",
        "The worst ordering: the lowest grade first inside each tie.",
        "PyKEEN, OGB; the PRR of TsRR",
        lambda ranking, documents: ranking.grades[documents],
    ),
)
"""Every treatment, the tied one first."""


def treatment(name: str) -> Treatment:
    """The treatment of that name.

    Raises:
        UsageError: there is none.
    """
    for one in TREATMENTS:
        if one.name == name:
            return one
    raise UsageError(f"There is no treatment {name!r}. Treatments: {', '.join(t.name for t in TREATMENTS)}.")


def refine(ranking: Ranking, how: Treatment) -> TieGroups:
    """Cut the tie groups of a ranking as a treatment says; keep those with a relevant document.

    Only groups that hold relevant and other documents can be cut to any effect, so only those are
    looked into.
    """
    relevant = np.bincount(ranking.groups, ranking.relevant, minlength=len(ranking.sizes)).astype(np.int64)
    whole = np.flatnonzero(relevant > 0)
    if how.key is None:
        return _groups_of(ranking, whole, relevant[whole])
    mixed = (relevant > 0) & (relevant < ranking.sizes)
    inside = np.flatnonzero(mixed[ranking.groups])
    if not len(inside):
        return _groups_of(ranking, whole, relevant[whole])

    key = how.key(ranking, inside)
    order = np.lexsort((key, ranking.groups[inside]))
    inside, key = inside[order], key[order]
    group = ranking.groups[inside]
    first = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (key[1:] != key[:-1])])
    size = np.diff(np.r_[first, len(inside)])
    hits = np.add.reduceat(ranking.relevant[inside].astype(np.int64), first)
    parent = group[first]
    place = first - np.searchsorted(group, parent)
    kept = hits > 0
    uncut = np.flatnonzero((relevant > 0) & ~mixed)
    return _sorted(
        ranking,
        np.r_[ranking.group_lists[uncut], ranking.group_lists[parent[kept]]],
        np.r_[ranking.above[uncut], (ranking.above[parent] + place)[kept]],
        np.r_[ranking.sizes[uncut], size[kept]],
        np.r_[relevant[uncut], hits[kept]],
    )


def _groups_of(ranking: Ranking, groups: IntArray, relevant: IntArray) -> TieGroups:
    return TieGroups(
        ranking.n_lists,
        ranking.group_lists[groups],
        ranking.above[groups],
        ranking.sizes[groups],
        relevant,
        ranking.n_relevant,
    )


def _sorted(
    ranking: Ranking, lists: IntArray, above: IntArray, size: IntArray, relevant: IntArray
) -> TieGroups:
    order = np.lexsort((above, lists))
    return TieGroups(
        ranking.n_lists, lists[order], above[order], size[order], relevant[order], ranking.n_relevant
    )
