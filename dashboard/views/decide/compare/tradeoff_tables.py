"""Tables of trade-offs: all figures, and gaps by segment."""

import pandas as pd
import streamlit as st

from dashboard.charts.labels import SENTENCE_COLUMNS, elide_text, sentence_names, short_names
from dashboard.escaping import escape_markdown
from dashboard.views.decide.compare.cached import Experiment
from dashboard.widgets.columns import Columns, badge_column
from dashboard.widgets.components import table
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.studies.tradeoffs.experiment import heading
from metrics.studies.tradeoffs.latency import LATENCIES, LATENCY
from metrics.studies.tradeoffs.tradeoffs import STANDINGS
from metrics.support.shown_columns import shown_columns


@section("All figures")
def figure_table(rows: pd.DataFrame, measure: str, k: int, *, is_timed: bool, has_targets: bool) -> None:
    """Draw all figures of each reranker.

    Args:
        rows: as `tradeoffs` and `coverage` return them, side by side.
        measure: of the quality.
        k: places in which targets are counted.
        is_timed: whether any list says how long it took.
        has_targets: whether documents say what they satisfy; if not, each is a target of its own.
    """
    milliseconds = {
        latency: [float(f"{1000 * seconds:.3g}") for seconds in rows[latency]] for latency in LATENCIES
    }
    standing = [[standing] for standing in rows["standing"]]
    table(
        rows.assign(**milliseconds, standing=standing),
        "All figures",
        "tradeoffs",
        _columns(measure, k, is_timed=is_timed, has_targets=has_targets),
        lambda: figure_file(rows, k),
    )


def _columns(measure: str, k: int, *, is_timed: bool, has_targets: bool) -> Columns:
    name = parse(measure)
    values = shown_columns("tied", "traditional", tied=name.tied, traditional=name.traditional)
    targets = shown_columns("recall", *(("distinct", "targets", "repeated") if has_targets else ()), k=k)
    if not is_timed:
        return {**shown_columns("reranker"), **values, **targets}
    return {
        **shown_columns("reranker"),
        "standing": badge_column("Front", STANDINGS, ("blue", "blue", "orange", "gray", "gray")),
        **values,
        **shown_columns("p50", "p95", ("mean", "mean_latency")),
        **targets,
        **shown_columns("beaten_by"),
    }


def figure_file(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return all figures as the file has them: seconds, and measures by their names."""
    measures = {"recall": f"R@{k}", "distinct": f"DR@{k}", "targets": f"Div@{k}"}
    names = {column + end: name + end for column, name in measures.items() for end in ("", "_worst", "_best")}
    names |= {latency: f"latency_{latency}" for latency in LATENCIES}
    return rows.drop(columns="seconds").rename(columns=names)


@section("Every measure, tested")
def experiment_table(experiment: Experiment, traditional: str, baseline: str, *, has_targets: bool) -> None:
    """Draw every measure and the latency of each reranker with their stars, a line tied and a line traditional.

    Hits at four depths come last, where a narrow page has no room.

    Args:
        experiment: as `tested_experiment` returns it.
        traditional: the treatment taken as the traditional one.
        baseline: whom the others are compared with.
        has_targets: whether documents say what they satisfy; if not, DR@k is recall.
    """
    rows, lines, note = experiment
    hidden = () if has_targets else ("DR@", "Div@")
    measures = [name for name in rows["measure"].unique() if not name.startswith(hidden)]
    headings = {
        heading(name): "Seconds." if name == LATENCY else f"Tied line: {parse(name).tied}."
        for name in sorted(measures, key=lambda name: name.startswith("Hits@"))
    }
    lines = lines.replace({"ties": {"expected": "tied", traditional: "traditional"}})
    columns = {name: st.column_config.TextColumn(name, help=text) for name, text in headings.items()}
    rerankers = rows["reranker"].unique()
    name = short_names(rerankers, SENTENCE_COLUMNS)[baseline]
    title = f"Against {escape_markdown(name)}" if len(rerankers) > 1 else "Means"
    table(lines, title, "experiment", {**shown_columns("reranker", "ties"), **columns}, download=rows)
    st.caption(escape_markdown(elide_text(note, sentence_names(rerankers))))


@section("The table of segments")
def segment_gap_table(rows: pd.DataFrame, measure: str) -> None:
    """Draw the gaps of each reranker in each segment, as `segment_table` returns them, once they are opened."""
    figures = st.expander("Gap by segment, in figures", key="segment-figures", on_change="rerun")
    if not figures.open:
        return
    name = parse(measure)
    columns = shown_columns(
        *("reranker", "segment", "traditional", "tied", "gap", ("n", "n_queries")),
        traditional=name.traditional,
        tied=name.tied,
    )
    with figures:
        table(rows, "By segment", "segments", columns)
