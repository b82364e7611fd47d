"""What becomes of ties and of a measure as scores that stand near each other come to tie."""

import math
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import Runs
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.studies.robustness.noise_curves import LEVEL, in_spreads, log_levels
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.wording import count_of, first_names, percent
from metrics.ties.precision import compared_column, runs_at_precision

_SMALLEST = 1e-4
"""Smallest distance, in standard deviations of a reranker's scores."""
_LOSS = 0.01
"""Fall of a value that counts as a loss."""
_ROWS = 300_000
"""Rows that are scored at once while the distance of a loss is searched."""


class NearTieCurves(NamedTuple):
    """How ties grow with the distance within which scores tie, and what that does to values.

    Every distance is a number of three figures, so that it can be written as it was evaluated.

    Attributes:
        tie_ratios: index `distance`, 0 first; columns rerankers; mean over lists.
        means: the same of the tied means.
    """

    tie_ratios: pd.DataFrame
    means: pd.DataFrame


def near_distances(n_rows: int) -> FloatArray:
    """Return (n_distances,) distances: as `log_levels`, from a ten-thousandth on."""
    return _rounded_up(log_levels(n_rows, _SMALLEST))


def near_tie_curves(
    runs: Runs,
    measure: str,
    distances: FloatArray,
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
    loss: float = _LOSS,
) -> NearTieCurves:
    """Return tie ratio and tied mean of each reranker as near scores tie (`within:E`).

    Distances are told in standard deviations of each reranker's own scores, so that scales do not matter.
    Means are step functions of the distance. The first distance at which one has fallen by `loss` gets a row.

    Args:
        runs: what was ranked.
        measure: what is taken.
        distances: (n_distances,) rising, above 0.
        options: how lists are scored; scores are first rounded or tied as it says.
        queries: those whose lists count; None for all.
        loss: by how much a value falls where a row is added, above 0.

    Raises:
        UsageError: a name that does not exist, or further score columns that rank or split ties.
    """
    if options.further_columns:
        raise UsageError("Near ties are of the score alone. Leave out criteria and tiebreak_by.")
    scaled = in_spreads(runs_at_precision(runs, options.precision))
    tables = _evaluated(scaled, measure, [0.0, *distances.tolist()], options, queries)
    first = _first_loss(scaled, measure, tables.means, options, queries, loss)
    if first is None or first in tables.means.index:
        return tables
    added = _evaluated(scaled, measure, [first], options, queries)
    joined = (pd.concat(pair).sort_index() for pair in zip(tables, added, strict=True))
    return NearTieCurves(*joined)


def _evaluated(
    scaled: Runs, measure: str, distances: list[float], options: ScoringOptions, queries: Collection[str] | None
) -> NearTieCurves:
    """Return tie ratios and tied means at each distance."""
    ratios, values = {}, {}
    for distance in distances:
        precision = f"within:{distance!r}" if distance else "float64"
        evaluation = score_runs(scaled, measure, "expected", replace(options, precision=precision))
        evaluation = evaluation.only(scaled.rerankers, queries)
        ratios[distance] = evaluation.tie_ratios.dropna()
        values[distance] = evaluation.means(evaluation.measures[0])["expected"]
    tables = (pd.DataFrame(columns).T.rename_axis("distance") for columns in (ratios, values))
    return NearTieCurves(*tables)


