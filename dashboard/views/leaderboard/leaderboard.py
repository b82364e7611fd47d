"""Leaderboard: who leads, and does that stand when ties are averaged?"""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.views.leaderboard import cached
from dashboard.views.leaderboard.data_line import data_line
from dashboard.views.leaderboard.judging import judging_section
from dashboard.views.leaderboard.tools import tools_section
from dashboard.widgets.browser import watch_width
from dashboard.widgets.components import finding, section_finding, table
from dashboard.widgets.first_rows import FIRST_ROWS, find_reranker, search_rows, shown_rows
from dashboard.widgets.holes import choose_unjudged, count_unjudged, with_holes
from dashboard.widgets.leaderboard_parts import (
    charted_rerankers,
    leaderboard_charts,
    leaderboard_table,
    strip_section,
)
from dashboard.widgets.page_body import page_body
from dashboard.widgets.swaps_table import swaps_section
from metrics import parse
from metrics.measures import MeasureAt
from metrics.studies.leaderboard.holes import hole_finding, unjudged_share
from metrics.studies.leaderboard.ranks.tiers import with_tiers
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import part_of

SCORES, PAIRS, TOOLS, UNJUDGED = "Scores", "Pairs that swap", "Other tools", "Unjudged documents"
_FINDABLE = 12  # rerankers from which on one is looked for by name
_MANY_EMPTY = 0.2  # share of queries without a relevant document from which on they can be left out


@page_body
def leaderboard() -> None:
    """Draw the verdict, the scores, and on request what is behind them."""
    view = session.view()
    st.title("Leaderboard", anchor=False)
    if not session.is_narrow():
        data_line(view)
    verdict = st.container(gap="small")
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        measure = session.measure()
        part = find_reranker() if len(view.rerankers) >= _FINDABLE else ""
    unjudged = count_unjudged(view, measure)
    sections = [SCORES, PAIRS, TOOLS] + [UNJUDGED] * (unjudged is not None)
    section = session.segmented("Section", sections, "section", label_visibility="collapsed")
    name, rows = parse(measure), cached.ranked_rerankers(view, measure, view.traditional)
    with verdict:
        _verdict(view, measure)
    if section == PAIRS:
        swaps_section(view, measure)
    elif section == TOOLS:
        drawable = charted_rerankers(rows)
        places = shown_rows(len(drawable), "places", has_pages=True)
        tools_section(view, drawable, measure, places.of(drawable).index)
        places.buttons()
    elif section == UNJUDGED and unjudged is not None:
        _unjudged(view, name, rows, unjudged)
    else:
        _scores(view, name, rows, unjudged, part)
    if session.is_narrow():  # a phone has no room for it above the chart
        data_line(view)
    watch_width()


def _verdict(view: session.View, measure: str) -> None:
    """Draw the verdict and, where many queries have no relevant document, a way to leave these out."""
    finding(cached.verdict(view, measure, view.traditional), view.rerankers)
    n_empty, n_queries = view.evaluation.policies[["n_empty", "n_queries"]].max()
    if view.scoring.empty == "zero" and n_empty > _MANY_EMPTY * n_queries:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            text = f"{part_of(n_empty, n_queries, 'query')} have no relevant document and count as 0."
            st.markdown(f":material/info: {text}", width="content")
            if st.button(
                "Leave them out", on_click=session.set_value, args=("empty", "skip"), key="skip-empty"
            ):
                st.rerun()


def _scores(
    view: session.View, name: MeasureAt, rows: pd.DataFrame, unjudged: pd.DataFrame | None, part: str
) -> None:
    """Draw ranks, scores with their bounds, and the ranked table."""
    rows = with_holes(view, rows, name, unjudged)
    if len(rows) > 1:
        rows = with_tiers(rows, cached.intervals(view, str(name)))
    drawable = charted_rerankers(rows)
    matches = search_rows(drawable, part)
    places = shown_rows(len(matches), "places", has_pages=True)
    drawn_rows = places.of(matches).index
    if not name.measure.answers:
        if len(matches) == len(drawable):
            strip_section(drawable, view.palette, name.traditional, places)
        leaderboard_charts(view.board.key, drawable, view.palette, name.traditional, view.treatment, drawn_rows)
        rows = rows.assign(std=cached.tie_std_of_means(view, str(name)).reindex(rows.index))
    places.buttons()
    missing = rows.index.difference(drawable.index, sort=False)
    leaderboard_table(rows, name, view.treatment, "leaderboard", drawn_rerankers=drawn_rows.append(missing))


def _unjudged(view: session.View, name: MeasureAt, rows: pd.DataFrame, unjudged: pd.DataFrame) -> None:
    """Draw what unjudged documents leave open, and which to judge next."""
    choose_unjudged(view, str(name))
    rows = with_holes(view, rows, name, unjudged)
    has_bounds = "highest" in rows
    prose = hole_finding(rows, unjudged, name) if has_bounds else (*unjudged_share(unjudged, name), ".")
    section_finding(prose, view.rerankers)
    drawable = charted_rerankers(rows, FIRST_ROWS)
    if has_bounds:
        leaderboard_charts(view.board.key, drawable, view.palette, name.traditional, view.treatment)
    columns = rows.columns.intersection(["tied", "unjudged", "lowest", "highest", "expectation"])
    table(
        rows.reset_index(),
        "",
        "unjudged",
        shown_columns("tied_rank", "reranker", *columns, tied=name.tied),
    )
    judging_section(view, name, unjudged)


leaderboard()
