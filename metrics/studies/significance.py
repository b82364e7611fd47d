"""Significance of differences, and whether a verdict depends on the order of ties."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.studies.comparisons import (
    COLUMNS,
    MARKS,
    baseline_pairs,
    comparison_notes,
    pair_statistics,
    star_places,
)
from metrics.studies.prose import ONE_RERANKER, Prose, Strong, chance, decimal, signed
from metrics.studies.query_values import count_not_finite, largest_difference, values_by_query
from metrics.studies.significance_tests import NO_TEST, Comparison
from metrics.studies.test_registry import (
    Test,
    adjust_p,
    find_correction,
    find_test,
    is_significant,
)
from metrics.studies.tie_rules import own_rule_note
from metrics.support.wording import count_of, describe_part, small_number
from metrics.ties import treatment

N_NAMED = 2
"""Most changed verdicts described in a sentence."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The same comparisons by tied and by traditional values, rows in the same order.

    Attributes:
        tied: table of `compare` with ties averaged.
        traditional: table of `compare` by the traditional treatment.
        changed: (n_rows,) as `changed_verdicts` returns it.
        treatment: name of the traditional treatment.
        level: confidence level; a verdict is significant if the adjusted p is below 1 - level.
        correction: name of the correction for multiple comparisons.
    """

    tied: pd.DataFrame
    traditional: pd.DataFrame
    changed: "pd.Series[bool]"
    treatment: str = "input"
    level: float = 0.95
    correction: str = "holm"

    def without_untested(self) -> "Verdicts":
        """Return the comparisons without the figures that `mask_untested` removes."""
        tied, traditional = (mask_untested(rows) for rows in (self.tied, self.traditional))
        return replace(self, tied=tied, traditional=traditional)

    def best_first(self) -> "Verdicts":
        """Return the comparisons by decreasing tied difference."""
        return self._ordered(_decreasing(self.tied["difference"]))

    def changed_first(self, few: int, n: int | None = None) -> "Verdicts":
        """Return up to n comparisons: changed verdicts first, by how far they move, then by tied difference.

        With at most `few` comparisons, all are ordered by tied difference.
        """
        best = _decreasing(self.tied["difference"])
        farthest = self.farthest_moved() if len(best) > few else best[:0]
        return self._ordered(farthest.append(best.difference(farthest, sort=False))[:n])

    def farthest_moved(self) -> pd.Index:
        """Return the rows whose verdict changes, ordered by how far ties move the difference."""
        return _decreasing((self.traditional["difference"] - self.tied["difference"]).abs()[self.changed])

    def _ordered(self, order: pd.Index) -> "Verdicts":
        tied, traditional, changed = (
            rows.loc[order].reset_index(drop=True) for rows in (self.tied, self.traditional, self.changed)
        )
        return replace(self, tied=tied, traditional=traditional, changed=changed)


def _decreasing(values: "pd.Series[float]") -> pd.Index:
    return values.sort_values(ascending=False, kind="stable").index


def compare(
    evaluation: Evaluation,
    measure: str,
    ties: str = "expected",
    baselines: Sequence[str] | str | None = None,
    test: str = "t",
    correction: str = "holm",
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Test the difference of rerankers, pair by pair; differences are reranker − baseline.

    Args:
        evaluation: evaluation of `measure` under `ties`.
        measure: name of a measure in the evaluation.
        ties: name of a treatment in the evaluation; by default, ties are averaged.
        baselines: rerankers to compare all others with, each pair once; None for all pairs.
        test: name of a test (`metrics.studies.test_registry.TESTS`).
        correction: name of a correction (`CORRECTIONS`) over all rows; Tukey's test needs none.
        level: confidence level of the intervals, each for one comparison (Tukey's: for all together).
        seed: seed of randomisation and bootstrap.

    Returns:
        one row per comparison, rerankers in the order of the evaluation, without missing values:
        baseline, reranker;
        n: shared queries (Tukey: shared by all; unpaired: the reranker's, `note` has the baseline's);
        mean_baseline, mean, difference: over these queries, 0 without any;
        low, high: interval of the difference (`Test.interval`); if unbounded, the largest difference that the
        measure allows;
        p, p_adjusted, stars (of p_adjusted: *** < 0.001, ** < 0.01, * < 0.05, else ns);
        dz: mean / standard deviation of the differences (Cohen 1988, section 2.3.5), 0 without any difference,
        infinite if all are equal; unpaired: Cohen's d with the pooled standard deviation;
        superiority: chance that the reranker beats the baseline on a query, equal values count half (unpaired:
        U / (n m), Vargha & Delaney 2000), 0.5 without queries;
        won, equal, lost: shared queries; note: warnings.

    Raises:
        UsageError: a name that does not exist, or a level outside (0, 1).
    """
    chosen_test, chosen_correction = find_test(test), find_correction(correction)
    if not 0 < level < 1:
        raise UsageError(f"level={level}: give a level between 0 and 1, such as 0.95.")
    table = values_by_query(evaluation, measure, ties)
    names, values = [str(name) for name in table.columns], table.to_numpy()
    if chosen_test.queries == "all":
        values = values[np.isfinite(values).all(axis=1)]
    pairs = baseline_pairs(names, baselines)
    comparisons = len(pairs) if chosen_correction.method else 1
    comparison = Comparison(values, pairs, level, seed, comparisons)
    results = chosen_test.function(comparison)
    adjusted = results.p if chosen_test.simultaneous else adjust_p(results.p, chosen_correction)
    columns: dict[str, Any] = pair_statistics(comparison, paired=chosen_test.paired)
    baseline, reranker = pairs.T
    dropped = count_not_finite(evaluation, measure, ties)
    n_dropped = np.array([dropped.get(name, 0) for name in names], dtype=np.int64)
    n_baseline, n_infinite = table.count().to_numpy()[baseline], n_dropped[baseline] + n_dropped[reranker]
    notes = comparison_notes(columns, results, chosen_test, level, n_baseline, n_infinite)
    largest, labels = largest_difference(measure), pd.array(names, dtype="str")
    low, high = (
        np.where(np.isinf(ends), np.copysign(largest, ends), ends) for ends in (results.low, results.high)
    )
    columns |= {"baseline": labels.take(baseline), "reranker": labels.take(reranker), "low": low, "high": high}
    columns |= {"p": results.p, "p_adjusted": adjusted, "note": pd.array(notes, dtype="str")}
    columns["stars"] = pd.array(MARKS, dtype="str").take(star_places(adjusted))
    return pd.DataFrame({name: columns[name] for name in COLUMNS}).astype(COLUMNS)


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
    """Make the comparisons of `compare` with ties averaged and by a traditional treatment."""
    tied, usual = (
        compare(evaluation, measure, how, baselines, test, correction, level, seed)
        for how in ("expected", traditional)
    )
    return Verdicts(tied, usual, changed_verdicts(tied, usual, level), traditional, level, correction)


