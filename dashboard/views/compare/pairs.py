"""Compare → All pairs and Stability: compare every pair, and the order under random tie-breaking."""

from dataclasses import replace

import streamlit as st

from dashboard import visitor
from dashboard.cache import ShownBoard, board_turn
from dashboard.charts.compare import finish_heatmap, matrix_width, order_matrix, verdict_matrix
from dashboard.choices import View
from dashboard.server.board_results import cached_by_key
from dashboard.views.compare.differences import list_spreads, shown_verdicts
from dashboard.widgets.components import chart, heading, section, section_finding
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import shown_rows
from metrics import Evaluation, parse
from metrics.studies.leaderboard import places
from metrics.studies.significance import Verdicts
from metrics.studies.stability import OrderStability, stability_finding
from metrics.studies.test_registry import find_correction, find_test
from metrics.studies.verdict_sentence import same_runs
from metrics.support.wording import count_of


@cached_by_key(show_spinner="Breaking ties at random …", max_entries=24)
def shown_stability(view: ShownBoard, measure: str, _lists: Evaluation) -> OrderStability:
    """Return how random tie-breaking moves the leaderboard."""
    rankings = {name: view.ranking(name) for name in view.rerankers}
    with board_turn(view.board):
        return OrderStability.of(_lists.only(view.rerankers), measure, rankings)


def pairs_section(view: View, measure: str, test: str, correction: str, *, is_stability: bool) -> None:
    """Draw the verdict on every pair, or the chance of each order of two."""
    row_range = shown_rows(len(view.rerankers), "paired")
    best_view = best_rerankers(view, measure, row_range.n_shown)
    stability = shown_stability(best_view, measure, list_spreads(view, measure))
    name = parse(measure).traditional
    if is_stability:
        section_finding(
            stability_finding(
                stability.pairs,
                stability.bounds,
                stability.tau,
                name,
                same_runs(view.board.runs, best_view.evaluation, measure),
            ),
            view.rerankers,
        )
        order_chart(view, stability)
        finish_chart(best_view, stability, measure, name)
    else:
        pairs = shown_verdicts(best_view, measure, view.traditional, None, test, correction)
        pair_chart(best_view, pairs, stability, measure, test, correction)
    row_range.buttons()


@section("Verdicts on all pairs")
def pair_chart(
    view: View, pairs: Verdicts, stability: OrderStability, measure: str, test_name: str, correction_name: str
) -> None:
    """Draw which pairs differ significantly."""
    correction = find_correction(correction_name)
    corrected = "uncorrected" if correction.method is None else f"after {correction.label}"
    corrected = "at once" if find_test(test_name).simultaneous else corrected
    n_pairs = count_of(len(pairs.tied), "pair")
    heading(
        "All pairs",
        f"Tied {measure} difference, row minus column; bold: significant. Colour: whether the traditional or "
        f"the tied scores differ significantly at {1 - pairs.level:.0%}, {corrected} over {n_pairs}.",
    )
    order = _best_first(stability)
    alt = "Tied difference of every two rerankers, and whether traditional or tied scores differ significantly."
    is_narrow = visitor.is_narrow()
    figure = kept_figure(verdict_matrix, pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "all-pairs", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


@section("Chances of each order")
def order_chart(view: View, stability: OrderStability) -> None:
    """Draw the chance that each reranker ranks above each other reranker."""
    heading(
        "P(row above column | ties)",
        "Percent of random tie-breakings that rank the row above the column. Numbers are ranks by tied score.",
    )
    alt = "Chance that each reranker ranks above each other reranker when ties are broken at random."
    order = _best_first(stability)
    is_narrow = visitor.is_narrow()
    figure = kept_figure(order_matrix, stability.pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "above", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


@section("Chances of each rank")
def finish_chart(view: View, stability: OrderStability, measure: str, name: str) -> None:
    """Draw the chance of each rank, and all ranks that ties allow."""
    heading(
        "Where each reranker can finish",
        f"Shade: chance of the rank. Outline: all ranks that ties allow. Diamond: rank by {name}.",
    )
    order = _best_first(stability)
    ranks = places(view.evaluation.means(measure)[view.traditional]).loc[order].astype(int).tolist()
    chart(
        kept_figure(
            finish_heatmap, stability.ranks.loc[order], stability.bounds.loc[order], ranks, view.palette
        ),
        "finishes",
        "Chance of each rank for each reranker when ties are broken at random.",
    )


def best_rerankers(view: View, measure: str, n_drawn: int) -> View:
    """Return the view of the best rerankers, and mention the selection."""
    means = view.evaluation.scores[measure, "expected"].groupby(level="reranker").mean()
    best = set(means.nlargest(n_drawn).index)
    names = [name for name in view.rerankers if name in best]
    if len(names) == len(view.rerankers):
        return view
    st.caption(f"The best {n_drawn} of {len(view.rerankers):,} rerankers by tied mean.")
    return replace(view, rerankers=names, evaluation=view.evaluation.only(names))


def _best_first(stability: OrderStability) -> list[str]:
    """Return the rerankers from the highest to the lowest tied mean."""
    return list(stability.bounds.sort_values("expected", ascending=False, kind="stable").index)
