"""Measures with their own rule for ties, compared with the measure that they are variants of."""

import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse, question, side_by_side
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal
from metrics.support.wording import percent


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


def answers_finding(answers: pd.DataFrame, tie_ratios: "pd.Series[float]") -> Prose:
    """Say how much rules for ties differ on one reranker at most, and whether they name the same leader."""
    answers = answers.dropna()
    if not len(answers):
        return NOTHING_SCORED
    width = answers.max(axis=1) - answers.min(axis=1)
    if width.max() <= EQUAL:
        return (Strong("All rules for ties give the same means."),)
    widest = str(width.idxmax())
    values = [f"{label} {decimal(value)}" for label, value in answers.loc[widest].items()]
    return (
        *("Rules for ties differ most for ", Strong(widest)),
        f", where on average {percent(tie_ratios[widest])} of the documents in a list tie: "
        f"{', '.join(values[:-1])} and {values[-1]}.",
        *(_leading(answers) if len(answers) > 1 else ()),
    )


def _leading(answers: pd.DataFrame) -> Prose:
    is_first = answers.ge(answers.max() - EQUAL)
    is_leader = is_first.all(axis=1)
    n_leaders = int(is_leader.sum())
    if not n_leaders:
        return (" The rules rank different rerankers first.",)
    verb = "has" if n_leaders == 1 else "have"
    lead = f"{and_more(n_leaders - 1)} {verb} the highest mean under every rule."
    return " ", Strong(str(is_leader.idxmax())), lead
