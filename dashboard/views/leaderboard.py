"""Leaderboard: what each reranker scores, and what of it is sort order."""

import streamlit as st

from dashboard import cache, state
from dashboard.charts.leaderboard import dumbbell, rank_slope
from dashboard.components import Card, cards, chart, finding, number, page, share, table
from dashboard.tools import what_tools_say
from metrics import parse
from metrics.studies.leaderboard import VERDICTS, leaderboard, leaderboard_finding
from metrics.studies.prose import percent, signed

view = state.view()
page(
    "Leaderboard",
    "Traditional: the order the sort happened to give. Tied: the mean over every order the scores allow; "
    "the bar runs from the worst to the best of them.",
)
measure = state.measure()
board = leaderboard(view.evaluation, measure, view.traditional)
title, tied = parse(measure).traditional, parse(measure).tied
finding(leaderboard_finding(board, title))

best, farthest = board.iloc[0], board.loc[board["gap"].abs().idxmax()]
moved = int((board["tied_rank"] != board["traditional_rank"]).sum())
scores = view.evaluation.scores[measure]
loose = scores["optimistic"] - scores["pessimistic"] > 0
cards(
    Card("trophy", f"Best {tied}", f"{best['tied']:.4f}", str(best.name), "blue"),
    Card("casino", "Largest gap", signed(farthest["gap"], 4), str(farthest.name), "orange"),
    Card("swap_vert", "Rank changes", f"{moved} of {len(board)}", "tied against traditional"),
    Card("join_inner", "Lists ties can move", percent(loose.mean()), f"{loose.sum():,} of {len(loose):,}"),
)

left, right = st.columns([5, 3], gap="large")
with left:
    st.subheader("Score with tie bounds", anchor=False)
    chart(
        dumbbell(board, view.palette, title),
        "score-bounds",
        f"{title} of each reranker: worst, best, tied and traditional value.",
    )
with right:
    st.subheader("Rank, traditional and tied", anchor=False)
    chart(
        rank_slope(board, view.palette),
        "rank-slope",
        "Place of each reranker by its traditional value and by its tied value.",
    )

board["std"] = cache.luck_of_means(view.shown, measure, view.board, view.evaluation).reindex(board.index)
rows = board.reset_index()
ends = board[["best_rank", "worst_rank"]].astype("str").to_numpy()
rows["places"] = ["–".join(dict.fromkeys(both)) for both in ends]
rows["tie_ratio"] *= 100
rows["verdict"] = [[verdict] for verdict in rows["verdict"]]
table(
    rows,
    "All rerankers",
    "leaderboard",
    {
        "tied_rank": number("#", "%d"),
        "reranker": st.column_config.TextColumn("Reranker"),
        "verdict": st.column_config.MultiselectColumn(
            "Verdict",
            options=list(VERDICTS),
            color=["green", "yellow", "orange", "blue"],
            help="  \n".join(f"**{name}**: {meaning}" for name, meaning in VERDICTS.items()),
        ),
        "tied": number(tied),
        "worst": number("Worst"),
        "best": number("Best"),
        "traditional": number(title),
        "std": number("± by ties", help="Standard deviation of the mean when ties are broken at random."),
        "places": st.column_config.TextColumn("Places", help="Every place that some order of ties gives."),
        "gap": number("Gap", "%+.4f", "Traditional minus tied."),
        "tie_ratio": share("Tie ratio", "Documents that share their score with another, mean over lists."),
        "traditional_rank": number("# before", "%d", "Place by the traditional value."),
    },
    download=board.reset_index(),
)
what_tools_say(view, board, measure)
