"""Is a difference larger than chance, and would the verdict survive another order of the ties?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.studies.prose import Prose, Strong, chance, signed
from metrics.studies.significance.comparisons import (
    COLUMNS,
    counted,
    not_numbers,
    notes,
    pairs_of,
    questions,
    stars,
    values_by_query,
)
from metrics.studies.significance.test_registry import corrected, find_correction, find_test, significant

TOLD = 2
"""Verdicts that are told of."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The same comparisons by tied and by traditional values, rows in the same order.

    Attributes:
        tied: as `compare` returns it, ties averaged.
        traditional: as `compare` returns it, by the traditional treatment.
        changed: (n_rows,) whether one is significant and the other is not, or both are, with opposite signs.
        how: the traditional treatment.
        level: of the intervals; a verdict is significant where the adjusted p is below 1 - level.
    """

    tied: pd.DataFrame
    traditional: pd.DataFrame
    changed: "pd.Series[bool]"
    how: str = "input"
    level: float = 0.95

    def best_first(self) -> "Verdicts":
        """The same comparisons by falling tied difference."""
        order = self.tied["difference"].sort_values(ascending=False, kind="stable").index
        tied, traditional, changed = (
            rows.loc[order].reset_index(drop=True) for rows in (self.tied, self.traditional, self.changed)
        )
        return replace(self, tied=tied, traditional=traditional, changed=changed)


def compare(
    evaluation: Evaluation,
    measure: str,
    ties: str,
    baselines: Sequence[str] | str | None = None,
    test: str = "t",
    correction: str = "holm",
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Test the difference of rerankers, pair by pair; differences are reranker − baseline.

    Args:
        evaluation: with `measure` under `ties`.
        measure: name of a measure, as the evaluation has it.
        ties: name of a treatment, as the evaluation has it.
        baselines: every other reranker is compared with each of these, a pair of two of them once, under
            the first named; None for all pairs, each once.
        test: name of a test (`metrics.studies.significance.test_registry.TESTS`).
        correction: name of a correction (`CORRECTIONS`), over exactly the rows; none on top of Tukey.
        level: of the intervals, which hold one by one (Tukey's: together).
        seed: of randomisation and bootstrap; the same seed gives the same table.

    Returns:
        one row a comparison, rerankers in the order of the evaluation; no value is missing. baseline, reranker;
        n: queries both have (Tukey: all have; unpaired: the reranker's, `note` says the baseline's);
        mean_baseline, mean, difference, low, high: over those, in the measure's unit, 0 where there is none;
        p, p_adjusted, stars (*** < 0.001, ** < 0.01, * < 0.05, else ns, of p_adjusted);
        dz: mean / standard deviation of the differences (Cohen 1988, section 2.3.5), 0 where nothing
        differs, infinite where all differ by the same; unpaired: Cohen's d, by the pooled standard deviation;
        superiority: chance that the reranker beats the baseline on a query, equal ones half (unpaired: any list
        against any of the other, U / (n m), Vargha & Delaney 2000); 0.5 where no query can tell;
        won, equal, lost: common queries, by rounding differences equal; note: what else has to be known.

    Raises:
        UsageError: a name that is not there, or a level outside (0, 1).
    """
    asked, how = find_test(test), find_correction(correction)
    if not 0 < level < 1:
        raise UsageError(f"level={level}: it lies between 0 and 1, such as 0.95.")
    table = values_by_query(evaluation, measure, ties)
    names = [str(name) for name in table.columns]
    pairs = pairs_of(names, baselines)
    comparisons = len(pairs) if how.method else 1
    rows: list[Mapping[str, float | str]] = [{}] * len(pairs)
    p = np.ones(len(pairs))
    for places, question in questions(table.to_numpy(), pairs, asked, level, seed, comparisons):
        answers = asked.function(question)
        for at, pair, answer in zip(places, question.pairs, answers, strict=True):
            p[at] = answer.p
            rows[at] = counted(question, pair, asked) | answer._asdict()
    adjusted = p if asked.simultaneous else corrected(p, how)
    found = pd.DataFrame(rows, columns=list(COLUMNS))
    found["baseline"], found["reranker"] = ([names[pair[side]] for pair in pairs] for side in (0, 1))
    found["p_adjusted"], found["stars"] = adjusted, [stars(one) for one in adjusted]
    found["note"] = notes(found, asked, table.notna().sum(), not_numbers(evaluation, measure, ties))
    return found.astype(COLUMNS)


