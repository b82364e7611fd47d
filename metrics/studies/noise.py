"""Follow ties, a measure and a leaderboard as noise of the scores grows."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import Runs
from metrics.runs.inspection import decimals, half_format
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.support.arrays import BoolArray, FloatArray, IntArray, span_starts
from metrics.support.wording import count_of, first_names, percent
from metrics.ties.noise import cells
from metrics.ties.precision import compared_column, runs_at_precision

LEVEL = 1e-9
"""Difference up to which two values are equal."""
_SMALLEST = 1e-3
"""Smallest noise, in standard deviations of a reranker's scores."""
_MANY_ROWS = 300_000
"""Number of rows from which fewer levels are evaluated."""
_APART = 0.01
"""Share of the range of all values by which two curves separate on both sides of a crossing."""


def noise_levels(n_rows: int) -> FloatArray:
    """Return (n_levels,) standard deviations of noise, as `log_levels` from a thousandth."""
    return log_levels(n_rows, _SMALLEST)


def log_levels(n_rows: int, smallest: float) -> FloatArray:
    """Return (n_levels,) sizes up to 1, evenly spaced in logs: four a decade, two for many rows."""
    steps = 4 if n_rows <= _MANY_ROWS else 2
    return np.geomspace(smallest, 1, round(-steps * np.log10(smallest)) + 1)


def spread(scores: FloatArray) -> float:
    """Return the standard deviation of finite scores, 0 for constant scores.

    Scores are scaled to 1 before squaring, so that none underflows or overflows.
    """
    finite = scores[np.isfinite(scores)]
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float((finite / largest).std()) if largest else 0.0


def in_spreads(runs: Runs) -> Runs:
    """Return the runs with scores in standard deviations of each reranker; constant scores stay."""
    return runs.rescored({name: scores / (spread(scores) or 1.0) for name, scores in _scores(runs).items()})


