"""How small a difference could be found at all."""

from math import comb

import numpy as np
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.significance.comparisons import baseline_pairs
from metrics.studies.significance.query_values import agreeing_signs, alpha, values_by_query
from metrics.support.arrays import FloatArray

with needs("stats"):
    from statsmodels.stats.power import TTestIndPower, TTestPower


def detectable(
    evaluation: Evaluation,
    measure: str,
    ties: str,
    baseline: str,
    level: float = 0.95,
    power: float = 0.8,
    *,
    paired: bool = True,
) -> float:
    """Return the smallest mean difference from the baseline, in the measure's unit, that a t-test finds.

    d sd, where d is the effect size found with that power at 1 - level, two-sided and uncorrected, and numbers
    of queries and sd are medians over the other rerankers that can be tested. Paired: common queries, and the
    standard deviation of differences. Unpaired: each one's own queries, and the pooled standard deviation of
    values. Infinite where there is none, 0 where nothing varies and a
    difference of any size would be significant.

    Args:
        evaluation: with `measure` under `ties`.
        measure: name of a measure.
        ties: name of a treatment.
        baseline: whom the others are compared with.
        level: of the test.
        power: chance to find a difference of that size.
        paired: whether the test is on common queries.

    Raises:
        UsageError: a name that is not there, or a level or power that cannot be.

    Source: Cohen, Statistical Power Analysis, 1988, chapter 2; for rankings: Sakai, Information Retrieval
    Journal 19(3), 2016.
    """
    if not 0 < 1 - level < power < 1:
        raise UsageError(f"level={level}, power={power}: power lies above 1 - level, and both between 0 and 1.")
    samples = _samples(values_by_query(evaluation, measure, ties), baseline, paired=paired)
    spreads = [(*map(len, values), _pooled_std(values)) for values in samples if min(map(len, values)) > 1]
    if not spreads:
        return float("inf")
    *sizes, spread = np.median(spreads, axis=0)
    if spread <= EQUAL:
        smallest_p = agreeing_signs(int(sizes[0])) if paired else 2 / comb(int(sum(sizes)), int(sizes[0]))
        return 0.0 if smallest_p < alpha(level) else float("inf")
    chances = {"alpha": 1 - level, "power": power}
    if paired:
        effect = TTestPower().solve_power(nobs=sizes[0], **chances)
    else:
        effect = TTestIndPower().solve_power(nobs1=sizes[0], ratio=sizes[1] / sizes[0], **chances)
    return float(spread * np.squeeze(effect))


def _samples(table: pd.DataFrame, baseline: str, *, paired: bool) -> list[list[FloatArray]]:
    """Return for each other reranker its differences from the baseline, or its values and the baseline's."""
    pairs = baseline_pairs([str(name) for name in table.columns], baseline)
    columns = [(table.iloc[:, other], table.iloc[:, base]) for base, other in pairs]
    compared = [[ours - theirs] if paired else [ours, theirs] for ours, theirs in columns]
    return [[values.dropna().to_numpy() for values in parts] for parts in compared]


def _pooled_std(samples: list[FloatArray]) -> float:
    """Return the standard deviation of values from the mean of their sample."""
    squares = sum(values.var() * len(values) for values in samples)
    return float(np.sqrt(squares / sum(len(values) - 1 for values in samples)))
