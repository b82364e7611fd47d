"""Each reranker against a baseline, query by query: won, equal, lost, and what ties change of it."""

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.prose import ONE_RERANKER, Prose, Strong
from metrics.studies.tools.tie_rules import own_rule_note
from metrics.support.wording import part_of


def win_loss(evaluation: Evaluation, measure: str, baseline: str, traditional: str) -> pd.DataFrame:
    """Return how often each reranker is ahead of the baseline on a query both have.

    Args:
        evaluation: with the measure under expected and `traditional`.
        measure: which measure.
        baseline: whom the others are compared with.
        traditional: the treatment taken as the traditional one.

    Returns:
        index reranker, the baseline left out, in order; won, equal, lost (queries, by tied values),
        won_before, equal_before, lost_before (by traditional ones), changed (queries whose outcome
        differs between the two), n (queries both have).
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
    counts = {
        "won": tied > 0,
        "equal": tied == 0,
        "lost": tied < 0,
        "won_before": before > 0,
        "equal_before": before == 0,
        "lost_before": before < 0,
        "changed": in_both & (tied != before),
        "n": in_both,
    }
    return pd.DataFrame({name: queries.sum() for name, queries in counts.items()}).rename_axis("reranker")


def win_loss_finding(table: pd.DataFrame, baseline: str, measure: str = "RR") -> Prose:
    """Return whose comparison with the baseline ties change most.

    Args:
        table: as `win_loss` returns it.
        baseline: whom the others are compared with.
        measure: by which.
    """
    if not len(table):
        return ONE_RERANKER
    if note := own_rule_note(measure):
        return note
    most_changed = str(table["changed"].idxmax())
    row = table.loc[most_changed]
    if not row["changed"]:
        return (Strong("Ties change no outcome "), "on any query: who is ahead is the same by either value.")
    return (
        "Against ",
        Strong(baseline),
        ", ties decide who is ahead on ",
        Strong(part_of(row["changed"], row["n"], "query")),
        " of ",
        Strong(most_changed),
        f": {row['won_before']} won and {row['lost_before']} lost by the order of the sort, "
        f"{row['won']} and {row['lost']} once ties are averaged.",
    )
