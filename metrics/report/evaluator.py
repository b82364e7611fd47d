"""The text report of the G-RAG notebook's evaluator, from exact values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class MeanLine:
    """A mean and its population standard deviation over queries, formatted."""

    name: str
    mean: str
    std: str


@dataclass(frozen=True)
class EvaluatorReport:
    """The output of the notebook's `generate_evaluation_report` for one run.

    Attributes:
        reranker: name of the run.
        figures: its row of `gap_summary`, with population standard deviations.
        traditional: traditional mean of each measure.
        tied: exact tied mean of each measure.
        own_rule: means of measures with a rule of their own for ties.
        policies: queries counted as 0 or left out.
    """

    reranker: str
    figures: Mapping[str, Any]
    traditional: tuple[MeanLine, ...]
    tied: tuple[MeanLine, ...]
    own_rule: tuple[MeanLine, ...]
    policies: tuple[str, ...]

    @property
    def gap_mean(self) -> str:
        """The mean |MRR − MTRR|, formatted."""
        return four_decimals(self.figures["RR_gap_mean"])

    @property
    def gap_max(self) -> str:
        """The largest |MRR − MTRR|, formatted."""
        return four_decimals(self.figures["RR_gap_max"])

    @property
    def recommendation(self) -> str:
        """The recommendation of the notebook."""
        if self.figures["with_ties_share"] > MANY_TIES:
            return "Use tied metrics for fair comparison"
        return "Traditional metrics sufficient"

    @property
    def effect(self) -> str:
        """The effect of ties on MRR, which the notebook's rule ignores."""
        figures, n = self.figures, int(self.figures["n"])
        if not figures["with_ties"]:
            return "No query has a tie."
        n_moved = round(figures["RR_lists_with_gap"] * n)
        if not n_moved:
            return f"Ties on {part_of(figures['with_ties'], n, 'query')}; MRR and MTRR are the same on each."
        mean, side = figures["RR_gap"], "high" if figures["RR_gap"] > 0 else "low"
        outcome = (
            f"is {decimal(abs(mean), 4)} too {side}"
            if abs(mean) > EQUAL
            else "does not change: the gaps cancel"
        )
        return f"Ties move MRR on {part_of(n_moved, n, 'query')}; its mean {outcome}."


def evaluator_reports(studies: ReportStudies) -> list[EvaluatorReport]:
    """Return the notebook's report of each reranker, with the measures of the notebook and of the options."""
    lists = studies.evaluator_lists
    measures = [parse(name.removesuffix("_gap")) for name in lists.columns if name.endswith("_gap")]
    plain, own_rule = (
        [each for each in measures if each.measure.family.own_rule is own] for own in (False, True)
    )
    return [
        EvaluatorReport(
            reranker=name,
            figures=figures,
            traditional=_mean_lines(figures, plain, "traditional"),
            tied=_mean_lines(figures, plain, "tied"),
            own_rule=_mean_lines(figures, own_rule, "tied"),
            policies=tuple(_policies(studies, name, lists[lists["reranker"] == name])),
        )
        for name, figures in gap_summary(lists, ddof=0).to_dict("index").items()
    ]


def _mean_lines(
    figures: Mapping[str, Any], measures: Sequence[MeasureAt], value: Literal["traditional", "tied"]
) -> tuple[MeanLine, ...]:
    return tuple(
        MeanLine(
            getattr(measure, value),
            four_decimals(figures[f"{measure}_{value}"]),
            four_decimals(figures[f"{measure}_{value}_std"]),
        )
        for measure in measures
    )


def _policies(studies: ReportStudies, reranker: str, lists: pd.DataFrame) -> list[str]:
    scoring = studies.options.scoring
    counts = {
        "without rows": int((lists["n_docs"] == 0).sum()),
        "without relevant documents": int(((lists["n_relevant"] == 0) & (lists["n_docs"] > 0)).sum()),
    }
    texts = [f"{n:,} of them {what}, counted as 0" for what, n in counts.items() if n]
    reasons = [
        what for what, policy in zip(counts, (scoring.missing, scoring.empty), strict=True) if policy == "skip"
    ]
    n_left_out = studies.count_left_out(reranker)
    if n_left_out:
        texts.append(f"{n_left_out:,} more left out: judged queries {' or '.join(reasons)}")
    return texts


def unusual_rules(studies: ReportStudies) -> list[str]:
    """Return a sentence for each option that is not the default."""
    options, scoring = studies.options, studies.options.scoring
    order = treatment(options.traditional)
    sentences = {
        f"Traditional: {order.label}. {order.summary} The notebook keeps file order.": order.name != "input",
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
