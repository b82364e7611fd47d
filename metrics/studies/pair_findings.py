"""Verdicts on pairs of rerankers by tied and by traditional scores, and the sentences about them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import pandas as pd

from metrics.evaluation import Evaluation
from metrics.measures import parse
from metrics.studies.pair_tests import ALPHA
from metrics.studies.pairs import CORRECTIONS, FEW, LARGEST, compare, find_method, find_pairs, significant_signs
from metrics.studies.prose import ONE_RERANKER, Prose, Strong, chance, decimal, own_rule_note, signed
from metrics.support.wording import count_of, describe_part, small_number
from metrics.ties import treatment

_MOST_NAMED = 2
"""Most changed verdicts described in a sentence."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The same pairs by tied and by traditional values, rows in the same order."""

    tied: pd.DataFrame  # of `compare` with ties averaged
    traditional: pd.DataFrame  # of `compare` by the traditional treatment
    changed: "pd.Series[bool]"  # (n_rows,) of `changed_verdicts`
    treatment: str  # name of the traditional treatment
    method: str  # the test and its correction (`method_texts`); empty to leave them out of sentences
    interval: str = ""  # what the intervals are (`method_texts`)

    def among(self, rerankers: Sequence[str]) -> "Verdicts":
        """Return the pairs of these rerankers."""
        rows = self.tied[["baseline", "reranker"]].isin(list(rerankers)).all(axis=1)
        return self._ordered(self.tied.index[rows])

    def against(self, baseline: str) -> "Verdicts":
        """Return the pairs with a baseline, as differences from it, other rerankers in order."""
        every_name = dict.fromkeys([*self.tied["baseline"], *self.tied["reranker"]])
        names = [name for name in every_name if name != baseline]
        baselines = [baseline] * len(names)
        tied, before = (find_pairs(rows, names, baselines) for rows in (self.tied, self.traditional))
        return replace(self, tied=tied, traditional=before, changed=changed_verdicts(tied, before))

    def changed_first(self, few: int, n: int | None = None) -> "Verdicts":
        """Return up to n pairs: changed verdicts first, by how far they move, then by tied difference.

        At most `few` pairs are all ordered by tied difference.
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


def verdicts(
    evaluation: Evaluation,
    measure: str,
    traditional: str,
    baseline: str | None = None,
    **testing: Any,
) -> Verdicts:
    """Compare pairs with ties averaged and by a traditional treatment; `testing` as for `compare`."""
    n_rerankers, orders = len(evaluation.policies), ("expected", traditional)
    tied, before = (compare(evaluation, measure, ties, baseline, **testing) for ties in orders)
    words = method_texts(n_rerankers, **testing)
    return Verdicts(tied, before, changed_verdicts(tied, before), traditional, *words)


def changed_verdicts(tied: pd.DataFrame, traditional: pd.DataFrame) -> "pd.Series[bool]":
    """Return (n_rows,) whether only one of two verdicts is significant, or both are with opposite signs."""
    signs = [significant_signs(rows) for rows in (tied, traditional)]
    return pd.Series(signs[0] != signs[1], tied.index, name="changed")


def method_texts(
    n_rerankers: int, *, test: str = "flips", correction: str | None = None, family: str = "all", **_: object
) -> tuple[str, str]:
    """Return the test with its correction, and what its intervals are.

    `sign flips, corrected for 28 pairs by the largest statistic`, `simultaneous intervals of 28 pairs`.
    """
    record, method = find_method(test, correction)
    n_pairs = n_rerankers - 1 if family == "baseline" else comb(n_rerankers, 2)
    if n_pairs <= 1:
        return record.label, f"interval by {record.label}" if method == LARGEST else record.interval
    if method == "none":
        return f"{record.label}, not corrected", f"{record.interval}, of one pair"
    pairs = count_of(n_pairs, "pair")
    if method == LARGEST:
        corrected = f"{record.label}, corrected for {pairs} by the {CORRECTIONS[method]}"
        return corrected, f"simultaneous intervals of {pairs} (largest statistic)"
    corrected = f"{record.label}, corrected for {pairs} by {CORRECTIONS[method]}"
    return corrected, f"{record.interval}, corrected like p"


def significance_finding(verdicts: Verdicts, measure: str) -> Prose:
    """Count significant differences and verdicts that depend on tie order; describe those moved farthest."""
    total, n_changed = len(verdicts.tied), int(verdicts.changed.sum())
    if not total:
        return ONE_RERANKER
    if not verdicts.tied["p"].notna().any():
        return (Strong("No test is possible. "), "A test needs two queries.")
    if not n_changed:
        return _unchanged_finding(verdicts, measure)
    claim = "The verdict depends on tie order"
    if total > 1:
        changed = describe_part(n_changed, total, "verdict", "depend on tie order")
        claim = f"{_standings(verdicts.tied)}, with ties averaged. {changed}"
    prose: Prose = (Strong(f"{claim}."),)
    for row in verdicts.farthest_moved()[:_MOST_NAMED]:
        change = _verdict_change(verdicts.traditional.loc[row], verdicts.tied.loc[row], measure, verdicts)
        prose = *prose, " ", *change
    return prose


def _unchanged_finding(verdicts: Verdicts, measure: str) -> Prose:
    tied, total, name = verdicts.tied, len(verdicts.tied), parse(measure).compared[1]
    baseline, own_rule = str(tied["baseline"].iloc[0]), own_rule_note(measure)[:1]
    is_tested, has_one_baseline = tied["p"].notna(), len(set(tied["baseline"])) == 1
    differences, tested = tied["difference"].where(is_tested), "tested " * (not is_tested.all())
    best = tied.loc[(differences if has_one_baseline else differences.abs()).idxmax()]
    better, other = str(best["reranker"]), str(best["baseline"])
    if best["difference"] < 0:
        better, other = other, better
    lead = f"{decimal(abs(best['difference']))} {name}"
    is_significant = significant_signs(tied).any()
    source = "; ".join(filter(None, (p_text(best), verdicts.method)))
    end = "." if own_rule else ", whether ties are broken or averaged."
    if decimal(differences.abs().max()) == decimal(0.0):
        whose = f"{best['reranker']} has" if total == 1 else f"All {tested}rerankers have"
        claim = f"{whose} the same mean as {baseline}"
        detail = f"Every {tested}difference is 0 {name}."
        if decimal(verdicts.traditional["difference"].where(is_tested).abs().max()) != decimal(0.0):
            end = ", with ties averaged."
    elif total == 1:
        claim = f"{better} is {'' if is_significant else 'not '}significantly better than {other}"
        detail = f"{better} is {lead} ahead ({source})."
    else:
        claim, detail = _standings(tied), f"The largest puts {better} {lead} ahead of {other} ({source})."
        if has_one_baseline:
            detail = (
                f"Of the {tested or 'other '}rerankers, {best['reranker']} has the highest mean: "
                f"{signed(best['difference'])} {name} against {baseline} ({source})."
            )
    return *own_rule, Strong(f"{claim}{end}"), f" {detail}"


def _standings(tied: pd.DataFrame) -> str:
    """Count the significant differences: those from the baseline by their sign, if all have the same one."""
    n = {word: int((significant_signs(tied) == sign).sum()) for word, sign in (("better", 1), ("worse", -1))}
    total, baseline = len(tied), str(tied["baseline"].iloc[0])
    if (tied["baseline"] != baseline).any():
        phrase = describe_part(sum(n.values()), total, "difference", "are significant")
        return phrase if any(n.values()) else "No difference is significant"
    if not any(n.values()):
        return f"No reranker is significantly better than {baseline}"
    first, second = n if n["better"] else reversed(n)
    others = f", and {small_number(n[second])} {'are' if n[second] > 1 else 'is'} significantly {second}"
    phrase = describe_part(n[first], total, "reranker", f"are significantly {first} than {baseline}")
    return phrase + others * (n[second] > 0 or second == "better")


def p_text(row: "pd.Series[Any]") -> str:
    """Write the adjusted p of a pair, and how many queries differ if they are few.

    An example: `p = 0.03; 6 of 30 queries differ`.
    """
    differ = describe_part(int(row["n_differ"]), int(row["n"]), "query", "differ")
    return chance(row["p_adjusted"]) + f"; {differ}" * bool(row["n"] and row["n_differ"] < FEW)


def _verdict_change(before: pd.Series, tied: pd.Series, measure: str, verdicts: Verdicts) -> Prose:
    """Say how a reranker stands against the baseline by the tie order, and with ties averaged."""
    by_sort, averaged = map(_standing, (before, tied), parse(measure).compared)
    return (
        f"By {treatment(verdicts.treatment).order}, ",
        *(Strong(str(tied["reranker"])), f" {by_sort}. With ties averaged, it {averaged}."),
    )


def _standing(row: "pd.Series[Any]", measure: str) -> str:
    size, other, is_ahead = decimal(abs(row["difference"])), row["baseline"], row["difference"] > 0
    if row["p_adjusted"] < ALPHA:
        return f"{'beats' if is_ahead else 'trails'} {other} by {size} {measure} ({p_text(row)})"
    side = f" {'ahead' if is_ahead else 'behind'}" * (size != decimal(0.0))
    return f"does not differ significantly from {other} ({size} {measure}{side}, {p_text(row)})"
