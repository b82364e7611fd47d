"""Targets of rerankers, and whether they are met in every order of ties."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, parse
from metrics.studies.gaps import in_order
from metrics.studies.prose import Prose, Strong
from metrics.support.wording import first_names, part_of

_BM25 = re.compile(r"(?<![a-z0-9])bm[ _-]?25(?![a-z0-9])", re.IGNORECASE)
"""BM25 as a word: in `bm25-rm3` and `run.BM25`, not in `bm256`."""


def usual_baseline(names: Sequence[str]) -> str:
    """Return the shortest name that contains BM25, else the first name."""
    return min((name for name in names if _BM25.search(name)), key=len, default=names[0])


Verdict = Literal["met", "met on average", "sort order only", "missed", "not scored"]

VERDICTS: dict[Verdict, str] = {
    "met": "Every tie order meets the target.",
    "met on average": "The tied score meets the target, but some tie orders do not.",
    "sort order only": "The traditional score meets the target, but the tied score does not.",
    "missed": "Neither the traditional nor the tied score meets the target.",
    "not scored": "No list is scored, or none for a query of the baseline.",
}
"""Verdict → its meaning."""

PRESETS = {
    "retrieval": (
        *("P@3>0.80", "P@5>0.70", "P@10>0.60", "R@5>0.70", "R@10>0.90", "R@20>0.95"),
        *("F1@5>0.70", "RR>0.8", "RR>0.9", "nDCG@5>0.85", "nDCG@10>0.80", "Hits@10>0.95"),
    )
}
"""Common targets, by name."""

_FORM = re.compile(
    r"\s*((?:tied\s)?[^<>=\s]+)\s*(>=|<=|>|<)\s*(baseline)?\s*([+-]?\s*[\d.]+(?:e-?\d+)?)?\s*", re.IGNORECASE
)
_LONGEST = 200
"""Most letters of a target."""


@dataclass(frozen=True)
class Target:
    """A bound that a measure must exceed or stay below.

    Attributes:
        sign: `>`, `>=`, `<` or `<=`.
        number: bound, or the number added to the baseline's mean.
        relative: whether the bound is relative to the baseline.
    """

    measure: MeasureAt
    sign: str
    number: float
    relative: bool = False

    @classmethod
    def of(cls, text: str) -> "Target":
        """Parse a target such as `MTRR>=0.8` or `nDCG@10>=baseline-0.01`; raise UsageError if it is not one."""
        match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
        if match is None or not (match[3] or match[4]):
            raise UsageError(f"{text[:60]!r} is not a target. Write MTRR>=0.8 or nDCG@10>=baseline-0.01.")
        number = (match[4] or "0").replace(" ", "")
        if match[3] and match[4] and number[0] not in "+-":
            raise UsageError(f"{text[:60]!r}: write baseline+N or baseline-N.")
        try:
            bound = float(number)
        except ValueError as error:
            raise UsageError(f"{text[:60]!r}: {number} is not a number.") from error
        return cls(parse(match[1]), match[2], bound, bool(match[3]))

    def __str__(self) -> str:
        bound = f"{self.number:g}"
        if self.relative:
            bound = "baseline" + (f"{self.number:+g}" if self.number else "")
        return f"{self.measure} {self.sign} {bound}"

    def meets(self, value: float, bound: float) -> bool:
        """Return whether a mean meets a bound, without rounding errors."""
        off = value - bound if self.sign[0] == ">" else bound - value
        return off >= -EQUAL if self.sign.endswith("=") else off > EQUAL


def targets_of(texts: Iterable[str], presets: Iterable[str] = ()) -> list[Target]:
    """Parse targets and add those of presets; raise UsageError without any, or for an unknown one."""
    all_texts = list(texts)
    for name in presets:
        if name not in PRESETS:
            raise UsageError(f"{name!r} is not a preset. Presets: {', '.join(PRESETS)}.")
        all_texts += PRESETS[name]
    if not all_texts:
        raise UsageError("Give at least one target, such as MTRR>=0.8.")
    return list(dict.fromkeys(Target.of(text) for text in all_texts))


def check_targets(
    evaluation: Evaluation, targets: Sequence[Target], traditional: str = "input", baseline: str | None = None
) -> pd.DataFrame:
    """Return whether each reranker meets each target by its tied score.

    Relative targets do not apply to the baseline itself, and compare means over the queries that a reranker
    shares with it.

    Returns:
        one row per reranker and target: reranker, target, measure (its name), tied, traditional, worst, best
        (means), bound, passed, passed_traditional (by the traditional score), verdict, missed_by (0 if passed).
    """
    names = evaluation.policies.index
    if baseline is not None and baseline not in names:
        raise UsageError(f"There is no reranker {baseline!r}. Rerankers: {', '.join(map(str, names))}.")
    rows = []
    for target in targets:
        if target.relative and baseline is None:
            raise UsageError(f"{target} needs a baseline. Name one: --baseline NAME.")
        table, bases = _means_and_bases(evaluation, target, baseline)
        for name, row in table.iterrows():
            base, tied, before = bases.loc[name], row["expected"], row[traditional]
            bound = base["expected"] + target.number
            passed = target.meets(tied, bound)
            passed_traditional = target.meets(before, base[traditional] + target.number)
            means = (tied, before, row["pessimistic"], row["optimistic"])
            verdict = _verdict(target, row, base, passed=passed, passed_traditional=passed_traditional)
            missed_by = 0.0 if passed else abs(bound - tied)
            outcome = (bound, passed, passed_traditional, verdict, missed_by)
            rows.append((str(name), str(target), target.measure.tied, *means, *outcome))
    return in_order(pd.DataFrame(rows, columns=_COLUMNS), names)


_COLUMNS = (
    *("reranker", "target", "measure", "tied", "traditional", "worst", "best"),
    *("bound", "passed", "passed_traditional", "verdict", "missed_by"),
)


def _means_and_bases(
    evaluation: Evaluation, target: Target, baseline: str | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return means and what the target's number is added to; relative: on queries shared with the baseline."""
    if not target.relative:
        table = evaluation.means(str(target.measure))
        return table, pd.DataFrame(0.0, table.index, table.columns)
    scores = evaluation.scores[str(target.measure)]
    base = scores[scores.index.get_level_values("reranker") == baseline].droplevel("reranker")
    base = base.reindex(scores.index, level="query_id")
    names = evaluation.policies.index.drop(baseline)
    table, bases = (
        values.groupby(level="reranker", sort=False).mean().reindex(names)
        for values in (scores.where(base.notna()), base.where(scores.notna()))
    )
    return table, bases