def changed_verdicts(tied: pd.DataFrame, traditional: pd.DataFrame, level: float = 0.95) -> "pd.Series[bool]":
    """Return (n_rows,) whether only one of two verdicts is significant, or both are with opposite signs."""
    signs = [
        np.sign(rows["difference"]).where(is_significant(rows["p_adjusted"].to_numpy(), level), 0.0)
        for rows in (tied, traditional)
    ]
    return (signs[0] != signs[1]).rename("changed")


def is_testable(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return (n_rows,) whether a comparison has the queries that its test needs, which its note says."""
    return ~rows["note"].str.contains(NO_TEST, regex=False)


def mask_untested(rows: pd.DataFrame) -> pd.DataFrame:
    """Remove interval, p, dz and stars if no test was possible, and the other figures if there is no query."""
    is_tested = is_testable(rows)
    figures = rows[["low", "high", "p", "p_adjusted", "dz"]].where(is_tested)
    means = rows[["mean_baseline", "mean", "difference", "superiority"]].where(rows["n"] > 0)
    return rows.assign(**figures, **means, stars=rows["stars"].where(is_tested, "–"))


def significance_finding(verdicts: Verdicts, measure: str, test: str) -> Prose:
    """Say how many verdicts depend on the order of ties, and how the ones moved farthest change."""
    total, n_changed = len(verdicts.tied), int(verdicts.changed.sum())
    if not total:
        return ONE_RERANKER
    if not is_testable(verdicts.tied).any():
        return (Strong("No test is possible. "), "A test needs two queries.")
    if not n_changed:
        return _unchanged_finding(verdicts, find_test(test), measure)
    claim = "The verdict depends on tie order"
    if total > 1:
        claim = describe_part(n_changed, total, "verdict", "depend on tie order")
    prose: Prose = (Strong(f"{claim}."),)
    for row in verdicts.farthest_moved()[:N_NAMED]:
        change = _verdict_change(verdicts.traditional.loc[row], verdicts.tied.loc[row], measure, verdicts)
        prose = *prose, " ", *change
    return prose


def _unchanged_finding(verdicts: Verdicts, test: Test, measure: str) -> Prose:
    tied, total = verdicts.tied, len(verdicts.tied)
    baseline = str(tied["baseline"].iloc[0])
    own_rule, choice = own_rule_note(measure)[:1], "whether ties are broken or averaged"
    is_tested, has_one_baseline = is_testable(tied), len(set(tied["baseline"])) == 1
    differences, tested = tied["difference"].where(is_tested), "tested " * (not is_tested.all())
    best = tied.loc[(differences if has_one_baseline else differences.abs()).idxmax()]
    better, other = str(best["reranker"]), str(best["baseline"])
    if best["difference"] < 0:
        better, other = other, better
    lead = f"{decimal(abs(best['difference']))} {measure}"
    n_significant = int(is_significant(tied["p_adjusted"].to_numpy(), verdicts.level).sum())
    p, n_queries = chance(best["p_adjusted"]), count_of(int(best["n"]), "query")
    scope = f", {_correction_scope(verdicts, test)}" * (total > 1)
    source = f"{p}{scope}; {test.label}, {n_queries}"
    if decimal(differences.abs().max()) == decimal(0.0):
        whose = f"{best['reranker']} has" if total == 1 else f"All {tested}rerankers have"
        claim = f"{whose} the same mean as {baseline}"
        detail = f"Every {tested}difference is 0 {measure}."
    elif total == 1:
        claim = f"{better} is {'' if n_significant else 'not '}significantly better than {other}"
        detail = f"{better} is {lead} ahead ({source})."
    elif not has_one_baseline:
        claim = "No difference is significant"
        if n_significant:
            claim = describe_part(n_significant, total, "difference", "are significant")
        detail = f"The largest puts {better} {lead} ahead of {other} ({source})."
    else:
        claim = _standings(verdicts, baseline)
        detail = (
            f"Of the {tested or 'other '}rerankers, {best['reranker']} has the highest mean: "
            f"{signed(best['difference'])} {measure} against {baseline} ({source})."
        )
    end = "." if own_rule else f", {choice}."
    return *own_rule, Strong(f"{claim}{end}"), f" {detail}"


def _correction_scope(verdicts: Verdicts, test: Test) -> str:
    """Say how the p values of several comparisons are corrected."""
    if test.simultaneous:
        return "corrected for all pairs by the test"
    correction, baselines = find_correction(verdicts.correction), verdicts.tied["baseline"].unique()
    start = "not corrected" if correction.method is None else f"{correction.label} correction"
    against = f" with {baselines[0]}" * (len(baselines) == 1)
    return f"{start} for {count_of(len(verdicts.tied), 'comparison')}{against}"


def _standings(verdicts: Verdicts, baseline: str) -> str:
    tied = verdicts.tied
    is_shown = is_significant(tied["p_adjusted"].to_numpy(), verdicts.level)
    n_better, n_worse = (int((is_shown & (sign * tied["difference"] > 0)).sum()) for sign in (1, -1))
    verb = "is" if n_worse == 1 else "are"
    worse = f", and {small_number(n_worse)} {verb} significantly worse" * bool(n_worse)
    if not n_better:
        return f"No reranker is significantly better than {baseline}{worse}"
    better = describe_part(n_better, len(tied), "reranker", f"are significantly better than {baseline}")
    return better + worse


def _verdict_change(before: pd.Series, tied: pd.Series, measure: str, verdicts: Verdicts) -> Prose:
    ours, theirs = Strong(str(tied["reranker"])), Strong(str(tied["baseline"]))
    old, new = signed(before["difference"]), signed(tied["difference"])
    p_old, p_new = chance(before["p_adjusted"]), chance(tied["p_adjusted"])
    if not is_significant(before["p_adjusted"], verdicts.level):
        verb = "beats" if tied["difference"] > 0 else "trails"
        before_text = f" by {treatment(verdicts.treatment).order} ({old} {measure}, {p_old}), but {verb} "
        return (
            *(ours, " does not differ significantly from ", theirs),
            f"{before_text}{theirs.text} with ties averaged ({new}, {p_new}).",
        )
    verb = " beats " if before["difference"] > 0 else " trails "
    start = f"By {treatment(verdicts.treatment).order}, "
    size, new_size = (text.lstrip("+−") for text in (old, new))
    side = "ahead" if tied["difference"] > 0 else "behind"
    standing = "the difference is 0" if new == signed(0.0) else f"it is {new_size} {side}"
    after = f" by {size} {measure} ({p_old}). With ties averaged, {standing} ({p_new})."
    return start, ours, verb, theirs, after
