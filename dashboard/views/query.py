"""Query explorer: one list, every order its scores allow."""

import streamlit as st

from dashboard import cache, state
from dashboard.charts.ladder import DRAWN, HEATED, first_hit_bars, landing, tie_ladder
from dashboard.components import Card, cards, chart, finding, heading, number, page, table
from dashboard.parts import orderings_text
from metrics import parse
from metrics.studies.query import every_ordering, first_rank_chances, ladder, listed_rank, query_finding
from metrics.ties import Orderings

LIMIT = 5040
"""Orderings listed at most: seven documents in one tie."""

view = state.view()
page(
    "Query explorer",
    "One list, every order its scores allow. Documents inside a bracket share a score: any order within "
    "it is as valid as the one you saw.",
)
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    place = st.empty()
    reranker = state.pick("Reranker", view.rerankers, "reranker", width=240)
    measure = state.one("Measure", cache.MEASURES, "measure")
values = view.evaluation.scores.loc[reranker][measure]
gap = (values[view.traditional] - values["expected"]).abs()
queries = list(gap.sort_values(ascending=False, kind="stable").index)
with place:
    query = state.pick("Query, largest gap first", queries, "query", width=240)

ranking = cache.ranking(view.board.label, reranker, view.board)
rows, chances = ladder(ranking, query), first_rank_chances(ranking, query)
orderings = Orderings.of(ranking, query)
lists = view.evaluation.lists.loc[(reranker, query)]
small = lists["log10_orderings"] < 9  # noqa: PLR2004 a billion
count = orderings.count if small else None
written = orderings_text(lists["log10_orderings"], count)
value, k = values.loc[query], parse(measure).k
finding(query_finding(rows, chances, value, measure, view.traditional, written))
cards(
    Card("diamond", f"Traditional {measure}", f"{value[view.traditional]:.4f}", view.traditional, "orange"),
    Card("circle", f"Tied {measure}", f"{value['expected']:.4f}", f"mean of {written} orderings", "blue"),
    Card("arrow_downward", "Worst order", f"{value['pessimistic']:.4f}", "relevant documents last"),
    Card("arrow_upward", "Best order", f"{value['optimistic']:.4f}", "relevant documents first"),
)

heading(
    "The list and its ties",
    "One box, one document; a bracket, one score; filled: relevant, with its grade."
    + (f" The first {DRAWN} of {len(rows):,} documents are drawn." if len(rows) > DRAWN else ""),
)
if not len(rows):
    st.info("The run has no documents for this query.", icon=":material/info:")
    st.stop()
chart(tie_ladder(rows, view.palette, k), "ladder", f"The list of {query} by score, with its ties.", wide=560)
left, right = st.columns(2, gap="large")
with left:
    heading(
        "Where each document can land",
        f"The top {HEATED} of {len(rows):,}."
        if len(rows) > HEATED
        else "Chance of each rank; bold: the grade.",
    )
    chart(landing(rows, view.palette, k), "landing", "Chance of each document at each rank.")
with right:
    st.subheader("First relevant document", anchor=False)
    if len(chances):
        mean = (chances["rank"] * chances["chance"]).sum()
        st.caption(
            f"Exact chance of each rank over all orderings, {mean:.2f} on average; diamond: traditional."
        )
        chart(
            first_hit_bars(chances, view.palette, listed_rank(ranking, query, view.traditional)),
            "first-hit",
            "Exact distribution of the rank of the first relevant document.",
        )
    else:
        st.info("The list holds no relevant document.", icon=":material/info:")

if count is not None and count <= LIMIT:
    every = every_ordering(ranking, query, [measure, "RR", "Hits@3"], LIMIT)
    table(
        every,
        f"Every ordering: {count:,}",
        "orderings",
        {
            "ordering": number("#", "%d"),
            "documents": st.column_config.TextColumn("Documents, top first", width="large"),
            "first_relevant": number("First relevant", "%d"),
        }
        | {name: number(name) for name in dict.fromkeys([measure, "RR", "Hits@3"])},
    )
    st.caption(
        f"{measure} ranges from {every[measure].min():.4f} to {every[measure].max():.4f}; its mean over the "
        f"table is {every[measure].mean():.4f}, the tied value."
    )
else:
    st.caption(f"{written} orderings are too many to list; the chances above are exact all the same.")
