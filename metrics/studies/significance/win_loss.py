"""Each reranker against a baseline, query by query: won, equal, lost, and what ties change of it."""

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.prose import ONE_RERANKER, Prose, Strong
from metrics.studies.tie_rules import own_rule_note
from metrics.support.wording import part_of


def win_loss(evaluation: Evaluation, measure: str, baseline: str, traditional: str) -> pd.DataFrame:
    """How often each reranker is ahead of the baseline on a query both have.

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
    values = evaluation.scores[measure]
    wide = {how: values[how].unstack("reranker", sort=False) for how in ("expected", traditional)}  # noqa: PD010
    rows = {}
    for name in wide["expected"].columns.drop(baseline):
        in_both = wide["expected"][[name, baseline]].notna().all(axis=1)
        sign = {
            how: _sign(table.loc[in_both, name] - table.loc[in_both, baseline]) for how, table in wide.items()
        }
        tied, before = sign["expected"], sign[traditional]
        rows[name] = {
            "won": int((tied > 0).sum()),
            "equal": int((tied == 0).sum()),
            "lost": int((tied < 0).sum()),
            "won_before": int((before > 0).sum()),
            "equal_before": int((before == 0).sum()),
            "lost_before": int((before < 0).sum()),
            "changed": int((tied != before).sum()),
            "n": int(in_both.sum()),
        }
    columns = ["won", "equal", "lost", "won_before", "equal_before", "lost_before", "changed", "n"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("reranker")


def _sign(difference: "pd.Series[float]") -> "pd.Series[float]":
    """1, 0 or -1; differences by rounding are none."""
    return pd.Series(np.sign(difference.where(difference.abs() > EQUAL, 0.0)), index=difference.index)


def win_loss_finding(table: pd.DataFrame, baseline: str, measure: str = "RR") -> Prose:
    """Whose comparison with the baseline ties change most.

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
