"""What ties and unjudged documents do to the mean of each reranker, side by side."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metrics.evaluation.evaluation import Evaluation
from metrics.evaluation.holes.bounds import BOUNDS, has_residual, is_exact, joint_bounds, residuals
from metrics.evaluation.holes.expectation import DEPTH, DRAWS, expectations_at_rate
from metrics.evaluation.holes.rates import Rate
from metrics.evaluation.options import AS_READ, ScoringOptions
from metrics.evaluation.scoring import score_runs
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy


_ALL = 10**9 - 1
"""A cut-off below every list."""


def judged_name(measure: MeasureAt) -> str:
    """Return the name of the measure that says how many documents within a measure's cut-off are judged."""
    return f"Judged@{measure.k or _ALL}"


def unjudged_counts(evaluation: Evaluation, measure: MeasureAt) -> pd.DataFrame:
    """Return how many documents within the cut-off of a measure nobody judged, all orders of ties averaged.

    Args:
        evaluation: with `judged_name` of the measure under expected, unjudged documents in their lists.
        measure: whose cut-off it is; the whole list where it has none.

    Returns:
        index (reranker, query_id); documents within the cut-off, and unjudged, how many of them.
    """
    k = measure.k or _ALL
    n_docs = np.minimum(evaluation.lists["n_docs"], k)
    n_judged = (evaluation.scores[judged_name(measure), "expected"] * k).round(6)
    return pd.DataFrame({"documents": n_docs, "unjudged": n_docs - n_judged})


def unjudged_shares(counts: pd.DataFrame) -> "pd.Series[float]":
    """Return the share of each reranker's documents that nobody judged, of `unjudged_counts`."""
    sums = counts.groupby(level="reranker", sort=False).sum()
    return sums["unjudged"] / sums["documents"].where(sums["documents"] > 0)


COLUMNS = (
    *("reranker", "measure", "tied", "worst", "best", "lowest", "highest", "is_exact"),
    *("expectation", "error", "sd_ties", "sd_holes", "is_drawn", "is_estimable", "unjudged", "residual"),
)
_TIED = {"tied": "expected", "worst": "pessimistic", "best": "optimistic"}


def hole_table(
    runs: Runs,
    measures: Sequence[str],
    options: ScoringOptions = AS_READ,
    *,
    rate: Rate = None,
    depth: int | None = DEPTH,
    draws: int = DRAWS,
    n_unlisted: int = 0,
) -> pd.DataFrame:
    """Return what ties leave open of each mean, what unjudged documents do beyond, and what is expected.

    Args:
        runs: what was ranked.
        measures: names of measures.
        options: how lists are scored; unjudged documents stay in their lists.
        rate: as of `expectations_at_rate`.
        depth: as of `expectations_at_rate`.
        draws: as of `expectations_at_rate`.
        n_unlisted: as of `joint_bounds`.

    Returns:
        a row for each reranker and measure: reranker, measure, tied, worst and best (over ties, unjudged
        documents not relevant), lowest and highest (over ties and judgments), is_exact (whether those two are
        reached), expectation, error, sd_ties, sd_holes, is_drawn, is_estimable (as of `expectations_at_rate`),
        unjudged, the share of documents within the cut-off that nobody judged, and residual (as of `residuals`;
        NaN but for RBP).

    Raises:
        UsageError: as of `joint_bounds` and `expectations_at_rate`.
    """
    parsed = {str(parse(name)): parse(name) for name in measures}
    judged = map(judged_name, parsed.values())
    bounds = joint_bounds(runs, list(parsed), options, n_unlisted=n_unlisted)
    evaluation = score_runs(runs, [*parsed, *judged], list(_TIED.values()), options)
    scores, ends = evaluation.scores, bounds.loc[evaluation.scores.index]
    by_list = {name: scores.xs(ties, axis=1, level="ties")[[*parsed]] for name, ties in _TIED.items()}
    by_list |= {bound: ends.xs(bound, axis=1, level="bound") for bound in BOUNDS}
    columns = {name: _by_reranker(values).mean() for name, values in by_list.items()}
    columns["unjudged"] = pd.DataFrame(
        {name: unjudged_shares(unjudged_counts(evaluation, measure)) for name, measure in parsed.items()}
    )
    columns["residual"] = _mean_residuals(runs, parsed.values(), options, scores.index)
    table = expectations_at_rate(runs, list(parsed), options, rate=rate, depth=depth, draws=draws)
    for name, values in columns.items():
        table[name] = values.reindex(runs.rerankers).to_numpy().ravel()
    table["is_exact"] = table["measure"].map({name: is_exact(runs, at) for name, at in parsed.items()})
    return table[list(COLUMNS)]


def _mean_residuals(
    runs: Runs, measures: Iterable[MeasureAt], options: ScoringOptions, scored: pd.Index
) -> pd.DataFrame:
    """Return the mean residual of each reranker: index reranker, columns measures, NaN where one has none."""
    columns = {
        str(at): residuals(runs, str(at), options)["residual"] if has_residual(at) else pd.Series(index=scored)
        for at in measures
    }
    return _by_reranker(pd.DataFrame(columns).reindex(scored).astype(float)).mean()


def _by_reranker(values: pd.DataFrame) -> "DataFrameGroupBy[Any]":
    return values.groupby(level="reranker", sort=False)
