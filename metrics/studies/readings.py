"""MRR and MAP in words: a typical rank, how many times better, and where the two part."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong

MEASURES = ("RR", "AP")
"""What is read."""
LIMITS: Mapping[str, tuple[str, ...]] = {
    "RR": (
        "what is relevant after the first: ten documents or one, the value is the same",
        "how much of what is relevant is found: it asks whether and where there is one",
        "the tail: ranks 50 and 500 differ by .018",
    ),
    "AP": (
        "grades: every relevant document is worth the same",
        "how many are relevant: values of queries with few and with many are not of one scale",
        "the other documents: only the places of the relevant ones count",
    ),
}
"""What each measure does not see."""
TYPICAL_RANK = (
    "One over the mean reciprocal rank: the harmonic mean of the ranks of the first relevant document. Early "
    "hits weigh most, and a query without one counts as infinitely deep: it is not the mean rank."
)
MIN_RATIO = 1.05
"""Smallest ratio of relevant documents that is worth a sentence."""
_STEPS = ((0.1, ".2g"), (10, ".2f"), (100, ".1f"), (np.inf, ",.0f"))


def readings(evaluation: Evaluation, traditional: str, baseline: str) -> pd.DataFrame:
    """Return what MRR and MAP mean, and how many times those of the baseline they are.

    Args:
        evaluation: with `MEASURES` under expected and `traditional`.
        traditional: the treatment taken as the traditional one.
        baseline: whose values the others are divided by.

    Returns:
        index reranker; relevant (mean number a list); for p in rr, ap and v in traditional, tied: p_v (mean)
        and p_v_times (over that of the baseline, NaN where that is 0); traditional_rank and tied_rank (1/MRR
        and 1/MTRR, NaN where they are 0); mean_rank (of the first relevant document in the traditional order,
        over the lists that hold one; NaN where that order is none); one_sided (queries on which tied RR or
        tied AP is the baseline's and the other is not) and opposed (queries on which one is higher and the
        other lower).
    """
    names = evaluation.policies.index
    columns = {"relevant": evaluation.lists["n_relevant"].groupby(level="reranker", sort=False).mean()}
    for prefix, measure in zip(("rr", "ap"), MEASURES, strict=True):
        means = evaluation.means(measure)
        for value, treatment in (("traditional", traditional), ("tied", "expected")):
            mean = means[treatment]
            columns[f"{prefix}_{value}"] = mean
            columns[f"{prefix}_{value}_times"] = mean / (mean[baseline] or np.nan)
    for value in ("traditional", "tied"):
        mean = columns[f"rr_{value}"]
        columns[f"{value}_rank"] = 1 / mean.where(mean > 0)
    first = evaluation.scores["RR", traditional]
    ranks = 1 / first.where((first > 0) & (traditional != "expected"))
    columns["mean_rank"] = ranks.groupby(level="reranker", sort=False).mean()
    return pd.DataFrame(columns).reindex(names).join(_disagreements(evaluation, baseline))


def _disagreements(evaluation: Evaluation, baseline: str) -> pd.DataFrame:
    """Count the queries on which RR and AP do not agree on a reranker and the baseline."""
    names = evaluation.policies.index
    by_rr, by_ap = (
        values.sub(values[baseline], axis=0)
        for values in (
            evaluation.scores[measure, "expected"].unstack("reranker").reindex(columns=names)  # noqa: PD010 one value a cell
            for measure in MEASURES
        )
    )
    disagreements: dict[str, pd.DataFrame] = {
        "one_sided": (by_rr.abs() <= EQUAL) != (by_ap.abs() <= EQUAL),
        "opposed": (by_rr.abs() > EQUAL) & (by_ap.abs() > EQUAL) & (by_rr * by_ap < 0),
    }
    return pd.DataFrame({name: queries.sum() for name, queries in disagreements.items()})


def readings_finding(table: pd.DataFrame, baseline: str) -> Prose:
    """Say how many times better the leader is, where its first relevant document stands, and what MAP adds.

    Args:
        table: as `readings` returns it.
        baseline: the reranker the leader is compared with; where it leads itself, it is compared with the next.
    """
    rows = table[table["rr_tied"].notna()].sort_values("rr_tied", ascending=False, kind="stable")
    if not len(rows):
        return NOTHING_SCORED
    leader = rows.iloc[0]
    if not leader["rr_tied"]:
        return (Strong("No list holds a relevant document: "), "MRR and MAP are 0, and no rank can be told.")
    rest = rows.drop(index=leader.name)
    if not len(rest):
        return _typical_ranks([leader])
    other = rest.loc[baseline] if baseline in rest.index else rest.iloc[0]
    if not other["rr_tied"]:
        nothing = " lists no relevant document, so nothing can be said in times. "
        return Strong(str(other.name)), nothing, *_typical_ranks([leader])
    return (
        *_ratios(leader, other),
        *_typical_ranks([leader, other]),
        *_shares_of_relevant(leader, other),
        *_map_sentence(rows, leader, other if leader.name == baseline else leader),
    )


def _ratios(leader: "pd.Series[float]", other: "pd.Series[float]") -> Prose:
    rr, ap, rr_before, ap_before = (
        ratio_text(leader[column] / (other[column] or np.nan))
        for column in ("rr_tied", "ap_tied", "rr_traditional", "ap_traditional")
    )
    return (
        Strong(str(leader.name)),
        " scores ",
        Strong(f"{rr} times"),
        " the MTRR of ",
        Strong(str(other.name)),
        f" and {ap} times its tied MAP (traditional: {rr_before} and {ap_before}). ",
    )


def _typical_ranks(rows: Sequence["pd.Series[float]"]) -> Prose:
    """Say where the first relevant documents of one or two rerankers stand, and what kind of mean that is."""
    start: Prose = ("1/MTRR puts the first relevant document ",)
    for row, joined in zip(rows, ("of ", ", that of "), strict=False):
        start = (*start, joined, Strong(str(row.name)), f" at about rank {rank_text(row['tied_rank'])}")
    if any(pd.isna(row["mean_rank"]) for row in rows):
        return (*start, ", in the harmonic mean. ")
    harmonic, plain = (
        " and ".join(rank_text(row[column]) for row in rows) for column in ("traditional_rank", "mean_rank")
    )
    return (
        *start,
        f", in the harmonic mean. By the traditional order that is {harmonic}, and the plain mean of the "
        f"ranks, over the lists that hold one, {plain}. ",
    )


def _shares_of_relevant(leader: "pd.Series[float]", other: "pd.Series[float]") -> Prose:
    """Say whose queries have more that is relevant, which alone makes a hit likelier."""
    poorer, richer = sorted((leader, other), key=lambda row: float(row["relevant"]))
    if richer["relevant"] < MIN_RATIO * poorer["relevant"]:
        return ()
    counts = f"{richer['relevant']:.2f} against {poorer['relevant']:.2f}"
    return (
        "The queries of ",
        Strong(str(richer.name)),
        f" have more that is relevant ({counts} a query): a hit is easier there, so not all of the ratio is "
        "the ranking. ",
    )


def _map_sentence(rows: pd.DataFrame, leader: "pd.Series[float]", compared: "pd.Series[float]") -> Prose:
    """Say whether MAP names another leader, and on how many queries the two measures part."""
    one_sided, opposed = int(compared["one_sided"]), int(compared["opposed"])
    disagreement = (
        f"Queries on which only one of RR and AP tells the two apart: {one_sided:,}; on which RR and AP name "
        f"another winner: {opposed:,}."
        if one_sided or opposed
        else "RR and AP agree on every query."
    )
    best = rows.loc[rows["ap_tied"].idxmax()]
    if best["ap_tied"] <= leader["ap_tied"] + EQUAL:
        return ("MAP has the same leader. ", disagreement)
    return "By tied MAP, which counts all that is relevant, ", Strong(str(best.name)), " leads. ", disagreement


def ratio_text(ratio: float) -> str:
    """Write how many times: `5.86`, `0.92`, `10.3`, `1,204`; a dash where nothing is divided by."""
    if pd.isna(ratio):
        return "–"
    return format(ratio, next(spec for bound, spec in _STEPS if ratio < bound))


def rank_text(rank: float) -> str:
    """Write a mean rank: one decimal below 10."""
    return f"{rank:.1f}" if rank < 10 else f"{rank:,.0f}"  # noqa: PLR2004 two figures


def limits_text(measure: str) -> str:
    """Write what a measure does not see, as the end of a sentence."""
    return f"{'; '.join(LIMITS[measure])}."
