"""The section on pairs that swap: how many there are, and which."""

from math import comb

import pandas as pd
import streamlit as st

from dashboard.cache import ShownBoard, board_turn
from dashboard.charts.labels import TABLE_COLUMNS, sentence_names, short_names
from dashboard.choices import View
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.columns import badge_column
from dashboard.widgets.components import elide_prose, heading, prose_markdown, table_head, table_rows
from dashboard.widgets.figures import kept_elements
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.sections import section
from metrics import parse
from metrics.studies.prose import Prose
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of

_TITLE = "Pairs that swap"
_WIDEST = 5
"""Swaps that are shown unless all are asked for."""
_VERDICTS = {
    "swaps, significant": "Tie order puts A first. With ties averaged, B is ahead by more than chance.",
    "swaps": "Tie order puts A first. With ties averaged, B is ahead by no more than chance allows.",
}


@cached_by_key(show_spinner=False, max_entries=24)
def swapped_orders(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the pairs of rerankers whose order swaps once ties are averaged."""
    from metrics.studies import swapped_orders as study  # noqa: PLC0415 scipy.special

    return study.swapped_orders(view.evaluation, measure, traditional)


@cached_by_key(show_spinner=False, max_entries=24)
def _swaps_prose(view: ShownBoard, measure: str, traditional: str) -> Prose:
    """Return how many pairs swap, as a sentence."""
    from metrics.studies.swapped_orders import swaps_finding  # noqa: PLC0415 scipy.special

    swaps = swapped_orders(view, measure, traditional)
    return swaps_finding(swaps, len(view.rerankers), parse(measure).traditional)


@cached_by_key(show_spinner="Breaking ties at random …", max_entries=24)
def swap_chances(view: ShownBoard, measure: str, traditional: str, n_rows: int) -> pd.DataFrame:
    """Return the first of the pairs that swap, with the chance of each when ties are broken at random."""
    from metrics.studies.swapped_orders import order_chances  # noqa: PLC0415 scipy.special

    rows = swapped_orders(view, measure, traditional).head(n_rows)
    with board_turn(view.board):
        return order_chances(rows, view.board.runs, measure, view.scoring, view.queries)


@section("Pairs that swap")
def swaps_section(view: View, measure: str) -> None:
    """Say how many pairs swap, and show them; nothing of a measure that settles ties by its own rule."""
    if parse(measure).measure.answers:
        return
    swaps = swapped_orders(view, measure, view.traditional)
    prose = _swaps_prose(view, measure, view.traditional)
    if len(swaps):
        swaps_table(view, measure, swaps, prose)
    else:
        heading(_TITLE, prose_markdown(prose))


def swaps_table(view: View, measure: str, swaps: pd.DataFrame, prose: Prose) -> None:
    """Show the pairs that swap, the widest five or all."""
    place = st.container()
    row_range = shown_rows(len(swaps), "swaps", _WIDEST, len(swaps))
    row_range.buttons()
    with place:
        table_head(_TITLE, "swaps", lambda: swap_chances(view, measure, view.traditional, len(swaps)))
        rows = swap_chances(view, measure, view.traditional, row_range.n_shown)
        kept_elements(view.board.key, _draw_rows, rows, view.rerankers, view.treatment.order, prose, len(swaps))


def _draw_rows(rows: pd.DataFrame, rerankers: list[str], order: str, prose: Prose, n_swaps: int) -> None:
    """Draw the sentence and the first of the pairs that swap."""
    sentence, whole_names = elide_prose(prose, sentence_names(rerankers))
    extract = f" The {len(rows)} widest of {n_swaps:,}." if len(rows) < n_swaps else ""
    n_pairs = count_of(comb(len(rerankers), 2), "pair")
    st.caption(
        f"{prose_markdown(sentence)}{extract} p: paired t-test, Holm over {n_pairs}.", help=whole_names or None
    )
    columns = {
        **shown_columns(("a", "first_by_sort"), ("b", "first_when_tied"), order=order),
        "verdict": badge_column("Verdict", _VERDICTS, ("orange", "gray")),
        **shown_columns(
            *(("p_adjusted", "pair_p"), ("tied_difference", "tied_pair_difference")),
            *(("difference", "pair_difference"), "above"),
            order=order,
        ),
    }
    names = short_names(rerankers, TABLE_COLUMNS)
    ends = {column: rows[column].map(names) for column in ("a", "b")}
    table_rows(rows.assign(**ends, verdict=[[verdict] for verdict in rows["verdict"]]), "swaps", columns)
