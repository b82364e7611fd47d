"""The orders of a published table: cards, places beside tied ones, and what becomes of each pair."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.labels import TABLE_COLUMNS, short_names
from dashboard.charts.leaderboard import least_width, place_and_score
from dashboard.session import View
from dashboard.session.controls import pills
from dashboard.widgets.columns import MOST_WRITTEN, badge_column
from dashboard.widgets.components import Card, Colour, cards, chart, heading, keep_wide, table_head, table_rows
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.leaderboard_parts import card_part, slope_caption
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.audited_order import AuditedOrder, widest_first, written_chances
from metrics.studies.audit.standing import STANDS, SWAPS, VERDICTS, WITHIN_LUCK
from metrics.studies.leaderboard.ranks.similarity import leaderboard_similarity, similarity_words
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of

_COLOURS = ("orange", "yellow", "gray", "blue")
"""Of the verdicts, in their order."""
_EXPLANATION = (
    "Every printed order, those that swap first, then the closest. p: paired t-test of the tied values, Holm "
    "over all pairs. Within luck: stands in every order of the ties, but other queries could turn it; stands: "
    "they could not."
)


@section("The cards")
def audit_cards(audit: Audit, order: AuditedOrder) -> None:
    """Draw how many figures come out, how many orders stand and swap, and how many tiers there are."""
    best, n_figures = audit.reproduction.conventions.iloc[0], audit.reproduction.n_figures
    n_out = int(best["to_the_digit"] + best["by_rounding"])
    part, of_many = card_part(n_out, n_figures, "figure")
    digits = f"{best['to_the_digit']:,} to the digit, {best['by_rounding']:,} by rounding"
    n_tiers = order.places["tier"].nunique()
    cards(
        Card("task_alt", "Figures that come out", part, of_many or digits, _tone(n_out < n_figures)),
        *_order_cards(order.pairs),
        Card("layers", "Tiers", f"{n_tiers:,}", f"ranks at once, {count_of(order.n_queries, 'query')}", "blue")
        if n_tiers
        else Card("layers", "Tiers", "–", "no mean is printed"),
    )


def _order_cards(pairs: pd.DataFrame) -> tuple[Card, Card]:
    """Return the cards of how many printed orders stand in every order of the ties, and how many swap."""
    if not len(pairs):
        nothing = "nothing is printed in an order"
        return Card("lock", "Orders that stand", "–", nothing), Card(
            "swap_vert", "Orders that swap", "–", nothing
        )
    counts = pairs["verdict"].value_counts()
    n_luck, n_stand = (int(counts.get(verdict, 0)) for verdict in (WITHIN_LUCK, STANDS))
    n_swap = int(counts.get(SWAPS, 0))
    part, of_many = card_part(n_luck + n_stand, len(pairs), "order")
    n_significant = int(((pairs["verdict"] == SWAPS) & pairs["is_significant"]).sum())
    significant = f"{n_significant:,} significant" if n_significant else "none significant"
    return (
        Card("lock", "Orders that stand", part, of_many or _luck_note(n_luck, n_stand)),
        Card(
            "swap_vert",
            "Orders that swap",
            f"{n_swap:,}",
            significant if n_swap else "when ties are averaged",
            _tone(n_swap > 0),
        ),
    )


def _luck_note(n_luck: int, n_stand: int) -> str:
    """Return how many of the orders that no order of the ties reverses other queries could turn."""
    if n_luck and n_stand:
        return f"{n_luck:,} of them within luck"
    if n_luck:
        return "all within luck"
    return "none within luck" if n_stand else "whatever the ties"


def _tone(is_off: bool) -> Colour:  # noqa: FBT001 a colour of it
    return "orange" if is_off else "blue"


@section("The published order")
def order_section(view: View, audit: Audit, order: AuditedOrder) -> None:
    """Draw the published and the tied place of each reranker, its name, and its scores with tiers.

    Args:
        view: what the sidebar says is shown.
        audit: of the table.
        order: that it prints.
    """
    places = order.places
    if not len(places):
        return
    row_range = shown_rows(len(places), "places")
    with keep_wide(least_width(map(str, places.index))):
        grid = st.grid(2, wrap=False)
        with grid.cell():
            heading("From the published place to the tied one", slope_caption(places))
        with grid.cell():
            heading(
                "What luck leaves open",
                "Bar: every order of the ties. Line: ties at random and other queries, 95%.",
            )
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


@section("The table of pairs")
def pairs_section(view: View, pairs: pd.DataFrame) -> None:
    """Draw what becomes of every printed order of two rerankers, those that swap first."""
    if not len(pairs):
        return
    counts, names = pairs["verdict"].value_counts(), list(VERDICTS)
    head = st.container()
    verdicts = pills("Verdicts", names, "verdicts", lambda name: f"{name} · {counts.get(name, 0):,}")
    rows = widest_first(pairs[pairs["verdict"].isin(verdicts)])
    row_range = shown_rows(len(rows), "pairs", limit=MOST_WRITTEN)
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
        **shown_columns("a_published", "b_published", "a_tied", "b_tied"),
        **shown_columns(("tied_difference", "tied_pair_difference"), ("p_adjusted", "pair_p"), "p_above"),
    }
