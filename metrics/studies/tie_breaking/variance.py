"""How much of the uncertainty of a difference is queries, and how much is ties."""

import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.studies.tie_breaking.mean_distributions import list_values


def variance_split(evaluation: Evaluation, measure: str, baseline: str) -> pd.DataFrame:
    """Return the variance of each reranker's mean difference from a baseline, by where it comes from.

    Draw n queries, then break the ties of both lists of each. With D the mean difference that comes out, d
    the expected difference of a query over its ties and t² the variance of its difference, by the law of
    total variance

        Var(D) = Var(E[D | queries]) + E[Var(D | queries)] = Var(d) / n + E[t²] / n.

    Lists are broken independently, so t² is the sum of both lists' variances (`std` squared), and E[t²] / n
    is estimated by sum t² / n². The d are exact expectations without noise from ties, so their sample
    variance, over n − 1, estimates Var(d) without bias and needs no correction. Of values of one strict
    order it would not: it estimates Var(d) + E[t²], and ties would be counted as queries.

    Args:
        evaluation: with the measure under expected, optimistic, pessimistic and std.
        measure: name of a measure.
        baseline: whom the others are compared with.

    Returns:
        index reranker, the baseline left out, in order; difference (of tied means, over the n queries both
        have), queries and ties (variances, in squares of the measure's unit), share_ties
        (ties / (queries + ties), 0 where both are 0). NaN where n = 0; queries and share_ties NaN where
        n = 1: one query says nothing of their variance.

    Raises:
        UsageError: the baseline is not there, or the evaluation lacks the measure or a treatment.
    """
    if baseline not in evaluation.policies.index:
        raise UsageError(f"There is no reranker {baseline!r} to compare with.")
    wide, names = list_values(evaluation, measure).unstack("reranker"), evaluation.policies.index  # noqa: PD010
    expected, std = (wide[how].reindex(columns=names) for how in ("expected", "std"))
    difference = expected.drop(columns=baseline).sub(expected[baseline], axis=0)
    variance = std.drop(columns=baseline).pow(2).add(std[baseline].pow(2), axis=0).where(difference.notna())
    n = difference.count()
    queries, ties = difference.var(ddof=1) / n, variance.sum(min_count=1) / n**2
    share = (ties / (queries + ties)).mask(queries + ties == 0, 0.0)
    parts = {"difference": difference.mean(), "queries": queries, "ties": ties, "share_ties": share}
    return pd.DataFrame(parts).rename_axis("reranker")
