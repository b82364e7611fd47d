"""Treatments: what is done about ties before a measure is taken.

A treatment is a second sort key. It cuts each tie group further, where documents differ in the key;
what it leaves level stays tied. `expected` has no key and leaves the groups as they are. There is no
other way from a run to a score.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metrics.errors import UsageError
from metrics.support.arrays import span_starts
from metrics.ties.groups import TieGroups
from metrics.ties.noise import Noise, parse_noise
from metrics.ties.noisy_orders import NoisyOrder
from metrics.ties.orders import (
    Key,
    best_of_pool,
    docid_ascending,
    docid_descending,
    highest_grade_first,
    input_order,
    lowest_grade_first,
    most_targets_first,
    most_targets_last,
    seeded_order,
    worst_of_pool,
)
from metrics.ties.ranking import Ranking


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
        noise=noise,
    )
