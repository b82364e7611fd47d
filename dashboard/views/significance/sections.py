"""Charts of the Significance page: which differences are larger than chance, and which the ties decide."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.charts.deciding.difference_forest import difference_forest
from dashboard.charts.deciding.finish_heatmap import finish_heatmap
from dashboard.charts.deciding.pair_matrices import order_matrix, verdict_matrix
from dashboard.escaping import escape_markdown
from dashboard.session import View
from dashboard.widgets.components import Card, cards, chart, heading
from metrics.studies.leaderboard.leaderboard import leaderboard
from metrics.studies.prose import decimal
from metrics.studies.significance.comparisons import largest_difference
from metrics.studies.significance.power import detectable
from metrics.studies.significance.significance import Verdicts
from metrics.studies.significance.test_registry import find_correction, find_test, is_significant
from metrics.studies.tie_breaking.order_stability import OrderStability
from metrics.support.wording import count_of

MAX_PAIRED = 30
"""Rerankers that are compared pair by pair."""


def verdict_cards(view: View, verdicts: Verdicts, measure: str, baseline: str, test_name: str) -> None:
    """Draw how many differences are significant, how many verdicts ties change, and what could be detected.

    Args:
        view: what the sidebar says is shown.
        verdicts: the comparisons with the baseline.
        measure: which is compared.
        baseline: with whom.
        test_name: by which test; the difference that could be detected is that of a t-test as paired as it.
    """
    tied, traditional = (
        f"{int(is_significant(rows['p_adjusted'].to_numpy(), verdicts.level).sum())} of {len(rows)}"
        for rows in (verdicts.tied, verdicts.traditional)
    )
    n_pairs = len(verdicts.tied)
    paired = find_test(test_name).paired
    least = detectable(view.evaluation, measure, "expected", baseline, verdicts.level, paired=paired)
    power = f"80% power, {'paired' if paired else 'unpaired'} t-test" if n_pairs else "nothing to compare"
    smallest = "none" if least >= largest_difference(measure) else decimal(least) if least else "any"
    cards(
        Card("verified", "Significant, tied", tied, f"against {baseline}", "blue"),
        Card("rule", "Significant, traditional", traditional, "same test, same level", "orange"),
        Card("swap_horiz", "Verdicts that change", f"{int(verdicts.changed.sum())} of {n_pairs}", "by ties"),
        Card("straighten", "Detectable difference", smallest, power),
    )


def difference_chart(view: View, verdicts: Verdicts, measure: str, test_name: str) -> None:
    """Draw the differences from the baseline with their intervals.

    Args:
        view: what the sidebar says is shown.
        verdicts: the comparisons with the baseline.
        measure: what its mean is called.
        test_name: whose intervals they are.
    """
    baseline = str(verdicts.tied["baseline"].iloc[0])
    heading(
        f"Difference from {escape_markdown(baseline)}",
        f"Mean difference with the {verdicts.level:.0%} {find_test(test_name).interval_scope}. "
        "Right: adjusted verdicts, traditional, tied.",
    )
    chart(
        difference_forest(verdicts.best_first(), view.palette, measure),
        "forest",
        f"{measure} difference of each reranker from {baseline}, by tied and by traditional values.",
        wide=620,
    )


def order_chart(view: View, stability: OrderStability) -> None:
    """Draw how likely each reranker is above each other when ties are broken at random."""
    heading(
        "P(row above column | ties)", "Percent of tie-breakings in which the row comes out above the column."
    )
    alt = "Chance of each reranker to come out above each other when ties are broken at random."
    chart(order_matrix(stability.pairs, _best_first(stability), view.palette), "above", alt, wide=360)
    st.caption("Orange: fragile, near 50 percent. Grey: no order of the ties reverses it.")


def finish_chart(view: View, stability: OrderStability, measure: str, name: str) -> None:
    """Draw the chance of each place, and every place the ties allow.

    Args:
        view: the rerankers that are drawn.
        stability: of their order.
        measure: which they are ordered by.
        name: what its traditional mean is called.
    """
    heading(
        "Where each reranker can finish",
        f"Shade: chance of that place. Outline: every place the ties allow. Diamond: place by {name}.",
    )
    order = _best_first(stability)
    rows = leaderboard(view.evaluation, measure, view.traditional).loc[order]
    ranks = rows["traditional_rank"].astype(int).tolist()
    chart(
        finish_heatmap(stability.ranks.loc[order], stability.bounds.loc[order], ranks, view.palette),
        "finishes",
        "Chance of each reranker to finish at each place when ties are broken at random.",
        wide=560,
    )


def pair_chart(
    view: View, pairs: Verdicts, stability: OrderStability, test_name: str, correction_name: str
) -> None:
    """Draw which of all pairs differ, by which value.

    Args:
        view: the rerankers that are drawn.
        pairs: every two of them compared.
        stability: of their order.
        test_name: by which test.
        correction_name: what is done about so many comparisons.
    """
    correction = find_correction(correction_name)
    corrected = "uncorrected" if correction.method is None else f"after {correction.label}"
    corrected = "at once" if find_test(test_name).simultaneous else corrected
    n_pairs = count_of(len(pairs.tied), "pair")
    heading(
        "All pairs",
        f"Significant at {1 - pairs.level:.0%} {corrected} over {n_pairs}, by which value.",
    )
    tied, traditional = (
        pd.Series(is_significant(rows["p_adjusted"].to_numpy(), pairs.level))
        for rows in (pairs.tied, pairs.traditional)
    )
    figure = verdict_matrix(tied, traditional, pairs.tied, _best_first(stability), view.palette)
    chart(figure, "all-pairs", "Which pairs of rerankers differ significantly, by which value.", wide=360)


def _best_first(stability: OrderStability) -> list[str]:
    """Return the rerankers by falling tied mean."""
    return list(stability.bounds.sort_values("expected", ascending=False, kind="stable").index)


def best_rerankers(view: View, measure: str) -> View:
    """Return the view of the best rerankers, as many as every pair of them can be drawn."""
    means = view.evaluation.scores[measure, "expected"].groupby(level="reranker").mean()
    best = set(means.nlargest(MAX_PAIRED).index)
    names = [name for name in view.rerankers if name in best]
    if len(names) == len(view.rerankers):
        return view
    st.caption(f"Pairs and places are those of the {MAX_PAIRED} best of {len(view.rerankers)} by tied mean.")
    return replace(view, rerankers=names, evaluation=view.evaluation.only(names))
