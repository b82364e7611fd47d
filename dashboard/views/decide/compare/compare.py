"""Compare: is one reranker better than another, and does that survive ties, chance and noise?"""

import streamlit as st

from dashboard import session
from dashboard.session.scoring import choose_test
from dashboard.views.decide.compare import cached
from dashboard.views.decide.compare.difference_tables import comparison_detail, comparison_table
from dashboard.views.decide.compare.differences import (
    best_rerankers,
    detectable_sentence,
    difference_chart,
    finish_chart,
    order_chart,
    pair_chart,
    test_words,
)
from dashboard.views.decide.compare.noise import noise_section
from dashboard.views.decide.compare.tradeoffs import tradeoff_section
from dashboard.widgets.browser import watch_width
from dashboard.widgets.components import finding, section_finding
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.holes import count_unjudged, hole_bounds
from dashboard.widgets.page_body import page_body
from metrics import parse
from metrics.studies.significance.significance import Verdicts, significance_finding
from metrics.studies.tie_breaking.stability import stability_finding

BASELINE, PAIRS, STABILITY, NOISE, TRADEOFFS = (
    "Against the baseline",
    "All pairs",
    "Stability",
    "Noise",
    "Trade-offs",
)
_FEW = 4  # rerankers from which on every two are drawn: fewer fit into the table against the baseline


@page_body
def compare() -> None:
    """Draw whether differences are larger than chance, and what moves them."""
    view = session.view()
    st.title("Compare", anchor=False)
    watch_width()
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        baseline = session.choose_baseline(view.rerankers, width=240)
        measure = session.measure()
        with st.popover("Test", icon=":material/tune:"):
            test, correction = choose_test()
            st.caption(test_words(test))
    has_pairs = len(view.rerankers) >= _FEW
    sections = [BASELINE, *([PAIRS, STABILITY] if has_pairs else []), NOISE, TRADEOFFS]
    section = session.segmented("Section", sections, "section", label_visibility="collapsed")
    name = parse(measure).traditional
    verdicts = cached.verdicts(view, measure, view.traditional, baseline, test, correction)
    with verdict:
        sentence = significance_finding(verdicts, name, test)
        finding((*sentence, *detectable_sentence(view, verdicts, measure, baseline, test)), view.rerankers)
    if section == NOISE:
        noise_section(view, measure)
    elif section == TRADEOFFS:
        tradeoff_section(view, measure, baseline, test, correction)
    elif section in (PAIRS, STABILITY):
        _pairs(view, measure, test, correction, is_stability=section == STABILITY)
    elif len(view.rerankers) > 1:
        _against_baseline(view, verdicts, measure, baseline, test, correction)


def _against_baseline(
    view: session.View, verdicts: Verdicts, measure: str, baseline: str, test: str, correction: str
) -> None:
    """Draw the differences from the baseline, their table, and the queries behind one."""
    row_range = shown_rows(len(view.rerankers), "paired")
    difference_chart(view, verdicts, parse(measure).traditional, test, row_range.n_shown)
    row_range.buttons()
    bounds = hole_bounds(view, parse(measure), count_unjudged(view, measure))
    differences = cached.differences_allowed(view, measure, baseline, bounds)
    tie_shares = cached.tie_shares(view, measure, baseline, cached.list_spreads(view, measure))
    comparison_table(verdicts, tie_shares, measure, test, correction, differences)
    comparison_detail(view, verdicts, measure, baseline)


def _pairs(view: session.View, measure: str, test: str, correction: str, *, is_stability: bool) -> None:
    """Draw every two rerankers: how differences stand, or how likely each comes out above each other."""
    row_range = shown_rows(len(view.rerankers), "paired")
    best_view = best_rerankers(view, measure, row_range.n_shown)
    stability = cached.order_stability(best_view, measure, cached.list_spreads(view, measure))
    name = parse(measure).traditional
    if is_stability:
        section_finding(
            stability_finding(stability.pairs, stability.bounds, stability.tau, name), view.rerankers
        )
        order_chart(view, stability)
        finish_chart(best_view, stability, measure, name)
    else:
        pairs = cached.verdicts(best_view, measure, view.traditional, None, test, correction)
        pair_chart(best_view, pairs, stability, measure, test, correction)
    row_range.buttons()


compare()
