"""The figures of a published table: how many come out, which, and by which rule."""

import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.charts.audit import convention_bars, matrix_width, reproduction_matrix
from dashboard.choices import View
from dashboard.controls import clicked_row, set_value
from dashboard.escaping import escape_markdown
from dashboard.widgets import audited_table
from dashboard.widgets.components import chart, clickable_chart, heading, side_by_side
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.sections import section
from metrics.studies.audit.audit import Audit
from metrics.support.wording import count_of

BARS = "audit-rules"
"""Chart whose click chooses a rule."""
_RULE = "rule"
FIRST_RULES = 8
"""Rules whose bars are drawn unless all are asked for."""
_MOST_BESIDE = 7
"""Measures beside which the rules have room."""
MOST_RULES = 40
"""Rules whose bars are drawn at most; the list has all."""


@section("The figures of the table")
def figures_section(view: View, key: audited_table.AuditKey, audit: Audit) -> None:
    """Draw which figures come out under a rule, beside how many do under each."""
    rules, n_figures = _tried_rules(audit), audit.reproduction.n_figures
    row = _choose_rule(rules)
    figures = audited_table.rule_figures(key, rules["convention"].iloc[row], view.board, audit)
    rule, is_best = rules.iloc[row], row == 0
    rerankers = list(dict.fromkeys(figures["reranker"]))
    n_measures = figures["measure"].nunique()
    is_wide = n_measures > _MOST_BESIDE
    left, right = (st.container(), st.container()) if is_wide else side_by_side(3, 2, "audit")
    with left:
        beside = "" if is_best else " Orange: computed minus published."
        n_alike = int(rule["n_alike"])
        alike = f", or {count_of(n_alike, 'other')} with the same figures" if n_alike else ""
        heading(
            "Figures that come out",
            f"Rule: {escape_markdown(rule['label'])}{alike}. Rows in the published order.{beside}",
        )
        row_range = shown_rows(len(rerankers), "figures")
        figure = kept_figure(
            view.board.key,
            reproduction_matrix,
            figures,
            view.palette,
            rerankers[: row_range.n_shown],
            has_differences=not is_best or bool(rule["does_not_come_out"]),
        )
        alt = "Each published figure by measure: to the digit, off by rounding, or not."
        chart(figure, "figures", alt, wide=matrix_width(n_measures, has_differences=not is_best))
        row_range.buttons()
    with right:
        heading(
            "Rules that were tried",
            f"Of {count_of(n_figures, 'figure')}, how many come out under each. A click shows its figures.",
        )
        bars = shown_rows(len(rules), "rules", FIRST_RULES, MOST_RULES)
        bar_rows = rules.head(max(bars.n_shown, row + 1)).drop(columns="convention")
        figure = kept_figure(view.board.key, convention_bars, bar_rows, view.palette, row)
        clickable_chart(figure, BARS, "Figures that come out under each rule tried.")
        bars.buttons()


def _tried_rules(audit: Audit) -> pd.DataFrame:
    """Return a rule for each way that the figures come out, first the best of every treatment, best first."""
    conventions = audit.reproduction.conventions
    n_alike = conventions["group"].map(conventions["group"].value_counts()) - 1
    rules = conventions.assign(n_alike=n_alike).drop_duplicates("group")
    treatments = rules["convention"].map(lambda convention: convention.treatment)
    is_first = ~treatments.duplicated()
    first = pd.concat([rules[is_first], rules[~is_first]]).head(FIRST_RULES).index
    return pd.concat([rules.loc[rules.index.isin(first)], rules.loc[~rules.index.isin(first)]])


def _choose_rule(rules: pd.DataFrame) -> int:
    """Draw and return whose matrix is shown: the row of a rule, the best unless another is chosen."""
    labels = rules["label"].tolist()
    if (row := clicked_row(BARS)) is not None and row < len(labels):
        set_value(_RULE, labels[row])
    label = controls.select("Compare with the rule of", labels, _RULE, width=400)
    return int(labels.index(label))
