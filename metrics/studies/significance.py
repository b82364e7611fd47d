"""Is a difference larger than chance, and would the verdict survive another order of the ties?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.studies.comparisons import (
    COLUMNS,
    MARKS,
    baseline_pairs,
    comparison_notes,
    group_by_queries,
    pair_statistics,
    star_places,
)
from metrics.studies.prose import ONE_RERANKER, Prose, Strong, chance, decimal, signed
from metrics.studies.query_values import count_not_finite, largest_difference, values_by_query
from metrics.studies.significance_tests import TestResults
from metrics.studies.test_registry import (
    Test,
    adjust_p,
    find_correction,
    find_test,
    is_significant,
)
from metrics.studies.tie_rules import own_rule_note
from metrics.support.wording import count_of, describe_part
from metrics.ties import treatment

N_NAMED = 2
"""Verdicts that are told of."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The same comparisons by tied and by traditional values, rows in the same order.

    Attributes:
        tied: as `compare` returns it, ties averaged.
        traditional: as `compare` returns it, by the traditional treatment.
        changed: (n_rows,) whether one is significant and the other is not, or both are, with opposite signs.
        treatment: the traditional one.
        level: of the intervals; a verdict is significant where the adjusted p is below 1 - level.
    """

    tied: pd.DataFrame
    traditional: pd.DataFrame
    changed: "pd.Series[bool]"
    treatment: str = "input"
    level: float = 0.95

    def without_untested(self) -> "Verdicts":
        """Return the comparisons without interval, p and stars where no test was possible."""
        tied, traditional = (_mask_untested(rows) for rows in (self.tied, self.traditional))
        return replace(self, tied=tied, traditional=traditional)

    def best_first(self) -> "Verdicts":
        """Return the comparisons by falling tied difference."""
        return self._ordered(self.tied["difference"].sort_values(ascending=False, kind="stable").index)

    def changed_first(self, few: int, n: int | None = None) -> "Verdicts":
        """Return comparisons: those whose verdict changes, the farthest moved first, then the best.

        Args:
            few: where there are no more, the best come first.
            n: how many are returned, all where None.
        """
        best = self.tied["difference"].sort_values(ascending=False, kind="stable").index
        farthest = self.farthest_moved() if len(best) > few else best[:0]
        return self._ordered(farthest.append(best.difference(farthest, sort=False))[:n])

    def farthest_moved(self) -> pd.Index:
        """Return the rows whose verdict changes, by how far the order of ties moves the difference."""
        shift = (self.traditional["difference"] - self.tied["difference"]).abs()[self.changed]
        return shift.sort_values(ascending=False, kind="stable").index

    def _ordered(self, order: pd.Index) -> "Verdicts":
        """Return the comparisons of these rows, in their order."""
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
        test: name of a test (`metrics.studies.test_registry.TESTS`).
        correction: name of a correction (`CORRECTIONS`), over exactly the rows; none on top of Tukey.
        level: of the intervals, which hold one by one (Tukey's: together).
        seed: of randomisation and bootstrap; the same seed gives the same table.

    Returns:
        one row a comparison, rerankers in the order of the evaluation; no value is missing. baseline, reranker;
        n: queries both have (Tukey: all have; unpaired: the reranker's, `note` says the baseline's);
        mean_baseline, mean, difference: over those, in the measure's unit, 0 where there is none;
        low, high: interval of the difference (`Test.interval` says whose); where it has no bound, the largest
        differences the measure can have, infinite if there is none;
        p, p_adjusted, stars (*** < 0.001, ** < 0.01, * < 0.05, else ns, of p_adjusted);
        dz: mean / standard deviation of the differences (Cohen 1988, section 2.3.5), 0 where nothing
        differs, infinite where all differ by the same; unpaired: Cohen's d, by the pooled standard deviation;
        superiority: chance that the reranker beats the baseline on a query, equal ones half (unpaired: any list
        against any of the other, U / (n m), Vargha & Delaney 2000); 0.5 where no query can tell;
        won, equal, lost: common queries, by rounding differences equal; note: what else has to be known.

    Raises:
        UsageError: a name that is not there, or a level outside (0, 1).
    """
    chosen_test, chosen_correction = find_test(test), find_correction(correction)
    if not 0 < level < 1:
        raise UsageError(f"level={level}: it lies between 0 and 1, such as 0.95.")
    table = values_by_query(evaluation, measure, ties)
    names = [str(name) for name in table.columns]
    pairs = baseline_pairs(names, baselines)
    comparisons = len(pairs) if chosen_correction.method else 1
    figures = {name: np.zeros(len(pairs), kind) for name, kind in COLUMNS.items() if kind != "str"}
    untested = np.zeros(len(pairs)), np.zeros(len(pairs)), np.zeros(len(pairs)), np.full(len(pairs), "", object)
    results = TestResults(*untested)
    for places, comparison in group_by_queries(table.to_numpy(), pairs, chosen_test, level, seed, comparisons):
        results.put(places, chosen_test.function(comparison))
        for name, values in pair_statistics(comparison, chosen_test).items():
            figures[name][places] = values
    figures["p"] = results.p
    figures["p_adjusted"] = adjusted = (
        results.p if chosen_test.simultaneous else adjust_p(results.p, chosen_correction)
    )
    baseline, reranker = pairs.T
    dropped = count_not_finite(evaluation, measure, ties)
    n_dropped = np.array([dropped.get(name, 0) for name in names], dtype=np.int64)
    notes = comparison_notes(
        figures,
        results,
        chosen_test,
        level,
        table.count().to_numpy()[baseline],
        n_dropped[baseline] + n_dropped[reranker],
    )
    largest = largest_difference(measure)
    for side, values in (("low", results.low), ("high", results.high)):
        figures[side] = np.where(np.isinf(values), np.copysign(largest, values), values)
    texts = {
        "baseline": pd.array(names, dtype="str").take(baseline),
        "reranker": pd.array(names, dtype="str").take(reranker),
        "stars": pd.array(MARKS, dtype="str").take(star_places(adjusted)),
        "note": pd.array(notes, dtype="str"),
    }
    return pd.DataFrame(
        {name: texts[name] if kind == "str" else figures[name] for name, kind in COLUMNS.items()}
    )


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
    """Make the same comparisons with ties averaged and by a traditional treatment.

    Args:
        evaluation: with `measure` under expected and `traditional`.
        measure: name of a measure.
        traditional: the treatment taken as the traditional one.
        baselines: as for `compare`, like all that follow.
        test: name of a test.
        correction: name of a correction.
        level: of the intervals and of the verdicts.
        seed: of what is drawn.

    Returns:
        Both comparisons side by side, and where their verdicts differ.

    Raises:
        UsageError: as `compare`.
    """
    tied, usual = (
        compare(evaluation, measure, how, baselines, test, correction, level, seed)
        for how in ("expected", traditional)
    )
    return Verdicts(tied, usual, changed_verdicts(tied, usual, level), traditional, level)