def noise_curves(
    runs: Runs,
    measure: str,
    levels: FloatArray,
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the exact mean of a measure under normal noise of several sizes.

    Noise is in standard deviations of each reranker's own scores, so that rerankers are comparable. As noise
    vanishes, values approach the tied score, which is the first row.

    Returns:
        index `noise`: 0, then the levels; columns: rerankers.

    Raises:
        UsageError: an unknown name, or options that noise does not support.
    """
    compared, options = runs_at_precision(runs, options.precision), replace(options, precision="float64")
    treatments = [f"noise:{float(level)!r}" for level in levels]
    tied, noisy = (
        score_runs(scored, [measure], ties, options).only(runs.rerankers, queries).means(measure).T
        for scored, ties in ((compared, ["expected"]), (in_spreads(compared), treatments))
    )
    return pd.concat([tied, noisy]).set_axis(pd.Index([0.0, *levels], name="noise"))


def trades(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the crossings of `noise_curves`, interpolated in the logarithm of the noise.

    Curves that only touch do not cross: before and after, they must separate by a hundredth of the range of all
    values.

    Returns:
        `noise` and `value` of the crossing, `before` and `after`: the reranker that is above; by rising noise.
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
    """Return the noise at which the (first) leader is overtaken, and by which reranker; None if never."""
    levels, values = curves.index.to_numpy(), curves.to_numpy()
    behind = values - values[:, [values[0].argmax()]]
    is_overtaken = behind.max(axis=1) > LEVEL
    other = int(behind[is_overtaken.argmax()].argmax())
    end = _level_passing(levels, behind[:, other], 0.0, is_overtaken)
    return None if end is None else (end, str(curves.columns[other]))


def noise_losing(curves: pd.DataFrame, loss: float) -> pd.Series:
    """Return reranker → the smallest noise at which its value has fallen by `loss`; NaN if never."""
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
    """Return the (n_levels, n_draws, n_rerankers) means of a measure on scores with drawn noise.

    A draw is the same at every level except for its size, so that levels differ by noise and not by chance.
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
    """Return the noise at which a falling chance passes one half, by logarithm; None if never."""
    return _level_passing(levels, chances, 1 / 2, chances < 1 / 2)


def _level_passing(levels: FloatArray, values: FloatArray, bound: float, is_beyond: BoolArray) -> float | None:
    """Return the noise at which values first pass a bound, by logarithm; None if never."""
    end = int(is_beyond.argmax())
    if not is_beyond[end]:
        return None
    if end == 0:
        return float(levels[0])
    share = np.clip((bound - values[end - 1]) / (values[end] - values[end - 1]), 0, 1)
    return _between(levels[end - 1], levels[end], share)


def order_chances(draws: FloatArray, values: FloatArray) -> pd.DataFrame:
    """Return how often the order of the (n_rerankers,) tied `values` holds in `drawn_means`.

    Returns:
        a row a level: `whole`, share of draws in which every pair keeps its order; `pairs`, share of pairs that
        keep it, over all draws. Equal values have no order.
    """
    first, second = np.nonzero(values[:, None] > values + LEVEL)
    holds = draws[:, :, first] > draws[:, :, second]
    if not len(first):
        holds = np.ones((*draws.shape[:2], 1), dtype=bool)
    return pd.DataFrame({"whole": holds.all(axis=2).mean(axis=1), "pairs": holds.mean(axis=(1, 2))})


def format_noise(runs: Runs) -> pd.DataFrame:
    """Return the noise that the number format of each reranker's file leaves in its scores.

    A format rounds scores to cells. A uniform error within a cell has a standard deviation of its width over
    the square root of 12; the table has the median over scores.

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
    """Return a noise between two levels by logarithm, or linearly from 0."""
    return float(low + share * (high - low)) if low == 0 else float(low * (high / low) ** share)


_SMALLEST_DISTANCE = 1e-4
"""Smallest distance, in standard deviations of a reranker's scores."""
_LOSS = 0.01
"""Fall of a value that counts as a loss."""
_ROWS = 300_000
"""Rows scored at once in the search for the distance of a loss."""


class NearTieCurves(NamedTuple):
    """Tie ratios and values by the distance within which scores tie.

    Every distance has three figures, so that it is written exactly as it was evaluated.

    Attributes:
        tie_ratios: index `distance`, 0 first; columns rerankers; mean over lists.
        means: the tied means, in the same form.
    """

    tie_ratios: pd.DataFrame
    means: pd.DataFrame


def near_distances(n_rows: int) -> FloatArray:
    """Return (n_distances,) distances, as `log_levels` from a ten-thousandth."""
    return _rounded_up(log_levels(n_rows, _SMALLEST_DISTANCE))


def near_tie_curves(
    runs: Runs,
    measure: str,
    distances: FloatArray,
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> NearTieCurves:
    """Return the tie ratio and tied mean of each reranker as near scores tie (`within:E`).

    Distances are in standard deviations of each reranker's own scores. Means are step functions of the
    distance; the first distance at which one has fallen by `_LOSS` gets a row of its own. `options` rounds or
    ties scores first.

    Raises:
        UsageError: an unknown name, or further score columns that rank or split ties.
    """
    if options.further_columns:
        raise UsageError("Near ties are computed from the score alone. Leave out criteria and tiebreak_by.")
    scaled = in_spreads(runs_at_precision(runs, options.precision))
    tables = _at_distances(scaled, measure, np.append(0.0, distances), options, queries)
    first = _first_loss(scaled, measure, tables.means, options, queries)
    if first is None or first in tables.means.index:
        return tables
    added = _at_distances(scaled, measure, np.array([first]), options, queries)
    joined = (pd.concat(pair).sort_index() for pair in zip(tables, added, strict=True))
    return NearTieCurves(*joined)


def _at_distances(
    scaled: Runs, measure: str, distances: FloatArray, options: ScoringOptions, queries: Collection[str] | None
) -> NearTieCurves:
    """Score as many distances at once as `_ROWS` allows."""
    options, at_once = replace(options, precision="float64"), max(1, _ROWS // max(1, _n_rows(scaled)))
    ratios, means = [], []
    for start in range(0, len(distances), at_once):
        part = distances[start : start + at_once].tolist()
        scores = {
            f"{place} {name}": compared_column(
                scaled, name, column, f"within:{distance!r}" if distance else "float64"
            )
            for place, distance in enumerate(part)
            for name, column in _scores(scaled).items()
        }
        copies = scaled.copies(len(part)).rescored(scores)
        evaluation = score_runs(copies, measure, "expected", options).only(list(scores), queries)
        ratios.append(evaluation.tie_ratios.reindex(list(scores)))
        means.append(evaluation.means(evaluation.measures[0])["expected"].loc[list(scores)])
    index, names = pd.Index(distances, name="distance"), pd.Index(scaled.rerankers, name="reranker")
    tie_ratios, tied_means = (
        pd.DataFrame(np.concatenate(parts).reshape(len(distances), -1), index, names)
        for parts in (ratios, means)
    )
    return NearTieCurves(tie_ratios.dropna(axis=1), tied_means)


def _first_loss(
    scaled: Runs,
    measure: str,
    means: pd.DataFrame,
    options: ScoringOptions,
    queries: Collection[str] | None,
) -> float | None:
    """Return the smallest distance at which a mean has fallen by `_LOSS`; None if unknown.

    Means change only at differences between scores of one list. Small boards evaluate all of them; larger
    boards bisect in sections of several distances.
    """
    has_lost = _has_lost(means)
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
        rows = _at_distances(scaled, measure, inner, options, queries).means
        has_lost = _has_lost(pd.concat([means.iloc[:1][scaled.rerankers], rows]))[1:]
        n_before = int(has_lost.any(axis=1).argmax()) if has_lost.any() else len(inner)
        losing = rows.columns[has_lost[n_before]] if has_lost.any() else losing
        distances = distances[n_before * step : (n_before + 1) * step]
    return float(distances[0]) if len(distances) else None


def _n_rows(runs: Runs) -> int:
    return sum(len(table) for table in runs.tables.values())


def _has_lost(means: pd.DataFrame) -> BoolArray:
    """Return (n_distances, n_rerankers) whether each mean has fallen by `_LOSS` from the first row."""
    return np.asarray((means.iloc[0] - means).to_numpy() > _LOSS - LEVEL)


def _differences(runs: Runs, largest: float) -> FloatArray:
    """Return the rising differences up to `largest` between scores of a list, rounded up to three figures.

    Many rows use all numbers of three figures in half a decade instead.
    """
    if _n_rows(runs) > _ROWS:
        return np.unique(_rounded_up(np.geomspace(largest / 4, largest, 2_000)))
    distances = [np.empty(0)]
    for name, table in runs.tables.items():
        scores, query = np.asarray(table["score"].to_numpy()), runs.pairs(name).query
        rows = _distinct_rows(scores, query)
        for lag in range(1, len(rows)):
            low, high = rows[:-lag], rows[lag:]
            difference = scores[high] - scores[low]
            is_near = (query[low] == query[high]) & (difference <= largest)
            if not is_near.any():
                break
            distances.append(np.unique(_rounded_up(difference[is_near])))
    return np.unique(np.concatenate(distances))


def _distinct_rows(scores: FloatArray, query: npt.NDArray[np.integer]) -> IntArray:
    """Return one row for each distinct finite score of each list, by list and rising score."""
    rows = np.lexsort((scores, query))
    rows = rows[np.isfinite(scores[rows])]
    return np.asarray(rows[span_starts(query[rows], scores[rows])])


def _rounded_up(distances: FloatArray) -> FloatArray:
    """Round positive numbers up to three significant figures, within float error."""
    exponent = np.floor(np.log10(distances)).astype(int) - 2
    figures = np.ceil(distances / 10.0**exponent * (1 - 1e-10)).astype(int)
    return np.array([float(f"{figure}e{power}") for figure, power in zip(figures, exponent, strict=True)])


def near_tie_finding(curves: NearTieCurves, measure: str) -> Prose:
    """State which value is the first to fall by `_LOSS` as near scores tie, and how many documents tie then."""
    means = curves.means
    if not means.notna().to_numpy().all():
        return NOTHING_SCORED
    has_lost = _has_lost(means)
    if not has_lost.any():
        return (
            Strong("Near ties have little effect on the scores. "),
            f"No reranker loses {decimal(_LOSS)} {measure}, even if scores within "
            f"{count_of(f'{means.index[-1]:g}', 'standard deviation')} of each other count as tied.",
        )
    row = int(has_lost.any(axis=1).argmax())
    losing = [str(name) for name in means.columns[has_lost[row]]]
    before, after = (percent(float(curves.tie_ratios[losing[0]].iloc[place])) for place in (0, row))
    more = (
        f"{after} of its documents tie instead of {before}" if after != before else "hardly more documents tie"
    )
    several = len(losing) > 1
    verb = "loses" if len(means.columns) == 1 else f"{'are' if several else 'is'} the first to lose"
    distance = f"{means.index[row]:g}"
    ending = "." if several else f". At this distance, {more}."
    return (
        Strong(first_names(losing)),
        f" {verb} {decimal(_LOSS)} {measure} if scores within ",
        Strong(distance),
        f" standard deviation{'s' * (distance != '1')} of each other count as tied{ending}",
    )


NO_OWN_NOISE = pd.DataFrame(columns=["noise", "low", "high", "value"], dtype=float)
"""Result of `own_noise` without a column score_std."""


def own_noise(
    runs: Runs, measure: str, options: ScoringOptions = AS_READ, queries: Collection[str] | None = None
) -> pd.DataFrame:
    """Return the noise of rerankers with a `score_std`, and the mean of a measure under it.

    The column comes from the file, from repeated scores, or from probabilities of grades.

    Returns:
        index: the rerankers; `noise`, the median `score_std` in standard deviations of the reranker's scores,
        `low` and `high`, its quartiles; and `value`, the mean under the treatment `noise`, NaN if refused.
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
    """State the value of the reranker that loses most under its own score_std."""
    values = own["value"].dropna()
    if values.empty:
        return ()
    losses = tied.loc[values.index] - values
    name = str(losses.idxmax())
    value, without = decimal(float(values[name])), decimal(float(tied[name]))
    if abs(losses[name]) <= LEVEL or value == without:
        return (" With noise of size score_std, ", Strong(name), f" keeps its {without} {measure}.")
    return (" With noise of size score_std, ", Strong(name), f" has {value} {measure} instead of {without}.")


def robustness_finding(curves: pd.DataFrame, measure: str, even: float | None) -> Prose:
    """State up to which noise the leader leads, and at which noise (`even`) the order holds half the time."""
    tied = curves.iloc[0]
    if not tied.notna().all():
        return NOTHING_SCORED
    largest = written_noise(curves.index[-1])
    leaders = [str(name) for name in curves.columns[tied >= tied.max() - LEVEL]]
    if len(curves.columns) == 1:
        end = float(curves.iloc[-1, 0])
        return (
            Strong(leaders[0]),
            f" scores {decimal(float(tied.iloc[0]))} {measure} without noise, and {decimal(end)} with noise of "
            "one standard deviation of its scores.",
        )
    if len(leaders) > 1:
        return (
            f"{len(leaders)} rerankers share the lead without noise, so there is no single leader to follow.",
        )
    ends = lead_ends(curves)
    if ends is None:
        lead: Prose = (
            Strong(leaders[0]),
            f" has the highest {measure} at every noise level up to σ = {largest}. ",
        )
    else:
        lead = (
            Strong(leaders[0]),
            f" has the highest {measure} up to a noise level of σ = {written_noise(ends[0])}, then ",
            Strong(ends[1]),
            ". ",
        )
    return (*lead, *_order_sentence(curves, even))


def written_noise(noise: float) -> str:
    """Write a noise with two figures: `0.019`, `1`."""
    return np.format_float_positional(float(f"{noise:.2g}"), trim="-")


def _order_sentence(curves: pd.DataFrame, even: float | None) -> Prose:
    smallest, largest = (written_noise(curves.index[place]) for place in (1, -1))
    count = len(curves.columns)
    order = "the order of both rerankers" if count == 2 else f"the order of all {count} rerankers"  # noqa: PLR2004 both
    subject = order.capitalize()
    if even is None:
        return (f"{subject} holds in at least half of the draws up to σ = {largest}.",)
    if even <= curves.index[1]:
        return (f"Even at σ = {smallest}, {order} holds in fewer than half of the draws.",)
    return (f"{subject} holds in half of the draws at σ = {written_noise(even)}.",)
