"""What becomes of ties and of a measure as scores that stand near each other come to tie."""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import Runs
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.studies.robustness.noise_curves import in_spreads, log_levels, noise_losing
from metrics.support.arrays import FloatArray
from metrics.support.wording import count_of, percent
from metrics.ties.precision import runs_at_precision

_SMALLEST = 1e-4
"""Smallest distance, in standard deviations of a reranker's scores."""


class NearTieCurves(NamedTuple):
    """How ties grow with the distance within which scores tie, and what that does to values.

    Attributes:
        tie_ratios: index `distance`, 0 first; columns rerankers; mean over lists.
        means: the same of the tied means.
    """

    tie_ratios: pd.DataFrame
    means: pd.DataFrame


def near_distances(n_rows: int) -> FloatArray:
    """Return (n_distances,) distances: as `log_levels`, from a ten-thousandth on."""
    return log_levels(n_rows, _SMALLEST)


def near_tie_curves(
    runs: Runs,
    measure: str,
    distances: FloatArray,
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> NearTieCurves:
    """Return tie ratio and tied mean of each reranker as near scores tie (`within:E`).

    Distances are told in standard deviations of each reranker's own scores, so that scales do not matter.

    Args:
        runs: what was ranked.
        measure: what is taken.
        distances: (n_distances,) rising, above 0.
        options: how lists are scored; scores are first rounded or tied as it says.
        queries: those whose lists count; None for all.

    Raises:
        UsageError: a name that does not exist, or further score columns that rank or split ties.
    """
    if options.further_columns:
        raise UsageError("Near ties are of the score alone. Leave out criteria and tiebreak_by.")
    scaled = in_spreads(runs_at_precision(runs, options.precision))
    ratios, values = {}, {}
    for distance in (0.0, *distances.tolist()):
        precision = f"within:{distance!r}" if distance else "float64"
        evaluation = score_runs(scaled, measure, "expected", replace(options, precision=precision))
        evaluation = evaluation.only(runs.rerankers, queries)
        ratios[distance] = evaluation.tie_ratios.dropna()
        values[distance] = evaluation.means(evaluation.measures[0])["expected"]
    tables = (pd.DataFrame(columns).T.rename_axis("distance") for columns in (ratios, values))
    return NearTieCurves(*tables)


def near_tie_finding(curves: NearTieCurves, measure: str, loss: float = 0.01) -> Prose:
    """Say whose value suffers first as near scores tie, and how much of it ties by then.

    Args:
        curves: of `near_tie_curves`.
        measure: how its tied mean is called, such as `MTRR`.
        loss: by how much it falls, above 0.
    """
    if not curves.means.notna().to_numpy().all():
        return NOTHING_SCORED
    distances = noise_losing(curves.means, loss).dropna()
    if distances.empty:
        largest = count_of(f"{curves.means.index[-1]:g}", "standard deviation")
        return (
            Strong("Near ties cost little here. "),
            f"No {measure} falls by {decimal(loss)} while scores within {largest} tie.",
        )
    first = str(distances.idxmin())
    ratios = curves.tie_ratios[first]
    ratio = float(np.interp(distances[first], ratios.index.to_numpy(), ratios.to_numpy()))
    verb = "loses" if len(distances) == len(curves.means.columns) == 1 else "is the first to lose"
    before, after = percent(float(ratios.iloc[0])), percent(ratio)
    more = (
        f"where {after} of its documents tie instead of {before}"
        if after != before
        else "where hardly more tie"
    )
    return (
        Strong(first),
        f" {verb} {decimal(loss)} {measure} as near scores tie: within ",
        Strong(f"{distances[first]:.2g}"),
        f" standard deviation{'s' * (f'{distances[first]:.2g}' != '1')} of its scores, {more}.",
    )
