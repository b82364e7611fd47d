"""Compare rerankers query by query: their values, wins and losses."""

from typing import Literal

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse
from metrics.studies.prose import ONE_RERANKER, Prose, Strong, own_rule_note
from metrics.support.arrays import FloatArray
from metrics.support.wording import part_of


def values_by_query(evaluation: Evaluation, measure: str, ties: str) -> pd.DataFrame:
    """Return the values of a measure, a row a query and a column a reranker.

    Returns:
        index query_id, sorted; NaN where a reranker has no finite value.

    Raises:
        UsageError: a measure or treatment that was not evaluated.
    """
    for name, evaluated in ((measure, evaluation.measures), (ties, evaluation.ties)):
        if name not in evaluated:
            raise UsageError(f"{name} was not evaluated. Choose among: {', '.join(evaluated)}.")
    table = evaluation.scores[(measure, ties)].unstack("reranker").sort_index()  # noqa: PD010
    table = table.reindex(columns=evaluation.policies.index)
    return table.where(np.isfinite(table))


def round_differences(differences: FloatArray) -> FloatArray:
    """Round differences to 12 decimals, so that rounding errors compare as equal or 0."""
    return np.where(np.abs(differences) <= EQUAL, 0.0, np.round(differences, 12))


def win_loss(evaluation: Evaluation, measure: str, baseline: str, traditional: str) -> pd.DataFrame:
    """Count how often each reranker beats the baseline on a common query.

    Returns:
        index reranker without the baseline; won, equal, lost (queries, by tied values), won_before,
        equal_before, lost_before (by traditional values), changed (queries whose outcome differs between the
        two), n (common queries).
    """
    leads = {}
    for ties in ("expected", traditional):
        values = evaluation.scores[measure, ties].unstack("reranker", sort=False)  # noqa: PD010
        leads[ties] = values.drop(columns=baseline).sub(values[baseline], axis=0)
    in_both = leads["expected"].notna()
    tied, before = (
        np.sign(lead.where(lead.abs() > EQUAL, 0.0)).where(in_both)
        for lead in (leads["expected"], leads[traditional])
    )
    outcomes = {"won": 1, "equal": 0, "lost": -1}
    counts = {name: tied == sign for name, sign in outcomes.items()}
    counts |= {f"{name}_before": before == sign for name, sign in outcomes.items()}
    counts |= {"changed": in_both & (tied != before), "n": in_both}
    return pd.DataFrame({name: queries.sum() for name, queries in counts.items()}).rename_axis("reranker")


def win_loss_finding(table: pd.DataFrame, baseline: str, measure: str = "RR") -> Prose:
    """Name the reranker whose comparison with the baseline ties change most."""
    if not len(table):
        return ONE_RERANKER
    if note := own_rule_note(measure):
        return note
    most_changed = str(table["changed"].idxmax())
    row = table.loc[most_changed]
    if not row["changed"]:
        return (
            Strong("Ties change no outcome: "),
            "traditional and tied scores have the same winner on every query.",
        )
    return (
        "Against ",
        Strong(baseline),
        ", ties decide the winner on ",
        Strong(part_of(row["changed"], row["n"], "query")),
        " for ",
        Strong(most_changed),
        f": {row['won_before']} won and {row['lost_before']} lost by traditional scores, "
        f"{row['won']} won and {row['lost']} lost by tied scores.",
    )


SortKey = Literal["moved", "difference"]


def query_differences(
    evaluation: Evaluation, measure: str, a: str, b: str, traditional: str, sort_by: SortKey = "moved"
) -> pd.DataFrame:
    """Return a row for each query of both rerankers, the largest difference first.

    Returns:
        query_id; a, b, difference (a − b): tied; a_before, b_before, difference_before: traditional;
        moved (difference_before − difference); tie_ratio_a, tie_ratio_b. Differences within rounding are
        exactly 0. Sorted by the size of `sort_by`, then of the other column, then by query.
    """
    parts = []
    for ties, ending in (("expected", ""), (traditional, "_before")):
        table = values_by_query(evaluation, measure, ties)
        parts.append(table[[a, b]].set_axis([f"a{ending}", f"b{ending}"], axis=1))
        parts[-1][f"difference{ending}"] = round_differences((table[a] - table[b]).to_numpy())
    rows = pd.concat(parts, axis=1).dropna()
    rows["moved"] = round_differences((rows["difference_before"] - rows["difference"]).to_numpy())
    ratios = evaluation.lists["tie_ratio"].unstack("reranker")  # noqa: PD010
    ratios = ratios.reindex(index=rows.index, columns=[a, b]).astype("float64")
    rows["tie_ratio_a"], rows["tie_ratio_b"] = ratios.iloc[:, 0], ratios.iloc[:, 1]
    keys = ["moved", "difference"] if sort_by == "moved" else ["difference", "moved"]
    order = rows[keys].abs().sort_values(keys, ascending=False, kind="stable").index
    return rows.loc[order].rename_axis("query_id").reset_index()


def largest_difference(measure: str) -> float:
    """Return the largest difference of two values; infinite if unbounded, as for DCG and seconds."""
    try:
        return parse(measure).measure.largest or np.inf
    except UsageError:
        return np.inf
