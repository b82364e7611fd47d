"""Parts of a leaderboard: its cards, its charts and its table; used by more than one page."""

from math import comb

import pandas as pd
import streamlit as st

from dashboard.charts.labels import (
    SENTENCE_COLUMNS,
    SLOPE_COLUMNS,
    TABLE_COLUMNS,
    shared_ends,
    short_names,
)
from dashboard.charts.leaderboard.hole_bars import LEAST_WIDTH
from dashboard.charts.leaderboard.place_and_score import (
    FEW,
    LONG_MOVE,
    is_out_of_order,
    least_width,
    place_and_score,
)
from dashboard.charts.leaderboard.place_strip import clear_gap, place_strip
from dashboard.charts.leaderboard.score_bounds import drawable_rerankers
from dashboard.charts.palette import Palette
from dashboard.escaping import escape_markdown
from dashboard.session.view import board_key
from dashboard.widgets.columns import Columns, badge_column
from dashboard.widgets.components import Card, cards, chart, heading, keep_wide, table_head, table_rows
from dashboard.widgets.figures import kept_elements
from dashboard.widgets.first_rows import ShownRows
from dashboard.widgets.leaders import farthest_off, leader_name, most_ties
from dashboard.widgets.page_body import section
from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt, question
from metrics.studies.leaderboard.leaderboard import swap_matrix
from metrics.studies.leaderboard.verdicts import VERDICTS
from metrics.studies.prose import decimal, signed
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of, percent
from metrics.ties import Treatment

_LONGEST_FIGURE = 11
"""Letters of a figure that have room on a card."""
_MAX_NAMED = 5
"""Rerankers without a list that are named."""


def charted_rerankers(leaderboard: pd.DataFrame, max_rows: int | None = None) -> pd.DataFrame:
    """Return the rerankers that charts show; say on the page who is missing there."""
    drawable = drawable_rerankers(leaderboard)
    missing = leaderboard.index.difference(drawable.index, sort=False)
    if len(missing):
        labels = short_names(map(str, leaderboard.index), SENTENCE_COLUMNS)
        names = ", ".join(escape_markdown(labels[str(name)]) for name in missing[:_MAX_NAMED])
        hidden = f" and {len(missing) - _MAX_NAMED:,} more" * (len(missing) > _MAX_NAMED)
        st.caption(f"Without a scored list, and in the table only: {names}{hidden}.")
    if max_rows is not None and len(drawable) > max_rows:
        st.caption(
            f"Charts show the first {max_rows} of {len(drawable):,} rerankers; "
            f"{len(drawable) - max_rows:,} are left out. The table has all."
        )
    return drawable.head(max_rows) if max_rows is not None else drawable


@section("The cards")
def leaderboard_cards(leaderboard: pd.DataFrame, measure: MeasureAt, n_movable: int, n_lists: int) -> None:
    """Show the best, the largest gap, how many orders swap, and how many lists ties can move.

    Args:
        leaderboard: as `leaderboard` returns it.
        measure: what it is ranked by.
        n_movable: lists whose worst and best order differ.
        n_lists: all lists.
    """
    rows = drawable_rerankers(leaderboard)
    if not len(rows):
        return
    best = rows["tied"]
    top = Card("trophy", f"Best {measure.tied}", decimal(best.max(), 4), leader_name(best), "blue")
    if measure.measure.answers:
        answered = question(measure)
        cards(
            top,
            Card("gavel", "Ties are settled", "by rule", f"of {measure}, whatever the order"),
            Card("balance", "Answers", answered.traditional, "choose it to see ties at work"),
            Card("join_inner", "Most ties", *most_ties(rows["tie_ratio"]), "orange"),
        )
        return
    gap, farthest = farthest_off(rows["gap"])
    movable = percent(n_movable / n_lists)
    cards(
        top,
        Card("casino", "Largest gap", signed(gap, 4), farthest, "orange"),
        _swaps_card(rows),
        Card("join_inner", "Ties matter in", movable, f"{n_movable:,} of {count_of(n_lists, 'list')}"),
    )


def _swaps_card(rows: pd.DataFrame) -> Card:
    """Return the card of how many pairs of rerankers swap."""
    n_swaps, n_pairs = int(swap_matrix(rows).sum()), comb(len(rows), 2)
    if not n_pairs:
        return Card("swap_vert", "Orders that swap", "none", "one reranker")
    value, note = card_part(n_swaps, n_pairs, "pair")
    return Card("swap_vert", "Orders that swap", value, note or "traditional against tied")


def card_part(part: int, number: int, noun: str) -> tuple[str, str]:
    """Return what a card says of a part of a number, and its note where the card has no room for both.

    Args:
        part: how many.
        number: of how many.
        noun: what they are, in the singular.
    """
    text = f"{part:,} of {number:,}"
    return (f"{part:,}", f"of {count_of(number, noun)}") if len(text) > _LONGEST_FIGURE else (text, "")


@section("The charts of the leaderboard")
def leaderboard_charts(
    key: str,
    leaderboard: pd.DataFrame,
    palette: Palette,
    measure: str,
    traditional: Treatment,
    drawn_rerankers: pd.Index | None = None,
) -> None:
    """Draw places, names and scores in rows they share.

    Args:
        key: of the board, or of what else the results are; the figure is kept with its results.
        leaderboard: all rerankers, as `charted_rerankers` returns them.
        palette: colours of the theme.
        measure: how the values are called.
        traditional: the treatment taken as the traditional one.
        drawn_rerankers: which of them are drawn; all where None.
    """
    if not len(leaderboard):
        return
    names = None if drawn_rerankers is None else list(drawn_rerankers)
    kept_elements(key, _draw_charts, leaderboard, palette, measure, traditional.order, names)


