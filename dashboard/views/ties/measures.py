"""The section of Ties vs gap on other measures, and on what is lost where probabilities become one grade."""

import pandas as pd
import streamlit as st

from dashboard.cache import ShownBoard
from dashboard.choices import View
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.columns import deviation_columns
from dashboard.widgets.components import section_finding, table
from dashboard.widgets.sections import section
from metrics import parse
from metrics.studies.gaps import gaps_by_measure
from metrics.studies.precisions import argmax_finding, argmax_losses, graded_rerankers
from metrics.support.shown_columns import shown_columns


@cached_by_key(show_spinner=False, max_entries=16)
def _gaps_by_measure(view: ShownBoard, traditional: str) -> pd.DataFrame:
    """Return the gaps of all lists in every measure that is scored and has no rule of its own for ties."""
    names = [name for name in view.evaluation.measures if not parse(name).measure.answers]
    return gaps_by_measure(view.evaluation, names, traditional).reset_index()


@cached_by_key(show_spinner="Ranking by likeliest grades …", max_entries=8)
def _likeliest_grades(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return what rerankers with probabilities of grades score by likeliest and by expected grades."""
    losses = argmax_losses(view.board.runs, measure, view.queries, view.scoring)
    return losses[losses["reranker"].isin(view.rerankers)]


@section("Other measures")
def other_measures(view: View, measure: str) -> None:
    """Draw the gaps of all lists in every measure, and what grading throws away by the chosen one."""
    table(
        _gaps_by_measure(view, view.traditional),
        "",
        "gap-measures",
        shown_columns("measure", "gap_mean")
        | deviation_columns({"gap_std": "|gap|"})
        | shown_columns("gap_max", "lists_with_gap", "r_ratio", "r_size", measure="|gap|"),
    )
    st.caption(
        "All lists of all rerankers. |gap|: absolute gap of a list. SD: standard deviation over lists. "
        "r: Pearson correlation."
    )
    if not set(graded_rerankers(view.board.runs)) & set(view.rerankers):
        return
    losses = _likeliest_grades(view, measure)
    table(
        losses,
        "What the likeliest grade throws away",
        "likeliest-grades",
        shown_columns(
            *("reranker", "gain", "argmax_tie_ratio", "expected_tie_ratio", "argmax", "expected"),
            measure=measure,
        ),
        explanation="Files with probabilities of grades, ranked by the likeliest and by the expected grade.",
    )
    section_finding(argmax_finding(losses, measure))
