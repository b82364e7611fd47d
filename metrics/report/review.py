"""Review a change of the rerankers: compare evaluations from before and after, and write its Markdown."""

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.report.tables import VERDICT, Section, Table
from metrics.report.writing import render
from metrics.studies.gaps import named_values
from metrics.studies.prose import Prose, Strong, decimal
from metrics.support.wording import count_of, part_of

_MOST_ROWS = 20
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


def review(
    title: str, finding: Prose, outcomes: pd.DataFrame, changes: pd.DataFrame | None, since: str = "before"
) -> str:
    """Return Markdown for a pull request: leader, targets and changes.

    `changes` is None if there is no earlier board, which `since` names.
    """
    sections = [_targets(outcomes)] if len(outcomes) else []
    if changes is not None:
        sections.append(_changes(changes, since))
    return render("review.md", title=title, finding=finding, sections=sections)


def _targets(outcomes: pd.DataFrame) -> Section:
    rows = outcomes.sort_values("missed_by", ascending=False, kind="stable")[:_MOST_ROWS]
    columns = {
        "": "mark",
        "Reranker": "reranker",
        "Target": "target",
        "Tied": "tied:.4f",
        "Traditional": "traditional:.4f",
        VERDICT: "verdict",
    }
    rows = rows.assign(mark=np.where(rows["passed"], "✓", "✗"))
    n_met = int(outcomes["passed"].sum())
    table = Table.of("Targets", rows, columns, _more_rows(len(outcomes)))
    return Section("", tables=(table,), title=f"{part_of(n_met, len(outcomes), 'target')} met")


def _changes(changes: pd.DataFrame, since: str) -> Section:
    changed = changes[changes["verdict"] != "equal"]
    is_firm = changed["verdict"].isin(IN_EVERY_ORDER)
    order = np.lexsort((-changed["change"].abs().fillna(-1), ~is_firm))
    rows = changed.iloc[order[:_MOST_ROWS]]
    rows = rows.assign(moved=rows["traditional"] - rows["traditional_before"])
    columns = {
        "Reranker": "reranker",
        "Measure": "measure",
        "Before": "tied_before:.4f",
        "Now": "tied:.4f",
        "Change": "change:+.4f",
        "Traditional": "moved:+.4f",
        VERDICT: "verdict",
    }
    n_equal = len(changes) - len(changed)
    equal = f"{count_of(n_equal, 'value')} did not change." if n_equal else ""
    note = " ".join(filter(None, ("All values are tied scores.", equal, _more_rows(len(changed)))))
    tables = (Table.of("Changes", rows, columns, note),) if len(rows) else ()
    return Section("", (change_finding(changes),), tables=tables, title=f"Since {since}")


def _more_rows(n_rows: int) -> str:
    return f"{count_of(n_rows - _MOST_ROWS, 'more row')}: tiescope report." if n_rows > _MOST_ROWS else ""
