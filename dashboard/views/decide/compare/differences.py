"""Charts of differences: which are larger than chance, and which the ties decide."""

from dataclasses import replace

import streamlit as st

from dashboard import session
from dashboard.charts.deciding.difference_forest import difference_forest
from dashboard.charts.deciding.finish_heatmap import finish_heatmap
from dashboard.charts.deciding.pair_matrices import matrix_width, order_matrix, verdict_matrix
from dashboard.charts.labels import SENTENCE_COLUMNS, short_names
from dashboard.escaping import escape_markdown
from dashboard.session import View
from dashboard.views.decide.compare.cached import least_detectable
from dashboard.widgets.components import chart, heading
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import FIRST_ROWS
from dashboard.widgets.page_body import section
from metrics.studies.leaderboard.leaderboard import places
from metrics.studies.prose import Prose, decimal
from metrics.studies.significance.comparisons import largest_difference
from metrics.studies.significance.significance import Verdicts, is_testable
from metrics.studies.significance.test_registry import find_correction, find_test
from metrics.studies.tie_breaking.order_stability import OrderStability
from metrics.support.wording import count_of

_STARS = r"\*\*\* p < 0.001, \*\* p < 0.01, \* p < 0.05, ns not significant.".replace(
    " p < ", "\u00a0p\u00a0<\u00a0"
)


def test_words(test_name: str) -> str:
    """Return what a test asks and assumes, whose intervals it comes with, and what the stars mean."""
    test = find_test(test_name)
    return f"{test.summary} {test.interval_sentence} {_STARS}"


def detectable_sentence(view: View, verdicts: Verdicts, measure: str, baseline: str, test_name: str) -> Prose:
    """Say which difference from the baseline a t-test, as paired as the test, would find four times in five."""
    if not is_testable(verdicts.tied).any():
        return ()
    least = least_detectable(view, measure, baseline, verdicts.level, find_test(test_name).paired)
    if not 0 < least < largest_difference(measure):
        return ()
    return (f" A difference of {decimal(least)} would be found four times in five.",)


@section("Differences from the baseline")
def difference_chart(view: View, verdicts: Verdicts, measure: str, test_name: str, n_drawn: int) -> None:
    """Draw the differences from the baseline with their intervals.

    Args:
        view: what the sidebar says is shown.
        verdicts: the comparisons with the baseline.
        measure: what its mean is called.
        test_name: whose intervals they are.
        n_drawn: comparisons that are drawn; of many, those whose verdict changes come first.
    """
    baseline = str(verdicts.tied["baseline"].iloc[0])
    name = short_names(view.rerankers, SENTENCE_COLUMNS)[baseline]
    n_pairs = len(verdicts.tied)
    changed = ", those whose verdict changes first" if verdicts.changed.any() else ""
    selection = f"{min(n_drawn, n_pairs)} of {n_pairs:,}{changed}. " if n_pairs > FIRST_ROWS else ""
    heading(
        f"Difference from {escape_markdown(name)}",
        f"{selection}Mean difference with the {verdicts.level:.0%} {find_test(test_name).interval_scope}. "
        "Right: adjusted verdicts, traditional, tied.",
    )
    chart(
        kept_figure(
            view.board.key,
            difference_forest,
            verdicts.changed_first(FIRST_ROWS, n_drawn),
            view.palette,
            measure,
        ),
        "forest",
        f"{measure} difference of each reranker from {baseline}, by tied and by traditional values.",
    )


@section("Chances of each order")
def order_chart(view: View, stability: OrderStability) -> None:
    """Draw how likely each reranker is above each other when ties are broken at random."""
    heading(
        "P(row above column | ties)",
        "Percent of tie-breakings in which the row comes out above the column. A row's name stands at its "
        "cells; its column carries the same number, its place by the tied value.",
    )
    alt = "Chance of each reranker to come out above each other when ties are broken at random."
    order = _best_first(stability)
    is_narrow = session.is_narrow()
    figure = kept_figure(
        view.board.key, order_matrix, stability.pairs, order, view.palette, is_narrow=is_narrow
    )
    chart(figure, "above", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


@section("Chances of each rank")
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
    ranks = places(view.evaluation.means(measure)[view.traditional]).loc[order].astype(int).tolist()
    chart(
        kept_figure(
            view.board.key,
            finish_heatmap,
            stability.ranks.loc[order],
            stability.bounds.loc[order],
            ranks,
            view.palette,
        ),
        "finishes",
        "Chance of each reranker to finish at each place when ties are broken at random.",
    )


@section("Verdicts on all pairs")
def pair_chart(
    view: View, pairs: Verdicts, stability: OrderStability, measure: str, test_name: str, correction_name: str
) -> None:
    """Draw which of all pairs differ, by which value.

    Args:
        view: the rerankers that are drawn.
        pairs: every two of them compared.
        stability: of their order.
        measure: what is compared.
        test_name: by which test.
        correction_name: what is done about so many comparisons.
    """
    correction = find_correction(correction_name)
    corrected = "uncorrected" if correction.method is None else f"after {correction.label}"
    corrected = "at once" if find_test(test_name).simultaneous else corrected
    n_pairs = count_of(len(pairs.tied), "pair")
    heading(
        "All pairs",
        f"Tied {measure} difference, row minus column; bold where it is significant. Colour: significant at "
        f"{1 - pairs.level:.0%} {corrected} over {n_pairs}, by which value.",
    )
    order = _best_first(stability)
    alt = "Tied difference of every two rerankers, and by which value it is significant."
    is_narrow = session.is_narrow()
    figure = kept_figure(view.board.key, verdict_matrix, pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "all-pairs", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


def _best_first(stability: OrderStability) -> list[str]:
    """Return the rerankers by falling tied mean."""
    return list(stability.bounds.sort_values("expected", ascending=False, kind="stable").index)


def best_rerankers(view: View, measure: str, n_drawn: int) -> View:
    """Return the view of the best rerankers, as many as are drawn; say so where some are not.

    Args:
        view: what the sidebar says is shown.
        measure: by whose tied mean.
        n_drawn: how many.
    """
    means = view.evaluation.scores[measure, "expected"].groupby(level="reranker").mean()
    best = set(means.nlargest(n_drawn).index)
    names = [name for name in view.rerankers if name in best]
    if len(names) == len(view.rerankers):
        return view
    st.caption(f"Pairs and places are those of the {n_drawn} best of {len(view.rerankers):,} by tied mean.")
    return replace(view, rerankers=names, evaluation=view.evaluation.only(names))
