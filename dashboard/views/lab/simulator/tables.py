"""Tables of the Simulator: the orderings of one small list, and the notebook's scenarios."""

from collections.abc import Iterable
from functools import cache

import pandas as pd

from dashboard.widgets.components import table
from dashboard.widgets.one_list import describe_values
from metrics import evaluate, parse
from metrics.simulation import notebook_scenarios
from metrics.simulation.list_text import scenario_documents
from metrics.support.shown_columns import ShownColumn, shown_columns

MAX_ORDERINGS = 120
"""Orderings that are listed at most."""


def ordering_table(orders: pd.DataFrame, count: str, values: pd.DataFrame) -> None:
    """Draw the orderings one by one, as the notebook lists them, and below the range and mean of all.

    Args:
        orders: as `every_ordering` returns them, by RR and Hits@3.
        count: how many there are, in words.
        values: index measure, columns expected, pessimistic and optimistic: of the same list.
    """
    is_whole = count == f"{len(orders):,}"
    columns = shown_columns("ordering", "documents", "first_relevant", ("RR", "value"), measure="RR")
    table(
        orders,
        "Every ordering" if is_whole else f"Every ordering: the first {MAX_ORDERINGS} of {count}",
        "orderings",
        columns | shown_columns(("Hits@3", "binary_value"), measure="Hits@3"),
    )
    describe_values(values.loc[["RR", "Hits@3"]])


def scenario_table() -> None:
    """Draw the notebook's table of its scenarios."""
    rows, columns = _scenarios()
    table(rows, "The four scenarios", "scenarios", columns)


@cache
def _scenarios() -> tuple[pd.DataFrame, dict[str, ShownColumn]]:
    """Return the notebook's scenarios, a row each, and how the columns are shown."""
    evaluation = evaluate(notebook_scenarios(), ["RR", "Hits@3", "Hits@5"], ["input", "expected"])
    values, columns = mean_columns(evaluation.scores, evaluation.measures)
    rows = evaluation.lists[["n_tie_groups", "max_tie_size"]].join(values.rename(columns=_file_name))
    rows = rows.reset_index("query_id").reset_index(drop=True)
    documents = [scenario_documents(name) for name in rows["query_id"]]
    rows = rows.assign(
        scores=[" ".join(f"{document.score:g}" for document in listed) for listed in documents],
        grades=[" ".join(f"{document.grade:g}" for document in listed) for listed in documents],
    )
    columns = {_file_name(name): column for name, column in columns.items()}
    first_columns = shown_columns(("query_id", "scenario"), "n_tie_groups", "max_tie_size")
    return rows, first_columns | columns | shown_columns("scores", "grades")


def _file_name(column: str) -> str:
    """Return what the file of the scenarios calls a column."""
    return column.replace("Hits@", "h")


def mean_columns(values: pd.DataFrame, measures: Iterable[str]) -> tuple[pd.DataFrame, dict[str, ShownColumn]]:
    """Return the traditional and the tied value of measures as columns of a table, and how they are shown."""
    columns: dict[str, ShownColumn] = {}
    for measure in measures:
        for treatment, label in (("input", parse(measure).traditional), ("expected", parse(measure).tied)):
            columns |= shown_columns((f"{measure}_{treatment}", "value"), measure=label)
    rows = {name: values[tuple(name.rsplit("_", 1))] for name in columns}
    return pd.DataFrame(rows, index=values.index), columns
