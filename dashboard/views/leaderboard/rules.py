"""The section on measures that settle ties by rules of their own, beside the measure whose ties they settle."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.leaderboard.rule_marks import rule_marks
from dashboard.charts.palette import Palette
from dashboard.views.leaderboard import cached
from dashboard.widgets.components import chart, heading, section_finding, table_head, table_rows
from dashboard.widgets.figures import kept_elements
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt, side_by_side
from metrics.studies.tools.tie_rules import answers_finding
from metrics.support.shown_columns import shown_columns


@section("The same ties, settled by rules")
def rules_section(view: session.View, measure: str, drawn_rerankers: pd.Index) -> None:
    """Draw a measure, sorted and averaged, beside all that settle its ties by rules; nothing where none does.

    Args:
        view: what the sidebar says is shown.
        measure: the measure, or one of those rules.
        drawn_rerankers: rerankers that are drawn.
    """
    answered, *rules = side_by_side(parse(measure))
    if not rules:
        return
    names = (str(answered), *map(str, rules))
    evaluation = cached.tie_rules(view, names, view.traditional)
    answers, rows = cached.rule_answers(view, names, view.traditional, evaluation)
    heading(
        "The same ties, settled by rules",
        f"{answered.traditional} takes {view.treatment.order}, {answered.tied} the mean over all orders; the "
        "others have a rule of their own, the same whatever the order.",
    )
    key, drawn = view.board.key, list(drawn_rerankers)
    kept_elements(key, _draw_answers, answers, rows, names, drawn, view.rerankers, view.palette)
    answers = answers.assign(tie_ratio=rows["tie_ratio"]).rename_axis("reranker")
    table_head(f"{answered.traditional} by every rule for ties", "tie-rules", answers.reset_index)
    kept_elements(key, _draw_rows, answers, drawn)


def _draw_answers(
    answers: pd.DataFrame,
    rows: pd.DataFrame,
    names: tuple[str, ...],
    drawn_rerankers: list[str],
    rerankers: list[str],
    palette: Palette,
) -> None:
    section_finding(answers_finding(answers, rows["tie_ratio"], set(drawn_rerankers)), rerankers)
    if drawn_rerankers:
        means = answers.loc[drawn_rerankers, list(names[1:])]
        _draw_marks(parse(names[0]), rows.loc[drawn_rerankers], means, palette)


def _draw_rows(answers: pd.DataFrame, drawn_rerankers: list[str]) -> None:
    rules = {
        label: column
        for label in answers.columns.drop("tie_ratio")
        for column in shown_columns((label, "value"), measure=label).values()
    }
    table_rows(
        answers.loc[drawn_rerankers].reset_index(),
        "tie-rules",
        shown_columns("reranker") | rules | shown_columns(("tie_ratio", "mean_tie_ratio")),
    )


def _draw_marks(answered: MeasureAt, rows: pd.DataFrame, means: pd.DataFrame, palette: Palette) -> None:
    """Draw the means of rules on the bars of the measure that they answer, where they lie on all of them."""
    is_within = means.ge(rows["worst"] - EQUAL, axis=0) & means.le(rows["best"] + EQUAL, axis=0)
    on_bar = is_within.all()
    chart(
        rule_marks(rows, means.loc[:, on_bar], palette, str(answered)),
        "rules",
        f"{answered.traditional}, {answered.tied} and the rules of their own of each reranker.",
    )
    if not on_bar.all():
        outside = ", ".join(means.columns[~on_bar])
        st.caption(f"In the table only: {outside}, which counts every relevant document, not the first alone.")
