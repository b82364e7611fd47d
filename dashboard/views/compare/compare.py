"""Compare: test whether one reranker is better than another, and whether ties, chance or noise decide it."""

import streamlit as st

from dashboard import choices, controls
from dashboard.choices import View, choose_test
from dashboard.views.compare import differences
from dashboard.views.compare.noise import noise_section
from dashboard.views.compare.pairs import pairs_section
from dashboard.views.compare.tradeoffs import tradeoff_section
from dashboard.widgets.browser import watch_width
from dashboard.widgets.components import finding
from metrics import parse
from metrics.studies.significance import significance_finding

BASELINE, PAIRS, STABILITY, NOISE, TRADEOFFS = (
    "Against the baseline",
    "All pairs",
    "Stability",
    "Noise",
    "Trade-offs",
)
_FEW = 4  # rerankers from which on every two are drawn: fewer fit into the table against the baseline


def show(view: View) -> None:
    """Draw the page."""
    st.title("Compare", anchor=False)
    watch_width()
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        baseline = choices.choose_baseline(view.rerankers, width=240)
        measure = choices.measure(has_more=False)
        choices.choose_relevant_from(view.board)
        with choices.more_menu(help="Test, correction, and any other measure."):
            test, correction = choose_test()
            st.caption(differences.test_words(test))
    has_pairs = len(view.rerankers) >= _FEW
    sections = [BASELINE, *([PAIRS, STABILITY] if has_pairs else []), NOISE, TRADEOFFS]
    section = controls.choose_section(sections)
    name = parse(measure).traditional
    verdicts = differences.shown_verdicts(view, measure, view.traditional, baseline, test, correction)
    with verdict:
        sentence = significance_finding(verdicts, name, test)
        finding(
            (*sentence, *differences.detectable_sentence(view, verdicts, measure, baseline, test)),
            view.rerankers,
        )
    if section == NOISE:
        noise_section(view, measure)
    elif section == TRADEOFFS:
        tradeoff_section(view, measure, baseline, test, correction)
    elif section in (PAIRS, STABILITY):
        pairs_section(view, measure, test, correction, is_stability=section == STABILITY)
    elif len(view.rerankers) > 1:
        differences.baseline_section(view, verdicts, measure, baseline, test, correction)
