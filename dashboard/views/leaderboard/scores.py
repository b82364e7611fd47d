"""The verdict and the scores: ranks, scores with their bounds, and the ranked table."""

from functools import partial

import pandas as pd
import streamlit as st

from dashboard import controls, visitor
from dashboard.cache import ShownBoard
from dashboard.charts.leaderboard import FEW, clear_gap, place_strip
from dashboard.charts.palette import Palette
from dashboard.choices import View
from dashboard.server.board_results import cached_by_key
from dashboard.views.leaderboard.pairs import swapped_orders
from dashboard.widgets.components import chart, finding, heading
from dashboard.widgets.figures import kept_elements
from dashboard.widgets.first_rows import ShownRows, search_rows, shown_rows
from dashboard.widgets.holes import with_holes
from dashboard.widgets.leaderboard_parts import charted_rerankers, leaderboard_charts, leaderboard_table
from dashboard.widgets.sections import section
from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt
from metrics.studies.leaderboard import leaderboard, mean_std
from metrics.studies.prose import Prose, decimal
from metrics.studies.tiers import rank_intervals, with_tiers
from metrics.support.wording import part_of

_MANY_EMPTY = 0.2
"""Share of queries without a relevant document from which on they can be left out."""


@cached_by_key(show_spinner=False, max_entries=24)
def ranked_rerankers(view: ShownBoard, measure: str, traditional: str) -> pd.DataFrame:
    """Return the rows of the leaderboard, which nobody changes."""
    return leaderboard(view.evaluation, measure, traditional)


@cached_by_key(show_spinner=False, max_entries=24)
def _verdict_prose(view: ShownBoard, measure: str, traditional: str) -> Prose:
    """Return who leads, and whether the order of ties or chance decides that, as a sentence."""
    from metrics.studies import verdict_sentence  # noqa: PLC0415 scipy.special

    rows, swaps = ranked_rerankers(view, measure, traditional), swapped_orders(view, measure, traditional)
    copies = verdict_sentence.same_runs(view.board.runs, view.evaluation, measure)
    return verdict_sentence.leaderboard_verdict(rows, swaps, view.evaluation, measure, traditional, copies)


@cached_by_key(show_spinner=False, max_entries=24)
def _intervals(view: ShownBoard, measure: str) -> pd.DataFrame:
    """Return between which ranks other queries could put each reranker."""
    return rank_intervals(view.evaluation, measure)


@section("The verdict")
def verdict(view: View, measure: str) -> None:
    """Draw the verdict and, where many queries have no relevant document, whether these count."""
    finding(_verdict_prose(view, measure, view.traditional), view.rerankers)
    n_empty, n_queries = view.evaluation.policies[["n_empty", "n_queries"]].max()
    if n_empty > _MANY_EMPTY * n_queries:
        are_left_out = view.scoring.empty == "skip"
        outcome, offer = (
            ("are left out", "Count them as 0") if are_left_out else ("count as 0", "Leave them out")
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            text = f"{part_of(n_empty, n_queries, 'query')} have no relevant document and {outcome}."
            st.markdown(f":material/info: {text}", width="content")
            choice = "zero" if are_left_out else "skip"
            st.button(offer, on_click=controls.set_value, args=("empty", choice), key="skip-empty")


@section("The scores")
def scores_section(
    view: View, name: MeasureAt, rows: pd.DataFrame, unjudged: pd.DataFrame | None, part: str
) -> None:
    """Draw ranks, scores with their bounds, and the ranked table."""
    rows = with_holes(view, rows, name, unjudged)
    if len(rows) > 1:
        rows = with_tiers(rows, _intervals(view, str(name)))
    drawable = charted_rerankers(rows)
    matches = search_rows(drawable, part)
    places = shown_rows(len(matches), "places", has_pages=True)
    drawn_rows = places.of(matches).index
    if not name.measure.answers:
        if len(matches) == len(drawable):
            _strip(view, drawable, name.traditional, places)
        leaderboard_charts(view.board.key, drawable, view.palette, name.traditional, view.treatment, drawn_rows)
    places.buttons()
    missing = rows.index.difference(drawable.index, sort=False)
    drawn = drawn_rows.append(missing)
    download = partial(_downloaded_rows, view, rows, name)
    leaderboard_table(rows, name, view.treatment, "leaderboard", drawn_rerankers=drawn, download=download)


def _downloaded_rows(view: View, rows: pd.DataFrame, name: MeasureAt) -> pd.DataFrame:
    """Return all columns of the leaderboard, and how far random tie-breaking scatters each mean."""
    if name.measure.answers:
        return rows.reset_index()
    std = mean_std(view.score(str(name), "std"), str(name))
    return rows.assign(std=std.reindex(rows.index)).reset_index()


def _strip(view: View, leaderboard: pd.DataFrame, measure: str, places: ShownRows) -> None:
    """Draw all places in a strip, where there are more than twenty, but on a phone."""
    if len(leaderboard) > FEW and not visitor.is_narrow():
        frame = (places.start, places.stop - 1)
        kept_elements(view.board.key, _draw_strip, leaderboard, view.palette, measure, *frame)


def _draw_strip(leaderboard: pd.DataFrame, palette: Palette, measure: str, first: int, last: int) -> None:
    heading(f"All {len(leaderboard):,} at a glance", strip_caption(leaderboard))
    chart(
        place_strip(leaderboard, palette, measure, first, last),
        "places",
        f"{measure} of all rerankers by place, the ones drawn below in a frame.",
    )


def strip_caption(leaderboard: pd.DataFrame) -> str:
    """Return what the marks of the strip stand for, and from which gap on the sort has a diamond."""
    gap = clear_gap(leaderboard)
    off = f"is {decimal(gap)} off or more" if gap > EQUAL else "is off"
    return (
        f"One line from worst to best order for each, its tied value a dot, a diamond where the sort {off}. "
        "The frame has those drawn below."
    )
