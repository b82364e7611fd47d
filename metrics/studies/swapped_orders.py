"""Pairs of rerankers whose traditional order differs from their tied order."""

from collections.abc import Collection
from math import comb

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation, ScoringOptions
from metrics.runs import Runs
from metrics.studies.draws import affordable_draws, draws
from metrics.studies.leaderboard import places, swaps_of
from metrics.studies.pairs import compare, find_pairs, significant_signs
from metrics.studies.prose import ONE_RERANKER, Prose, Strong, chance, decimal, own_rule_note, significant_part
from metrics.support.wording import describe_part, small_number
from metrics.ties import treatment

SWAPS, SIGNIFICANT = "swaps", "swaps, significant"
_TOP = 10


def swapped_orders(
    evaluation: Evaluation, measure: str, traditional: str, *, pairs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the pairs of rerankers whose traditional order differs from their tied order.

    Means are rounded as for the ranks of the leaderboard. A pair that is level in one of the two orders does
    not swap. A measure with its own rule for ties has no rows.

    Args:
        evaluation: evaluation of `measure` under expected and `traditional`.
        measure: name of a measure, such as `RR`.
        traditional: traditional treatment, such as `docid_desc`.
        pairs: table of `compare` for all pairs with ties averaged; None to compute it.

    Returns:
        one row per pair, the largest tied difference first: a (first traditionally), b (first with ties
        averaged), ties (traditional treatment); traditional_a, traditional_b, tied_a, tied_b (means);
        place_a, place_b (traditional ranks), tied_place_a, tied_place_b; difference (traditional, a − b,
        positive), tied_difference (a − b, negative); p and p_adjusted (of `pairs`); verdict (`swaps`, or
        `swaps, significant` if p_adjusted is and the shared queries also rank b first).

    Raises:
        UsageError: the evaluation lacks the measure or a treatment.
    """
    if traditional not in evaluation.ties:
        raise UsageError(f"{traditional} was not evaluated. There are: {', '.join(evaluation.ties)}.")
    means = evaluation.means(measure)[list(dict.fromkeys([traditional, "expected"]))].dropna()
    before, tied = (places(means[ties]).to_numpy(np.int64) for ties in (traditional, "expected"))
    first, second = np.nonzero(swaps_of(before, tied))
    names = means.index.to_numpy()
    rows = pd.DataFrame({"a": names[first], "b": names[second]}, dtype="str").assign(ties=traditional)
    values_of = {"traditional": means[traditional].to_numpy(), "tied": means["expected"].to_numpy()}
    for name, column in (*values_of.items(), ("place", before), ("tied_place", tied)):
        rows[f"{name}_a"], rows[f"{name}_b"] = column[first], column[second]
    rows["difference"] = rows["traditional_a"] - rows["traditional_b"]
    rows["tied_difference"] = rows["tied_a"] - rows["tied_b"]
    pairs = compare(evaluation, measure) if pairs is None else pairs
    compared_pairs = find_pairs(pairs, rows["a"], rows["b"])
    rows["p"], rows["p_adjusted"] = compared_pairs["p"], compared_pairs["p_adjusted"]
    rows["verdict"] = np.where(significant_signs(compared_pairs) < 0, SIGNIFICANT, SWAPS)
    return rows.sort_values(["tied_difference", "place_a", "place_b"], ignore_index=True)


def order_chances(
    swaps: pd.DataFrame,
    runs: Runs,
    measure: str,
    options: ScoringOptions,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Add the column above: the chance that a is above b when all ties are broken at random."""
    names = dict.fromkeys([*swaps["a"], *swaps["b"]])
    if not names:
        return swaps.assign(above=np.empty(0))
    swapping = runs.arranged({name: name for name in names})
    tie_draws = draws(swapping, measure, options, affordable_draws(swapping), queries=queries)
    return swaps.assign(above=tie_draws.chances(swaps["a"], swaps["b"])["above"].to_numpy())


def swap_count(swaps: pd.DataFrame, n_rerankers: int) -> Prose:
    """Say how many pairs swap, how many of them in the top ten, and how many significantly."""
    n_swaps, n_significant = len(swaps), int((swaps["verdict"] == SIGNIFICANT).sum())
    if not n_swaps:
        return Strong("No pair of rerankers changes order"), " when ties are averaged."
    claim = Strong(describe_part(n_swaps, comb(n_rerankers, 2), "pair", "change order"))
    averaged = " when ties are averaged"
    if not (swaps["p"] < 1).any():
        return claim, f"{averaged}."
    n_in_top = int((swaps[["tied_place_a", "tied_place_b"]] <= _TOP).all(axis=1).sum())
    top = f"; {small_number(n_in_top)} in the top {_TOP}" * (n_rerankers > _TOP)
    significant = significant_part(n_significant, n_swaps, small_number(n_significant))
    return claim, f"{averaged}, {significant}{top}."


def swaps_finding(swaps: pd.DataFrame, n_rerankers: int, measure: str) -> Prose:
    """Say how many pairs swap, and which one swaps most."""
    if n_rerankers == 1:
        return ONE_RERANKER
    if note := own_rule_note(measure):
        return note
    count = swap_count(swaps, n_rerankers)
    if not len(swaps):
        return count
    widest = swaps.iloc[0]
    a, b = Strong(str(widest["a"])), Strong(str(widest["b"]))
    p = f" ({chance(widest['p_adjusted'])}, corrected for all pairs)" * bool(widest["p"] < 1)
    by_sort, when_tied = (decimal(abs(widest[name]), 4) for name in ("difference", "tied_difference"))
    return (
        *(*count, f" By {treatment(str(widest['ties'])).order}, "),
        *(a, f" is {by_sort} {measure} above ", b, ". With ties averaged, ", b, f" is {when_tied} above{p}."),
    )
