"""Leaderboard: what each reranker scores, and what of it is sort order."""

import streamlit as st

from dashboard import session
from dashboard.views.leaderboard import cached
from dashboard.views.leaderboard.rules import rules_section
from dashboard.views.leaderboard.tools import tools_section
from dashboard.widgets.components import finding, page_head
from dashboard.widgets.data_line import data_line
from dashboard.widgets.leaderboard_parts import (
    charted_rerankers,
    leaderboard_cards,
    leaderboard_charts,
    leaderboard_table,
)
from dashboard.widgets.shown_places import find_reranker, shown_places
from dashboard.widgets.swaps_table import swaps_section
from metrics import parse
from metrics.evaluation import EQUAL
from metrics.studies.leaderboard.leaderboard import leaderboard, leaderboard_finding

view = session.view()
page_head(
    "Leaderboard",
    f"Traditional: {view.treatment.order} of the ties. Tied: the mean over every order the scores allow; "
    "the bar runs from the worst to the best of them.",
)
data_line(view)
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    measure = session.measure()
    part = find_reranker()
name = parse(measure)
rows = leaderboard(view.evaluation, measure, view.traditional)
finding(leaderboard_finding(rows, name.traditional, view.traditional), view.rerankers)
scores = view.evaluation.scores[measure]
is_movable = scores["optimistic"] - scores["pessimistic"] > EQUAL
leaderboard_cards(rows, name, int(is_movable.sum()), len(is_movable))
drawable = charted_rerankers(rows)
places = shown_places(drawable, part)
if name.measure.answers:
    places.buttons()
else:
    swaps = st.container()  # filled once the charts are drawn, which must not wait for it
    leaderboard_charts(drawable, view.palette, name.traditional, view.treatment, places)
    if len(drawable) > 1:
        with swaps:
            swaps_section(view, measure, name.traditional)
    rows["std"] = cached.tie_std_of_means(view.key, measure, view.board, view.evaluation).reindex(rows.index)
    missing = rows.index.difference(drawable.index, sort=False)
    drawn_rerankers = places.drawn.index.append(missing)
    leaderboard_table(rows, name, view.treatment, "leaderboard", drawn_rerankers=drawn_rerankers)
rules_section(view, measure, places.drawn.index)
tools_section(view, drawable, measure, places.drawn.index)
