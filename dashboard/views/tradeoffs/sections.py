"""Parts of the Trade-offs page: what is kept for it, its controls, cards, tables, and why a part is hidden."""

from typing import Any, cast

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.charts.leaderboard.segments import MOST_SEGMENTS, segment_heatmap
from dashboard.library import Board
from dashboard.widgets.components import Card, chart, heading, number, table
from metrics import Evaluation, parse
from metrics.evaluation import AS_READ, EQUAL, ScoringOptions, score_runs
from metrics.studies.leaderboard.segments import segment_table
from metrics.studies.prose import percent
from metrics.studies.tradeoffs.coverage import coverage_measures
from metrics.studies.tradeoffs.tradeoffs import DEPTH, LATENCIES, STANDINGS, Latency, duration, latencies

NO_LIMIT = "no limit"
BUDGETS = {
    duration(step * power): step * power for power in (1e-3, 1e-2, 1e-1, 1, 10) for step in (1, 2, 3, 5, 7)
}
"""Latency budgets offered: their names, and seconds."""
WORDS: dict[Latency, str] = {"p50": "median", "p95": "95th percentile", "mean": "mean"}
DEPTHS = ("5", "10", "20", "50")
_EXAMPLE = {"latency": "0.038", "target_id": "paper-7", "segment": "how-to"}


@st.cache_resource(show_spinner=False, max_entries=16)
def taken(key: str, _board: Board) -> dict[str, "pd.Series[float]"]:
    """Seconds of every list of a board."""
    return latencies(_board.runs)


@st.cache_resource(show_spinner="Counting targets …", max_entries=8)
def _depth(key: str, k: int, scoring: ScoringOptions, _board: Board) -> Evaluation:
    return score_runs(_board.runs, coverage_measures(k), ["expected", "optimistic", "pessimistic"], scoring)


def depth(view: session.View, k: int) -> Evaluation:
    """What the first k places hold, of the lists that are shown."""
    index = view.evaluation.scores.index
    found = _depth(view.board.key, k, view.scoring, view.board).only(view.rerankers)
    if len(found.scores) == len(index):
        return found
    few = found.only(view.rerankers, set(index.get_level_values("query_id")))
    if len(few.scores) == len(index):
        return few
    return _depth(view.board.key, k, AS_READ, view.board).only(view.rerankers)


def controls(*, clock: bool) -> tuple[str, int, Latency, float | None]:
    """Measure, depth, latency and budget in seconds; the last two only where there is a clock."""
    measure = session.measure()
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        depth = session.segmented(
            "Depth", DEPTHS, "depth", str(DEPTH), help="Places in which targets are counted."
        )
        if not clock:
            return measure, int(depth), "p50", None
        by = session.segmented(
            "Latency", LATENCIES, "latency", help="Median, 95th percentile or mean over lists."
        )
        budget = st.select_slider(
            "Latency budget",
            [*BUDGETS, NO_LIMIT],
            value=NO_LIMIT,
            key="budget",
            width=330,
            bind="query-params",
            persist_state="session",
        )
    return measure, int(depth), cast("Latency", by), BUDGETS.get(budget)


def absent(column: str, needed: str, where: str) -> None:
    """Why a chart is hidden, and what brings it back.

    Args:
        column: what is missing.
        needed: what the chart shows, and what for.
        where: to put the column.
    """
    with st.container(border=True):
        st.markdown(f":material/visibility_off: **Hidden: no `{column}` column.**")
        st.caption(f"{needed} {where} A TREC run cannot hold it; CSV, Parquet, JSON and JSONL can.")
        rows = (f"q1,{document},…,{_EXAMPLE[column]}" for document in ("d1", "d2"))
        st.code("\n".join((f"query_id,doc_id,…,{column}", *rows)), language=None)


def speed_cards(board: pd.DataFrame, measure: str, budget: float | None) -> list[Card]:
    """Best within the budget, fastest, and how many nothing beats."""
    on = board[board["standing"] != "not timed"]
    within = on if budget is None else on[on["seconds"] <= budget]
    label = f"Best {parse(measure).tied}" if budget is None else f"Best within {duration(budget)}"
    if len(within):
        best = within.loc[within["tied"].idxmax()]
        first = Card("trophy", label, f"{best['tied']:.4f}", _leader(within["tied"]), "blue")
    else:
        first = Card("trophy", label, "–", "none is that fast")
    return [
        first,
        Card("bolt", "Fastest", duration(on["seconds"].min()), _leader(-on["seconds"])),
        Card(
            "show_chart",
            "On the front",
            f"{on['tied_front'].sum()} of {len(on)}",
            f"traditional: {on['traditional_front'].sum()}",
            "orange" if (on["tied_front"] != on["traditional_front"]).any() else "gray",
            help="Rerankers that no other one beats: none is as fast and as good.",
        ),
    ]


