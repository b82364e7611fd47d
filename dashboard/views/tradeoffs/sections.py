"""Controls and charts of the Trade-offs page, and why a chart is hidden."""

from typing import NamedTuple, cast

import pandas as pd
import streamlit as st

from dashboard import cache, session
from dashboard.charts.deciding.distinct_recall import diversity_scatter, recall_dumbbell
from dashboard.charts.deciding.latency_scatter import latency_scatter
from dashboard.charts.leaderboard.segment_heatmap import MOST_SEGMENTS, segment_heatmap
from dashboard.charts.name_places import SMALL, WIDE
from dashboard.session import View
from dashboard.session.controls import select_slider
from dashboard.session.scoring import choose_test
from dashboard.widgets.components import chart, heading
from metrics import parse
from metrics.studies.leaderboard.segments import segment_table
from metrics.studies.tradeoffs.coverage import with_targets
from metrics.studies.tradeoffs.latency import LATENCIES, Latency
from metrics.studies.tradeoffs.tradeoffs import DEPTH, duration

NO_LIMIT = "no limit"
BUDGETS = {
    duration(step * power): step * power for power in (1e-3, 1e-2, 1e-1, 1, 10) for step in (1, 2, 3, 5, 7)
}
"""Latency budgets offered: their names, and seconds."""
LATENCY_NAMES: dict[Latency, str] = {"p50": "median", "p95": "95th percentile", "mean": "mean"}
DEPTHS = ("5", "10", "20", "50")
_EXAMPLES = {"latency": "0.038", "target_id": "paper-7", "segment": "how-to"}


class Choices(NamedTuple):
    """What the controls of the page say.

    Attributes:
        measure: of the quality.
        k: places in which targets are counted.
        latency: what of a reranker's latencies is compared.
        budget: seconds a list may take, None for any.
    """

    measure: str
    k: int
    latency: Latency = "p50"
    budget: float | None = None


def choose(*, is_timed: bool) -> Choices:
    """Draw the controls, and return what they say; latency and budget only where anything is timed."""
    measure = session.measure()
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        depth = session.segmented(
            "Depth", DEPTHS, "depth", str(DEPTH), help="Places in which targets are counted."
        )
        if not is_timed:
            return Choices(measure, int(depth))
        latency = session.segmented(
            "Latency", LATENCIES, "latency", help="Median, 95th percentile or mean over lists."
        )
        budget = select_slider("Latency budget", [*BUDGETS, NO_LIMIT], "budget", NO_LIMIT, width=330)
    return Choices(measure, int(depth), cast("Latency", latency), BUDGETS.get(budget))


def choose_comparison(view: View) -> tuple[str, str, str]:
    """Draw whom the table of every measure compares with and how; return baseline, test and correction."""
    heading(
        "Every measure at once",
        "Means with ties averaged and as sorted, and mean seconds a list where runs give them, with stars.",
    )
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        baseline = session.choose_baseline(view.rerankers, width=240)
        return baseline, *choose_test()


def _hidden_chart(column: str, reason: str, remedy: str) -> None:
    """Draw why a chart is hidden, and what brings it back.

    Args:
        column: what is missing.
        reason: what the chart needs it for.
        remedy: where to put the column.
    """
    with st.container(border=True):
        st.markdown(f":material/visibility_off: **Hidden: no `{column}` column.**")
        st.caption(f"{reason} {remedy} A TREC run cannot hold it; CSV, Parquet, JSON and JSONL can.")
        rows = (f"q1,{document},…,{_EXAMPLES[column]}" for document in ("d1", "d2"))
        st.code("\n".join((f"query_id,doc_id,…,{column}", *rows)), language=None)


