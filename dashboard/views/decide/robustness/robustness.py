"""Robustness: how much of the order survives noise in the scores?"""

import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.views.decide.robustness import sections
from dashboard.widgets.components import page_head, section_finding
from metrics.studies.tie_rules import own_rule_note

view = session.view()
page_head(
    "Robustness",
    "How much of the order survives noise in the scores: every score gets a random error of size σ, and the "
    "lists are sorted again. A tie is what is left as σ goes to nothing.",
)
measure = session.measure()
if note := own_rule_note(measure):
    section_finding(note)
    st.info(f"Noise leaves no ties, so that {measure} has no rule to follow. Choose another measure.")
elif columns := view.scoring.further_columns:
    names = escape_markdown(", ".join(columns))
    st.info(f"Noise leaves no ties to split by {names}. Take them out of Scoring to see this page.")
else:
    rerankers = sections.best_rerankers(view, measure)
    sections.noise_sections(view, measure, rerankers)
