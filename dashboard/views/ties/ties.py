"""Ties vs gap: does the share of tied documents predict how far a traditional score is off?"""

import streamlit as st

from dashboard import cache, session
from dashboard.charts.gaps.gap import gap_panels
from dashboard.widgets.components import Card, cards, clickable_chart, finding, number, page_head, share, table
from dashboard.widgets.list_panel import list_panel
from metrics.studies.gaps.gap import correlation, gap_finding, gaps

view = session.view()
page_head(
    "Ties vs gap",
    "Does the share of tied documents predict how far a traditional score is off? "
    "One mark is one list: one reranker, one query.",
)
with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
    first = session.select("First measure", cache.MEASURES, "first", width=180)
    second = session.select("Second measure", cache.MEASURES, "second", "Hits@3", width=180)
    kept = session.segmented("Lists", ("all", "with ties"), "lists")

every = gaps(view.evaluation, {"first": first, "second": second}, view.traditional)
finding(gap_finding(every, first))
lists = every if kept == "all" else every[every["tie_ratio"] > 0]
lists = lists.assign(first_size=lists["first_gap"].abs(), second_size=lists["second_gap"].abs())


def card(icon: str, label: str, x: str, y: str) -> Card:
    """A correlation with its interval."""
    found = correlation(lists[x], lists[y])
    explained = "Pearson correlation over the lists, with its 95% interval."
    if found is None:
        return Card(icon, label, "–", "one of them does not vary", help=explained)
    value, low, high = found
    interval = f"95% {low:.2f} to {high:.2f}".replace("-", "−")
    return Card(icon, label, f"r {value:.3f}".replace("-", "−"), interval, help=explained)


cards(
    card("percent", f"Tie ratio, {first} gap", "tie_ratio", "first_size"),
    card("bar_chart", f"Largest tie, {first} gap", "max_tie_size", "first_size"),
    card("percent", f"Tie ratio, {second} gap", "tie_ratio", "second_size"),
    card("show_chart", f"{first} and {second} gap", "first_size", "second_size"),
)

if not len(lists):
    st.info("No list has a tie: there is nothing to draw.", icon=":material/check:")
else:
    panels = st.container()
    st.caption(
        "Shaded cells hold four lists or more, stronger is more; dots are single lists; the grey strip is "
        "the share of lists without any gap. Line: mean with its 95% band. Click a dot to open its list."
    )
    if (row := session.clicked_row("gap-panels")) is not None and row in lists.index:
        session.set_open_list(lists.loc[row, "reranker"], lists.loc[row, "query_id"])
    reranker, query = session.get_open_list()
    found = lists.index[(lists["reranker"] == reranker) & (lists["query_id"] == query)]
    chosen = int(found[0]) if len(found) else None
    with panels:
        clickable_chart(
            gap_panels(lists, view.palette, (first, second), chosen),
            "gap-panels",
            f"Tie ratio and largest tie against the gap in {first} and in {second}, the distribution of "
            "gaps, and one gap against the other.",
            wide=820,
        )
    if chosen is not None and reranker and query:
        list_panel(view, reranker, query, (first, second))

named = {name: name.replace("first", first).replace("second", second) for name in lists.columns}
largest = lists.sort_values("first_size", ascending=False, kind="stable")
largest = largest.assign(tie_ratio=largest["tie_ratio"] * 100)
table(
    largest,
    "Lists with the largest gap",
    "gaps",
    {
        "query_id": st.column_config.TextColumn("Query"),
        "reranker": st.column_config.TextColumn("Reranker"),
        "tie_ratio": share("Tie ratio"),
        "max_tie_size": number("Largest tie", "%d"),
        "first_traditional": number(first),
        "first_tied": number(f"Tied {first}"),
        "first_gap": number(f"{first} gap", "%+.4f"),
        "second_gap": number(f"{second} gap", "%+.4f"),
    },
    download=lists.drop(columns=["first_size", "second_size"]).rename(columns=named),
)
