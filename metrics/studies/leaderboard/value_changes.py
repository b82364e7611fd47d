"""What changed between two states of the same board, and whether ties alone may have done it."""

import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.gaps.gap import named_values
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.wording import part_of

IN_EVERY_ORDER = ("higher in every order", "lower in every order")
"""Verdicts of changes that no order of the ties makes."""


def value_changes(before: Evaluation, after: Evaluation, traditional: str) -> pd.DataFrame:
    """Compare the means of the rerankers before and after, measure by measure.

    Args:
        before: what stood there, under expected, optimistic, pessimistic and `traditional`.
        after: what stands there now, with the same measures and treatments.
        traditional: the treatment taken as the traditional one.

    Returns:
        one row a reranker and measure, those that are gone last: reranker, measure, tied_before, tied,
        change (tied − tied_before), traditional_before, traditional, worst_before, worst, best_before, best and
        verdict: "new", "gone", "equal", "higher in every order" and "lower in every order" of the ties before
        and after, or "within the ties", where some orders of them give a change of the other sign or none.
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
    is_equal = pd.concat(
        [(table[name] - table[f"{name}_before"]).abs() <= EQUAL for name in ("tied", "worst", "best")], axis=1
    ).all(axis=1)
    verdict = pd.Series("within the ties", table.index)
    verdict[table["worst"] > table["best_before"] + EQUAL] = IN_EVERY_ORDER[0]
    verdict[table["best"] < table["worst_before"] - EQUAL] = IN_EVERY_ORDER[1]
    verdict[is_equal] = "equal"
    verdict[table["tied_before"].isna()] = "new"
    verdict[table["tied"].isna()] = "gone"
    return verdict


def change_finding(changes: pd.DataFrame) -> Prose:
    """Say how many of the `value_changes` there are, how many whatever the order of ties, and which most."""
    compared = changes[~changes["verdict"].isin(["new", "gone"])]
    if not len(compared):
        return ("No reranker stands on both sides: there is nothing to compare.",)
    changed = compared[compared["verdict"] != "equal"]
    if not len(changed):
        return ("No value changed.",)
    firm = changed[changed["verdict"].isin(IN_EVERY_ORDER)]
    count = f"{part_of(len(changed), len(compared), 'value')} changed, "
    if not len(firm):
        return count, Strong("none"), " of them beyond what the order of ties can do."
    largest = firm.loc[firm["change"].abs().idxmax()]
    direction = "higher" if largest["change"] > 0 else "lower"
    return (
        f"{count}{len(firm):,} of them whatever the order of ties: ",
        Strong(str(largest["reranker"])),
        f" is {decimal(abs(largest['change']), 4)} {direction} in {largest['measure']}.",
    )
