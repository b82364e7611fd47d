"""Parts of the Query explorer: one list, and every order its scores allow."""

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session
from dashboard.charts.one_list.first_hit_bars import first_hit_bars
from dashboard.charts.one_list.rank_heatmap import HEATMAP_ROWS, rank_heatmap, tie_group_heatmap
from dashboard.charts.one_list.relevance_steps import relevance_steps
from dashboard.charts.one_list.sampling_convergence import sampling_convergence
from dashboard.charts.one_list.tie_ladder import MAX_DOCUMENTS, ladder_pair, tie_ladder
from dashboard.charts.one_list.value_histogram import value_histogram
from dashboard.escaping import escape_markdown
from dashboard.widgets.components import Card, cards, chart, heading
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.one_list import ListInView, affordable_draws, counted_noun, load_list, value_text
from metrics.studies.one_list import orderings
from metrics.studies.one_list.ordering_samples import running_mean, sample_values
from metrics.studies.one_list.query import first_rank_under, tie_groups
from metrics.support.arrays import FloatArray

FEW = 6
"""Ties whose sizes are told one by one."""
_TRACTABLE = (
    "The notebook enumerates up to 10,000 orderings and else draws some. Scores here are exact either way."
)


def four_values(one: ListInView) -> None:
    """The chosen measure in four cards, and how many orderings are behind them."""
    value, name, counts = one.value, one.measure, one.counts
    behind = "by its own rule" if one.own_rule else f"mean of {counted_noun(one.written, 'ordering')}"
    cards(
        Card(
            "diamond",
            f"Traditional {name}",
            value_text(value[one.view.traditional]),
            one.view.traditional,
            "orange",
        ),
        Card("circle", f"Tied {name}", value_text(value["expected"]), behind, "blue"),
        Card("arrow_downward", "Worst order", value_text(value["pessimistic"]), "relevant documents last"),
        Card("arrow_upward", "Best order", value_text(value["optimistic"]), "relevant documents first"),
    )
    patterns = orderings_text(counts.log10_patterns, counts.patterns)
    each = orderings_text(counts.log10_orderings - counts.log10_patterns, counts.shared)
    sizes = [f"{size:,}" for size in counts.tie_sizes[: FEW + 1]]
    ties = f"ties of {', '.join(sizes)} documents" if sizes else "no ties"
    if len(sizes) > FEW:
        ties = f"{len(counts.tie_sizes):,} ties, the largest of {max(counts.tie_sizes):,} documents"
    with st.container(horizontal=True, gap="small"):
        st.badge(counted_noun(one.written, "ordering"), color="gray", icon=":material/shuffle:")
        if counts.tie_sizes:
            told = f"{counted_noun(patterns, 'relevance pattern')}, {counted_noun(each, 'ordering')} each"
            st.badge(told, color="gray", icon=":material/pattern:")
        st.badge(ties, color="gray", icon=":material/join_inner:")
        if counts.tractable:
            st.badge("few enough to enumerate", color="blue", icon=":material/check:", help=_TRACTABLE)
        else:
            advice = f"too many to enumerate: draw {counts.draws:,}"
            st.badge(advice, color="orange", icon=":material/casino:", help=_TRACTABLE)


def the_list(one: ListInView) -> None:
    """The ladder, beside another reranker's where one is chosen; a long list also as a whole."""
    view, rows = one.view, one.rows
    first = f" The first {MAX_DOCUMENTS} of {len(rows):,} documents." if len(rows) > MAX_DOCUMENTS else ""
    explained = "One box, one document; a bracket, one score; tall and filled: relevant, with its grade."
    heading("The list and its ties", explained + first)
    alt = f"The list of {one.query} by score, with its ties."
    if one.beside is None:
        chart(tie_ladder(rows, view.palette, one.k), "ladder", alt, wide=560)
    else:
        other = load_list(view, one.beside, one.query, one.measure)
        names = one.reranker, one.beside
        chart(ladder_pair(rows, other.rows, names, view.palette, one.k), "ladders", alt, wide=640)
        st.caption(
            f"Lines follow the relevant documents. {escape_markdown(one.beside)}: {one.measure} "
            f":orange[traditional **{value_text(other.value[view.traditional])}**], "
            f":blue[tied **{value_text(other.value['expected'])}**], worst to best "
            f"{value_text(other.value['pessimistic'])} – {value_text(other.value['optimistic'])}, "
            f"{counted_noun(other.written, 'ordering')}."
        )
    if len(rows) > MAX_DOCUMENTS:
        heading(
            "The whole list",
            "Chance that the document at a place is relevant; a step a score, below them the ties.",
        )
        whole = relevance_steps(tie_groups(rows), view.palette, one.k)
        chart(whole, "whole", "Chance of a relevant document along the list.", wide=560)


