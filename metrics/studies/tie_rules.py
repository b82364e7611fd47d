"""Measures with their own rule for ties, compared with the measure that they are variants of."""

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.measures import parse, question, side_by_side
from metrics.studies.prose import Prose, Strong


def own_rule_note(measure: str) -> Prose:
    """Say that a measure has its own rule for ties, and which one shows tie orders; empty for others."""
    measure_at = parse(measure)
    if not measure_at.measure.answers:
        return ()
    answered = question(measure_at)
    return (
        Strong(f"{measure_at} settles ties by its own rule. "),
        f"Tie order does not change it. Choose {answered} to see the effect of tie order. ",
    )


def tie_answers(evaluation: Evaluation, measure: str, traditional: str) -> pd.DataFrame:
    """Return the traditional and tied means of a measure and the means of its variants with own rules for ties.

    Returns:
        index reranker, best tied mean first; one column per mean, such as MRR, MTRR, taRR, TsRR.
    """
    answered, *rules = side_by_side(parse(measure))
    means = evaluation.means(str(answered))
    columns = {answered.traditional: means[traditional], answered.tied: means["expected"]}
    columns |= {str(rule): evaluation.means(str(rule))["expected"] for rule in rules}
    return pd.DataFrame(columns).sort_values(answered.tied, ascending=False, kind="stable")
