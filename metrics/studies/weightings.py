"""Weighted sums of several criteria: the range of a measure, and the leader at each weighting."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from math import comb

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.evaluation import AS_READ, ScoringOptions, score_runs
from metrics.runs import Runs
from metrics.studies.noise import LEVEL, spread
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.support.arrays import FloatArray, span_starts
from metrics.support.wording import count_of, percent
from metrics.ties.fronts import criterion, highest_first
from metrics.ties.precision import compared_column
from metrics.ties.ranking import further_scores, score_column

_STEPS = {2: (50, 25, 20, 10), 3: (12, 8, 6, 4)}
"""Number of criteria → steps from weight 0 to 1, fewer for more rows."""
_MOST_ROWS = 10_000_000
"""Most rows scored over all weightings."""
_SHORTEST = 1 / 20
"""Shortest stretch of weights that is reported."""


def weightings(n_criteria: int, n_rows: int = 0) -> FloatArray:
    """Return (n_weightings, n_criteria) evenly spaced weights that sum to 1.

    There are 51 for two criteria and 91 for three, fewer (at least 11 and 15) for many rows.
    """
    if n_criteria not in _STEPS:
        raise UsageError(f"Give two or three criteria, not {n_criteria}.")
    sizes = _STEPS[n_criteria]
    fitting = (steps for steps in sizes if n_rows * comb(steps + n_criteria - 1, steps) <= _MOST_ROWS)
    steps = next(fitting, sizes[-1])
    grid = np.stack(np.meshgrid(*[np.arange(steps + 1)] * (n_criteria - 1), indexing="ij"), axis=-1)
    counts = grid.reshape(-1, n_criteria - 1)
    counts = counts[counts.sum(axis=1) <= steps]
    return np.column_stack([steps - counts.sum(axis=1), counts]) / steps


def telling_scores(runs: Runs) -> list[str]:
    """Return the further scores that differ within a list."""
    return [
        name for name in further_scores(runs) if any(_differs(table, name) for table in runs.tables.values())
    ]


def _differs(table: pa.Table, name: str) -> bool:
    extremes = table.group_by("query_id").aggregate([(name, "min"), (name, "max")])
    return bool(pc.any(pc.less(extremes[f"{name}_min"], extremes[f"{name}_max"])).as_py())


def values_by_weighting(
    runs: Runs,
    measure: str,
    criteria: Sequence[str],
    options: ScoringOptions = AS_READ,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the tied mean of every reranker for each weighted sum of two or three criteria.

    A criterion such as `score` or `cost:asc` counts in standard deviations of the reranker's own documents, so
    a weight means the same for rerankers with different scales.

    Returns:
        index: weights, one level per criterion, named as in `criteria`; columns: rerankers.
    """
    if options.further_columns:
        raise UsageError("Weightings replace the options criteria and tiebreak_by. Leave them out.")
    grid = weightings(len(criteria), sum(len(table) for table in runs.tables.values()))
    unweighted = replace(options, precision="float64")
    spreads = {
        name: [_in_spreads(runs, name, text, options.precision) for text in criteria] for name in runs.tables
    }
    means = []
    for weights in grid:
        scores = {name: _weighted_sum(weights, columns) for name, columns in spreads.items()}
        evaluation = score_runs(runs.rescored(scores), [measure], ["expected"], unweighted)
        evaluation = evaluation.only(list(runs.tables), queries)
        means.append(evaluation.means(evaluation.measures[0])["expected"].to_numpy())
    index = pd.MultiIndex.from_arrays(list(grid.T), names=list(criteria))
    return pd.DataFrame(np.stack(means), index=index, columns=pd.Index(list(runs.tables), name="reranker"))


def weighting_ranges(values: pd.DataFrame) -> pd.DataFrame:
    """Return the range of `values_by_weighting` of each reranker, and the share of weightings that it leads.

    Returns:
        index reranker; lowest, highest, leads (level rerankers share a weighting).
    """
    is_first = leads(values)
    shares = is_first.div(is_first.sum(axis=1), axis=0).mean()
    return pd.DataFrame({"lowest": values.min(), "highest": values.max(), "leads": shares})


def leading_stretches(values: pd.DataFrame) -> pd.DataFrame:
    """Return the leader of each stretch of weights of the second criterion, in order.

    A stretch ends halfway to the next weight. One of less than a twentieth of all weights, unless at an end, is
    merged with the one before it.

    Returns:
        reranker, start and end of the weight, lowest and highest value where it leads, n_led of n_weightings.
    """
    weight, leader = values.index.get_level_values(1).to_numpy(), weighting_leaders(values)
    middles = np.concatenate([[0.0], (weight[1:] + weight[:-1]) / 2, [1.0]])
    starts = span_starts(leader)
    is_long = np.diff(middles[[*starts, len(leader)]]) >= _SHORTEST
    is_long[[0, -1]] = True
    starts = starts[is_long]
    starts = starts[span_starts(leader[starts])]
    rows = []
    for start, end in pairwise([*starts, len(leader)]):
        own = values[leader[start]].iloc[start:end][leader[start:end] == leader[start]]
        rows.append((leader[start], middles[start], middles[end], own.min(), own.max(), len(own), end - start))
    names = ["reranker", "start", "end", "lowest", "highest", "n_led", "n_weightings"]
    return pd.DataFrame(rows, columns=names)


