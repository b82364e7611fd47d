"""Parts of a leaderboard: its cards, its two charts and its table; used by more than one page."""

import pandas as pd
import streamlit as st

from dashboard.charts.leaderboard.rank_slope import rank_slope
from dashboard.charts.leaderboard.score_bounds import drawable_rerankers, score_bounds
from dashboard.charts.palette import Palette
from dashboard.escaping import escape_markdown
from dashboard.widgets.columns import Columns, badge_column
from dashboard.widgets.components import Card, cards, chart, table
from metrics.measures import MeasureAt, question
from metrics.studies.leaderboard.verdicts import VERDICTS
from metrics.studies.prose import decimal, signed
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import percent
from metrics.ties import Treatment

_MAX_NAMED = 5
"""Rerankers without a list that are named."""


def charted_rerankers(leaderboard: pd.DataFrame, max_rows: int | None = None) -> pd.DataFrame:
    """Return the rerankers that charts show; say on the page who is missing there.

    Args:
        leaderboard: as `leaderboard` returns it.
        max_rows: rerankers that are drawn, None for all.
    """
    drawable = drawable_rerankers(leaderboard)
    missing = leaderboard.index.difference(drawable.index, sort=False)
    if len(missing):
        names = ", ".join(escape_markdown(str(name)) for name in missing[:_MAX_NAMED])
        hidden = f" and {len(missing) - _MAX_NAMED:,} more" * (len(missing) > _MAX_NAMED)
        st.caption(f"Without a scored list, and in the table only: {names}{hidden}.")
    if max_rows is not None and len(drawable) > max_rows:
        st.caption(
            f"Charts show the first {max_rows} of {len(drawable):,} rerankers; "
            f"{len(drawable) - max_rows:,} are left out. The table has all."
        )
    return drawable.head(max_rows) if max_rows is not None else drawable


def leaderboard_cards(leaderboard: pd.DataFrame, measure: MeasureAt, n_movable: int, n_lists: int) -> None:
    """Show the best, the largest gap, how many ranks change, and how many lists ties can move.

    Args:
        leaderboard: as `leaderboard` returns it.
        measure: what it is ranked by.
        n_movable: lists whose worst and best order differ.
        n_lists: all lists.
    """
    rows = drawable_rerankers(leaderboard)
    if not len(rows):
        return
    best, farthest = rows.iloc[0], rows.loc[rows["gap"].abs().idxmax()]
    top = Card("trophy", f"Best {measure.tied}", decimal(best["tied"], 4), str(best.name), "blue")
    if measure.measure.answers:
        most_tied = rows.loc[rows["tie_ratio"].idxmax()]
        answered = question(measure)
        cards(
            top,
            Card("gavel", "Ties are settled", "by rule", f"of {measure}, whatever the order"),
            Card("balance", "Answers", answered.traditional, "choose it to see ties at work"),
            Card("join_inner", "Most ties", percent(most_tied["tie_ratio"]), str(most_tied.name), "orange"),
        )
        return
    n_changed = int((rows["tied_rank"] != rows["traditional_rank"]).sum())
    cards(
        top,
        Card("casino", "Largest gap", signed(farthest["gap"], 4), str(farthest.name), "orange"),
        Card("swap_vert", "Rank changes", f"{n_changed} of {len(rows)}", "tied against traditional"),
        Card(
            "join_inner",
            "Lists where ties matter",
            percent(n_movable / n_lists),
            f"{n_movable:,} of {n_lists:,}",
        ),
    )


def leaderboard_charts(leaderboard: pd.DataFrame, palette: Palette, measure: str) -> None:
    """Draw the scores with tie bounds, and beside them the two orders they give.

    Args:
        leaderboard: as `charted_rerankers` returns it.
        palette: colours of the theme.
        measure: how the values are called.
    """
    if not len(leaderboard):
        return
    scores, ranks = st.columns([5, 3], gap="large")
    with scores:
        st.subheader("Score with tie bounds", anchor=False)
        chart(
            score_bounds(leaderboard, palette, measure),
            "score-bounds",
            f"{measure} of each reranker: worst, best, tied and traditional value.",
        )
    with ranks:
        st.subheader("Rank, traditional and tied", anchor=False)
        chart(
            rank_slope(leaderboard, palette),
            "rank-slope",
            "Place of each reranker by its traditional value and by its tied value.",
        )


def leaderboard_table(
    leaderboard: pd.DataFrame,
    measure: MeasureAt,
    traditional: Treatment,
    file: str,
    extra_columns: Columns | None = None,
) -> None:
    """Show all rerankers, with a download.

    Args:
        leaderboard: as `leaderboard` returns it; perhaps std, the spread of each mean, and extra columns.
        measure: what it is ranked by.
        traditional: the treatment taken as the traditional one.
        file: name of the download.
        extra_columns: further columns and how they are shown.
    """
    rows = leaderboard.reset_index()
    ends = leaderboard[["best_rank", "worst_rank"]].astype(object).to_numpy()
    rows["places"] = ["–".join(dict.fromkeys(map(str, pair))) if pd.notna(pair).all() else "–" for pair in ends]
    rows["verdict"] = [
        [verdict] * pd.notna(value) for value, verdict in zip(rows["tied"], rows["verdict"], strict=True)
    ]
    words = {"tied": measure.tied, "traditional": traditional.heading, "order": traditional.order}
    table(
        rows,
        "All rerankers",
        file,
        {
            **shown_columns("tied_rank", "reranker"),
            "verdict": badge_column("Verdict", VERDICTS, ("green", "yellow", "orange", "blue", "gray")),
            **shown_columns("tied", "worst", "best", "traditional", **words),
            **(shown_columns("std") if "std" in leaderboard else {}),
            **shown_columns("places", "gap", ("tie_ratio", "mean_tie_ratio"), "traditional_rank", **words),
            **shown_columns(("why", "verdict_reason")),
            **(extra_columns or {}),
        },
        download=leaderboard.reset_index(),
    )
