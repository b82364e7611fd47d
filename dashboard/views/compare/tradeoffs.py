"""Compare → Trade-offs: quality against latency and diversity, and every measure against the baseline."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import cache, controls
from dashboard.cache import ShownBoard, cached, drawn
from dashboard.charts.labels import elide_text, sentence_names, short_names
from dashboard.charts.marks import MOST_BARS, SMALL, WIDE
from dashboard.charts.tradeoffs import diversity_scatter, latency_scatter, recall_dumbbell
from dashboard.choices import Testing, View
from dashboard.controls import select_slider
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.widgets.columns import badge_column
from dashboard.widgets.components import chart, heading, section, section_finding, side_by_side, table
from dashboard.widgets.first_rows import shown_rows, table_and_chart_places
from dashboard.widgets.leaderboard_parts import segment_chart, segment_gaps
from metrics import Evaluation, parse
from metrics.evaluation import ScoringOptions, score_runs
from metrics.studies import experiment, tradeoffs
from metrics.studies.experiment import heading as measure_heading
from metrics.studies.tradeoffs import coverage
from metrics.support.shown_columns import shown_columns

NO_LIMIT = "no limit"
BUDGETS = {
    tradeoffs.duration(step * power): step * power
    for power in (1e-3, 1e-2, 1e-1, 1, 10)
    for step in (1, 2, 3, 5, 7)
}
"""Latency budgets offered: name → seconds."""
LATENCY_NAMES: dict[tradeoffs.Latency, str] = {"p50": "median", "p95": "95th percentile", "mean": "mean"}
DEPTHS = ("5", "10", "20", "50")
_EXAMPLES = {"latency": "0.038", "target_id": "paper-7", "segment": "how-to"}


@cached(max_entries=8)
def _board_depths(board: Board, k: int, traditional: str, scoring: ScoringOptions) -> Evaluation:
    measures = (*tradeoffs.coverage_measures(k), *experiment.experiment_measures(k))
    return score_runs(board.runs, measures, ["expected", traditional, "optimistic", "pessimistic"], scoring)


@cached(max_entries=16)
def list_speeds(view: ShownBoard) -> pd.DataFrame:
    """Return mean and percentiles of each reranker's latency."""
    return tradeoffs.latency_table(tradeoffs.latencies(view.board.runs), view.evaluation)


@cached(show_spinner="Counting targets …", max_entries=16)
def depth_coverage(view: ShownBoard, k: int, traditional: str) -> pd.DataFrame:
    """Return recall and diversity in the first k ranks."""
    scored = _board_depths(view.board, k, traditional, view.scoring)
    return coverage(scored.only(view.rerankers, view.queries), k)


@cached(max_entries=16)
def ranked_tradeoffs(
    view: ShownBoard, measure: str, traditional: str, latency: tradeoffs.Latency
) -> pd.DataFrame:
    """Return quality and latency of each reranker, the best tied score first."""
    rows = tradeoffs.tradeoffs(view.evaluation, list_speeds(view), measure, traditional, latency)
    return rows.sort_values("tied", ascending=False, kind="stable")


