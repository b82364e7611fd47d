"""Robustness: how much of the order survives noise in the scores?"""

import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.views.decide.robustness import sections
from dashboard.views.decide.robustness.weights import weight_section
from dashboard.widgets.components import page_head, section_finding
from dashboard.widgets.page_body import page_body
from metrics.studies.tools.tie_rules import own_rule_note


@page_body
def robustness() -> None:
    """Draw what noise and near ties do to the order."""
    view = session.view()
    page_head(
        "Robustness",
        "How much of the order survives noise in the scores: every score gets a random error of size σ, and "
        "the lists are sorted again. A tie is what is left as σ goes to nothing.",
    )
    measure = session.measure()
    best_view = sections.best_rerankers(view, measure)
    if note := own_rule_note(measure):
        section_finding(note)
        st.info(f"Noise leaves no ties, so that {measure} has no rule to follow. Choose another measure.")
    elif view.scoring.criteria:
        st.info("Noise is of the score alone. Rank by it alone in Scoring to see what noise and near ties do.")
    elif columns := view.scoring.tiebreak_by:
        names = escape_markdown(", ".join(columns))
        st.info(f"Noise leaves no ties to split by {names}. Take them out of Scoring to see what it does.")
    else:
        sections.noise_sections(best_view, measure)
    weight_section(best_view, measure)


robustness()