def _first_loss(
    scaled: Runs,
    measure: str,
    means: pd.DataFrame,
    options: ScoringOptions,
    queries: Collection[str] | None,
    loss: float,
) -> float | None:
    """Return the least distance at which a mean has fallen by so much; None where none is known to have.

    Means change only at differences between scores of one list. All of them are evaluated where the board is
    small. Elsewhere sections are halved, and more, until a mean falls from one distance to the next.
    """
    has_lost = _has_lost(means, loss)
    is_known = bool(has_lost.any())
    end = int(has_lost.any(axis=1).argmax()) if is_known else len(means) - 1
    distances, losing = _differences(scaled, float(means.index[end])), means.columns[has_lost[end]]
    if not is_known and (len(distances) - 1) * _n_rows(scaled) > _ROWS:
        return None
    while len(distances) > 1:
        if _n_rows(scaled) > _ROWS:
            scaled = scaled.arranged({str(name): str(name) for name in losing})
        step = math.ceil(len(distances) / (1 + max(1, _ROWS // _n_rows(scaled))))
        inner = distances[step - 1 : -1 : step]
        rows = _means_at(scaled, measure, inner, options, queries)
        has_lost = _has_lost(pd.concat([means.iloc[:1][scaled.rerankers], rows]), loss)[1:]
        n_before = int(has_lost.any(axis=1).argmax()) if has_lost.any() else len(inner)
        losing = rows.columns[has_lost[n_before]] if has_lost.any() else losing
        distances = distances[n_before * step : (n_before + 1) * step]
    return float(distances[0]) if len(distances) else None


def _n_rows(runs: Runs) -> int:
    return sum(len(table) for table in runs.tables.values())


def _has_lost(means: pd.DataFrame, loss: float) -> BoolArray:
    """Return (n_distances, n_rerankers) whether each mean has fallen by so much from the first row."""
    return np.asarray((means.iloc[0] - means).to_numpy() > loss - LEVEL)


def _differences(runs: Runs, largest: float) -> FloatArray:
    """Return the differences up to one between scores of a list, rounded up to three figures, rising.

    Of many rows, all numbers of three figures in the last half of a decade are as few.
    """
    if _n_rows(runs) > _ROWS:
        return np.unique(_rounded_up(np.geomspace(largest / 4, largest, 2_000)))
    found = [np.empty(0)]
    for name, table in runs.tables.items():
        scores, query = np.asarray(table["score"].to_numpy()), runs.pairs(name).query
        rows = _distinct_rows(scores, query)
        for lag in range(1, len(rows)):
            low, high = rows[:-lag], rows[lag:]
            difference = scores[high] - scores[low]
            is_near = (query[low] == query[high]) & (difference <= largest)
            if not is_near.any():
                break
            found.append(np.unique(_rounded_up(difference[is_near])))
    return np.unique(np.concatenate(found))


def _distinct_rows(scores: FloatArray, query: npt.NDArray[np.integer]) -> IntArray:
    """Return one row of each finite score of each list, by list and rising score."""
    rows = np.lexsort((scores, query))
    rows = rows[np.isfinite(scores[rows])]
    is_repeat = (np.diff(scores[rows]) == 0) & (np.diff(query[rows]) == 0)
    return np.asarray(rows[np.append(True, ~is_repeat)[: len(rows)]])


def _rounded_up(distances: FloatArray) -> FloatArray:
    """Return (n,) numbers above 0 with three significant figures, none smaller but by the noise of doubles."""
    exponent = np.floor(np.log10(distances)).astype(int) - 2
    figures = np.ceil(distances / 10.0**exponent * (1 - 1e-10)).astype(int)
    return np.array([float(f"{figure}e{power}") for figure, power in zip(figures, exponent, strict=True)])


def _means_at(
    runs: Runs, measure: str, distances: FloatArray, options: ScoringOptions, queries: Collection[str] | None
) -> pd.DataFrame:
    """Return a row a distance of the tied means as scores within it tie, scored at once."""
    scores = {
        f"{place} {name}": compared_column(runs, name, table["score"].to_numpy(), f"within:{distance!r}")
        for place, distance in enumerate(distances.tolist())
        for name, table in runs.tables.items()
    }
    copies = runs.copies(len(distances)).rescored(scores)
    evaluation = score_runs(copies, measure, "expected", replace(options, precision="float64"))
    means = evaluation.only(list(scores), queries).means(evaluation.measures[0])["expected"]
    table = means.loc[list(scores)].to_numpy().reshape(len(distances), -1)
    return pd.DataFrame(table, distances, runs.rerankers)


def near_tie_finding(curves: NearTieCurves, measure: str, loss: float = _LOSS) -> Prose:
    """Say whose value suffers first as near scores tie, and how much of it ties by then.

    Args:
        curves: of `near_tie_curves` with the same loss.
        measure: how its tied mean is called, such as `MTRR`.
        loss: by how much it falls, above 0.
    """
    means = curves.means
    if not means.notna().to_numpy().all():
        return NOTHING_SCORED
    has_lost = _has_lost(means, loss)
    if not has_lost.any():
        return (
            Strong("Near ties cost little here. "),
            f"No {measure} falls by {decimal(loss)} while scores within "
            f"{count_of(f'{means.index[-1]:g}', 'standard deviation')} tie.",
        )
    row = int(has_lost.any(axis=1).argmax())
    losing = [str(name) for name in means.columns[has_lost[row]]]
    before, after = (percent(float(curves.tie_ratios[losing[0]].iloc[place])) for place in (0, row))
    more = f"{after} of its documents tie instead of {before}" if after != before else "hardly more tie"
    several = len(losing) > 1
    verb = "loses" if len(means.columns) == 1 else f"{'are' if several else 'is'} the first to lose"
    distance = f"{means.index[row]:g}"
    scores = "their scores." if several else f"its scores, where {more}."
    return (
        Strong(first_names(losing)),
        f" {verb} {decimal(loss)} {measure} as near scores tie: within ",
        Strong(distance),
        f" standard deviation{'s' * (distance != '1')} of {scores}",
    )