@cached(show_spinner="Testing every measure …", max_entries=16)
def tested_experiment(
    view: ShownBoard, k: int, traditional: str, baseline: str, testing: Testing
) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return the experiment with every measure and the latency: its table, its lines on screen, its note.

    Rerankers shown are tested among all of the board.
    """
    shown_first = list(dict.fromkeys([*view.rerankers, *view.board.runs.rerankers]))
    scored = _board_depths(view.board, k, traditional, view.scoring).only(shown_first, view.queries)
    timed = tradeoffs.with_latency(scored, tradeoffs.latencies(view.board.runs))
    measures, ties = experiment.experiment_measures(k), ["expected", traditional]
    table = experiment.experiment_table(timed, baseline, measures, ties, **testing._asdict())
    note = experiment.experiment_note(table, baseline, **testing._asdict())
    table = table[table["reranker"].isin(view.rerankers)]
    return table, experiment.experiment_lines(table), note


def tradeoff_section(view: View, measure: str, baseline: str, testing: Testing) -> None:
    """Draw quality against latency and diversity, and every measure against the baseline."""
    is_timed = bool(len(list_speeds(view)))
    k, latency, budget = _choose(is_timed=is_timed)
    row_range = shown_rows(len(view.rerankers))
    n_drawn = row_range.n_shown
    rows = ranked_tradeoffs(view, measure, view.traditional, latency)
    ordered = replace(view, rerankers=list(rows.index))
    covered = depth_coverage(view, k, view.traditional)
    section_finding(
        tradeoffs.tradeoff_finding(rows, covered, parse(measure).traditional, budget, k), view.rerankers
    )
    names_with_targets = [name for name in tradeoffs.with_targets(view.board.runs) if name in view.rerankers]
    has_segments, has_targets = bool(len(cache.segments(view.board))), bool(names_with_targets)
    wide, narrow = chart_places("speed", has_left=is_timed, has_right=has_targets)
    if is_timed:
        with wide:
            latency_section(view, rows, parse(measure).traditional, latency, budget, n_drawn)
    if has_targets:
        with narrow:
            diversity_section(view, covered.loc[rows.index[:n_drawn]], k, is_alone=not is_timed)
    gaps = segment_gaps(ordered, measure, view.traditional) if has_segments else None
    table_place, chart_place = table_and_chart_places(len(rows))
    with chart_place:
        with_target = covered.loc[names_with_targets]
        wide, narrow = chart_places("segments", has_left=gaps is not None, has_right=has_targets)
        if gaps is not None:
            with wide:
                segment_chart(ordered, gaps, measure, ordered.rerankers[:n_drawn], "segments")
        if has_targets:
            with narrow:
                recall_section(ordered, with_target, k, n_drawn)
        row_range.buttons()
    with table_place:
        experiment = tested_experiment(ordered, k, view.traditional, baseline, testing)
        experiment_table(experiment, view.traditional, baseline, has_targets=has_targets)
        figure_table(rows.join(covered).reset_index(), measure, k, is_timed=is_timed, has_targets=has_targets)
        if gaps is not None:
            segment_gap_table(gaps, measure)
    hidden_charts(view, {"latency": is_timed, "segment": has_segments, "target_id": has_targets})


def _choose(*, is_timed: bool) -> tuple[int, tradeoffs.Latency, float | None]:
    """Draw the controls and return ranks for targets, statistic of the latency and seconds per list.

    Latency and budget need timed lists; the budget is None for any latency.
    """
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        depth = controls.segmented(
            "Depth",
            DEPTHS,
            "depth",
            str(tradeoffs.DEPTH),
            help="Cut-off k: recall and distinct targets are counted in the first k ranks.",
        )
        if not is_timed:
            return int(depth), "p50", None
        latency = controls.segmented(
            "Latency", tradeoffs.LATENCIES, "latency", help="Median, 95th percentile or mean over lists."
        )
        budget = select_slider("Latency budget", [*BUDGETS, NO_LIMIT], "budget", NO_LIMIT, width=330)
    return int(depth), cast("tradeoffs.Latency", latency), BUDGETS.get(budget)


def chart_places(key: str, *, has_left: bool, has_right: bool) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of two charts: side by side, or one alone at full width."""
    if has_left and has_right:
        return side_by_side(3, 2, key)
    place = st.container()
    return place, place


@section("The list of hidden charts")
def hidden_charts(view: View, is_there: Mapping[str, bool]) -> None:
    """Draw which charts are hidden, and which columns they need."""
    columns = [column for column, is_found in is_there.items() if not is_found]
    if not columns:
        return
    heading(
        "Hidden charts",
        "These charts need columns that TREC runs cannot hold. CSV, Parquet, JSON and JSONL can.",
    )
    file = "table" if view.board.runs.qrels is None else "judgments"
    reasons = {
        "latency": "Quality against latency needs each list's latency in seconds, repeated in every row of the "
        "list.",
        "target_id": f"Distinct recall and diversity need the target of each document, in the {file}.",
        "segment": "Gap by query group needs the group of each query in at least one of its rows.",
    }
    notes = st.grid(len(columns), min_column_width=260)
    for column in columns:
        with notes.container(border=True, height="stretch"):
            st.markdown(f":material/visibility_off: **Hidden: no `{column}` column.**")
            st.caption(reasons[column])
            rows = (f"q1,{document},…,{_EXAMPLES[column]}" for document in ("d1", "d2"))
            st.code("\n".join((f"query_id,doc_id,…,{column}", *rows)), language=None)


@section("Quality against latency")
def latency_section(
    view: View, rows: pd.DataFrame, title: str, latency: tradeoffs.Latency, budget: float | None, n_drawn: int
) -> None:
    """Draw quality against latency."""
    first = rows.index.isin(rows.index[:n_drawn])
    drawn_rows = rows[first | rows["tied_front"] | rows["traditional_front"]]
    whose = " (of rerankers on a front)" if len(drawn_rows) > MOST_BARS else ""
    heading(
        "Quality against latency",
        f"Lines: Pareto fronts. Grey bars{whose}: median to 95th percentile of latency. Pale bars: worst "
        "to best tie order.",
    )
    if len(drawn_rows) < len(rows):
        st.caption(f"Shows the best {n_drawn} of {len(rows):,} rerankers, and every reranker on a front.")
    figure = drawn(latency_scatter, drawn_rows, view.palette, title, LATENCY_NAMES[latency], budget)
    chart(figure, "latency", f"{title} against latency of each reranker, with the Pareto fronts.", wide=480)


