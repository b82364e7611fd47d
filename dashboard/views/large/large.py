"""Large results: an evaluation kept in a file, however many lists it has."""

import streamlit as st

from dashboard import cache
from dashboard.escaping import escape_markdown
from dashboard.results import Results, results_measure
from dashboard.views.large.sections import (
    empty_state,
    largest_gaps,
    largest_gaps_table,
    open_popover,
    summarize_stored,
    ties_against_gaps,
)
from dashboard.widgets.components import finding, page_head
from dashboard.widgets.first_rows import shown_rows, table_and_chart_places
from dashboard.widgets.leaderboard_parts import (
    charted_rerankers,
    leaderboard_charts,
    leaderboard_table,
)
from metrics import TieScopeError, parse
from metrics.studies.leaderboard import leaderboard, leaderboard_finding
from metrics.support.shown_columns import shown_columns
from metrics.ties import treatment

TITLE = "Large results"


def show(results: Results | None) -> None:
    """Draw a stored evaluation."""
    page_head(
        TITLE,
        "An evaluation kept in a file: every list of it is gone over, only means and counts are drawn.",
    )
    if results is None:
        empty_state()
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        measure = results_measure(results.stored)
        open_popover()
    row_range = shown_rows(len(results.stored.rerankers))
    name, arguments = parse(measure), (measure, results.traditional, results.stored)
    rows = leaderboard(results.stored, measure, results.traditional)
    finding(leaderboard_finding(rows, name.traditional, results.traditional), results.stored.rerankers)
    if not results.stored.n_lists:
        return
    charted_rows, order = charted_rerankers(rows, row_range.n_shown), treatment(results.traditional)
    table_place, chart_place = table_and_chart_places(len(rows))
    with chart_place:
        leaderboard_charts(str(results.stored.path), charted_rows, results.palette, name.traditional, order)
        row_range.buttons()
    try:
        file = cache.file_version(results.stored.path)
        summary, lists = summarize_stored(file, *arguments), largest_gaps(file, *arguments)
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return
    with chart_place:
        ties_against_gaps(charted_rows.join(summary.gaps), summary, results, measure, lists)
    with table_place:
        leaderboard_table(
            rows.join(summary.gaps),
            name,
            order,
            "large-results",
            shown_columns("lists_with_gap", "gap_mean", "gap_max", "n_lists"),
        )
    largest_gaps_table(lists, measure)
