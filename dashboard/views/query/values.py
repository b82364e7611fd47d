"""The section of Queries on values: every measure of the list, and AP and nDCG rank by rank."""

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.widgets.columns import Columns
from dashboard.widgets.components import section_finding, table
from dashboard.widgets.one_list import ListInView
from dashboard.widgets.sections import section
from metrics import parse
from metrics.studies.one_list import value_steps
from metrics.studies.prose import Strong, decimal
from metrics.support.shown_columns import shown_columns
from metrics.ties import treatment

MAX_STEPS = 250
"""Ranks that a table shows."""
_USUAL_CUTOFF = 10


@section("Worked values")
def values_section(current: ListInView) -> None:
    """Draw every measure of the list, and what each rank adds to AP and nDCG."""
    _values_table(current)
    chosen = parse(current.measure)
    k = chosen.k if chosen.measure.name == "nDCG" and chosen.k else _USUAL_CUTOFF
    by_order, by_all = (
        value_steps(current.ranking, current.query, ties, k).set_index("rank")
        for ties in (current.view.traditional, "expected")
    )
    steps = by_all.join(by_order.add_suffix("_by_order"), how="outer")
    order = treatment(current.view.traditional).order
    _precision_steps(steps, order)
    _gain_steps(steps[steps.index <= k], f"nDCG@{k}", order)


def _values_table(current: ListInView) -> None:
    rows = pd.DataFrame({name: current.scores[treatment] for name, treatment in current.treatments.items()})
    std = current.scores["std"].copy()
    own_rules = [measure for measure in std.index if parse(measure).measure.answers]
    if own_rules:
        rows.loc[own_rules, ["traditional", "worst", "best"]] = std[own_rules] = np.nan
    gap = (rows["traditional"] - rows["tied"]).round(12) + 0.0
    columns = shown_columns(
        *("measure", "traditional", "tied", ("gap", "list_gap"), "worst", "best", ("std", "ordering_std")),
    )
    table(rows.assign(gap=gap, std=std).reset_index(), "Every measure of this list", "list-values", columns)
    if own_rules:
        st.caption(f"{', '.join(own_rules)}: one value, by a rule of its own for ties.")


def _precision_steps(steps: pd.DataFrame, order: str) -> None:
    """Draw precision at each rank where a relevant document can stand."""
    rows = steps[(steps["chance"] > 0) | (steps["chance_by_order"] > 0)]
    columns = shown_columns(
        *("rank", ("precision_by_order", "precision_there"), ("ap_term_by_order", "adds")),
        order=order,
        measure="AP",
    ) | shown_columns(
        *(("chance", "relevant_chance"), ("precision", "tied_precision"), ("ap_term", "adds")),
        measure="tied AP",
    )
    _steps_table(rows, "AP, rank by rank", columns, ("ap_term_by_order", "AP"), ("ap_term", "tied AP"))


def _gain_steps(steps: pd.DataFrame, measure: str, order: str) -> None:
    """Draw the gain at each rank where a graded document can stand."""
    columns = shown_columns(
        *("rank", "discount", ("gain_by_order", "rank_gain"), ("ndcg_term_by_order", "adds")),
        order=order,
        measure=measure,
    ) | shown_columns(("gain", "tied_gain"), ("ndcg_term", "adds"), measure=f"tied {measure}")
    tied = "ndcg_term", f"tied {measure}"
    _steps_table(steps, f"{measure}, rank by rank", columns, ("ndcg_term_by_order", measure), tied)


def _steps_table(rows: pd.DataFrame, title: str, columns: Columns, *sums: tuple[str, str]) -> None:
    """Draw what ranks add, and the sum of each: column → the measure that it adds up to."""
    words: list[str | Strong] = ["The terms add up to "]
    for number, (column, name) in enumerate(sums):
        words += [" and ", f"{name} "] if number else [f"{name} "]
        words.append(Strong(decimal(rows[column].sum(), 4)))
    table(rows.head(MAX_STEPS).reset_index(), title, title.partition(",")[0], columns, rows.reset_index())
    section_finding((*words, "."))
