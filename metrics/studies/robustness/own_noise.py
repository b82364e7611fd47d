"""The noise that the data itself tells of each score: how large it is, and what a measure is under it."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import Runs
from metrics.studies.prose import Prose, Strong, decimal
from metrics.studies.robustness.noise_curves import LEVEL, spread
from metrics.ties.precision import runs_at_precision

NO_OWN_NOISE = pd.DataFrame(columns=["noise", "low", "high", "value"], dtype=float)
"""What `own_noise` returns where no reranker has a column score_std."""


def own_noise(
    runs: Runs, measure: str, options: ScoringOptions = AS_READ, queries: Collection[str] | None = None
) -> pd.DataFrame:
    """Return the noise of the rerankers whose documents have a `score_std`, and a measure's mean under it.

    Such a column is that of the file, or the scatter of repeats, or the spread of probabilities of grades.

    Args:
        runs: what was ranked.
        measure: what is taken.
        options: how lists are scored.
        queries: those whose lists count; None for all.

    Returns:
        index: the rerankers; `noise`, the median `score_std` in standard deviations of the reranker's scores,
        `low` and `high`, its quartiles; and `value`, the mean under the treatment `noise`, NaN where that is
        refused.
    """
    compared, options = runs_at_precision(runs, options.precision), replace(options, precision="float64")
    rows = {}
    for name, table in compared.tables.items():
        if "score_std" not in table.column_names:
            continue
        scores = np.asarray(table["score"].to_numpy())
        deviations = np.asarray(table["score_std"].to_numpy())[np.isfinite(scores)]
        own_spread = spread(scores)
        alone = compared.arranged({name: name})
        try:
            noisy = score_runs(alone, [measure], ["noise"], options).only([name], queries)
            value = float(noisy.means(measure)["noise"].iloc[0])
        except UsageError:  # deviations too far apart, or lists too long
            value = np.nan
        quartiles = np.quantile(deviations, [0.5, 0.25, 0.75]) if len(deviations) else np.full(3, np.nan)
        rows[name] = (*(quartiles / own_spread if own_spread else np.full(3, np.nan)), value)
    if not rows:
        return NO_OWN_NOISE
    return pd.DataFrame.from_dict(rows, orient="index", columns=NO_OWN_NOISE.columns)


def own_noise_sentence(own: pd.DataFrame, tied: pd.Series, measure: str) -> Prose:
    """Say what the noise that the data tells takes from a reranker, of several from the one that loses most.

    Args:
        own: of `own_noise`.
        tied: reranker → its value without noise.
        measure: how the measure is called, such as `MTRR`.
    """
    values = own["value"].dropna()
    if values.empty:
        return ()
    losses = tied.loc[values.index] - values
    name = str(losses.idxmax())
    value, without = decimal(float(values[name])), decimal(float(tied[name]))
    if abs(losses[name]) <= LEVEL or value == without:
        return (" Under the noise of its own score_std, ", Strong(name), f" keeps its {without} {measure}.")
    change = f" has {value} {measure}, without it {without}."
    return (" Under the noise of its own score_std, ", Strong(name), change)
