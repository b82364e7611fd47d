"""Trade-offs: what a better ranking costs in time, and whether what it finds is different."""

import streamlit as st

from dashboard import session
from dashboard.charts.deciding.tradeoffs import diversity_scatter, latency_scatter, recall_dumbbell
from dashboard.charts.labels import SMALL, WIDE
from dashboard.views.tradeoffs import sections
from dashboard.widgets.components import cards, chart, finding, heading, page_head, table
from metrics import parse
from metrics.studies.tradeoffs import tradeoffs as study
from metrics.studies.tradeoffs.coverage import coverage, with_targets

view = session.view()
board = view.board
page_head(
    "Trade-offs",
    "What a better ranking costs in time, and whether more relevant documents are also more different ones.",
)
speeds = study.latency_table(sections.taken(board.key, board), view.evaluation)
clock = bool(len(speeds))
measure, k, by, budget = sections.controls(clock=clock)
title = parse(measure).traditional
rows = study.tradeoffs(view.evaluation, speeds, measure, view.traditional, by)
rows = rows.sort_values("tied", ascending=False, kind="stable")
covered = coverage(sections.depth(view, k), k)
named = [name for name in with_targets(board.runs) if name in view.rerankers]
finding(study.tradeoff_finding(rows, covered, title, budget, k))
cards(
    *(
        sections.speed_cards(rows, measure, budget)
        if clock
        else sections.depth_cards(rows, covered, measure, k)
    ),
    sections.last_card(covered, k, targets=bool(named)),
)

wide, narrow = st.columns([5, 3], gap="large")
with wide if clock else narrow:
    if clock:
        heading(
            "Quality against latency",
            "Blue and orange line: what no other beats. Grey: median to 95th percentile. Pale: worst to best.",
        )
        figure = latency_scatter(rows, view.palette, title, sections.WORDS[by], budget)
        chart(figure, "latency", f"{title} against latency of each reranker, with the Pareto fronts.", wide=480)
    else:
        heading("Quality against latency", "What a better ranking costs in time.")
        needs = "It needs the seconds each list took."
        sections.absent("latency", needs, "Give them in every row of the list.")
with narrow if clock else wide:
    heading(
        "Distinct recall against diversity",
        f"Share and number of targets in the first {k}; bars: worst to best.",
    )
    figure = diversity_scatter(covered, view.palette, k, SMALL if clock else WIDE)
    chart(figure, "diversity", f"DR@{k} against Div@{k} of each reranker.")

wide, narrow = st.columns([5, 3], gap="large")
with wide:
    segments = sections.by_segment(view, list(rows.index), measure)
with narrow:
    heading(f"From Recall@{k} to DR@{k}", f"Ring: Recall@{k}. Dot: DR@{k}, each target counted once.")
    if named:
        alt = f"Recall@{k} and DR@{k} of each reranker, the largest loss first."
        chart(recall_dumbbell(covered.loc[named], view.palette, k), "recall", alt)
    else:
        file = "table" if board.runs.qrels is None else "judgments"
        sections.absent("target_id", "It needs what each document satisfies.", f"Give it in the {file}.")

every = rows.join(covered).reset_index()
shown = sections.columns(measure, k, clock=clock)
table(sections.as_shown(every), "All figures", "tradeoffs", shown, sections.as_written(every, k))
if segments is not None:
    sections.segment_rows(segments, measure)
