"""Do ties predict how far a traditional score is off? List by list."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.prose import Prose, Strong, percent

FEWEST = 4
"""Lists that a mean or a correlation needs."""


def gaps(evaluation: Evaluation, measures: Mapping[str, str], traditional: str) -> pd.DataFrame:
    """One row a list: its ties, and what they do to each measure.

    Args:
        evaluation: with the measures under expected, optimistic, pessimistic and `traditional`.
        measures: prefix of the columns → measure, such as {"first": "RR", "second": "Hits@3"}.
        traditional: the treatment taken as the traditional one.

    Returns:
        reranker, query_id, n_docs, n_relevant, tie_ratio, max_tie_size, log10_orderings, and for each
        prefix p: p_traditional, p_tied, p_worst, p_best, p_gap (traditional − tied, exactly 0 where
        they differ by rounding).
    """
    lists = evaluation.lists[["n_docs", "n_relevant", "tie_ratio", "max_tie_size", "log10_orderings"]]
    table = lists.reset_index()
    for prefix, measure in measures.items():
        values = evaluation.scores[measure].reset_index(drop=True)
        gap = values[traditional] - values["expected"]
        table[f"{prefix}_traditional"] = values[traditional]
        table[f"{prefix}_tied"] = values["expected"]
        table[f"{prefix}_worst"] = values["pessimistic"]
        table[f"{prefix}_best"] = values["optimistic"]
        table[f"{prefix}_gap"] = gap.where(gap.abs() > EQUAL, 0.0)
    return table


def correlation(x: pd.Series, y: pd.Series) -> tuple[float, float, float] | None:
    """Pearson correlation with its 95% interval.

    None where it is not defined: fewer than four lists, or one side constant.
    """
    if len(x) < FEWEST or _constant(x) or _constant(y):
        return None
    found = stats.pearsonr(x, y)
    low, high = found.confidence_interval(0.95)
    return float(found.statistic), float(low), float(high)


def _constant(values: pd.Series) -> bool:
    """Whether values differ by rounding only."""
    return bool(np.ptp(values) <= EQUAL * max(1.0, float(np.abs(values).max())))


def trend(x: pd.Series, y: pd.Series, points: int = 40) -> pd.DataFrame:
    """Local mean of y along x with its 95% band, from bins smoothed by a Gaussian.

    Returns:
        x, mean, low, high; only where a few lists are near, nowhere if x does not vary.
    """
    if len(x) < FEWEST or _constant(x):
        return pd.DataFrame(columns=["x", "mean", "low", "high"], dtype=float)
    edges = np.linspace(x.min(), x.max(), points + 1)
    at = np.clip(np.digitize(x, edges) - 1, 0, points - 1)
    count = np.bincount(at, minlength=points)
    total, square = (np.bincount(at, value, minlength=points) for value in (y, y**2))
    centre = (edges[1:] + edges[:-1]) / 2
    centre[0], centre[-1] = edges[0], edges[-1]
    weight = np.exp(-0.5 * ((centre[:, None] - centre) / (np.ptp(x) / 12)) ** 2)
    n = weight @ count
    effective = n**2 / (weight**2 @ count)
    mean = weight @ total / n
    spread = np.sqrt(np.clip(weight @ square / n - mean**2, 0, None))
    half = 1.96 * spread / np.sqrt(effective)
    line = pd.DataFrame({"x": centre, "mean": mean, "low": mean - half, "high": mean + half})
    return line[effective >= FEWEST]


def gap_finding(table: pd.DataFrame, measure: str) -> Prose:
    """Whether ties cost anything, and whether the tie ratio tells.

    Args:
        table: as `gaps` returns it, all lists; the first measure is the one spoken of.
        measure: its name.
    """
    tied = table[table["tie_ratio"] > 0]
    if not len(tied):
        return (Strong("No list has a tie. "), "No sort can change a value.")
    level = (tied["first_gap"] == 0).mean()
    found = correlation(table["tie_ratio"], table["first_gap"].abs())
    worst = table.loc[table["first_gap"].abs().idxmax()]
    start: Prose = (
        Strong(percent(level)),
        f" of the {len(tied):,} lists with ties score the same {measure} as the mean of their orderings. ",
    )
    if not worst["first_gap"]:
        return (*start, "The order of the ties costs nothing here.")
    strength = (
        ""
        if found is None
        else f"The tie ratio predicts the gap {_strength(found[0])} (r = {found[0]:.2f}): a tie "
        "costs something only where it mixes relevant and other documents. "
    )
    off = "too high" if worst["first_gap"] > 0 else "too low"
    return (
        *start,
        strength,
        "Farthest off is query ",
        Strong(str(worst["query_id"])),
        " of ",
        Strong(str(worst["reranker"])),
        f", {abs(worst['first_gap']):.3f} {off}.",
    )


def _strength(r: float) -> str:
    words = ((0.1, "hardly at all"), (0.3, "weakly"), (0.6, "moderately"))
    return next((word for bound, word in words if abs(r) < bound), "strongly")
