"""Leaderboard: what each reranker scores, and what of it is sort order."""

import streamlit as st

from dashboard import session
from dashboard.views.leaderboard import cached
from dashboard.views.leaderboard.data_line import data_line
from dashboard.views.leaderboard.judging import judging_section
from dashboard.views.leaderboard.rules import rules_section
from dashboard.views.leaderboard.summary import draw_summary
from dashboard.views.leaderboard.tools import tools_section
from dashboard.widgets.components import page_head
from dashboard.widgets.figures import kept_elements
from dashboard.widgets.first_rows import find_reranker, search_rows, shown_rows
from dashboard.widgets.holes import choose_unjudged, with_holes
from dashboard.widgets.leaderboard_parts import (
    charted_rerankers,
    leaderboard_charts,
    leaderboard_table,
    strip_section,
)
from dashboard.widgets.page_body import page_body
from dashboard.widgets.swaps_table import swaps_section
from metrics import parse
from metrics.studies.leaderboard.ranks.tiers import with_tiers


@page_body
def leaderboard() -> None:
    """Draw what each reranker scores, and what of it is sort order."""
    view = session.view()
    page_head(
        "Leaderboard",
        f"Traditional: {view.treatment.order} of the ties. Tied: the mean over every order the ties allow; "
        "the bar runs from the worst to the best of them.",
    )
    data_line(view)
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        measure = session.measure()
        unjudged = choose_unjudged(view, measure)
        part = find_reranker()
    name = parse(measure)
    rows = with_holes(view, cached.ranked_rerankers(view, measure, view.traditional), name, unjudged)
    if len(rows) > 1:
        rows = with_tiers(rows, cached.intervals(view, measure))
    n_lists = cached.count_movable(view, measure), len(view.evaluation.lists)
    kept_elements(
        view.board.key, draw_summary, rows, measure, view.traditional, view.rerankers, n_lists, unjudged
    )
    drawable = charted_rerankers(rows)
    matches = search_rows(drawable, part)
    places = shown_rows(len(matches), "places", has_pages=True)
    drawn_rows = places.of(matches).index
    if name.measure.answers:
        places.buttons()
    else:
        swaps = st.container()  # filled once the charts are drawn, which must not wait for it
        if len(matches) == len(drawable):
            strip_section(drawable, view.palette, name.traditional, places)
        leaderboard_charts(view.board.key, drawable, view.palette, name.traditional, view.treatment, drawn_rows)
        places.buttons()
        if len(drawable) > 1:
            with swaps:
                swaps_section(view, measure)
        rows = rows.assign(std=cached.tie_std_of_means(view, measure).reindex(rows.index))
        missing = rows.index.difference(drawable.index, sort=False)
        leaderboard_table(rows, name, view.treatment, "leaderboard", drawn_rerankers=drawn_rows.append(missing))
    judging_section(view, name, unjudged)
    rules_section(view, measure, drawn_rows)
    tools_section(view, drawable, measure, drawn_rows)


leaderboard()