def depth_cards(board: pd.DataFrame, covered: pd.DataFrame, measure: str, k: int) -> list[Card]:
    """What stands in for them where nothing is timed."""
    tied, recall, targets = board["tied"], covered["recall"], covered["targets"]
    return [
        Card("trophy", f"Best {parse(measure).tied}", f"{tied.max():.4f}", _leader(tied), "blue"),
        Card("travel_explore", f"Best Recall@{k}", f"{recall.max():.4f}", _leader(recall)),
        Card("category", f"Largest Div@{k}", f"{targets.max():.2f}", _leader(targets)),
    ]


def _leader(values: "pd.Series[float]") -> str:
    """Whose the largest value is, or how many share it."""
    on_top = values.index[values >= values.max() - EQUAL]
    return str(on_top[0]) if len(on_top) == 1 else f"{len(on_top)} rerankers alike"


def last_card(covered: pd.DataFrame, k: int, *, targets: bool) -> Card:
    """Who repeats targets most; without targets, whose recall ties can move most."""
    if targets:
        values, label = covered["repeated"], "Most repetition"
        value = percent(values.max())
        explained = f"Share of the relevant documents in the first {k} whose target another one satisfies."
    else:
        values, label = covered["recall_best"] - covered["recall_worst"], f"Recall@{k} ties move"
        value, explained = f"{values.max():.4f}", "From the worst order of ties to the best."
    some = values.max() > EQUAL
    note = _leader(values) if some else "no reranker"
    return Card(
        "content_copy" if targets else "join_inner", label, value, note, "orange" if some else "gray", explained
    )


def by_segment(view: session.View, rerankers: list[str], measure: str) -> pd.DataFrame | None:
    """Gaps by segment as a chart, rerankers in this order, or why there are none; gives the table."""
    title = parse(measure).traditional
    heading("Gap by segment", f"Mean {title} gap. Orange: traditional too high; blue: too low.")
    known = cache.segments(view.board.key, view.board)
    if not len(known):
        absent("segment", "It needs the kind of each query.", "Give it in any row of the query.")
        return None
    found = segment_table(view.evaluation.only(rerankers), known, measure, view.traditional)
    if (more := found["segment"].nunique() - MOST_SEGMENTS) > 0:
        st.caption(f"The largest {MOST_SEGMENTS}; the table has {more} more.")
    alt = f"Mean {title} gap of each reranker in each segment of queries."
    chart(segment_heatmap(found, view.palette, title), "segments", alt, wide=560)
    return found


def columns(measure: str, k: int, *, clock: bool) -> dict[str, Any]:
    """Columns of the table and how they are shown."""
    name = parse(measure)
    speed = {
        "standing": st.column_config.MultiselectColumn(
            "Front",
            options=list(STANDINGS),
            color=["blue", "blue", "orange", "gray", "gray"],
            help="  \n".join(f"**{one}**: {meaning}" for one, meaning in STANDINGS.items()),
        )
    }
    times: dict[str, Any] = {one: number(f"{one} ms", "localized") for one in LATENCIES}
    return {
        "reranker": st.column_config.TextColumn("Reranker"),
        **(speed if clock else {}),
        "tied": number(name.tied),
        "traditional": number(name.traditional),
        **(times if clock else {}),
        "recall": number(f"Recall@{k}"),
        "distinct": number(f"DR@{k}", help="Distinct relevant targets in the top, over all targets."),
        "targets": number(f"Div@{k}", "%.2f", "Distinct relevant targets in the top."),
        "repeated": number(
            "Repeats", "%.0f%%", "Relevant documents in the top whose target another satisfies."
        ),
        **({"beaten_by": st.column_config.TextColumn("Beaten by")} if clock else {}),
    }


def as_shown(every: pd.DataFrame) -> pd.DataFrame:
    """The rows as the table shows them: milliseconds in three figures, percent, the standing as a badge."""
    milliseconds = {one: [float(f"{1000 * value:.3g}") for value in every[one]] for one in LATENCIES}
    standing = [[one] for one in every["standing"]]
    return every.assign(**milliseconds, repeated=every["repeated"] * 100, standing=standing)


def as_written(every: pd.DataFrame, k: int) -> pd.DataFrame:
    """The rows as the file has them: seconds, and measures by their names."""
    names = {"recall": f"R@{k}", "distinct": f"DR@{k}", "targets": f"Div@{k}"}
    names = {one + end: name + end for one, name in names.items() for end in ("", "_worst", "_best")}
    names |= {one: f"latency_{one}" for one in LATENCIES}
    return every.drop(columns="seconds").rename(columns=names)


def segment_rows(found: pd.DataFrame, measure: str) -> None:
    """The same as a table."""
    name = parse(measure)
    shown = {
        "reranker": st.column_config.TextColumn("Reranker"),
        "segment": st.column_config.TextColumn("Segment"),
        "traditional": number(name.traditional),
        "tied": number(name.tied),
        "gap": number("Gap", "%+.4f", "Traditional minus tied."),
        "n": number("Queries", "localized"),
    }
    table(found, "By segment", "segments", shown)
