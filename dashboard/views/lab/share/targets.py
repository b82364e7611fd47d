"""Targets on Share, once any are set: cards, charts and the table."""

import pandas as pd
import streamlit as st

from dashboard.charts.deciding.target_bullets import target_bullets
from dashboard.charts.deciding.target_matrix import MAX_COLUMNS, matrix_width, target_matrix
from dashboard.charts.labels import CARD_COLUMNS, SENTENCE_COLUMNS, short_names
from dashboard.choices import View
from dashboard.escaping import escape_markdown
from dashboard.widgets.columns import badge_column
from dashboard.widgets.components import Card, cards, chart, heading, section_finding, table
from dashboard.widgets.page_body import section
from metrics.report import ReportStudies
from metrics.studies.targets.target_summary import target_finding, target_summary
from metrics.studies.targets.targets import VERDICTS
from metrics.support.shown_columns import shown_columns


@section("Targets")
def target_sections(view: View, studies: ReportStudies) -> None:
    """Draw how many targets one reranker meets, the targets of all, and every one as a table."""
    targets, reranker = studies.targets, studies.targets_for
    own_targets = targets[targets["reranker"] == reranker].reset_index(drop=True)
    heading("Targets", "A target is met when the tied value passes it.")
    section_finding(target_finding(own_targets, reranker), view.rerankers)
    _target_cards(own_targets, short_names(view.rerankers, CARD_COLUMNS)[reranker])
    _target_charts(view, targets, reranker)
    _target_table(targets)


def _target_cards(targets: pd.DataFrame, reranker: str) -> None:
    """Draw how many targets one reranker meets, and what that rests on."""
    summary = target_summary(targets)
    by_sort_order = ", ".join(summary.by_sort[:4]) or "none"
    cards(
        Card("adjust", "Targets met, tied", f"{summary.tied} of {summary.targets}", reranker, "blue"),
        Card(
            "adjust",
            "Targets met, traditional",
            f"{summary.traditional} of {summary.targets}",
            "same targets",
            "orange",
        ),
        Card("verified", "Met in every order", str(summary.always), "even in the worst"),
        Card(
            "casino",
            "Met by sort order only",
            str(len(summary.by_sort)),
            by_sort_order,
            "orange" if summary.by_sort else "gray",
        ),
    )


def _target_charts(view: View, targets: pd.DataFrame, reranker: str) -> None:
    """Draw the targets of one reranker as bullet rows, and those of all."""
    wide, narrow = st.columns([5, 3], gap="large")
    name = short_names(view.rerankers, SENTENCE_COLUMNS)[reranker]
    with wide:
        heading("Target by target", f"{escape_markdown(name)}. Upright line: target; bar: worst to best order.")
        own_targets = targets[targets["reranker"] == reranker].reset_index(drop=True)
        alt = f"Each target with the tied and the traditional value of {reranker}."
        chart(target_bullets(own_targets, view.palette), "targets", alt, wide=560)
    with narrow:
        has_all = len(view.rerankers) <= MAX_COLUMNS
        heading(
            "All rerankers" if has_all else f"The best {MAX_COLUMNS} rerankers",
            "The same targets, by what the pass rests on.",
        )
        alt = "Each target of each reranker, by what the pass rests on."
        chart(
            target_matrix(targets, view.palette, reranker),
            "passes",
            alt,
            wide=matrix_width(len(view.rerankers)),
        )


def _target_table(targets: pd.DataFrame) -> None:
    """Draw every target of every reranker as a table."""
    table(
        targets.assign(
            passes=["pass" if passed else "fail" for passed in targets["passed"]],
            verdict=[[verdict] for verdict in targets["verdict"]],
        ),
        "Targets in numbers",
        "targets",
        {
            **shown_columns("reranker", "target"),
            "verdict": badge_column("Verdict", VERDICTS, ("blue", "blue", "orange", "gray", "gray")),
            **shown_columns("tied", "missed_by"),
            **shown_columns("traditional", "worst", "best", "passes"),
        },
        download=targets.drop(columns="by_sort"),
    )