@section("Distinct recall against diversity")
def diversity_section(view: View, coverage: pd.DataFrame, k: int, *, is_alone: bool) -> None:
    """Draw the share of targets found against their number."""
    bars = "; bars: worst to best tie order" if len(coverage) <= MOST_BARS else ""
    heading("Distinct recall against diversity", f"Share and number of targets in the first {k}{bars}.")
    if len(coverage) < len(view.rerankers):
        st.caption(f"The chart shows {len(coverage):,} of {len(view.rerankers):,} rerankers.")
    figure = drawn(diversity_scatter, coverage, view.palette, k, WIDE if is_alone else SMALL)
    chart(figure, "diversity", f"DR@{k} against Div@{k} of each reranker.")


@section("Recall against distinct recall")
def recall_section(view: View, coverage: pd.DataFrame, k: int, n_drawn: int) -> None:
    """Draw recall beside recall that counts each target once."""
    heading(f"From Recall@{k} to DR@{k}", f"Ring: Recall@{k}. Dot: DR@{k}, each target counted once.")
    alt = f"Recall@{k} and DR@{k} of each reranker, the largest loss first."
    losses = coverage.sort_values("lost", ascending=False, kind="stable")
    chart(drawn(recall_dumbbell, losses.head(n_drawn), view.palette, k), "recall", alt)


@section("All figures")
def figure_table(rows: pd.DataFrame, measure: str, k: int, *, is_timed: bool, has_targets: bool) -> None:
    """Draw all figures of each reranker."""
    name = parse(measure)
    standings = badge_column("Front", tradeoffs.STANDINGS, ("blue", "blue", "orange", "gray", "gray"))
    columns = {
        **shown_columns("reranker"),
        **({"standing": standings} if is_timed else {}),
        **shown_columns(
            *("tied", "traditional"),
            *(("p50", "p95", ("mean", "mean_latency")) if is_timed else ()),
            "recall",
            *(("distinct", "targets", "repeated") if has_targets else ()),
            *(["beaten_by"] if is_timed else []),
            tied=name.tied,
            traditional=name.traditional,
            k=k,
        ),
    }
    milliseconds = {
        latency: [float(f"{1000 * seconds:.3g}") for seconds in rows[latency]]
        for latency in tradeoffs.LATENCIES
    }
    standing = [[standing] for standing in rows["standing"]]
    table(
        rows.assign(**milliseconds, standing=standing),
        "All figures",
        "tradeoffs",
        columns,
        lambda: figure_file(rows, k),
    )


def figure_file(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return the figures for the download: seconds, and measures by their names."""
    measures = {"recall": f"R@{k}", "distinct": f"DR@{k}", "targets": f"Div@{k}"}
    names = {column + end: name + end for column, name in measures.items() for end in ("", "_worst", "_best")}
    names |= {latency: f"latency_{latency}" for latency in tradeoffs.LATENCIES}
    return rows.drop(columns="seconds").rename(columns=names)


@section("Every measure, tested")
def experiment_table(
    experiment: tuple[pd.DataFrame, pd.DataFrame, str], traditional: str, baseline: str, *, has_targets: bool
) -> None:
    """Draw every measure with stars, one tied and one traditional line per reranker.

    Hits at four depths come last, because narrow pages have no room for them.
    """
    rows, lines, note = experiment
    hidden = () if has_targets else ("DR@", "Div@")
    measures = [name for name in rows["measure"].unique() if not name.startswith(hidden)]
    headings = {
        measure_heading(name): "Seconds." if name == tradeoffs.LATENCY else f"Tied line: {parse(name).tied}."
        for name in sorted(measures, key=lambda name: name.startswith("Hits@"))
    }
    lines = lines.replace({"ties": {"expected": "tied", traditional: "traditional"}})
    columns = {name: st.column_config.TextColumn(name, help=text) for name, text in headings.items()}
    rerankers = rows["reranker"].unique()
    name = short_names(rerankers)[baseline]
    title = f"Against {escape_markdown(name)}" if len(rerankers) > 1 else "Means"
    table(lines, title, "experiment", {**shown_columns("reranker", "ties"), **columns}, download=rows)
    st.caption(escape_markdown(elide_text(note, sentence_names(rerankers))))


@section("The table of segments")
def segment_gap_table(rows: pd.DataFrame, measure: str) -> None:
    """Draw the gaps by query group as a table when it is opened."""
    figures = st.expander("Gap by query group, in figures", key="segment-figures", on_change="rerun")
    if not figures.open:
        return
    name = parse(measure)
    columns = shown_columns(
        *("reranker", "segment", "traditional", "tied", "gap", ("n", "n_queries")),
        traditional=name.traditional,
        tied=name.tied,
    )
    with figures:
        table(rows, "By query group", "segments", columns)
