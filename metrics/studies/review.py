"""Compare evaluations from before and after a change, and say which changes tie order cannot explain."""

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.gaps import named_values
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.wording import part_of

IN_EVERY_ORDER = ("higher in every order", "lower in every order")
"""Verdicts of changes that hold in every tie order."""


def value_changes(before: Evaluation, after: Evaluation, traditional: str) -> pd.DataFrame:
    """Compare the means of the rerankers before and after, measure by measure.

    Returns:
        one row a reranker and measure, removed rerankers last: reranker, measure, tied_before, tied,
        change (tied − tied_before), traditional_before, traditional, worst_before, worst, best_before, best and
        verdict: "new", "gone", "equal", "higher in every order" and "lower in every order" of the ties before
        and after, or "within the ties": some orders reverse or remove the change.
    """
    rerankers = after.policies.index.union(before.policies.index, sort=False)
    parts = []
    for measure in after.measures:
        earlier, now = (
            named_values(evaluation.means(measure), traditional).reindex(rerankers)
            for evaluation in (before, after)
        )
        rows = now.join(earlier.add_suffix("_before")).rename_axis("reranker")
        parts.append(rows.reset_index().assign(measure=measure))
    table = pd.concat(parts, ignore_index=True)
    table["change"] = table["tied"] - table["tied_before"]
    table["verdict"] = _verdicts(table)
    pairs = [name + ending for name in ("traditional", "worst", "best") for ending in ("_before", "")]
    return table[["reranker", "measure", "tied_before", "tied", "change", *pairs, "verdict"]]


def _verdicts(table: pd.DataFrame) -> "pd.Series[str]":
    changes = [(table[name] - table[f"{name}_before"]).abs() for name in ("tied", "worst", "best")]
    verdicts = {
        "gone": table["tied"].isna(),
        "new": table["tied_before"].isna(),
        "equal": np.max(changes, axis=0) <= EQUAL,
        IN_EVERY_ORDER[1]: table["best"] < table["worst_before"] - EQUAL,
        IN_EVERY_ORDER[0]: table["worst"] > table["best_before"] + EQUAL,
    }
    verdict = np.select(list(verdicts.values()), list(verdicts), "within the ties")
    return pd.Series(verdict, table.index, dtype="str")


def change_finding(changes: pd.DataFrame) -> Prose:
    """Count the `value_changes`, those that hold in every tie order, and name the largest of these."""
    compared = changes[~changes["verdict"].isin(["new", "gone"])]
    if not len(compared):
        return ("The evaluations before and after have no reranker in common.",)
    changed = compared[compared["verdict"] != "equal"]
    if not len(changed):
        return ("No value changed.",)
    firm = changed[changed["verdict"].isin(IN_EVERY_ORDER)]
    count = f"{part_of(len(changed), len(compared), 'value')} changed, "
    if not len(firm):
        return count, Strong("none"), " of them by more than tie order can explain."
    largest = firm.loc[firm["change"].abs().idxmax()]
    direction = "higher" if largest["change"] > 0 else "lower"
    return (
        f"{count}{len(firm):,} of them in every tie order: ",
        Strong(str(largest["reranker"])),
        f" is {decimal(abs(largest['change']), 4)} {direction} in {largest['measure']}.",
    )
