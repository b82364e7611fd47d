"""Parts of Queries: one list, and every order its scores allow."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts.one_list.first_hit_bars import first_hit_bars
from dashboard.charts.one_list.rank_heatmap import HEATMAP_ROWS, rank_heatmap, tie_group_heatmap
from dashboard.charts.one_list.relevance_steps import relevance_steps
from dashboard.charts.one_list.tie_ladder import MAX_DOCUMENTS, ladder_pair, tie_ladder
from dashboard.charts.one_list.value_histogram import value_histogram
from dashboard.escaping import escape_markdown
from dashboard.views.explore.query import cached
from dashboard.widgets.components import Card, cards, chart, heading
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.list_panel import bracket_text, orderings_text, values_text
from dashboard.widgets.one_list import ListInView, affordable_draws, load_list, value_text
from dashboard.widgets.page_body import section
from metrics.studies.one_list import orderings
from metrics.studies.one_list.ordering_samples import sample_values
from metrics.studies.one_list.query import first_rank_under, rank_column, tie_groups
from metrics.support.wording import count_of
from metrics.ties import treatment

MAX_SIZES = 6
"""Ties whose sizes are said one by one."""
_DRAWS, _SEED = 1000, 1
"""Orderings drawn where there are too many for the exact distribution."""
_TRACTABLE = (
    "The notebook enumerates up to 10,000 orderings and else draws some. Scores here are exact either way."
)


@section("The cards")
def four_values(current: ListInView) -> None:
    """Draw the chosen measure in four cards, and how many orderings are behind them."""
    name = current.in_question
    value, behind = current.scores.loc[name], f"mean of {count_of(current.written, 'ordering')}"
    worst, best = value_text(value["pessimistic"]), value_text(value["optimistic"])
    ends = (
        Card("arrow_downward", "Worst order", worst, "relevant documents last"),
        Card("arrow_upward", "Best order", best, "relevant documents first"),
    )
    own = Card("gavel", current.measure, value_text(current.value["expected"]), "by its own rule", "blue")
    cards(
        *([own] if current.own_rule else []),
        Card(
            "diamond",
            f"Traditional {name}",
            value_text(value[current.view.traditional]),
            treatment(current.view.traditional).label,
            "orange",
        ),
        Card("circle", f"Tied {name}", value_text(value["expected"]), behind, "blue"),
        *([Card("height", f"Worst to best {name}", f"{worst} – {best}", behind)] if current.own_rule else ends),
    )
    _ordering_badges(current)


def _ordering_badges(current: ListInView) -> None:
    """Draw how many orderings there are, what makes them so many, and whether they can be enumerated."""
    counts = current.counts
    patterns = orderings_text(counts.log10_patterns, counts.patterns)
    each = orderings_text(counts.log10_orderings - counts.log10_patterns, counts.shared)
    sizes = [f"{size:,}" for size in counts.tie_sizes[: MAX_SIZES + 1]]
    ties = f"ties of {', '.join(sizes)} documents" if sizes else "no ties"
    if len(sizes) > MAX_SIZES:
        ties = f"{len(counts.tie_sizes):,} ties, the largest of {max(counts.tie_sizes):,} documents"
    with st.container(horizontal=True, gap="small"):
        st.badge(count_of(current.written, "ordering"), color="gray", icon=":material/shuffle:")
        if counts.tie_sizes:
            end = "" if patterns == "1" else " each"
            description = f"{count_of(patterns, 'relevance pattern')}, {count_of(each, 'ordering')}{end}"
            st.badge(description, color="gray", icon=":material/pattern:")
        st.badge(ties, color="gray", icon=":material/join_inner:")
        if counts.tractable:
            st.badge("few enough to enumerate", color="blue", icon=":material/check:", help=_TRACTABLE)
        else:
            advice = "too many to enumerate"
            st.badge(advice, color="orange", icon=":material/casino:", help=_TRACTABLE)


@section("The list and its ties")
def list_section(current: ListInView) -> None:
    """Draw the ladder, beside another reranker's where one is chosen; a long list also as a whole."""
    view, rows = current.view, current.rows
    other = current.beside and load_list(view, current.beside, current.query, current.measure)
    first = f" The first {MAX_DOCUMENTS} of {len(rows):,} documents." if len(rows) > MAX_DOCUMENTS else ""
    brackets = escape_markdown(bracket_text(view.scoring))
    explained = f"One box, one document; {brackets}; tall and filled: relevant, with its grade."
    first_to_judge, hatched = _unjudged(current, [rows, *([other.rows] if other else [])])
    heading("The list and its ties", explained + hatched + first)
    alt = f"The list of {current.query} with its ties."
    if not other:
        figure = kept_figure(view.board.key, tie_ladder, rows, view.palette, current.k, first_to_judge)
        chart(figure, "ladder", alt, wide=560)
    else:
        names = current.reranker, other.reranker
        figure = kept_figure(
            view.board.key, ladder_pair, rows, other.rows, names, view.palette, current.k, first_to_judge
        )
        chart(figure, "ladders", alt, wide=640)
        followed = "the relevant documents" + " and the one to judge first" * bool(first_to_judge)
        st.caption(
            f"Lines follow {followed}. {escape_markdown(other.reranker)}: "
            f"{values_text(other.measure, other.value, view.traditional)}, "
            f"{count_of(other.written, 'ordering')}."
        )
    if len(rows) > MAX_DOCUMENTS:
        ranked_by = rank_column(rows)
        heading(
            "The whole list",
            f"Chance that the document at a place is relevant; a step a {ranked_by}, below them the ties.",
        )
        figure = relevance_steps(tie_groups(rows), view.palette, current.k)
        chart(figure, "whole", "Chance of a relevant document along the list.", wide=560)


