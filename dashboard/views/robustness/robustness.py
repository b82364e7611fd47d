"""Robustness: how much of the order survives noise in the scores?"""

import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.views.robustness import sections
from dashboard.views.robustness.cached import shown_curves
from dashboard.views.robustness.near_ties import near_tie_section
from dashboard.widgets.components import finding, page_head, section_finding
from metrics import parse
from metrics.errors import UsageError
from metrics.studies.robustness.noise_curves import even_point, trades
from metrics.studies.robustness.robustness_finding import robustness_finding
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
    try:
        curves = shown_curves(view, measure, rerankers)
    except UsageError as error:
        st.warning(escape_markdown(str(error)))
        near_tie_section(view, measure, rerankers)
        st.stop()
    crossings = trades(curves.means)
    even = even_point(curves.chances.index.to_numpy(), curves.chances["whole"].to_numpy())
    finding(robustness_finding(curves.means, parse(measure).tied, even), rerankers)
    sections.robustness_cards(curves, crossings, even)
    sections.curve_section(view, measure, curves, crossings)
    near_tie_section(view, measure, rerankers)
    sections.noise_table(view, measure, curves.means, crossings)
