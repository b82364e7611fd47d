"""The text report of the G-RAG notebook's evaluator, from exact values."""

from collections.abc import Mapping
from typing import Any, Literal

from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt, parse
from metrics.report.studies import ReportStudies
from metrics.studies.gaps import gap_summary
from metrics.studies.prose import decimal
from metrics.support.wording import part_of

MANY_TIES = 0.1
"""Largest share of queries with ties for which the notebook recommends traditional metrics."""
_SMALLEST = 0.00005
"""Smallest value visible with four decimals."""


def evaluator_reports(studies: ReportStudies) -> list[dict[str, Any]]:
    """Return what the notebook's `generate_evaluation_report` prints of each reranker.

    Each has `figures`, its row of `gap_summary` with population standard deviations, and lines: traditional and
    tied means of the measures of the notebook and of the options, and means of measures with a rule of their
    own for ties.
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
    n_moved = round(figures["RR_lists_with_gap"] * n)
    if not n_moved:
        return f"Ties on {part_of(figures['with_ties'], n, 'query')} move no value of MRR."
    outcome = "does not change: the gaps cancel"
    if abs(mean) > EQUAL:
        outcome = f"is {decimal(abs(mean), 4)} too {'high' if mean > 0 else 'low'}"
    return f"Ties move MRR on {part_of(n_moved, n, 'query')}; its mean {outcome}."


def four_decimals(value: float) -> str:
    """Format with four decimals like the notebook; a smaller value keeps two significant digits."""
    return f"{value:.4f}" if value == 0 or abs(value) >= _SMALLEST else decimal(value, 4)
