"""Treatments: what is done about ties before a measure is taken.

A treatment is a second sort key. It cuts each tie group further, where documents differ in the key;
what it leaves level stays tied. `expected` has no key and leaves the groups as they are. There is no
other way from a run to a score.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.runs.query_doc_keys import reseed
from metrics.support.arrays import IntArray
from metrics.ties.groups import TieGroups
from metrics.ties.ranking import Ranking, ScoredGroups
from metrics.ties.target_order import most_targets_first, most_targets_last

Key = Callable[[Ranking, ScoredGroups], IntArray]
"""(n,) whole numbers from 0 for the documents inside some tie groups; the smallest first in a group."""


@dataclass(frozen=True)
class Treatment:
    """One way to deal with ties.

    Attributes:
        name: as in tables and on the command line.
        summary: one line for people.
        used_by: software that sorts like this.
        key: order inside a tie group; None leaves groups whole.
        target_key: the same for measures that count distinct targets, where it differs.
        spread: whether the standard deviation over orderings is asked for, not their mean.
    """

    name: str
    summary: str
    used_by: str
    key: Key | None = None
    target_key: Key | None = None
    spread: bool = False


def _input(ranking: Ranking, inside: ScoredGroups) -> IntArray:
    return ranking.rows[inside.documents]


def _docid_asc(ranking: Ranking, inside: ScoredGroups) -> IntArray:
    """Place of each document's id by code point; UTF-8 bytes sort like code points."""
    ranks = pc.rank(ranking.ids(inside.documents), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks).astype(np.int64)


def _docid_desc(ranking: Ranking, inside: ScoredGroups) -> IntArray:
    ascending = _docid_asc(ranking, inside)
    return np.asarray(ascending.max(initial=0) - ascending)


def _pessimistic(_: Ranking, inside: ScoredGroups) -> IntArray:
    """Lowest gain first; what nobody judged before what was judged and found worthless."""
    return inside.worth


def _optimistic(_: Ranking, inside: ScoredGroups) -> IntArray:
    return np.asarray(inside.worth.max(initial=0) - inside.worth)


TREATMENTS: tuple[Treatment, ...] = (
    Treatment(
        "expected",
        "The mean over every ordering the scores allow: the tied value.",
        "MTRR and TMHits@k; scikit-learn's nDCG",
    ),
    Treatment(
        "input",
        "Ties stay as the file lists them.",
        "the usual script; LightGBM, XGBoost",
        _input,
    ),
    Treatment(
        "docid_desc",
        "Ties fall by document id, descending by code point.",
        "trec_eval, pytrec_eval, MTEB, trectools",
        _docid_desc,
    ),
    Treatment(
        "docid_asc",
        "Ties fall by document id, ascending by code point.",
        "sentence-transformers IR evaluator, Anserini, Milvus",
        _docid_asc,
    ),
    Treatment(
        "optimistic",
        "The best ordering: the highest grade first inside each tie.",
        "PyKEEN, OGB",
        _optimistic,
        most_targets_first,
    ),
    Treatment(
        "pessimistic",
        "The worst ordering: the lowest grade first inside each tie.",
        "PyKEEN, OGB; the PRR of TsRR",
        _pessimistic,
        most_targets_last,
    ),
    Treatment(
        "std",
        "The standard deviation over every ordering the scores allow.",
        "nobody else",
        spread=True,
    ),
)
"""Every treatment but `random:SEED`, one seeded draw, which is made when asked for."""


def treatment(name: str) -> Treatment:
    """The treatment of that name.

    Raises:
        UsageError: there is none.
    """
    for one in TREATMENTS:
        if one.name == name:
            return one
    if seed := re.fullmatch(r"random:(\d{1,18})", name):
        return Treatment(
            name, "One draw of all orderings, by seed.", "tools that shuffle", _drawn(int(seed[1]))
        )
    names = ", ".join(one.name for one in TREATMENTS)
    raise UsageError(f"There is no treatment {name!r}. Treatments: {names}, random:SEED.")


def _drawn(seed: int) -> Key:
    """Order by a hash of seed, query and document: even, and the same whatever else is in the table."""

    def key(ranking: Ranking, inside: ScoredGroups) -> IntArray:
        prints = reseed(ranking.pairs.hashes[ranking.rows[inside.documents]], seed)
        rank = np.empty(len(prints), dtype=np.int64)
        rank[np.argsort(prints, kind="stable")] = np.arange(len(prints))
        return rank

    return key


def refine(ranking: Ranking, how: Treatment, *, all_judged: bool = False, targets: bool = False) -> TieGroups:
    """Cut the tie groups of a ranking as a treatment says; keep those with a document that counts.

    Groups without such a document are never looked into.

    Args:
        ranking: sorted by score.
        how: the treatment.
        all_judged: whether every judged document counts, not only those with a grade above 0.
        targets: whether distinct targets are what is measured.
    """
    inside = ranking.known if all_judged else ranking.graded
    key = how.target_key if targets and how.target_key else how.key
    if key is None:
        size, part, counted, documents = inside.size, inside.owner, inside.counted, inside.documents
        first = np.cumsum(size) - size
    else:
        rank = key(ranking, inside)
        value = inside.owner * (int(rank.max(initial=0)) + 1) + rank
        order = np.argsort(value)
        first = _changes(value[order])
        size = np.diff(np.append(first, len(value)))
        part = np.repeat(np.arange(len(first)), size)
        counted, documents = inside.counted[order], inside.documents[order]
    kept = np.flatnonzero(counted)
    cut, documents = part[kept], documents[kept]
    start = _changes(cut)
    held = cut[start]
    owner = inside.owner[first[held]]
    return TieGroups(
        judgments=ranking.judgments,
        n_docs=ranking.n_docs,
        lists=ranking.group_lists[inside.groups[owner]],
        above=inside.offset[owner] + first[held],
        size=size[held],
        first=start,
        grades=ranking.grades[documents],
        targets=None if ranking.targets is None else ranking.targets[documents],
    )


def _changes(values: IntArray) -> IntArray:
    """Places where a value differs from the one before, the first included."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])[: len(values)])
