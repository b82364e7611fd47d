"""Each reranker's range of a measure over all weightings of two or three criteria."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.choices import View, choose_criteria
from dashboard.controls import follow_defaults
from dashboard.views.decide.compare.cached import shown_weightings, weighed_scores
from dashboard.widgets.components import heading, section_finding, table
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.errors import UsageError
from metrics.studies.robustness.noise_curves import LEVEL
from metrics.studies.robustness.weighting_finding import weighting_finding
from metrics.studies.robustness.weightings import weighting_ranges
from metrics.support.shown_columns import shown_columns
from metrics.ties.fronts import criterion, short_words

_KEY = "weighed"
_MIN_CRITERIA, _MAX_CRITERIA = 2, 3
"""Criteria whose weights are drawn."""


@section("Weights of criteria")
def weight_section(view: View, measure: str) -> None:
    """Draw values over all weightings of two or three criteria; nothing where no second one ranks."""
    columns = weighed_scores(view.board)
    if not columns:
        return
    heading(
        "Weights of criteria",
        "Documents ranked by a weighted sum of criteria. Each counts in standard deviations of the reranker's "
        "own documents, so that a weight means the same on every scale; at an end or "
        "corner one criterion ranks alone.",
    )
    default = default_criteria(view.scoring.criteria, columns)
    follow_defaults({_KEY: default})
    label = "Weighed against each other"
    criteria = choose_criteria(label, columns, _KEY, default, most=_MAX_CRITERIA, placeholder="Two or three")
    if len(criteria) < _MIN_CRITERIA:
        st.info("Choose two or three criteria.")
        return
    try:
        weighed = replace(view, scoring=replace(view.scoring, criteria=()))
        values = shown_weightings(weighed, measure, criteria)
    except UsageError as error:
        is_split = bool(view.scoring.tiebreak_by)
        st.info(f"{error} Scoring chooses what splits ties." if is_split else str(error))
        return
    section_finding(weighting_finding(values, parse(measure).tied), view.rerankers)
    if values.notna().to_numpy().all():
        _draw_table(measure, values)


def default_criteria(ranked: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return what is weighed first: what ranks, one criterion with the score; else the first further score."""
    weighed = [text for text in ranked if criterion(text)[0] in ("score", *columns)]
    if _MIN_CRITERIA <= len(weighed) <= _MAX_CRITERIA:
        return weighed
    return ["score", *weighed] if len(weighed) == 1 and weighed != ["score"] else ["score", columns[0]]


def best_weights(values: pd.DataFrame) -> list[str]:
    """Return at which weights each reranker stands highest, in words: any, where all of them are alike."""
    names, is_alike = _words(values), values.max() - values.min() <= LEVEL
    return [
        "any"
        if is_alike[reranker]
        else " · ".join(f"{name} {weight:.2f}" for name, weight in zip(names, weights, strict=True) if weight)
        for reranker, weights in values.idxmax().items()
    ]


def _words(values: pd.DataFrame) -> list[str]:
    """Return what criteria are called: their columns, and a direction where the lowest is best."""
    return [short_words(str(text)) for text in values.index.names]


def _draw_table(measure: str, values: pd.DataFrame) -> None:
    """Draw each reranker's range over all weightings, and how often it leads."""
    rows = weighting_ranges(values).rename(columns={"lowest": "lowest_weighted", "highest": "highest_weighted"})
    rows["best_weights"] = best_weights(values)
    columns = shown_columns(
        *("reranker", "lowest_weighted", "highest_weighted", "leads", "best_weights"), tied=parse(measure).tied
    )
    rows = rows.sort_values("highest_weighted", ascending=False, kind="stable").rename_axis("reranker")
    table(rows.reset_index(), "Over all weightings", "weightings", columns)
