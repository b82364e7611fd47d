"""Parts of a leaderboard: its cards, its two charts and its table; used by more than one page."""

import pandas as pd
import streamlit as st

from dashboard.charts.leaderboard.rank_slope import rank_slope
from dashboard.charts.leaderboard.score_bounds import drawable_rerankers, score_bounds
from dashboard.charts.palette import Palette
from dashboard.escaping import escape_markdown
from dashboard.widgets.columns import Columns, badge_column
from dashboard.widgets.components import Card, cards, chart, table
from metrics.measures import MeasureAt
from metrics.studies.leaderboard.leaderboard import VERDICTS
from metrics.studies.prose import percent, signed
from metrics.support.shown_columns import shown_columns

_NAMED = 5
"""Rerankers without a list that are named."""


def charted_rerankers(board: pd.DataFrame, most: int | None = None) -> pd.DataFrame:
    """The rerankers that charts show; says who is missing there.

    Args:
        board: as `leaderboard` returns it.
        most: rerankers that are drawn.
    """
    found = drawable_rerankers(board)
    missing = [escape_markdown(str(name)) for name in board.index.difference(found.index, sort=False)]
    if missing:
        more = f" and {len(missing) - _NAMED:,} more" * (len(missing) > _NAMED)
        st.caption(f"Without a scored list, and in the table only: {', '.join(missing[:_NAMED])}{more}.")
    if most is not None and len(found) > most:
        st.caption(
            f"Charts show the first {most} of {len(found):,} rerankers; {len(found) - most:,} are left out. "
            "The table has all."
        )
    return found.head(most) if most is not None else found


def leaderboard_cards(board: pd.DataFrame, name: MeasureAt, movable: int, n_lists: int) -> None:
    """The best, the largest gap, how many ranks change, and how many lists ties can move.

    Args:
        board: as `leaderboard` returns it.
        name: of its measure.
        movable: lists whose worst and best order differ.
        n_lists: all lists.
    """
    board = drawable_rerankers(board)
    if not len(board):
        return
    best, farthest = board.iloc[0], board.loc[board["gap"].abs().idxmax()]
    moved = int((board["tied_rank"] != board["traditional_rank"]).sum())
    cards(
        Card("trophy", f"Best {name.tied}", f"{best['tied']:.4f}", str(best.name), "blue"),
        Card("casino", "Largest gap", signed(farthest["gap"], 4), str(farthest.name), "orange"),
        Card("swap_vert", "Rank changes", f"{moved} of {len(board)}", "tied against traditional"),
        Card("join_inner", "Lists ties can move", percent(movable / n_lists), f"{movable:,} of {n_lists:,}"),
    )


def leaderboard_charts(board: pd.DataFrame, palette: Palette, title: str) -> None:
    """Draw the scores with tie bounds and the two orders, of rerankers as `charted_rerankers` returns them."""
    if not len(board):
        return
    left, right = st.columns([5, 3], gap="large")
    with left:
        st.subheader("Score with tie bounds", anchor=False)
        chart(
            score_bounds(board, palette, title),
            "score-bounds",
            f"{title} of each reranker: worst, best, tied and traditional value.",
        )
    with right:
        st.subheader("Rank, traditional and tied", anchor=False)
        chart(
            rank_slope(board, palette),
            "rank-slope",
            "Place of each reranker by its traditional value and by its tied value.",
        )


def leaderboard_table(board: pd.DataFrame, name: MeasureAt, file: str, more: Columns | None = None) -> None:
    """All rerankers, with a download.

    Args:
        board: as `leaderboard` returns it; perhaps std, the spread of each mean, and `more`.
        name: of its measure.
        file: name of the download.
        more: further columns and how they are shown.
    """
    rows = board.reset_index()
    ends = board[["best_rank", "worst_rank"]].astype(object).to_numpy()
    rows["places"] = ["–".join(dict.fromkeys(map(str, both))) if pd.notna(both).all() else "–" for both in ends]
    rows["verdict"] = [
        [verdict] * pd.notna(value) for value, verdict in zip(rows["tied"], rows["verdict"], strict=True)
    ]
    words = {"tied": name.tied, "traditional": name.traditional}
    table(
        rows,
        "All rerankers",
        file,
        {
            **shown_columns("tied_rank", "reranker"),
            "verdict": badge_column("Verdict", VERDICTS, ("green", "yellow", "orange", "blue")),
            **shown_columns("tied", "worst", "best", "traditional", **words),
            **(shown_columns("std") if "std" in board else {}),
            **shown_columns("places", "gap", ("tie_ratio", "mean_tie_ratio"), "traditional_rank"),
            **(more or {}),
        },
        download=board.reset_index(),
    )
