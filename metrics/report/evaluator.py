"""The text report of the G-RAG notebook's evaluator, from exact values."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from metrics.evaluation import AS_READ, EQUAL
from metrics.measures import MeasureAt, parse
from metrics.report.studies import ReportStudies
from metrics.studies.gaps import gap_summary
from metrics.studies.prose import decimal
from metrics.support.wording import compared_as, part_of
from metrics.ties import treatment

MANY_TIES = 0.1
"""Largest share of queries with ties for which the notebook recommends traditional metrics."""
_SMALLEST = 0.00005
"""Smallest value visible with four decimals."""


def evaluator_reports(studies: ReportStudies) -> list[dict[str, Any]]:
    """Return what the notebook's `generate_evaluation_report` prints of each reranker.

    Each has `figures`, its row of `gap_summary` with population standard deviations, and lines: traditional and
    tied means of the measures of the notebook and of the options, means of measures with a rule of their own
    for ties, and policies for queries counted as 0 or left out.
    """
    lists = studies.evaluator_lists
    measures = [parse(name.removesuffix("_gap")) for name in lists.columns if name.endswith("_gap")]
    plain = [each for each in measures if not each.measure.family.own_rule]
    own_rule = [each for each in measures if each.measure.family.own_rule]
    return [
        {
            "reranker": name,
            "figures": figures,
            "traditional": [_mean_line(figures, measure, "traditional") for measure in plain],
            "tied": [_mean_line(figures, measure, "tied") for measure in plain],
            "own_rule": [_mean_line(figures, measure, "tied") for measure in own_rule],
            "gap_mean": four_decimals(figures["RR_gap_mean"]),
            "gap_max": four_decimals(figures["RR_gap_max"]),
            "policies": _policies(studies, name, lists[lists["reranker"] == name]),
            "has_many_ties": figures["with_ties_share"] > MANY_TIES,
            "effect": _effect(figures),
        }
        for name, figures in gap_summary(lists, ddof=0).to_dict("index").items()
    ]


def _mean_line(figures: Mapping[str, Any], measure: MeasureAt, value: Literal["traditional", "tied"]) -> str:
    """Return a mean and its population standard deviation over queries."""
    mean, std = (four_decimals(figures[f"{measure}_{value}{end}"]) for end in ("", "_std"))
    return f"{getattr(measure, value)}: {mean} (±{std})"


def _effect(figures: Mapping[str, Any]) -> str:
    """Return the effect of ties on MRR, which the notebook's rule ignores."""
    n, mean = int(figures["n"]), figures["RR_gap"]
    if not figures["with_ties"]:
        return "No query has a tie."
    n_moved = round(figures["RR_lists_with_gap"] * n)
    if not n_moved:
        tied = part_of(figures["with_ties"], n, "query")
        return f"Ties on {tied}. Traditional and tied RR are equal on every query."
    outcome = "does not change: the gaps cancel"
    if abs(mean) > EQUAL:
        outcome = f"is {decimal(abs(mean), 4)} too {'high' if mean > 0 else 'low'}"
    return f"Ties move MRR on {part_of(n_moved, n, 'query')}; its mean {outcome}."


def _policies(studies: ReportStudies, reranker: str, lists: pd.DataFrame) -> list[str]:
    scoring = studies.options.scoring
    counts = {
        "without rows": int((lists["n_docs"] == 0).sum()),
        "without relevant documents": int(((lists["n_relevant"] == 0) & (lists["n_docs"] > 0)).sum()),
    }
    policies = dict(zip(counts, (scoring.missing, scoring.empty), strict=True))
    texts = [f"{n:,} of them {what}, counted as {policies[what] == 'one':d}" for what, n in counts.items() if n]
    reasons = [what for what, policy in policies.items() if policy == "skip"]
    n_left_out = studies.count_left_out(reranker)
    if n_left_out:
        texts.append(f"{n_left_out:,} more left out: judged queries {' or '.join(reasons)}")
    return texts


def unusual_rules(studies: ReportStudies) -> list[str]:
    """Return a sentence for each option that is not the default."""
    options, scoring = studies.options, studies.options.scoring
    order = treatment(options.traditional)
    sentences = {
        f"Traditional: {order.label}. {order.summary} The notebook, in contrast, uses file order.": order.name
        != "input",
        f"Relevant: grade {scoring.relevant_from:g} and above.": scoring.relevant_from != AS_READ.relevant_from,
        f"Scores are compared as {compared_as(scoring.precision)}.": scoring.precision != AS_READ.precision,
        f"Documents are ranked by Pareto fronts of {', '.join(scoring.criteria)}.": bool(scoring.criteria),
        f"Ties are broken first by {', '.join(scoring.tiebreak_by)}.": bool(scoring.tiebreak_by),
        "Unjudged documents are left out of the lists.": scoring.unjudged == "leave_out",
        f"Only queries of {', '.join(options.segments)}.": bool(options.segments),
    }
    return [sentence for sentence, is_unusual in sentences.items() if is_unusual]


def four_decimals(value: float) -> str:
    """Format with four decimals like the notebook; a smaller value keeps two significant digits."""
    return f"{value:.4f}" if value == 0 or abs(value) >= _SMALLEST else decimal(value, 4)