def latency_section(view: View, rows: pd.DataFrame, choices: Choices, n_drawn: int, *, is_timed: bool) -> None:
    """Draw quality against latency, or why it is hidden.

    Args:
        view: what the sidebar says is shown.
        rows: as `tradeoffs` returns them.
        choices: what the controls say.
        n_drawn: rerankers that are drawn, the first; and whoever is on a front.
        is_timed: whether any list says how long it took.
    """
    if not is_timed:
        heading("Quality against latency", "What a better ranking costs in time.")
        _hidden_chart("latency", "It needs the seconds each list took.", "Give them in every row of the list.")
        return
    heading(
        "Quality against latency",
        "Blue and orange line: what no other beats. Grey: median to 95th percentile. Pale: worst to best.",
    )
    title = parse(choices.measure).traditional
    first = rows.index.isin(rows.index[:n_drawn])
    drawn = rows[first | rows["tied_front"] | rows["traditional_front"]]
    if len(drawn) < len(rows):
        st.caption(f"The best {n_drawn} of {len(rows):,}, and whoever is on a front.")
    figure = latency_scatter(drawn, view.palette, title, LATENCY_NAMES[choices.latency], choices.budget)
    chart(figure, "latency", f"{title} against latency of each reranker, with the Pareto fronts.", wide=480)


def diversity_section(view: View, coverage: pd.DataFrame, k: int, *, is_wide: bool) -> None:
    """Draw the share of targets against their number.

    Args:
        view: what the sidebar says is shown.
        coverage: as `coverage` returns it.
        k: places that are looked at.
        is_wide: whether the chart has the wider column.
    """
    heading(
        "Distinct recall against diversity",
        f"Share and number of targets in the first {k}; bars: worst to best.",
    )
    if len(coverage) < len(view.rerankers):
        st.caption(f"{len(coverage):,} of {len(view.rerankers):,} rerankers are drawn.")
    figure = diversity_scatter(coverage, view.palette, k, WIDE if is_wide else SMALL)
    chart(figure, "diversity", f"DR@{k} against Div@{k} of each reranker.")


def segment_section(view: View, rerankers: list[str], measure: str, n_drawn: int) -> pd.DataFrame | None:
    """Draw the gaps by segment, or why there are none, and return their table.

    Args:
        view: what the sidebar says is shown.
        rerankers: in the order in which they are drawn.
        measure: which the gaps are in.
        n_drawn: rerankers that are drawn, the first.
    """
    title = parse(measure).traditional
    heading("Gap by segment", f"Mean {title} gap. Orange: traditional too high; blue: too low.")
    segments = cache.segments(view.board.key, view.board)
    if not len(segments):
        _hidden_chart("segment", "It needs the kind of each query.", "Give it in any row of the query.")
        return None
    rows = segment_table(view.evaluation.only(rerankers), segments, measure, view.traditional)
    if (n_left_out := rows["segment"].nunique() - MOST_SEGMENTS) > 0:
        st.caption(f"The largest {MOST_SEGMENTS}; the table has {n_left_out} more.")
    alt = f"Mean {title} gap of each reranker in each segment of queries."
    drawn = rows[rows["reranker"].isin(rerankers[:n_drawn])]
    chart(segment_heatmap(drawn, view.palette, title), "segments", alt, wide=560)
    return rows


def recall_section(view: View, coverage: pd.DataFrame, k: int, n_drawn: int) -> None:
    """Draw how much recall is left once each target counts once, or why that is hidden.

    Args:
        view: what the sidebar says is shown.
        coverage: as `coverage` returns it.
        k: places that are looked at.
        n_drawn: rerankers that are drawn, those that lose most.
    """
    heading(f"From Recall@{k} to DR@{k}", f"Ring: Recall@{k}. Dot: DR@{k}, each target counted once.")
    if names := rerankers_with_targets(view):
        alt = f"Recall@{k} and DR@{k} of each reranker, the largest loss first."
        losses = coverage.loc[names].sort_values("lost", ascending=False, kind="stable")
        chart(recall_dumbbell(losses.head(n_drawn), view.palette, k), "recall", alt)
    else:
        file = "table" if view.board.runs.qrels is None else "judgments"
        _hidden_chart("target_id", "It needs what each document satisfies.", f"Give it in the {file}.")


def rerankers_with_targets(view: View) -> list[str]:
    """Return the rerankers shown whose documents say what they satisfy."""
    return [name for name in with_targets(view.board.runs) if name in view.rerankers]
