"""Significance: is a difference larger than chance, and would it survive another order of the ties?"""

import streamlit as st

from dashboard import session
from dashboard.session.scoring import choose_test
from dashboard.views.decide.significance import cached
from dashboard.views.decide.significance.sections import (
    best_rerankers,
    difference_chart,
    finish_chart,
    order_chart,
    pair_chart,
    verdict_cards,
)
from dashboard.views.decide.significance.tables import comparison_table, query_table
from dashboard.widgets.browser import watch_width
from dashboard.widgets.components import finding, page_head, section_finding
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.holes import count_unjudged, hole_bounds
from dashboard.widgets.page_body import page_body
from dashboard.widgets.swaps_table import swaps_section
from metrics import parse
from metrics.studies.significance.significance import significance_finding
from metrics.studies.tie_breaking.stability import stability_finding


@page_body
def significance() -> None:
    """Draw tests of differences, and what ties do to their verdicts."""
    view = session.view()
    page_head(
        "Significance",
        "Is the difference between two rerankers larger than chance, and would it survive another order of "
        "ties?",
    )
    watch_width()
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        baseline = session.choose_baseline(view.rerankers, width=240)
        measure = session.measure()
    row_range = shown_rows(len(view.rerankers), "paired")
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        test, correction = choose_test()
    name = parse(measure).traditional

    arguments = measure, view.traditional
    verdicts = cached.verdicts(view, *arguments, baseline, test, correction)
    finding(significance_finding(verdicts, name, test), view.rerankers)
    verdict_cards(view, verdicts, measure, baseline, test)

    if len(view.rerankers) > 1:
        swaps_section(view, measure)
        lists = cached.list_spreads(view, measure)
        bounds = hole_bounds(view, parse(measure), count_unjudged(view, measure))
        differences = cached.differences_allowed(view, measure, baseline, bounds)
        tie_shares = cached.tie_shares(view, measure, baseline, lists)
        comparison_table(verdicts, tie_shares, measure, test, correction, differences)
        difference_chart(view, verdicts, name, test, row_range.n_shown)
        row_range.buttons()
        best_view = best_rerankers(view, measure, row_range.n_shown)
        stability = cached.order_stability(best_view, measure, lists)
        prose = stability_finding(stability.pairs, stability.bounds, stability.tau, name)
        section_finding(prose, view.rerankers)
        order_chart(view, stability)
        pairs = cached.verdicts(best_view, *arguments, None, test, correction)
        pair_chart(best_view, pairs, stability, measure, test, correction)
        finish_chart(best_view, stability, measure, name)
        query_table(view, measure, baseline)


significance()
