"""Explain MRR and MAP: typical ranks, ratios to a baseline, and where the two measures disagree."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal
from metrics.support.wording import count_of

MEASURES = ("RR", "AP")
"""The measures explained."""
LIMITS: Mapping[str, tuple[str, ...]] = {
    "RR": (
        "relevant documents after the first (the value is the same whether one or ten follow)",
        "recall (it looks only for the first relevant document)",
        "differences between low ranks (RR is .020 at rank 50 and .002 at rank 500)",
    ),
    "AP": (
        "grades (all relevant documents count the same)",
        "the number of relevant documents (a query with few is hard to compare with a query with many)",
        "non-relevant documents (only the ranks of the relevant documents count)",
    ),
}
"""Limits of each measure."""
TYPICAL_RANK = (
    "One over the mean reciprocal rank: the harmonic mean of the ranks of the first relevant document. Early "
    "hits weigh most, and a query without a hit counts as an infinite rank. It is not the arithmetic "
    "mean of the ranks."
)
MIN_RATIO = 1.05
"""Smallest ratio of relevant documents that is mentioned."""
_STEPS = ((0.1, ".2g"), (10, ".2f"), (100, ".1f"), (np.inf, ",.0f"))


def readings(evaluation: Evaluation, traditional: str, baseline: str) -> pd.DataFrame:
    """Return the means of RR and AP, their ratios to the baseline, and typical ranks.

    Returns:
        index reranker; relevant (mean number a list); for p in rr, ap and v in traditional, tied: p_v (mean)
        and p_v_times (divided by that of the baseline, NaN for a baseline of 0); traditional_rank and tied_rank
        (1/MRR and 1/MTRR, NaN for 0); mean_rank (of the first relevant document in the traditional order, over
        the lists with one; NaN without a strict order); one_sided (queries on which only one of tied RR and AP
        equals the baseline's) and opposed (queries on which one is higher and the other lower); rr_difference,
        ap_difference, rr_error and ap_error (mean difference from the baseline over common queries, tied, and
        its standard error).
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
    names = evaluation.policies.index
    by_rr, by_ap = (
        values.sub(values[baseline], axis=0)
        for values in (
            evaluation.scores[measure, "expected"].unstack("reranker").reindex(columns=names)  # noqa: PD010 one value a cell
            for measure in MEASURES
        )
    )
    is_opposed = (by_rr.abs() > EQUAL) & (by_ap.abs() > EQUAL) & (by_rr * by_ap < 0)
    return pd.DataFrame(
        {
            "one_sided": ((by_rr.abs() <= EQUAL) != (by_ap.abs() <= EQUAL)).sum(),
            "opposed": is_opposed.sum(),
            "rr_difference": by_rr.mean(),
            "ap_difference": by_ap.mean(),
            "rr_error": by_rr.sem(),
            "ap_error": by_ap.sem(),
        }
    )


def readings_finding(table: pd.DataFrame, baseline: str) -> Prose:
    """Compare the reranker of highest MTRR with the baseline, or with the next if it is the baseline.

    A difference within its standard error is called so.
    """
    rows = table[table["rr_tied"].notna()].sort_values("rr_tied", ascending=False, kind="stable")
    if not len(rows):
        return NOTHING_SCORED
    leader = rows.iloc[0]
    if not leader["rr_tied"]:
        return (
            Strong("No list has a relevant document: "),
            "MRR and MAP are 0, and typical ranks are undefined.",
        )
    others = rows.drop(index=leader.name)
    if not len(others):
        return _typical_ranks([leader])
    other = others.loc[baseline] if baseline in others.index else others.iloc[0]
    if not other["rr_tied"]:
        return (
            Strong(str(other.name)),
            " lists no relevant documents: ratios are undefined. ",
            *_typical_ranks([leader]),
        )
    compared = other if leader.name == baseline else leader
    return (
        *_ratios(leader, other),
        _error_sentences(compared),
        *_typical_ranks([leader, other]),
        *_shares_of_relevant(leader, other),
        *_map_sentence(rows, leader, compared),
    )


def _ratios(leader: "pd.Series[float]", other: "pd.Series[float]") -> Prose:
    means = ["rr_tied", "ap_tied", "rr_traditional", "ap_traditional"]
    if (leader[means].sub(other[means]).abs() <= EQUAL).all():
        return Strong(str(leader.name)), " and ", Strong(str(other.name)), " have the same MRR and MAP. "
    rr, ap, rr_before, ap_before = (ratio_text(leader[column] / (other[column] or np.nan)) for column in means)
    return (
        Strong(str(leader.name)),
        " scores ",
        Strong(f"{rr} times"),
        " the MTRR of ",
        Strong(str(other.name)),
        f" and {ap} times its tied MAP (by traditional scores: {rr_before} times the MRR and {ap_before} times "
        "the MAP). ",
    )


def _error_sentences(compared: "pd.Series[float]") -> str:
    sentences = []
    for name, prefix in (("MTRR", "rr"), ("tied MAP", "ap")):
        difference, error = abs(compared[f"{prefix}_difference"]), compared[f"{prefix}_error"]
        if difference <= EQUAL or difference > error:
            continue
        if np.isnan(error):
            return "With only one common query, the differences have no standard error. "
        values = f"{decimal(difference)}, standard error {decimal(error)}"
        sentences.append(f"The data cannot tell the two rerankers apart by {name} (difference {values}). ")
    return "".join(sentences)


def _typical_ranks(rows: Sequence["pd.Series[float]"]) -> Prose:
    start: Prose = ("By 1/MTRR, the typical rank of the first relevant document is ",)
    for row, joined in zip(rows, ("", " and "), strict=False):
        start = (*start, f"{joined}{rank_text(row['tied_rank'])} for ", Strong(str(row.name)))
    if any(pd.isna(row["mean_rank"]) for row in rows):
        return (*start, " (harmonic mean). ")
    harmonic, plain = (
        " and ".join(rank_text(row[column]) for row in rows) for column in ("traditional_rank", "mean_rank")
    )
    return (
        *start,
        f" (harmonic mean). In the traditional order the harmonic mean is {harmonic}. The arithmetic mean, "
        f"over lists with a relevant document, is {plain}. ",
    )


def _shares_of_relevant(leader: "pd.Series[float]", other: "pd.Series[float]") -> Prose:
    poorer, richer = sorted((leader, other), key=lambda row: float(row["relevant"]))
    if richer["relevant"] < MIN_RATIO * poorer["relevant"]:
        return ()
    counts = f"{richer['relevant']:.2f} against {poorer['relevant']:.2f}"
    return (
        "The queries of ",
        Strong(str(richer.name)),
        f" have more relevant documents ({counts} a query), so a first hit is easier. The ratio to the "
        "other reranker may partly come from the queries. ",
    )


def _map_sentence(rows: pd.DataFrame, leader: "pd.Series[float]", compared: "pd.Series[float]") -> Prose:
    one_sided, opposed = int(compared["one_sided"]), int(compared["opposed"])
    sentences = (
        f"On {count_of(one_sided, 'query')}, the two rerankers differ in RR or in AP, but not in both. "
        * bool(one_sided),
        f"On {count_of(opposed, 'query')}, RR favours one reranker and AP the other." * bool(opposed),
    )
    disagreement = "".join(sentences).strip() or "RR and AP agree on every query."
    best = rows.loc[rows["ap_tied"].idxmax()]
    if best["ap_tied"] <= leader["ap_tied"] + EQUAL:
        n_level = int((rows["ap_tied"] >= best["ap_tied"] - EQUAL).sum())
        shares = f"{and_more(n_level - 1)} share" if n_level > 1 else " also has"
        return Strong(str(leader.name)), f"{shares} the highest tied MAP. ", disagreement
    values = f"{decimal(best['ap_tied'])} against {decimal(leader['ap_tied'])}"
    return (
        Strong(str(best.name)),
        f" has the highest tied MAP, which counts all relevant documents: {values}. ",
        disagreement,
    )


def ratio_text(ratio: float) -> str:
    """Write a ratio: `5.86`, `0.92`, `10.3`, `1,204`; a dash if undefined."""
    if pd.isna(ratio):
        return "–"
    return format(ratio, next(spec for bound, spec in _STEPS if ratio < bound))


def rank_text(rank: float) -> str:
    """Write a mean rank, with one decimal below 10."""
    return f"{rank:.1f}" if rank < 10 else f"{rank:,.0f}"  # noqa: PLR2004 two figures


def limits_text(measure: str) -> str:
    """Write the limits of a measure as the end of a sentence."""
    return f"{'; '.join(LIMITS[measure])}."
