"""What becomes of a measure as noise of the scores grows: exact values, and where rerankers trade places."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pandas as pd

from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import Runs
from metrics.runs.inspection import decimals, half_format
from metrics.support.arrays import BoolArray, FloatArray
from metrics.ties.noise import cells
from metrics.ties.precision import runs_at_precision

LEVEL = 1e-9
"""Difference up to which two values are level."""
_SMALLEST = 1e-3
"""Smallest noise, in standard deviations of a reranker's scores."""
_MANY_ROWS = 300_000
"""Rows from which on fewer levels are looked at."""
_APART = 0.01
"""Part of all values' range by which two rerankers lie apart on both sides of where they trade places."""


def noise_levels(n_rows: int) -> FloatArray:
    """Return (n_levels,) standard deviations of noise: as `log_levels`, from a thousandth on."""
    return log_levels(n_rows, _SMALLEST)


def log_levels(n_rows: int, smallest: float) -> FloatArray:
    """Return (n_levels,) sizes from a power of ten to 1, evenly in logs: four a decade, two for many rows."""
    steps = 4 if n_rows <= _MANY_ROWS else 2
    return np.geomspace(smallest, 1, round(-steps * np.log10(smallest)) + 1)


def score_spreads(runs: Runs) -> pd.Series:
    """Return reranker → `spread` of all its scores."""
    return pd.Series({name: spread(scores) for name, scores in _scores(runs).items()})


def spread(scores: FloatArray) -> float:
    """Return the standard deviation of finite scores, 0 where they do not vary.

    Scores are brought to the size of 1 before they are squared, so that none is lost to underflow or overflow.
    """
    finite = scores[np.isfinite(scores)]
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float((finite / largest).std()) if largest else 0.0


def in_spreads(runs: Runs) -> Runs:
    """Return the runs with scores in standard deviations of each reranker's own; scores that are alike stay."""
    spreads = score_spreads(runs).replace(0.0, 1.0)
    return runs.rescored({name: scores / spreads[name] for name, scores in _scores(runs).items()})


