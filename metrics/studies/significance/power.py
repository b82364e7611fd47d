"""How small a difference could be found at all."""

import numpy as np
from statsmodels.stats.power import TTestPower

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.significance.comparisons import baseline_pairs, values_by_query


def detectable(
    evaluation: Evaluation,
    measure: str,
    ties: str,
    baseline: str,
    level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Return the smallest mean difference from the baseline, in the measure's unit, that a paired t-test finds.

    d sd, where d is the effect size found with that power at 1 - level, two-sided and uncorrected, for the
    median number of common queries, and sd the median standard deviation of differences over the other
    rerankers with two common queries or more. Infinite where there is none; 0 where differences do not vary.

    Args:
        evaluation: with `measure` under `ties`.
        measure: name of a measure.
        ties: name of a treatment.
        baseline: whom the others are compared with.
        level: of the test.
        power: chance to find a difference of that size.

    Raises:
        UsageError: a name that is not there, or a level or power that cannot be.

    Source: Cohen, Statistical Power Analysis, 1988, chapter 2; for rankings: Sakai, Information Retrieval
    Journal 19(3), 2016.
    """
    if not 0 < 1 - level < power < 1:
        raise UsageError(f"level={level}, power={power}: power lies above 1 - level, and both between 0 and 1.")
    table = values_by_query(evaluation, measure, ties)
    pairs = baseline_pairs([str(name) for name in table.columns], baseline)
    differences = [(table.iloc[:, other] - table.iloc[:, one]).dropna() for one, other in pairs]
    spreads = [(len(one), one.std()) for one in differences if len(one) > 1]
    if not spreads:
        return float("inf")
    n, spread = np.median(spreads, axis=0)
    if spread <= EQUAL:
        return 0.0
    return float(spread * np.squeeze(TTestPower().solve_power(nobs=n, alpha=1 - level, power=power)))