def leads(values: pd.DataFrame) -> pd.DataFrame:
    """Return whether no other reranker is higher in `values_by_weighting`."""
    return values.ge(values.max(axis=1) - LEVEL, axis=0)


def weighting_leaders(values: pd.DataFrame) -> npt.NDArray[np.object_]:
    """Return (n_weightings,) leaders; of level ones the previous leader, else the first."""
    places: list[int] = []
    for row in leads(values).to_numpy():
        places.append(places[-1] if places and row[places[-1]] else int(row.argmax()))
    leaders: npt.NDArray[np.object_] = values.columns.to_numpy(dtype=object)[places]
    return leaders


def _in_spreads(runs: Runs, reranker: str, text: str, precision: str) -> FloatArray:
    name, highest_best = criterion(text)
    scores = highest_first(score_column(runs.tables[reranker], name), highest_best=highest_best)
    values = compared_column(runs, reranker, scores, precision)
    return values / (spread(values) or 1.0)


def _weighted_sum(weights: FloatArray, columns: Sequence[FloatArray]) -> FloatArray:
    parts = np.stack([weight * column for weight, column in zip(weights, columns, strict=True) if weight > 0])
    with np.errstate(invalid="ignore"):
        sums = parts.sum(axis=0)
    return np.where(np.isneginf(parts).any(axis=0), -np.inf, sums)


_MOST_STRETCHES = 3
"""Most leaders named in a sentence."""


def weighting_finding(values: pd.DataFrame, measure: str) -> Prose:
    """Say which reranker has the highest value at which weights, and whose value varies most."""
    if not values.notna().to_numpy().all():
        return NOTHING_SCORED
    ranges = weighting_ranges(values)
    widths = ranges["highest"] - ranges["lowest"]
    widest = str(widths.idxmax())
    low, high = (decimal(ranges.loc[widest, end]) for end in ("lowest", "highest"))
    ends = f"{low} and {high} {measure}"
    if len(ranges) == 1 and low == high:
        return Strong(widest), f" scores {low} {measure} at every weighting."
    if len(ranges) == 1:
        return Strong(widest), f" scores between {ends} over all weightings."
    depends: Prose = Strong(widest), f" varies most, between {ends}."
    if widths.max() <= LEVEL:
        depends = ("No value depends on the weights.",)
    elif low == high:
        depends = ("No value depends much on the weights.",)
    elif widths.max() - widths.min() <= LEVEL:
        depends = (f"Every value varies by {decimal(widths[widest])} {measure}.",)
    return *_leaders_sentence(values, ranges, measure), " ", *depends


def _leaders_sentence(values: pd.DataFrame, ranges: pd.DataFrame, measure: str) -> Prose:
    is_first, highest = leads(values), f"the highest {measure}"
    always = [str(name) for name in values.columns[is_first.all()]]
    if len(always) == len(ranges) == 2:  # noqa: PLR2004 both
        return (f"Both rerankers have the same {measure} at every weighting.",)
    if len(always) > 1:
        return (f"{len(always)} rerankers share {highest} at every weighting.",)
    if always:
        return Strong(always[0]), f" has {highest} at every weighting."
    if values.index.nlevels != 2 or (is_first.sum(axis=1).iloc[1:-1] > 1).any():  # noqa: PLR2004 no strip
        return _shares_sentence(ranges, len(values), highest)
    stretches = leading_stretches(values)
    if not 1 < len(span_starts(weighting_leaders(values))) == len(stretches) <= _MOST_STRETCHES:
        return _shares_sentence(ranges, len(values), highest)
    second = criterion(str(values.index.names[1]))[0]
    first, *later = stretches.to_dict("records")
    start = f" has {highest} up to a weight of {first['end']:.2g} for {second}"
    sentence: Prose = Strong(str(first["reranker"])), start
    for stretch in later:
        end = f" up to {stretch['end']:.2g}" if stretch is not later[-1] else ""
        sentence = *sentence, ", then ", Strong(str(stretch["reranker"])), end
    return *sentence, "."


def _shares_sentence(ranges: pd.DataFrame, n_weightings: int, highest: str) -> Prose:
    shares = ranges["leads"].sort_values(ascending=False, kind="stable")
    first, second = (str(name) for name in shares.index[:2])
    n_leaders = int((shares > 0).sum())
    others = "" if n_leaders == 2 else f" ({count_of(n_leaders, 'reranker')} have {highest} at some weighting)"  # noqa: PLR2004
    return (
        *(Strong(first), f" has {highest} at {percent(shares.iloc[0])} of {n_weightings} weightings, "),
        *(Strong(second), f" at {percent(shares.iloc[1])}{others}."),
    )
