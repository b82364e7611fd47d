"""The section on measures that settle ties by rules of their own, beside the measure whose ties they settle."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.leaderboard.rule_marks import rule_marks
from dashboard.views.leaderboard import cached
from dashboard.widgets.components import chart, heading, section_finding, table
from dashboard.widgets.figures import kept_figure
from metrics import parse
from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt, side_by_side
from metrics.studies.leaderboard.leaderboard import leaderboard
from metrics.studies.tie_rules import answers_finding, tie_answers
from metrics.support.shown_columns import shown_columns


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
    answers = tie_answers(evaluation, measure, view.traditional)
    rows = leaderboard(evaluation, str(answered), view.traditional)
    heading(
        "The same ties, settled by rules",
        f"{answered.traditional} takes {view.treatment.order}, {answered.tied} the mean over all orders; the "
        "others have a rule of their own, the same whatever the order.",
    )
    section_finding(answers_finding(answers, rows["tie_ratio"], set(drawn_rerankers)), view.rerankers)
    if len(drawn_rerankers):
        _draw_marks(view, answered, rows.loc[drawn_rerankers], answers.loc[drawn_rerankers, list(names[1:])])
    table_rows = answers.assign(tie_ratio=rows["tie_ratio"]).rename_axis("reranker")
    table(
        table_rows.loc[drawn_rerankers].reset_index(),
        f"{answered.traditional} by every rule for ties",
        "tie-rules",
        shown_columns("reranker")
        | {
            label: column
            for label in answers
            for column in shown_columns((label, "value"), measure=label).values()
        }
        | shown_columns(("tie_ratio", "mean_tie_ratio")),
        download=table_rows.reset_index(),
    )


def _draw_marks(view: session.View, answered: MeasureAt, rows: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draw the means of rules on the bars of the measure that they answer, where they lie on all of them."""
    is_within = means.ge(rows["worst"] - EQUAL, axis=0) & means.le(rows["best"] + EQUAL, axis=0)
    on_bar = is_within.all()
    chart(
        kept_figure(view.board.key, rule_marks, rows, means.loc[:, on_bar], view.palette, str(answered)),
        "rules",
        f"{answered.traditional}, {answered.tied} and the rules of their own of each reranker.",
    )
    if not on_bar.all():
        outside = ", ".join(means.columns[~on_bar])
        st.caption(f"In the table only: {outside}, which counts every relevant document, not the first alone.")
