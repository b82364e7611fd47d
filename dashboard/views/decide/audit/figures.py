"""The figures of a published table: how many come out, which, and by which rule."""

import pandas as pd

from dashboard.charts.deciding.audit.convention_bars import convention_bars
from dashboard.charts.deciding.audit.reproduction_matrix import matrix_width, reproduction_matrix
from dashboard.escaping import escape_markdown
from dashboard.session import View
from dashboard.views.decide.audit.choices import BARS, FIRST_RULES, MOST_RULES
from dashboard.widgets.components import chart, clickable_chart, heading, side_by_side
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.page_body import section
from metrics.support.wording import count_of


@section("The figures of the table")
def figures_section(view: View, figures: pd.DataFrame, n_figures: int, rules: pd.DataFrame, row: int) -> None:
    """Draw which figures come out under a rule, beside how many do under each.

    Args:
        view: what the sidebar says is shown.
        figures: as `rule_figures` returns them of that rule.
        n_figures: figures of the table that are compared.
        rules: as `tried_rules` returns them.
        row: of the rule whose matrix is drawn.
    """
    rule, is_best = rules.iloc[row], row == 0
    rerankers = list(dict.fromkeys(figures["reranker"]))
    n_measures = figures["measure"].nunique()
    left, right = side_by_side(3, 2, "audit")
    with left:
        beside = "" if is_best else " Beside what does not come out: computed minus published."
        n_alike = int(rule["n_alike"])
        alike = f", or {count_of(n_alike, 'other')} with the same figures" if n_alike else ""
        heading(
            "What comes out of the published table",
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
            f"Of {count_of(n_figures, 'figure')}, how many come out under each. A click shows its matrix.",
        )
        bars = shown_rows(len(rules), "rules", FIRST_RULES, MOST_RULES)
        bar_rows = rules.head(max(bars.n_shown, row + 1)).drop(columns="convention")
        figure = kept_figure(view.board.key, convention_bars, bar_rows, view.palette, row)
        clickable_chart(figure, BARS, "Figures that come out under each rule tried.")
        bars.buttons()
