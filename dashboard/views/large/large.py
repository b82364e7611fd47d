"""Large results: an evaluation kept in a file, however many lists it has."""

import streamlit as st

from dashboard import cache, session
from dashboard.charts.leaderboard.leaderboard import MAX_ROWS
from dashboard.escaping import escape_markdown
from dashboard.views.large.sections import farthest_lists, nothing_open, open_another, ties_against_gaps
from dashboard.widgets.components import finding, number, page_head, share
from dashboard.widgets.leaderboard_parts import (
    charted_rerankers,
    leaderboard_cards,
    leaderboard_charts,
    leaderboard_table,
)
from metrics import TieScopeError, parse
from metrics.studies.leaderboard.leaderboard import leaderboard, leaderboard_finding

page_head(
    "Large results",
    "An evaluation kept in a file: every list of it is gone over, only means and counts are drawn.",
)
now = session.shown_results()
if now is None:
    nothing_open()
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    measure = session.results_measure(now.stored)
    open_another()
name, about = parse(measure), (measure, now.traditional, now.stored)
board = leaderboard(now.stored, measure, now.traditional)
finding(leaderboard_finding(board, name.traditional))
if not now.stored.n_lists:
    st.stop()
leaderboard_cards(board, name, now.stored.n_movable(measure), now.stored.n_lists)
few = charted_rerankers(board, MAX_ROWS)
leaderboard_charts(few, now.palette, name.traditional)
try:
    file = cache.file_version(now.stored.path)
    found, lists = cache.summarize_stored(file, *about), cache.largest_gaps(file, *about)
except TieScopeError as error:
    st.error(escape_markdown(str(error)), icon=":material/error:")
    st.stop()
ties_against_gaps(few.join(found.gaps), found, now, measure, lists)
leaderboard_table(
    board.join(found.gaps),
    name,
    "large-results",
    {
        "lists_with_gap": share("Lists with a gap"),
        "gap_mean": number("|gap|", help="Mean over lists of the absolute gap."),
        "gap_max": number("max"),
        "n_lists": number("Lists", "%d"),
    },
)
farthest_lists(lists, measure)