def landings(one: ListInView) -> None:
    """Where each document can land."""
    n, palette = len(one.rows), one.view.palette
    shown_rows = one.rows.head(HEATMAP_ROWS)
    if shown_rows["last"].iloc[-1] <= 2 * HEATMAP_ROWS:
        top = f" The top {HEATMAP_ROWS} of {n:,}." if n > HEATMAP_ROWS else ""
        heading("Where each document can land", "Chance of each rank; bold: the grade." + top)
        chart(rank_heatmap(one.rows, palette, one.k), "landing", "Chance of each document at each rank.")
        return
    groups = tie_groups(one.rows)
    top = f" The top {HEATMAP_ROWS} of {len(groups):,} scores." if len(groups) > HEATMAP_ROWS else ""
    heading(
        "Where a document of each score can land",
        "Chance of a stretch of places for any one document of a score; bold: how many are relevant." + top,
    )
    chart(
        tie_group_heatmap(groups, palette), "landing-ties", "Chance of a document of each score along the list."
    )


def first_ranks(one: ListInView) -> None:
    """Where the first relevant document can stand."""
    if not len(one.chances):
        st.subheader("First relevant document", anchor=False)
        st.info("The list holds no relevant document.", icon=":material/info:")
        return
    mean = (one.chances["rank"] * one.chances["chance"]).sum()
    heading(
        "First relevant document",
        f"Exact chance of each rank over all orderings, {mean:,.2f} on average; diamond: traditional.",
    )
    listed = first_rank_under(one.ranking, one.query, one.view.traditional)
    alt = "Exact distribution of the rank of the first relevant document."
    chart(first_hit_bars(one.chances, one.view.palette, listed), "first-hit", alt)


def spread(one: ListInView, above: DeltaGenerator, below: DeltaGenerator) -> None:
    """How the measure spreads over the orderings, and how sampling finds its mean.

    Args:
        one: the list.
        above: where the histogram goes.
        below: where the sampling goes.
    """
    if one.own_rule:
        below.info(
            f"{one.measure} has a rule of its own for ties: it is one value, not a mean over orderings.",
            icon=":material/info:",
        )
        return
    with below:
        drawn = _sampling(one)
    with above:
        _histogram(one, drawn)


def _sampling(one: ListInView) -> FloatArray:
    """Draw orderings, and see their mean near the exact value; the values drawn."""
    heading(
        f"Sampling {one.measure}",
        "Mean of the orderings drawn so far; grey: 1.96 standard errors. The exact value needs no draw.",
    )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        asked = int(session.segmented("Draws", ("100", "1000", "10000"), "draws", "1000"))
        seed = int(session.select("Seed", [str(seed) for seed in range(1, 100)], "drawseed", width=90))
    n = affordable_draws(one, one.measure, asked)
    values = sample_values(one.ranking, one.query, one.measure, n, seed)
    means = running_mean(values)
    chart(
        sampling_convergence(means, one.value["expected"], one.view.palette, one.measure),
        "sampling",
        "Running mean of the orderings drawn, with its standard error, and the exact value.",
    )
    if n < asked:
        st.caption(f"{n:,} draws: with so many relevant documents, no more are made.")
    return values


def _histogram(one: ListInView, drawn: FloatArray) -> None:
    """How often each value of the measure occurs."""
    exact = orderings.distribution(one.ranking, one.query, one.measure, one.chances)
    told = (
        f"Exact, over {counted_noun(one.written, 'ordering')}."
        if exact is not None
        else f"Estimated from {len(drawn):,} of {one.written} orderings, drawn evenly; the marks are exact."
    )
    heading(f"{one.measure} across the orderings", told)
    found = orderings.gathered(drawn, np.full(len(drawn), 1 / len(drawn))) if exact is None else exact
    marks = pd.Series({name: one.value[how] for name, how in one.treatments.items()})
    alt = f"Share of orderings with each value of {one.measure}; tied, traditional, worst and best marked."
    chart(value_histogram(found, marks, one.view.palette, one.measure), "histogram", alt)
