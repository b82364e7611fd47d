"""What is lost where a model's probabilities of grades are cut down to the likeliest grade?"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal, signed
from metrics.support.arrays import FloatArray
from metrics.support.wording import percent

_GRADES = ("expected_grade", "argmax_grade")
"""Scores that are made of a distribution over grades; one of the two may be the score itself."""


def graded_rerankers(runs: Runs) -> list[str]:
    """Return the rerankers whose file has probabilities of grades."""
    return [name for name, table in runs.tables.items() if set(_GRADES) & set(table.column_names)]


def argmax_losses(
    runs: Runs, measure: str, queries: Collection[str] | None = None, scoring: ScoringOptions = AS_READ
) -> pd.DataFrame:
    """Return what each reranker scores by its likeliest grades, and by its expected ones.

    Args:
        runs: what was ranked.
        measure: name of a measure.
        queries: which count; all where None.
        scoring: how lists are scored otherwise.

    Returns:
        One row a reranker with probabilities: reranker, argmax_tie_ratio, expected_tie_ratio (means over
        lists of the share of documents that tie), argmax, expected (tied means), gain (the second minus the
        first).

    Raises:
        UsageError: there is no such measure.
    """
    names = graded_rerankers(runs)
    columns: dict[str, pd.Series[float]] = {}
    for kind in ("argmax", "expected"):
        scores = {name: _scores_by(runs, name, f"{kind}_grade") for name in runs.tables}
        values = score_runs(runs.rescored(scores), measure, "expected", scoring).only(names, queries)
        columns[kind] = values.means(str(parse(measure)))["expected"]
        columns[f"{kind}_tie_ratio"] = values.tie_ratios
    losses = pd.DataFrame(columns)[["argmax_tie_ratio", "expected_tie_ratio", "argmax", "expected"]]
    losses["gain"] = losses["expected"] - losses["argmax"]
    return losses.reindex(names).rename_axis("reranker").reset_index()


def _scores_by(runs: Runs, name: str, column: str) -> FloatArray:
    """Return one reranker's scores by a column, which may be the score itself."""
    table = runs.tables[name]
    scores = table[column if column in table.column_names else "score"].to_numpy()
    return np.where(np.isnan(scores), -np.inf, scores)


def argmax_finding(losses: pd.DataFrame, measure: str) -> Prose:
    """Say what grading, by `argmax_losses`, costs the reranker that it costs most."""
    scored = losses.dropna(subset=["gain"])
    if scored.empty:
        return NOTHING_SCORED
    row = scored.loc[scored["gain"].abs().idxmax()]
    ties = f"{percent(row['argmax_tie_ratio'])} of the documents of a list tie, "
    without = f"by expected grades {percent(row['expected_tie_ratio'])}, "
    change = f"and the tied {measure} is {decimal(row['expected'])} in place of {decimal(row['argmax'])}: "
    name = Strong(str(row["reranker"]))
    return ("By likeliest grades of ", name, f", {ties}{without}{change}", Strong(signed(row["gain"])), ".")