def _unjudged(current: ListInView, lists: Sequence[pd.DataFrame]) -> tuple[str | None, str]:
    """Return the document to judge first, where a list that is drawn has it, and what hatched boxes are."""
    drawn = pd.concat([rows.head(MAX_DOCUMENTS) for rows in lists])
    if drawn["judged"].all():
        return None, ""
    view = current.view
    document = cached.document_to_judge(view, current.measure, current.query)
    if document not in set(drawn["doc_id"]):
        return None, " Hatched: never judged."
    return document, " Hatched: never judged; strong outline: the one to judge first."


@section("Where each document can land")
def landing_section(current: ListInView) -> None:
    """Draw where each document can land; of a list with large ties, a document of each score."""
    n, palette = len(current.rows), current.view.palette
    shown_rows = current.rows.head(HEATMAP_ROWS)
    if shown_rows["last"].iloc[-1] <= 2 * HEATMAP_ROWS:
        top = f" The top {HEATMAP_ROWS} of {n:,}." if n > HEATMAP_ROWS else ""
        heading("Where each document can land", "Chance of each rank; bold: the grade." + top)
        chart(
            kept_figure(current.view.board.key, rank_heatmap, current.rows, palette, current.k),
            "landing",
            "Chance of each document at each rank.",
        )
        return
    groups, ranked_by = tie_groups(current.rows), rank_column(current.rows)
    top = f" The top {HEATMAP_ROWS} of {len(groups):,} {ranked_by}s." if len(groups) > HEATMAP_ROWS else ""
    heading(
        f"Where a document of each {ranked_by} can land",
        f"Chance of a stretch of places for any one document of a {ranked_by}; bold: how many are relevant."
        + top,
    )
    alt = f"Chance of a document of each {ranked_by} along the list."
    chart(tie_group_heatmap(groups, palette), "landing-ties", alt)


@section("First relevant document")
def first_rank_section(current: ListInView) -> None:
    """Draw where the first relevant document can stand."""
    if not len(current.chances):
        st.header("First relevant document", anchor=False)
        st.info("The list holds no relevant document.", icon=":material/info:")
        return
    mean = (current.chances["rank"] * current.chances["chance"]).sum()
    heading(
        "First relevant document",
        f"Exact chance of each rank over all orderings, {mean:,.2f} on average; diamond: traditional.",
    )
    listed = first_rank_under(current.ranking, current.query, current.view.traditional)
    alt = "Exact distribution of the rank of the first relevant document."
    chart(
        kept_figure(current.view.board.key, first_hit_bars, current.chances, current.view.palette, listed),
        "first-hit",
        alt,
    )


@section("The values over all orderings")
def histogram_section(current: ListInView) -> None:
    """Draw how often each value of the measure occurs: exactly, or as a sample has it."""
    if current.own_rule:
        st.info(
            f"{current.measure} has a rule of its own for ties: it is one value, not a mean over orderings.",
            icon=":material/info:",
        )
        return
    distribution = orderings.distribution(current.ranking, current.query, current.measure, current.chances)
    source = f"Exact, over {count_of(current.written, 'ordering')}."
    if distribution is None:
        n = affordable_draws(current, current.measure, _DRAWS)
        sample = sample_values(current.ranking, current.query, current.measure, n, _SEED)
        distribution = orderings.merge_values(sample, np.full(n, 1 / n))
        source = f"Estimated from {n:,} of {current.written} orderings, drawn evenly; the marks are exact."
    heading(f"{current.measure} across the orderings", source)
    marks = pd.Series({name: current.value[ties] for name, ties in current.treatments.items()})
    alt = f"Share of orderings with each value of {current.measure}; tied, traditional, worst and best marked."
    chart(
        kept_figure(
            current.view.board.key, value_histogram, distribution, marks, current.view.palette, current.measure
        ),
        "histogram",
        alt,
    )
