"""Targets: what a reranker has to reach, and whether it does by every order its ties allow."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import EQUAL, Evaluation
from metrics.measures import MeasureAt, parse
from metrics.studies.gaps import in_order
from metrics.studies.prose import Prose, Strong, and_more
from metrics.support.wording import count_of, part_of

_BM25 = re.compile(r"(?<![a-z0-9])bm[ _-]?25(?![a-z0-9])", re.IGNORECASE)
"""BM25 as a word of its own: in `bm25-rm3` and `run.BM25`, not in `bm256`."""


def usual_baseline(names: Sequence[str]) -> str:
    """Return the reranker that is BM25, by its name; the first where none is.

    Of several whose names have BM25 in them, the shortest: `bm25` rather than `bm25-top100-monot5`.
    """
    return min((name for name in names if _BM25.search(name)), key=len, default=names[0])


Verdict = Literal["met", "met on average", "sort order only", "missed", "not scored"]

VERDICTS: dict[Verdict, str] = {
    "met": "Every order the ties allow meets it.",
    "met on average": "The mean over all orders meets it, some order does not.",
    "sort order only": "The traditional value meets it, the mean over all orders does not.",
    "missed": "Neither the traditional value nor the mean over all orders meets it.",
    "not scored": "Every query was left out.",
}
"""What each verdict means."""

PRESETS = {
    "retrieval": (
        *("P@3>0.80", "P@5>0.70", "P@10>0.60", "R@5>0.70", "R@10>0.90", "R@20>0.95"),
        *("F1@5>0.70", "RR>0.8", "nDCG@5>0.85", "nDCG@10>0.80", "Hits@10>0.95"),
    ),
}
"""Targets often set for retrieval, by name."""

_FORM = re.compile(
    r"\s*((?:tied\s)?[^<>=\s]+)\s*(>=|<=|>|<)\s*(baseline)?\s*([+-]?\s*[\d.]+(?:e-?\d+)?)?\s*", re.IGNORECASE
)
_LONGEST = 200
"""Letters of a target."""


@dataclass(frozen=True)
class Target:
    """One target: a measure that has to be above or below a bound.

    Attributes:
        measure: what is measured.
        sign: how the mean compares with the bound.
        number: the bound, or what is added to the baseline's mean for it.
        relative: whether the bound is relative to the baseline.
    """

    measure: MeasureAt
    sign: str
    number: float
    relative: bool = False

    @classmethod
    def of(cls, text: str) -> "Target":
        """Return the target a text means, `MTRR>=0.8` or `nDCG@10>=baseline-0.01`; UsageError where none."""
        match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
        if match is None or not (match[3] or match[4]):
            raise UsageError(f"{text[:60]!r} is no target. Write MTRR>=0.8 or nDCG@10>=baseline-0.01.")
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
        """Return whether a mean meets a bound; a difference by rounding is none."""
        off = value - bound if self.sign[0] == ">" else bound - value
        return off >= -EQUAL if self.sign.endswith("=") else off > EQUAL


def targets_of(texts: Iterable[str], presets: Iterable[str] = ()) -> list[Target]:
    """Return targets written out, and those of presets; UsageError where there is none, or one is unknown."""
    all_texts = list(texts)
    for name in presets:
        if name not in PRESETS:
            raise UsageError(f"There is no preset {name!r}. Presets: {', '.join(PRESETS)}.")
        all_texts += PRESETS[name]
    if not all_texts:
        raise UsageError("Give at least one target, such as MTRR>=0.8.")
    return list(dict.fromkeys(Target.of(text) for text in all_texts))


def check_targets(
    evaluation: Evaluation,
    targets: Sequence[Target],
    traditional: str = "input",
    baseline: str | None = None,
    decided_by: str = "expected",
) -> pd.DataFrame:
    """Return whether each reranker reaches each target.

    Returns:
        one row a reranker and target: reranker, target, measure (its name by `decided_by`), value (its mean),
        tied, traditional, worst, best (means), bound, passed, verdict, missed_by (0 where passed).
    """
    names = evaluation.policies.index
    if baseline is not None and baseline not in names:
        raise UsageError(f"There is no reranker {baseline!r}. Rerankers: {', '.join(map(str, names))}.")
    rows = []
    for target in targets:
        if target.relative and baseline is None:
            raise UsageError(f"{target} needs a baseline. Say which reranker it is (--baseline NAME).")
        table = evaluation.means(str(target.measure))
        rerankers = table.drop(index=baseline) if target.relative else table
        base = table.loc[baseline] if target.relative else 0 * table.iloc[0].fillna(0)
        rows += [
            _row(str(name), target, row, base, traditional, decided_by) for name, row in rerankers.iterrows()
        ]
    return in_order(pd.DataFrame(rows, columns=_COLUMNS), names)


_COLUMNS = (
    *("reranker", "target", "measure", "value", "tied", "traditional", "worst", "best"),
    *("bound", "passed", "verdict", "missed_by"),
)


def _row(
    name: str,
    target: Target,
    row: "pd.Series[float]",
    base: "pd.Series[float]",
    traditional: str,
    decided_by: str,
) -> tuple[object, ...]:
    bound = base[decided_by] + target.number
    passed = target.meets(row[decided_by], bound)
    spelled = (
        target.measure.tied if decided_by == "expected" else f"{target.measure.traditional} ({decided_by})"
    )
    missed = 0.0 if passed else abs(bound - row[decided_by])
    verdict = _verdict(target, row, base, traditional)
    means = (row["expected"], row[traditional], row["pessimistic"], row["optimistic"])
    return name, str(target), spelled, row[decided_by], *means, bound, passed, verdict, missed


def _verdict(target: Target, row: "pd.Series[float]", base: "pd.Series[float]", traditional: str) -> Verdict:
    if pd.isna(row["expected"]):
        return "not scored"
    low, high = ("pessimistic", "optimistic") if target.sign[0] == ">" else ("optimistic", "pessimistic")
    if not target.meets(row["expected"], base["expected"] + target.number):
        by_sort = target.meets(row[traditional], base[traditional] + target.number)
        return "sort order only" if by_sort else "missed"
    return "met" if target.meets(row[low], base[high] + target.number) else "met on average"


MOST_NAMED = 5
"""Measures named in a sentence at most."""


class TargetSummary(NamedTuple):
    """The number of targets of one reranker, and how many of them are met.

    Attributes:
        targets: how many there are.
        tied: met by the mean over all orders.
        traditional: met by the traditional value.
        always: met by every order.
        by_sort: measures whose target only the traditional value meets.
    """

    targets: int
    tied: int
    traditional: int
    always: int
    by_sort: tuple[str, ...]


def target_summary(rows: pd.DataFrame) -> TargetSummary:
    """Count the targets that one reranker reaches, by its tied and its traditional values (`by_sort`)."""
    sort_only = rows.loc[rows["verdict"] == "sort order only", "target"]
    return TargetSummary(
        len(rows),
        int(rows["passed"].sum()),
        int(rows["by_sort"].sum()),
        int((rows["verdict"] == "met").sum()),
        tuple(str(target).split(" ", 1)[0] for target in sort_only),
    )


def target_finding(rows: pd.DataFrame, reranker: str) -> Prose:
    """Say how many targets one reranker meets, by its traditional values and with ties averaged."""
    summary = target_summary(rows)
    if not summary.targets:
        return ("No target is set for ", Strong(reranker), ".")
    if summary.tied == summary.traditional and not summary.by_sort:
        if not summary.tied:
            return Strong(
                reranker
            ), f" meets none of {count_of(summary.targets, 'target')}, sorted or averaged."
        always = "" if summary.always == summary.tied else f"{summary.always} of them "
        part_met = part_of(summary.tied, summary.targets, "target")
        return Strong(reranker), f" meets {part_met}, {always}in every order of its ties."
    return (
        Strong(reranker),
        f" meets {part_of(summary.traditional, summary.targets, 'target')} by its traditional values and ",
        Strong(str(summary.tied)),
        " once ties are averaged.",
        _by_sort_sentence(summary.by_sort),
    )


def _by_sort_sentence(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    verb = "pass" if len(names) > 1 else "passes"
    first_names = ", ".join(names[:MOST_NAMED]) + and_more(len(names) - MOST_NAMED)
    return f" {first_names} {verb} only by the traditional order."