def verdicts(
    evaluation: Evaluation,
    measure: str,
    traditional: str,
    baselines: Sequence[str] | str | None = None,
    test: str = "t",
    correction: str = "holm",
    level: float = 0.95,
    seed: int = 0,
) -> Verdicts:
    """The same comparisons with ties averaged and by a traditional treatment, and which verdicts differ.

    Args:
        evaluation: with `measure` under expected and `traditional`.
        measure: name of a measure.
        traditional: the treatment taken as the traditional one.
        baselines: as for `compare`, like all that follow.
        test: name of a test.
        correction: name of a correction.
        level: of the intervals and of the verdicts.
        seed: of what is drawn.

    Raises:
        UsageError: as `compare`.
    """
    tied, before = (
        compare(evaluation, measure, how, baselines, test, correction, level, seed)
        for how in ("expected", traditional)
    )
    return Verdicts(tied, before, changed(tied, before, level), traditional, level)


def changed(tied: pd.DataFrame, traditional: pd.DataFrame, level: float = 0.95) -> "pd.Series[bool]":
    """(n_rows,) whether just one of two is significant at 1 - level, or both with opposite signs."""
    signs = [
        np.sign(rows["difference"]).where(significant(rows["p_adjusted"].to_numpy(), level), 0.0)
        for rows in (tied, traditional)
    ]
    return (signs[0] != signs[1]).rename("changed")


def significance_finding(found: Verdicts, measure: str, test: str) -> Prose:
    """How many verdicts the order of the ties decides, and what became of those it moves most.

    Args:
        found: as `verdicts` returns it.
        measure: how the measure is called, such as `nDCG@10`.
        test: name of the test.
    """
    total, moved = len(found.tied), int(found.changed.sum())
    if not total:
        return ("There is one reranker, and nothing to compare it with.",)
    if (found.tied["n"] < 2).all():  # noqa: PLR2004 a spread needs two
        return (Strong("Nothing can be tested. "), "A test needs two queries.")
    if not moved:
        return _unmoved(found, find_test(test).label)
    by = (found.traditional["difference"] - found.tied["difference"]).abs()[found.changed]
    verb = "verdicts rest" if moved > 1 else "verdicts rests" if total > 1 else "verdict rests"
    said: Prose = (Strong(f"{moved} of {total} {verb} on sort order."),)
    for at in by.sort_values(ascending=False, kind="stable").index[:TOLD]:
        said = (*said, " ", *_told(found.traditional.loc[at], found.tied.loc[at], measure, found))
    return said


def _unmoved(found: Verdicts, label: str) -> Prose:
    total, known = len(found.tied), int(significant(found.tied["p_adjusted"].to_numpy(), found.level).sum())
    how_many = f"{known or 'none'} of {total} {'differences' if total > 1 else 'difference'}"
    return (
        Strong("No verdict rests on sort order. "),
        f"By the {label}, {how_many} {'are' if known > 1 else 'is'} significant, "
        "whether ties are sorted or averaged.",
    )


def _told(before: pd.Series, tied: pd.Series, measure: str, found: Verdicts) -> Prose:
    """What became of one verdict."""
    ours, theirs = Strong(str(tied["reranker"])), Strong(str(tied["baseline"]))
    old, new = signed(before["difference"]), signed(tied["difference"])
    p_old, p_new = chance(before["p_adjusted"]), chance(tied["p_adjusted"])
    if not significant(before["p_adjusted"], found.level):
        side = "ahead" if tied["difference"] > 0 else "behind"
        level = f" {_by(found.how)} ({old} {measure}, {p_old}), and is {side} "
        return ours, " looks level with ", theirs, level, f"once ties are averaged ({new}, {p_new})."
    verb, by = (" beats ", old) if before["difference"] > 0 else (" trails ", signed(-before["difference"])[1:])
    start = _by(found.how).capitalize() + ", "
    then = f" by {by} {measure} ({p_old}); with ties averaged the difference is {new} ({p_new})."
    return start, ours, verb, theirs, then


def _by(how: str) -> str:
    return "by the order of its file" if how == "input" else f"by the order of {how}"
