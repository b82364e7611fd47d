"""Write the Markdown review of a pull request: leader, targets and changes."""

import numpy as np
import pandas as pd

from metrics.report.tables import VERDICT, Section, Table
from metrics.report.writing import render
from metrics.studies.prose import Prose
from metrics.studies.review import IN_EVERY_ORDER, change_finding
from metrics.support.wording import count_of, part_of

_MOST_ROWS = 20


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
