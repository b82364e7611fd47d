"""Tables of the Simulator: the orderings of one small list, and the notebook's scenarios."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.widgets.components import number, table
from metrics import evaluate, parse
from metrics.simulation import notebook_scenarios

LISTED = 120
"""Orderings that are listed at most."""


def listed_orders(orders: pd.DataFrame, written: str) -> None:
    """The orderings one by one, as the notebook lists them.

    Args:
        orders: as `every_ordering` returns them, by RR and Hits@3.
        written: how many there are, in words.
    """
    whole = written == f"{len(orders):,}"
    table(
        orders,
        "Every ordering" if whole else f"Every ordering: the first {LISTED} of {written}",
        "orderings",
        {
            "ordering": number("#", "%d"),
            "documents": st.column_config.TextColumn("Documents"),
            "first_relevant": number("First relevant", "%d"),
            "RR": number("RR"),
            "Hits@3": number("Hits@3", "%d"),
        },
    )


def scenarios() -> None:
    """The notebook's table of its scenarios."""
    measures = {"RR": "RR", "h3": "Hits@3", "h5": "Hits@5"}
    found = evaluate(notebook_scenarios(), list(measures.values()), ["input", "expected"])
    rows = found.lists[["n_tie_groups", "max_tie_size"]].reset_index("query_id").reset_index(drop=True)
    columns: dict[str, Any] = {
        "query_id": st.column_config.TextColumn("Scenario"),
        "n_tie_groups": number("Ties", "%d"),
        "max_tie_size": number("Largest tie", "%d"),
    }
    for key, measure in measures.items():
        for how, called in (("input", parse(measure).traditional), ("expected", parse(measure).tied)):
            rows[f"{key}_{how}"] = found.scores[measure, how].to_numpy()
            columns[f"{key}_{how}"] = number(called)
    table(rows, "The four scenarios", "scenarios", columns)
