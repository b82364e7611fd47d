"""The orders of a published table: by measure, ranks beside tied ones, and what becomes of each pair."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.charts.leaderboard import least_width, place_and_score
from dashboard.choices import View
from dashboard.controls import pills
from dashboard.escaping import escape_markdown
from dashboard.widgets.columns import MOST_WRITTEN, badge_column
from dashboard.widgets.components import chart, heading, keep_wide, table, table_head, table_rows
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.leaderboard_parts import slope_caption
from dashboard.widgets.sections import section
from metrics import parse
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.audited_order import VERDICTS, AuditedOrder, widest_first, written_chances
from metrics.studies.rank_similarity import leaderboard_similarity, similarity_words
from metrics.support.shown_columns import shown_columns

_COLOURS = ("orange", "yellow", "gray", "blue")
"""Of the verdicts, in their order."""
_FIRST_PAIRS = 10
"""Pairs in sight unless more are asked for."""
_EXPLANATION = (
    "Every printed order, those that swap first, then the closest. p: paired t-test of the tied values, Holm "
    "over all pairs. Within luck: stands in every order of the ties, but other queries could turn it; stands: "
    "they could not."
)


@section("The printed orders")
def orders_section(view: View, audit: Audit, order: AuditedOrder, by_measure: pd.DataFrame) -> None:
    """Draw what becomes of the printed orders: by each measure, then of one measure rank by rank."""
    if len(by_measure):
        table(
            by_measure.reset_index(),
            "Printed orders by measure",
            "audit-measures",
            shown_columns(("measure", "published_measure"), "n_orders", "hold", "can_swap", "swap"),
        )
    _places(view, audit, order)
    _pairs(view, order.pairs)


def _places(view: View, audit: Audit, order: AuditedOrder) -> None:
    """Draw the published and the tied rank of each reranker, its name, and its scores with tiers."""
    places = order.places
    if not len(places):
        return
    row_range = shown_rows(len(places), "places")
    with keep_wide(least_width(map(str, places.index))):
        grid = st.grid(2, wrap=False)
        with grid.cell():
            title = f"From the published rank to the tied one, by {escape_markdown(order.measure)}"
            heading(title, slope_caption(places))
        with grid.cell():
            heading("Scores", "Bar: every order of the ties. Line: ties at random and other queries, 95%.")
        names = list(row_range.of(places).index)
        figure = kept_figure(
            view.board.key,
            place_and_score,
            places,
            view.palette,
            parse(audit.measure(order.measure)).traditional,
            names,
            "published",
        )
        alt = "Published and tied place of each reranker, and its score with what ties and queries allow."
        chart(figure, "published-places", alt)
    row_range.buttons()
    if words := similarity_words(leaderboard_similarity(places["tied"], places["traditional"])):
        st.caption(words)


def _pairs(view: View, pairs: pd.DataFrame) -> None:
    """Draw what becomes of every printed order of two rerankers, those that swap first."""
    if not len(pairs):
        return
    counts, names = pairs["verdict"].value_counts(), list(VERDICTS)
    head = st.container()
    verdicts = pills("Verdicts", names, "verdicts", lambda name: f"{name} · {counts.get(name, 0):,}")
    rows = widest_first(pairs[pairs["verdict"].isin(verdicts)])
    row_range = shown_rows(len(rows), "pairs", _FIRST_PAIRS, limit=MOST_WRITTEN)
    labels = short_names(view.board.runs.rerankers, TABLE_COLUMNS)
    page_rows = row_range.of(rows)
    cells = page_rows.assign(
        a=page_rows["a"].map(labels),
        b=page_rows["b"].map(labels),
        p_above=written_chances(page_rows),
        verdict=[[verdict] for verdict in page_rows["verdict"]],
    )
    with head:
        table_head("Pair by pair", "audit-pairs", rows)
        st.caption(_EXPLANATION)
    table_rows(cells, "audit-pairs", _pair_columns())
    row_range.buttons()


def _pair_columns() -> dict[str, Any]:
    """Return the columns of a pair, the verdict beside its names."""
    return {
        **shown_columns(("a", "published_above"), ("b", "published_below")),
        "verdict": badge_column("Verdict", VERDICTS, _COLOURS),
        **shown_columns(("tied_difference", "tied_pair_difference"), ("p_adjusted", "pair_p"), "p_above"),
    }
