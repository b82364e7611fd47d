"""Rerankers: what each scores by the order of its file, over every order, and where the two part."""

import streamlit as st

from dashboard import session
from dashboard.charts.leaderboard.rerankers import aligned_rows, gap_multiples
from dashboard.views.rerankers.comparisons import against_baseline
from dashboard.widgets.components import Card, cards, chart, finding, heading, number, page_head, share, table
from metrics import parse
from metrics.studies.gaps.gap import gaps
from metrics.studies.leaderboard.rerankers import reranker_finding, reranker_summary
from metrics.studies.prose import percent, signed

view = session.view()
page_head(
    "Rerankers",
    "What each reranker scores by the order of its file, what it scores over every order its ties allow, "
    "and where the two part.",
)
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    measure = session.measure()
    sort = session.segmented("Sort by", ("tied", "traditional", "tie ratio", "gap"), "sort")
second = "Hits@5" if measure != "Hits@5" else "RR"
summary = reranker_summary(view.evaluation, measure, second, view.traditional)
by = {"tied": "first_tied", "traditional": "first_traditional", "tie ratio": "tie_ratio", "gap": "first_gap"}
summary = summary.sort_values(by[sort], ascending=False, kind="stable")
name = parse(measure)
finding(reranker_finding(summary, name.traditional))

best, off = summary.loc[summary["first_tied"].idxmax()], summary.loc[summary["first_gap"].abs().idxmax()]
most, single = summary.loc[summary["tie_ratio"].idxmax()], summary.loc[summary["first_gap_max"].idxmax()]
cards(
    Card("trophy", f"Best {name.tied}", f"{best['first_tied']:.4f}", str(best.name), "blue"),
    Card("casino", "Largest gap", signed(off["first_gap"], 4), str(off.name), "orange"),
    Card("join_inner", "Most ties", percent(most["tie_ratio"]), str(most.name), "orange"),
    Card("vertical_align_center", "Farthest single list", f"{single['first_gap_max']:.4f}", str(single.name)),
)

lists = gaps(view.evaluation, {"first": measure}, view.traditional)
heading(
    "Score, ties and gap, reranker by reranker",
    "Right: lists with a gap, orange where the traditional value is too high, grey where it is too low.",
)
chart(
    aligned_rows(summary, lists, view.palette, name.traditional),
    "rerankers",
    f"{name.traditional} with tie bounds, mean tie ratio and distribution of gaps of each reranker.",
    wide=820,
)
heading(
    "Gap against tie ratio, one reranker at a time",
    "Each dot is a list; grey repeats the lists of all rerankers. The line is the mean gap.",
)
chart(
    gap_multiples(lists, view.palette, {str(one): view.colour(str(one)) for one in summary.index}, measure),
    "gap-multiples",
    f"{measure} gap against tie ratio, a panel a reranker, and their means together.",
    wide=820,
)

if len(view.rerankers) > 1:
    against_baseline(view, measure)

rows = summary.reset_index()
rows["tie_ratio"] *= 100
other = parse(second)
table(
    rows,
    "Summary",
    "rerankers",
    {
        "reranker": st.column_config.TextColumn("Reranker"),
        "tie_ratio": share("Tie ratio"),
        "tie_ratio_std": number("± std", "%.2f"),
        "first_traditional": number(name.traditional),
        "first_traditional_std": number("± std", "%.2f"),
        "first_tied": number(name.tied),
        "first_tied_std": number("± std", "%.2f"),
        "first_gap_mean": number("|gap|", help="Mean over lists of the absolute gap."),
        "first_gap_max": number("max"),
        "second_traditional": number(other.traditional),
        "second_tied": number(other.tied),
        "second_gap_mean": number("|gap|"),
        "second_gap_max": number("max"),
    },
    download=summary.reset_index().rename(
        columns=lambda name: name.replace("first", measure).replace("second", second)
    ),
)
