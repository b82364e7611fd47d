"""Controls and charts of trade-offs, and what brings hidden charts back."""

from collections.abc import Mapping
from typing import NamedTuple, cast

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import controls
from dashboard.charts.deciding.distinct_recall import diversity_scatter, recall_dumbbell
from dashboard.charts.deciding.latency_scatter import latency_scatter
from dashboard.charts.deciding.segment_heatmap import MOST_SEGMENTS, segment_heatmap
from dashboard.charts.name_places import MOST_BARS, SMALL, WIDE
from dashboard.choices import View
from dashboard.controls import select_slider
from dashboard.widgets.components import chart, heading, side_by_side
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.page_body import section
from metrics import parse
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


def choose(measure: str, *, is_timed: bool) -> Choices:
    """Draw the controls, and return what they say; latency and budget only where anything is timed."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        depth = controls.segmented(
            "Depth", DEPTHS, "depth", str(DEPTH), help="Places in which targets are counted."
        )
        if not is_timed:
            return Choices(measure, int(depth))
        latency = controls.segmented(
            "Latency", LATENCIES, "latency", help="Median, 95th percentile or mean over lists."
        )
        budget = select_slider("Latency budget", [*BUDGETS, NO_LIMIT], "budget", NO_LIMIT, width=330)
    return Choices(measure, int(depth), cast("Latency", latency), BUDGETS.get(budget))


def chart_places(key: str, *, has_left: bool, has_right: bool) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return where two charts stand: side by side if both are drawn; one alone has the whole width.

    Args:
        key: names the pair.
        has_left: whether the left one is drawn.
        has_right: whether the right one is.
    """
    if has_left and has_right:
        return side_by_side(3, 2, key)
    place = st.container()
    return place, place


def segments_and_recall(
    view: View, gaps: pd.DataFrame | None, covered: pd.DataFrame, choices: Choices, n_drawn: int
) -> None:
    """Draw gaps by segment and recall of targets side by side, those of them that the board has columns for.

    Args:
        view: what the sidebar says is shown.
        gaps: by segment; None without segments.
        covered: rerankers with targets, and what of these they cover.
        choices: what the controls say.
        n_drawn: rerankers drawn at most.
    """
    wide, narrow = chart_places("segments", has_left=gaps is not None, has_right=len(covered) > 0)
    if gaps is not None:
        with wide:
            segment_section(view, gaps, choices.measure, n_drawn)
    if len(covered):
        with narrow:
            recall_section(view, covered, choices.k, n_drawn)


@section("The list of hidden charts")
def hidden_charts(view: View, is_there: Mapping[str, bool]) -> None:
    """Draw which charts are hidden for columns that are not there, and what brings them back."""
    columns = [column for column, is_found in is_there.items() if not is_found]
    if not columns:
        return
    heading(
        "Hidden charts",
        "They need columns that a TREC run cannot hold; CSV, Parquet, JSON and JSONL can.",
    )
    file = "table" if view.board.runs.qrels is None else "judgments"
    reasons = {
        "latency": "Quality against latency needs the seconds each list took, in every row of the list.",
        "target_id": f"Distinct recall and diversity need what each document satisfies, in the {file}.",
        "segment": "Gap by segment needs the kind of each query, in any row of the query.",
    }
    notes = st.grid(len(columns), min_column_width=260)
    for column in columns:
        with notes.container(border=True, height="stretch"):
            st.markdown(f":material/visibility_off: **Hidden: no `{column}` column.**")
            st.caption(reasons[column])
            rows = (f"q1,{document},…,{_EXAMPLES[column]}" for document in ("d1", "d2"))
            st.code("\n".join((f"query_id,doc_id,…,{column}", *rows)), language=None)


@section("Quality against latency")
def latency_section(view: View, rows: pd.DataFrame, choices: Choices, n_drawn: int) -> None:
    """Draw quality against latency.

    Args:
        view: what the sidebar says is shown.
        rows: as `tradeoffs` returns them.
        choices: what the controls say.
        n_drawn: rerankers that are drawn, the first; and whoever is on a front.
    """
    title = parse(choices.measure).traditional
    first = rows.index.isin(rows.index[:n_drawn])
    drawn = rows[first | rows["tied_front"] | rows["traditional_front"]]
    whose = ", of those on a front" if len(drawn) > MOST_BARS else ""
    heading(
        "Quality against latency",
        f"Lines: what no other beats. Bars{whose}: median to 95th percentile, grey; worst to best, pale.",
    )
    if len(drawn) < len(rows):
        st.caption(f"The best {n_drawn} of {len(rows):,}, and whoever is on a front.")
    figure = kept_figure(
        view.board.key,
        latency_scatter,
        drawn,
        view.palette,
        title,
        LATENCY_NAMES[choices.latency],
        choices.budget,
    )
    chart(figure, "latency", f"{title} against latency of each reranker, with the Pareto fronts.", wide=480)


@section("Distinct recall against diversity")
def diversity_section(view: View, coverage: pd.DataFrame, k: int, *, is_alone: bool) -> None:
    """Draw the share of targets against their number.

    Args:
        view: what the sidebar says is shown.
        coverage: as `coverage` returns it.
        k: places that are looked at.
        is_alone: whether no chart stands beside it.
    """
    bars = "; bars: worst to best" if len(coverage) <= MOST_BARS else ""
    heading("Distinct recall against diversity", f"Share and number of targets in the first {k}{bars}.")
    if len(coverage) < len(view.rerankers):
        st.caption(f"{len(coverage):,} of {len(view.rerankers):,} rerankers are drawn.")
    figure = kept_figure(
        view.board.key, diversity_scatter, coverage, view.palette, k, WIDE if is_alone else SMALL
    )
    chart(figure, "diversity", f"DR@{k} against Div@{k} of each reranker.")


@section("Gap by segment")
def segment_section(view: View, rows: pd.DataFrame, measure: str, n_drawn: int) -> None:
    """Draw the gaps by segment.

    Args:
        view: the rerankers, in the order in which they are drawn.
        rows: as `segment_gaps` returns them.
        measure: which the gaps are in.
        n_drawn: rerankers that are drawn, the first.
    """
    title = parse(measure).traditional
    heading("Gap by segment", f"Mean {title} gap. Orange: traditional too high; blue: too low.")
    if (n_left_out := rows["segment"].nunique() - MOST_SEGMENTS) > 0:
        st.caption(f"The largest {MOST_SEGMENTS}; the table has {n_left_out} more.")
    alt = f"Mean {title} gap of each reranker in each segment of queries."
    drawn = rows[rows["reranker"].isin(view.rerankers[:n_drawn])]
    chart(kept_figure(view.board.key, segment_heatmap, drawn, view.palette, title), "segments", alt, wide=560)


@section("Recall against distinct recall")
def recall_section(view: View, coverage: pd.DataFrame, k: int, n_drawn: int) -> None:
    """Draw how much recall is left once each target counts once.

    Args:
        view: what the sidebar says is shown.
        coverage: as `coverage` returns it, of the rerankers with targets.
        k: places that are looked at.
        n_drawn: rerankers that are drawn, those that lose most.
    """
    heading(f"From Recall@{k} to DR@{k}", f"Ring: Recall@{k}. Dot: DR@{k}, each target counted once.")
    alt = f"Recall@{k} and DR@{k} of each reranker, the largest loss first."
    losses = coverage.sort_values("lost", ascending=False, kind="stable")
    chart(kept_figure(view.board.key, recall_dumbbell, losses.head(n_drawn), view.palette, k), "recall", alt)