def noise_curves(
    runs: Runs,
    measure: str,
    levels: FloatArray,
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the mean of a measure under normal noise of several sizes, exactly.

    Noise is told in standard deviations of each reranker's own scores, so that rerankers whose scores have
    different scales can be compared. As it vanishes, values tend to the tied value, which is the first row.

    Args:
        runs: what was ranked.
        measure: what is taken.
        levels: (n_levels,) sizes of the noise, rising.
        options: how lists are scored.
        queries: those whose lists count; None for all.

    Returns:
        index `noise`: 0, then the levels; columns: rerankers.

    Raises:
        UsageError: a name that does not exist, or options that noise does not go with.
    """
    compared, options = runs_at_precision(runs, options.precision), replace(options, precision="float64")
    treatments = [f"noise:{float(level)!r}" for level in levels]
    tied, noisy = (
        score_runs(scored, [measure], ties, options).only(runs.rerankers, queries).means(measure).T
        for scored, ties in ((compared, ["expected"]), (in_spreads(compared), treatments))
    )
    return pd.concat([tied, noisy]).set_axis(pd.Index([0.0, *levels], name="noise"))


def trades(curves: pd.DataFrame) -> pd.DataFrame:
    """Return where two lines of `noise_curves` trade places, by the logarithm of the noise between two levels.

    Lines that only touch trade nothing: before the trade the one, after it the other must once be above by a
    hundredth of the range of all values.

    Returns:
        `noise` and `value` where the lines cross, `before` and `after`: the one that is above; by rising noise.
    """
    levels, values = curves.index.to_numpy(), curves.to_numpy()
    apart = _APART * float(values.max() - values.min())
    rows = []
    for first, second in combinations(range(values.shape[1]), 2):
        gaps = values[:, first] - values[:, second]
        clear = np.flatnonzero(np.abs(gaps) >= max(apart, np.finfo(float).tiny))
        for start, end in pairwise(clear):
            if gaps[start] * gaps[end] < 0:
                place = start + int(np.argmax(np.sign(gaps[start:end]) != np.sign(gaps[start + 1 : end + 1])))
                share = gaps[place] / (gaps[place] - gaps[place + 1])
                noise = _between(levels[place], levels[place + 1], share)
                value = values[place, first] + share * (values[place + 1, first] - values[place, first])
                pair = (first, second) if gaps[start] > 0 else (second, first)
                rows.append((noise, value, *curves.columns[list(pair)]))
    table = pd.DataFrame(rows, columns=["noise", "value", "before", "after"])
    return table.sort_values("noise", kind="stable", ignore_index=True)


def lead_ends(curves: pd.DataFrame) -> tuple[float, str] | None:
    """Return the noise at which the (first) leader is overtaken, and by whom; None where it never is."""
    levels, values = curves.index.to_numpy(), curves.to_numpy()
    leader = int(values[0].argmax())
    behind = values - values[:, [leader]]
    overtaken = np.flatnonzero(behind.max(axis=1) > LEVEL)
    if not len(overtaken):
        return None
    end = int(overtaken[0])
    other = int(behind[end].argmax())
    before, after = behind[end - 1, other], behind[end, other]
    share = float(np.clip(-before / (after - before), 0, 1))
    return _between(levels[end - 1], levels[end], share), str(curves.columns[other])


def noise_losing(curves: pd.DataFrame, loss: float) -> pd.Series:
    """Return reranker → the least noise at which its value has fallen by so much; NaN where it never has."""
    levels, fallen = curves.index.to_numpy(), (curves.iloc[0] - curves).to_numpy()
    noise = [_level_passing(levels, column, loss, column >= loss) for column in fallen.T]
    return pd.Series(noise, index=curves.columns, dtype=float)


def drawn_means(
    runs: Runs,
    measure: str,
    levels: Sequence[float] | FloatArray,
    n_draws: int,
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> FloatArray:
    """Return the (n_levels, n_draws, n_rerankers) means of a measure on scores with noise drawn once a draw.

    A draw is the same at every level but for its size, so that levels differ by the noise and not by chance.

    Args:
        runs: what was ranked.
        measure: what is taken.
        levels: sizes of the noise, in standard deviations of each reranker's scores.
        n_draws: how many draws.
        options: how lists are scored.
        queries: those whose lists count; None for all.
    """
    scaled = in_spreads(runs_at_precision(runs, options.precision))
    options = replace(options, precision="float64")
    scores, random = _scores(scaled), np.random.default_rng(2026)
    n_together = min(n_draws, max(1, _MANY_ROWS // max(1, sum(map(len, scores.values())))))
    means = np.empty((len(levels), n_draws, len(scores)))
    for start in range(0, n_draws, n_together):
        n_copies = min(n_together, n_draws - start)
        copies = scaled.copies(n_copies)
        normal = {
            f"{draw} {name}": random.standard_normal(len(column))
            for draw in range(n_copies)
            for name, column in scores.items()
        }
        for place, level in enumerate(levels):
            noisy = {copy: scores[copy.partition(" ")[2]] + level * normal[copy] for copy in normal}
            evaluation = score_runs(copies.rescored(noisy), [measure], ["expected"], options)
            copy_means = evaluation.only(list(noisy), queries).means(measure)["expected"]
            means[place, start : start + n_copies] = copy_means.to_numpy().reshape(n_copies, -1)
    return means


def even_point(levels: FloatArray, chances: FloatArray) -> float | None:
    """Return the noise at which a falling chance passes one half, by logarithm; None where it never does."""
    return _level_passing(levels, chances, 1 / 2, chances < 1 / 2)


def _level_passing(levels: FloatArray, values: FloatArray, bound: float, is_beyond: BoolArray) -> float | None:
    """Return the noise at which values first pass a bound, by logarithm; None where they never do."""
    beyond = np.flatnonzero(is_beyond)
    if not len(beyond):
        return None
    end = int(beyond[0])
    if end == 0:
        return float(levels[0])
    share = (bound - values[end - 1]) / (values[end] - values[end - 1])
    return _between(levels[end - 1], levels[end], share)


def order_chances(draws: FloatArray, values: FloatArray) -> pd.DataFrame:
    """Return how often the order of rerankers without noise holds in draws.

    Args:
        draws: (n_levels, n_draws, n_rerankers) of `drawn_means`.
        values: (n_rerankers,) tied values without noise; level ones have no order to hold.

    Returns:
        a row a level: `whole`, share of draws in which no pair has changed sides; `pairs`, share of pairs
        that have not, over all draws.
    """
    first, second = np.nonzero(values[:, None] > values + LEVEL)
    holds = draws[:, :, first] > draws[:, :, second]
    if not len(first):
        holds = np.ones((*draws.shape[:2], 1), dtype=bool)
    return pd.DataFrame({"whole": holds.all(axis=2).mean(axis=1), "pairs": holds.mean(axis=(1, 2))})


def format_noise(runs: Runs) -> pd.DataFrame:
    """Return the noise that the number format of each reranker's file has left in its scores.

    A score is known to the cell that the format rounds to it; even within the cell, it is off by the cell's
    width over the square root of 12. The median over the scores is told.

    Returns:
        index: the rerankers whose scores show a format; `number_format`, and `noise` in standard deviations of
        its scores.
    """
    rows = {}
    for name, every_score in _scores(runs).items():
        scores, own_spread = every_score[np.isfinite(every_score)], spread(every_score)
        values = np.unique(scores)
        places = decimals(values)
        number_format = half_format(values) or (None if places is None else f"decimals:{places}")
        if number_format and own_spread:
            low, high = cells(scores, number_format)
            rows[name] = (number_format, float(np.median(high - low)) / np.sqrt(12) / own_spread)
    return pd.DataFrame.from_dict(rows, orient="index", columns=["number_format", "noise"])


def _scores(runs: Runs) -> dict[str, FloatArray]:
    return {name: np.asarray(table["score"].to_numpy()) for name, table in runs.tables.items()}


def _between(low: float, high: float, share: float) -> float:
    """Return a noise between two levels, by logarithm; by size from no noise on."""
    return float(low + share * (high - low)) if low == 0 else float(low * (high / low) ** share)
