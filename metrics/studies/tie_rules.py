"""Measures that settle ties by a rule of their own, beside the measure whose ties they settle."""

from collections.abc import Collection

import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import parse, question, side_by_side
from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, and_more, decimal, not_drawn
from metrics.support.wording import percent

_NO_LEADER = " They do not name one leader."


def own_rule_note(measure: str) -> Prose:
    """Say that a measure settles ties by its own rule, and which to choose instead; nothing of others."""
    measure_at = parse(measure)
    if not measure_at.measure.answers:
        return ()
    answered = question(measure_at)
    return (
        Strong(f"{measure_at} settles ties by its own rule. "),
        "No treatment applies to it; what the order of ties decides is seen in "
        f"{answered}, whose ties it settles. ",
    )


def tie_answers(evaluation: Evaluation, measure: str, traditional: str) -> pd.DataFrame:
    """Put the means of a measure beside those that settle its ties by rules of their own.

    Returns:
        index reranker, best tied mean first; a column for each, named as the mean is: MRR, MTRR, taRR, TsRR ...
    """
    answered, *rules = side_by_side(parse(measure))
    means = evaluation.means(str(answered))
    columns = {answered.traditional: means[traditional], answered.tied: means["expected"]}
    columns |= {str(rule): evaluation.means(str(rule))["expected"] for rule in rules}
    return pd.DataFrame(columns).sort_values(answered.tied, ascending=False, kind="stable")


def answers_finding(
    answers: pd.DataFrame, tie_ratios: "pd.Series[float]", drawn_rerankers: Collection[str] | None = None
) -> Prose:
    """Say how far apart the answers to the same ties are, and whether they name one leader."""
    answers = answers.dropna()
    if not len(answers):
        return NOTHING_SCORED
    width = answers.max(axis=1) - answers.min(axis=1)
    if width.max() <= EQUAL:
        return (Strong("One value by every rule: "), "no rule for ties moves a mean here.")
    widest = str(width.idxmax())
    values = [f"{label} {decimal(value)}" for label, value in answers.loc[widest].items()]
    return (
        "The same lists of ",
        Strong(widest),
        *not_drawn(widest, drawn_rerankers),
        f", {percent(tie_ratios[widest])} of a list tied on average: "
        f"{', '.join(values[:-1])} and {values[-1]}.",
        *(_leading(answers) if len(answers) > 1 else ()),
    )


def _leading(answers: pd.DataFrame) -> Prose:
    is_first = answers.ge(answers.max() - EQUAL)
    is_leader = is_first.all(axis=1)
    n_leaders, n_rules = int(is_leader.sum()), len(answers.columns)
    if not n_leaders:
        return (_NO_LEADER,)
    if n_leaders == len(answers):
        return (" All rerankers are level by each.",)
    n_ahead, is_alone = int((is_first.sum() == n_leaders).sum()), n_leaders == 1
    verb, level = ("leads", "") if is_alone else ("lead", ", level")
    if n_ahead == n_rules:
        lead = f"{verb} by each{level}"
    elif n_ahead:
        lead = f"{verb} by {n_ahead} of {n_rules}{level}; by the others, more are level at the top"
    else:
        lead = f"{'is' if is_alone else 'are'} first by each, and others with {'it' if is_alone else 'them'}"
    return (" ", Strong(str(is_leader.idxmax())), f"{and_more(n_leaders - 1)} {lead}.")