def _draw_charts(
    leaderboard: pd.DataFrame, palette: Palette, measure: str, order: str, names: list[str] | None
) -> None:
    wide = least_width(map(str, leaderboard.index))
    with keep_wide(max(wide, LEAST_WIDTH) if "highest" in leaderboard else wide):
        with st.grid(2, wrap=False):
            st.header("Rank, traditional and tied", anchor=False, help=slope_caption(leaderboard))
            bounds = "tie and judgment bounds" if "highest" in leaderboard else "tie bounds"
            marks = f"Diamond: {order}. Dot: the mean over all orders."
            st.header(f"Score with {bounds}", anchor=False, help=marks + holes_caption(leaderboard))
        chart(
            place_and_score(leaderboard, palette, measure, names),
            "place-and-score",
            f"Place of each reranker by its traditional and by its tied {measure}, its name, and its worst, "
            "best, tied and traditional value.",
        )


def holes_caption(leaderboard: pd.DataFrame) -> str:
    """Return what the two shades of a bar stand for, and why it reaches to the left; nothing without holes."""
    if "highest" not in leaderboard:
        return ""
    parts = ["", "Solid: worst to best order. Hatched: what ties and unjudged documents together allow."]
    if (leaderboard["worst"] - leaderboard["lowest"] > EQUAL).any():
        parts.append("To the left, too: more relevant documents raise what a value is divided by.")
    if not leaderboard["is_exact"].all():
        parts.append("They are proven, and not always reached.")
    if "expectation" in leaderboard:
        parts.append(_rate_caption(leaderboard["expectation"].isna()))
    return " ".join(parts)


def _rate_caption(is_unknown: "pd.Series[bool]") -> str:
    """Return what the tick stands for, and where there is none."""
    if is_unknown.all():
        return (
            "No tick: too little is judged to tell a rate, only some segments are chosen, or the measure is AP "
            "or the like."
        )
    tick = "Tick: the mean expected if unjudged documents are relevant as often as judged ones tell"
    return f"{tick}{', where that can be told' * bool(is_unknown.any())}."


@section("The strip of all rerankers")
def strip_section(leaderboard: pd.DataFrame, palette: Palette, measure: str, places: ShownRows) -> None:
    """Draw all places in a strip, where there are more than twenty.

    Args:
        leaderboard: all rerankers, as `charted_rerankers` returns them.
        palette: colours of the theme.
        measure: how the values are called.
        places: those that are drawn below it.
    """
    if len(leaderboard) <= FEW:
        return
    kept_elements(board_key(), _draw_strip, leaderboard, palette, measure, places.start, places.stop - 1)


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


def slope_caption(leaderboard: pd.DataFrame) -> str:
    """Return what names lack, and what orange stands for."""
    ends = filter(None, shared_ends(map(str, leaderboard.index), SLOPE_COLUMNS))
    shared = " and ".join(f"“{escape_markdown(end)}”" for end in ends)
    if len(leaderboard) == 1:
        return "One reranker has one place."
    marked = "swaps with another" if len(leaderboard) <= FEW else f"moves {LONG_MOVE} places or more"
    orange = f"Orange: {marked}." if is_out_of_order(leaderboard).any() else f"No reranker {marked}."
    tiers = " A tier: nothing tells these apart." if "tier" in leaderboard else ""
    return f"{f'Names share {shared}. ' * bool(shared)}{orange}{tiers}"


@section("The table of the leaderboard")
def leaderboard_table(
    leaderboard: pd.DataFrame,
    measure: MeasureAt,
    traditional: Treatment,
    file: str,
    extra_columns: Columns | None = None,
    drawn_rerankers: pd.Index | None = None,
) -> None:
    """Show rerankers before and after ties are averaged, with a download of all.

    Args:
        leaderboard: as `leaderboard` returns it; perhaps std, the spread of each mean, and extra columns.
        measure: what it is ranked by.
        traditional: the treatment taken as the traditional one.
        file: name of the download.
        extra_columns: further columns and how they are shown.
        drawn_rerankers: rerankers whose rows are shown; all where None.
    """
    words = {"tied": measure.tied, "traditional": traditional.heading, "order": traditional.order}
    table_head("All rerankers", file, leaderboard.reset_index)
    kept_elements(board_key(), _draw_rows, leaderboard, words, file, extra_columns or {}, drawn_rerankers)


def _draw_rows(
    leaderboard: pd.DataFrame,
    words: dict[str, str],
    file: str,
    extra_columns: Columns,
    drawn_rerankers: pd.Index | None,
) -> None:
    names = short_names(map(str, leaderboard.index), TABLE_COLUMNS)
    rows = (leaderboard if drawn_rerankers is None else leaderboard.loc[drawn_rerankers]).reset_index()
    rows["bounds"] = [
        f"{low:.3f} – {high:.3f}" if pd.notna(low) else "–" for low, high in rows[["worst", "best"]].to_numpy()
    ]
    rows["verdict"] = [
        [verdict] * pd.notna(value) for value, verdict in zip(rows["tied"], rows["verdict"], strict=True)
    ]
    rows["name"], rows["reranker"] = rows["reranker"], rows["reranker"].astype(str).map(names)
    table_rows(
        rows,
        file,
        {
            **shown_columns("tied_rank", "reranker", "tied", "traditional", "bounds", "gap", **words),
            "verdict": badge_column("Verdict", VERDICTS, ("green", "yellow", "orange", "blue", "gray")),
            **shown_columns(
                *leaderboard.columns.intersection(["unjudged", "lowest", "highest", "expectation"])
            ),
            **extra_columns,
            **({} if rows["name"].equals(rows["reranker"]) else shown_columns("name")),
        },
    )
