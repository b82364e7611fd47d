"""Audit: which published order stands?"""

import streamlit as st

from dashboard import session
from dashboard.views.decide.audit import choices
from dashboard.views.decide.audit.figures import figures_section
from dashboard.views.decide.audit.orders import audit_cards, order_section, pairs_section
from dashboard.views.decide.audit.table_choice import matching_line, name_controls, names_popover, open_table
from dashboard.widgets import audited_table
from dashboard.widgets.components import finding, page_head
from metrics.studies.audit.audited_order import audit_finding


def show(view: session.View) -> None:
    """Draw which published order stands."""
    page_head(
        "Audit",
        "Which published order stands? The table is made again from the runs by every rule that may have made it, "
        "then with ties averaged.",
    )
    controls = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with controls:
        audited = open_table(view)
    if audited:
        key, published = audited_table.audit_key(view.board, audited.name, audited.table), audited.table
        names = audited_table.matches(key, view.board, published)
        st.caption(matching_line(names, published))
        if not audited_table.has_matches(names):
            choices.say_unmatched(names)
            name_controls(view.board, names)
        else:
            audit = audited_table.board_audit(key, view.board, published)
            rules = choices.tried_rules(audit)
            with controls:
                names_popover(view.board, names)
                measure = choices.choose_measure(audit)
                row = choices.choose_rule(rules)
            choices.say_scope(view)
            order = audited_table.board_order(key, measure, view.board, audit)
            finding(audit_finding(audit, order), view.board.runs.rerankers)
            audit_cards(audit, order)
            figures = audited_table.rule_figures(key, rules["convention"].iloc[row], view.board, audit)
            figures_section(view, figures, audit.reproduction.n_figures, rules, row)
            order_section(view, audit, order)
            pairs_section(view, order.pairs)
