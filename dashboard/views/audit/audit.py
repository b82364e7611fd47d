"""Audit: which published order stands?"""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import cache, controls
from dashboard.charts.labels import CARD_COLUMNS, short_names
from dashboard.choices import UNJUDGED, View
from dashboard.controls import set_value
from dashboard.long_work import is_cancelled, long_work, offer_to_resume
from dashboard.views.audit.figures import figures_section
from dashboard.views.audit.names import matching_line, name_controls
from dashboard.views.audit.orders import orders_section
from dashboard.views.audit.table_choice import OpenTable, open_table
from dashboard.widgets import audited_table
from dashboard.widgets.components import finding
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.audited_order import audit_finding
from metrics.studies.audit.conventions import Convention

ORDERS, FIGURES, NAMES = "Orders", "Figures", "Names"
_FEW_MEASURES = 4  # measures that stand side by side


def board_settings(convention: Convention) -> dict[str, str | float]:
    """Return the settings that score a board by a convention: key of a control → value.

    A board has one order of the ties, so ties that the convention averages leave it as it is.
    """
    settings: dict[str, str | float] = {
        "precision": convention.precision,
        "relevant_from": max(1.0, float(convention.relevant_from)),
        "missing": convention.missing,
        "empty": convention.empty,
        UNJUDGED: convention.unjudged,
    }
    return settings | ({"order": convention.treatment} if convention.treatment in cache.TRADITIONAL else {})


def use_rule(convention: Convention) -> None:
    """Have every page score the board by the convention of a published table."""
    for key, value in board_settings(convention).items():
        set_value(key, value)


def rule_button(view: View, convention: Convention) -> None:
    """Draw the button that scores the board by a convention; disabled where it is scored so."""
    is_used = view.scoring == convention.options and convention.treatment in ("expected", view.traditional)
    with st.container(width="content", gap="xxsmall"):
        st.markdown(":small[Rule of the table]")
        st.button(
            "The board uses this rule" if is_used else "Use this rule on the board",
            icon=f":material/{'check' if is_used else 'tune'}:",
            key="use-rule",
            disabled=is_used,
            help=f"Sets tie order, rounding and what is relevant on every page: {convention.label}.",
            on_click=partial(use_rule, convention),
        )


def choose_measure(audit: Audit) -> str:
    """Draw and return the published measure whose order is shown: RR or nDCG unless another is chosen."""
    names = audit.measures or [name for name in audit.published.measures if audit.names.measure(name)]
    labels = short_names(names, CARD_COLUMNS)
    default, label = audit.first_measure, labels.__getitem__
    if len(names) <= _FEW_MEASURES:
        return controls.segmented("Order by", names, "by", default, format_func=label)
    return controls.select("Order by", names, "by", default, format_func=label, width=240)


def show_audit(view: View, opened: OpenTable, settings: DeltaGenerator) -> None:
    """Draw what becomes of a published table, and its settings; says what is tried until that is known."""
    key = audited_table.audit_key(view.board, opened.name, opened.table)
    names = audited_table.matches(key, view.board, opened.table)
    if line := matching_line(names, opened.table):
        st.caption(line)
    if not audited_table.has_matches(names):
        kind = "measure" if names.rerankers["matched"].ne("").any() else "reranker"
        st.warning(
            f"No {kind} of the table has a name that is known here. Say below which is which, or open the "
            "board that the table was made from.",
            icon=":material/link_off:",
        )
        name_controls(view.board, names)
        return
    work = f"audit-{opened.name}"
    if is_cancelled(work):
        offer_to_resume("The table was not audited.")
        return
    with long_work(work):
        audit = audited_table.board_audit(key, view.board, opened.table)
    with settings:
        measure = choose_measure(audit)
        rule_button(view, audit.reproduction.best)
    order_work = f"{work}-{measure}"
    if is_cancelled(order_work):
        offer_to_resume("The order was not judged.")
        return
    with long_work(order_work):
        order = audited_table.board_order(key, measure, view.board, audit)
    finding(audit_finding(audit, order), view.board.runs.rerankers)
    published, shown = audit.reproduction.best.relevant_from, view.scoring.relevant_from
    if max(1.0, published) != shown:
        st.caption(
            f"The table takes documents as relevant from grade {published:g}, this board from {shown:g}: other "
            "pages can name another leader."
        )
    if view.segments or len(view.rerankers) < len(view.board.runs.rerankers):
        st.caption("The filter of the sidebar does not apply: the audit is of every reranker and query.")
    section = controls.segmented("Section", [ORDERS, FIGURES, NAMES], "section", label_visibility="collapsed")
    if section == ORDERS:
        orders_section(view, audit, order, audited_table.board_orders(key, view.board, audit))
    elif section == FIGURES:
        figures_section(view, key, audit)
    else:
        name_controls(view.board, names)


def show(view: View) -> None:
    """Draw which published order stands."""
    st.title("Audit", anchor=False)
    settings = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with settings:
        opened_table = open_table(view)
    results = st.empty()  # what was shown of another table goes as soon as this one is worked on
    if opened_table:
        with results.container():
            show_audit(view, opened_table, settings)