def changed_verdicts(tied: pd.DataFrame, traditional: pd.DataFrame, level: float = 0.95) -> "pd.Series[bool]":
    """Compare the verdicts of two tables of the same comparisons.

    Args:
        tied: as `compare` returns it.
        traditional: likewise, by another treatment.
        level: of the verdicts.

    Returns:
        (n_rows,) whether just one of the two is significant at 1 - level, or both are, with opposite signs.
    """
    signs = [
        np.sign(rows["difference"]).where(is_significant(rows["p_adjusted"].to_numpy(), level), 0.0)
        for rows in (tied, traditional)
    ]
    return (signs[0] != signs[1]).rename("changed")


def is_testable(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return (n_rows,) whether a comparison has the two queries that a spread needs."""
    return rows["n"] >= 2  # noqa: PLR2004


def _mask_untested(rows: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons without the widest interval and the p of 1 that `compare` has for want of a test."""
    figures = rows[["low", "high", "p", "p_adjusted", "dz"]].where(is_testable(rows))
    return rows.assign(**figures, stars=rows["stars"].where(is_testable(rows), "–"))


def significance_finding(verdicts: Verdicts, measure: str, test: str) -> Prose:
    """Say how many verdicts the order of the ties decides, and how those it moves most change.

    Args:
        verdicts: as `verdicts` returns it.
        measure: how the measure is called, such as `nDCG@10`.
        test: name of the test.
    """
    total, n_changed = len(verdicts.tied), int(verdicts.changed.sum())
    if not total:
        return ONE_RERANKER
    if not is_testable(verdicts.tied).any():
        return (Strong("Nothing can be tested. "), "A test needs two queries.")
    if not n_changed:
        return _unchanged_finding(verdicts, find_test(test), measure)
    noisy = treatment(verdicts.treatment).noise is not None
    cause = "change under noise" if noisy else "rest on sort order"
    alone = f"The verdict {'changes under noise' if noisy else 'rests on sort order'}"
    prose: Prose = (Strong(f"{alone if total == 1 else describe_part(n_changed, total, 'verdict', cause)}."),)
    for row in verdicts.farthest_moved()[:N_NAMED]:
        prose = (
            *prose,
            " ",
            *_verdict_change(verdicts.traditional.loc[row], verdicts.tied.loc[row], measure, verdicts),
        )
    return prose


def _unchanged_finding(verdicts: Verdicts, test: Test, measure: str) -> Prose:
    """Say who is shown to be better or worse than the baseline, and how far the best is from it."""
    tied, total = verdicts.tied, len(verdicts.tied)
    baseline = str(tied["baseline"].iloc[0])
    own_rule, is_noisy = own_rule_note(measure)[:1], treatment(verdicts.treatment).noise is not None
    choice = "scores are noisy or their ties averaged" if is_noisy else "ties are sorted or averaged"
    best = tied.loc[tied["difference"].idxmax()]
    p, n_queries = chance(best["p_adjusted"]), count_of(int(best["n"]), "query")
    source = f"{p}, {test.label}, {n_queries}"
    if decimal(tied["difference"].abs().max()) == decimal(0.0):
        whose = str(best["reranker"]) if total == 1 else "No reranker"
        claim = f"{whose} is {'not ' * (total == 1)}shown to differ from {baseline}"
        detail = f"Every difference is 0 {measure}."
    elif total == 1:
        names = (str(best["reranker"]), baseline)
        better, other = names if best["difference"] > 0 else names[::-1]
        is_shown = is_significant(tied["p_adjusted"].to_numpy(), verdicts.level).any()
        claim = f"{better} beats {other}" if is_shown else f"Not shown that {better} beats {other}"
        detail = f"{better} is {decimal(abs(best['difference']))} {measure} ahead ({source})."
    else:
        claim = _standings(verdicts, baseline)
        detail = f"The best is {best['reranker']}: {signed(best['difference'])} {measure} ({source})."
    end = "." if own_rule else f", whether {choice}."
    return *own_rule, Strong(f"{claim}{end}"), f" {detail}"


def _standings(verdicts: Verdicts, baseline: str) -> str:
    """Say how many rerankers are significantly better and worse than the baseline."""
    tied = verdicts.tied
    is_shown = is_significant(tied["p_adjusted"].to_numpy(), verdicts.level)
    n_better, n_worse = (int((is_shown & (sign * tied["difference"] > 0)).sum()) for sign in (1, -1))
    worse = describe_part(n_worse, len(tied), "reranker", "trail it")
    if not n_better:
        return f"No reranker is shown to beat {baseline}{f'; {worse}' if n_worse else ''}"
    better = describe_part(n_better, len(tied), "reranker", f"beat {baseline}")
    return f"{better}, {n_worse:,} {'trails' if n_worse == 1 else 'trail'} it" if n_worse else better


def _verdict_change(before: pd.Series, tied: pd.Series, measure: str, verdicts: Verdicts) -> Prose:
    """Say how one verdict changes once ties are averaged."""
    ours, theirs = Strong(str(tied["reranker"])), Strong(str(tied["baseline"]))
    old, new = signed(before["difference"]), signed(tied["difference"])
    p_old, p_new = chance(before["p_adjusted"]), chance(tied["p_adjusted"])
    if not is_significant(before["p_adjusted"], verdicts.level):
        side = "ahead" if tied["difference"] > 0 else "behind"
        level = f" by {treatment(verdicts.treatment).order} ({old} {measure}, {p_old}), and is {side} "
        return ours, " looks level with ", theirs, level, f"once ties are averaged ({new}, {p_new})."
    verb = " beats " if before["difference"] > 0 else " trails "
    start = f"By {treatment(verdicts.treatment).order}, "
    then = f" by {_size(old)} {measure} ({p_old}); with ties averaged it is "
    return start, ours, verb, theirs, then, f"{_standing(tied['difference'])} ({p_new})."


def _standing(difference: float) -> str:
    """Return how far a reranker is ahead or behind."""
    text = signed(difference)
    if text == signed(0.0):
        return "level"
    return f"{_size(text)} {'ahead' if difference > 0 else 'behind'}"


def _size(figure: str) -> str:
    """Return a signed figure without its sign."""
    return figure.lstrip("+−")