def _verdict(
    target: Target, row: "pd.Series[float]", base: "pd.Series[float]", *, passed: bool, passed_traditional: bool
) -> Verdict:
    if pd.isna(row["expected"]):
        return "not scored"
    if not passed:
        return "sort order only" if passed_traditional else "missed"
    low, high = ("pessimistic", "optimistic") if target.sign[0] == ">" else ("optimistic", "pessimistic")
    return "met" if target.meets(row[low], base[high] + target.number) else "met on average"


MOST_NAMED = 5
"""Most measures named in a sentence."""


class TargetSummary(NamedTuple):
    """The number of targets of one reranker, and how many are met.

    Attributes:
        targets: number of targets.
        tied: number met by the tied score.
        traditional: number met by the traditional score.
        always: number met in every order of ties.
        by_sort: measures whose target only the traditional score meets.
    """

    targets: int
    tied: int
    traditional: int
    always: int
    by_sort: tuple[str, ...]


def target_summary(rows: pd.DataFrame) -> TargetSummary:
    """Count the targets that one reranker meets by tied and by traditional scores."""
    sort_only = rows.loc[rows["verdict"] == "sort order only", "target"]
    met = (rows["passed"], rows["passed_traditional"], rows["verdict"] == "met")
    tied, traditional, always = (int(is_met.sum()) for is_met in met)
    measures = tuple(str(target).split(" ", 1)[0] for target in sort_only)
    return TargetSummary(len(rows), tied, traditional, always, measures)


def target_finding(rows: pd.DataFrame, reranker: str) -> Prose:
    """Say how many targets one reranker meets by traditional and by tied scores."""
    summary = target_summary(rows)
    if not summary.targets:
        return ("No target is set for ", Strong(reranker), ".")
    only_traditional = ""
    if names := summary.by_sort:
        noun = "targets" if len(names) > 1 else "target"
        only_traditional = f" Only traditional scores meet the {noun} for {first_names(names, MOST_NAMED)}."
    met = part_of(summary.tied, summary.targets, "target")
    return (
        *(Strong(reranker), f" meets {met} with ties averaged, {summary.always} of them in every tie order, "),
        f"and {summary.traditional} by traditional scores.{only_traditional}",
    )
