"""Large results: a stored evaluation with any number of lists."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import cache, controls
from dashboard.boards import leave_board, owner
from dashboard.charts.palette import Palette
from dashboard.charts.rerankers import gap_rows
from dashboard.charts.ties_vs_gap import gap_map
from dashboard.choices import policy_phrases, select_order
from dashboard.controls import choose, select
from dashboard.escaping import escape_markdown
from dashboard.library.audit import record_event
from dashboard.library.turns import DEAR_ROWS, turn
from dashboard.settings import OPEN
from dashboard.visitor import theme
from dashboard.widgets.components import chart, finding, heading, section, section_finding, table
from dashboard.widgets.first_rows import shown_rows, table_and_chart_places
from dashboard.widgets.leaderboard_parts import charted_rerankers, leaderboard_charts, leaderboard_table
from metrics import parse
from metrics.errors import TieScopeError
from metrics.scale.stored import Stored
from metrics.studies.leaderboard import leaderboard, leaderboard_finding
from metrics.studies.pair_findings import verdicts
from metrics.studies.prose import Prose
from metrics.studies.stored_summary import (
    LEADERBOARD_TREATMENTS,
    StoredSummary,
    stored_summary,
    stored_summary_finding,
)
from metrics.studies.swapped_orders import swapped_orders
from metrics.studies.verdict_sentence import leaderboard_verdict
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of
from metrics.ties import treatment

_KEY = "results"
_AUDITED = "_audited_results"


@dataclass(frozen=True)
class Results:
    """A stored evaluation, the treatment of ties for the traditional score, and the colours of the theme."""

    stored: Stored
    traditional: str
    palette: Palette


def command_results() -> dict[str, Path]:
    """Return label → file of the command line's stored evaluations."""
    results: dict[str, Path] = {}
    for path in map(Path, json.loads(os.environ.get(OPEN) or "{}").get("stored", [])):
        results[path.name if path.name not in results else f"{path.name} ({len(results) + 1})"] = path
    return results


@cache.cached(max_entries=32)
def _open_stored(path: str, *_changed: int) -> Stored:
    return Stored.open(path)


def choose_results() -> Results | None:
    """Draw the choice of a stored evaluation and return it, None without one."""
    leave_board()
    files = command_results()
    label = choose(_KEY, next(iter(files), ""), files.__contains__)
    if not label:
        return None
    select("Results", list(files), _KEY)
    try:
        stored = _open_stored(*cache.file_version(files[label]))
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return None
    if controls.recall(_AUDITED) != label:
        controls.remember(_AUDITED, label)
        record_event("opened", owner(), path=label)
    orders = [name for name in stored.ties if name not in ("expected", "std")]
    if not orders or not set(LEADERBOARD_TREATMENTS) <= set(stored.ties):
        needed = " ".join(f"--ties {name}" for name in ("input", *LEADERBOARD_TREATMENTS))
        st.error(
            f"This page needs tie orders that the file was not scored under. Score the file with {needed}.",
            icon=":material/error:",
        )
        return None
    traditional = select_order(orders, "results_order")
    counts = count_of(len(stored.rerankers), "reranker"), count_of(stored.n_lists, "list")
    phrases = policy_phrases(stored.policies.sum(), stored.options)
    st.caption(escape_markdown(f"{', '.join([*counts, *phrases])}."))
    return Results(stored, traditional, theme())


_FEW_MEASURES = 5
"""Measures drawn as a row of buttons at most."""
_TESTED_LISTS, _TESTED_RERANKERS = 300_000, 200
"""Lists and rerankers compared by tests at most: more would take seconds and much memory."""


def show(results: Results | None) -> None:
    """Draw the page."""
    st.caption("A stored evaluation of any size. Charts show means and counts over all its lists.")
    if results is None:
        with st.container(border=True, key="nothing-open"):
            st.markdown(f":material/hard_drive: **Nothing is open.** {_EXPLANATION}")
            st.code(_COMMANDS, language="sh", wrap_lines=True)
        return
    measures = results.stored.measures
    choose = controls.segmented if len(measures) <= _FEW_MEASURES else controls.select
    measure = choose("Measure", measures, "results_measure")
    row_range = shown_rows(len(results.stored.rerankers))
    name, arguments = parse(measure), (measure, results.traditional, results.stored)
    rows = leaderboard(results.stored, measure, results.traditional)
    finding(_verdict(rows, *arguments), results.stored.rerankers)
    if not results.stored.n_lists:
        return
    charted_rows, order = charted_rerankers(rows, row_range.n_shown), treatment(results.traditional)
    table_place, chart_place = table_and_chart_places(len(rows))
    with chart_place:
        leaderboard_charts(charted_rows, results.palette, name)
        row_range.buttons()
    try:
        file = cache.file_version(results.stored.path)
        summary, lists = summarize_stored(file, *arguments), largest_gaps(file, *arguments)
    except TieScopeError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return
    with chart_place:
        ties_against_gaps(charted_rows.join(summary.gaps), summary, results, measure, lists)
    with table_place:
        leaderboard_table(
            rows.join(summary.gaps),
            name,
            order,
            "large-results",
            shown_columns("lists_with_gap", "gap_mean", "gap_max", "n_lists"),
        )
    largest_gaps_table(lists, measure)


def _verdict(rows: pd.DataFrame, measure: str, traditional: str, stored: Stored) -> Prose:
    """Return the Leaderboard's verdict, or a sentence without tests if there are too many lists."""
    if stored.n_lists <= _TESTED_LISTS and len(stored.rerankers) <= _TESTED_RERANKERS:
        with suppress(TieScopeError):
            return _tested_verdict(cache.file_version(stored.path), measure, traditional, rows, stored)
    return leaderboard_finding(rows, parse(measure).traditional, traditional)


@cache.cached(show_spinner="Comparing rerankers …", max_entries=64)
def _tested_verdict(
    file: tuple[str, int, int], measure: str, traditional: str, _rows: pd.DataFrame, _stored: Stored
) -> Prose:
    with turn(is_dear=_stored.n_lists >= DEAR_ROWS):
        evaluation = _stored.load()
        pairs = verdicts(evaluation, measure, traditional)
        swaps = swapped_orders(evaluation, measure, traditional, pairs=pairs.tied)
        return leaderboard_verdict(_rows, swaps, pairs, evaluation, measure)


@cache.cached(show_spinner="Counting every list …", max_entries=64)
def summarize_stored(
    file: tuple[str, int, int], measure: str, traditional: str, _stored: Stored
) -> StoredSummary:
    """Return the effect of ties on a measure over a stored evaluation."""
    with turn(is_dear=_stored.n_lists >= DEAR_ROWS):
        return stored_summary(_stored, measure, traditional)


@cache.cached(max_entries=64)
def largest_gaps(file: tuple[str, int, int], measure: str, traditional: str, _stored: Stored) -> pd.DataFrame:
    """Return the lists with the largest gap, with their query IDs."""
    lists = summarize_stored(file, measure, traditional, _stored).farthest
    return lists.assign(query_id=_stored.at(lists["row"].to_numpy(np.int64), ["query_id"])["query_id"])


_ALL = "all rerankers"
_COMMANDS = """tiescope evaluate llm.trec --qrels qrels.txt --engine dask --save results.parquet
tiescope app results.parquet"""
_EXPLANATION = "TieScope scores large runs once, on disk, without an upload. This page shows the stored scores."


@section("Ties against gaps")
def ties_against_gaps(
    leaderboard: pd.DataFrame, summary: StoredSummary, results: Results, measure: str, lists: pd.DataFrame
) -> None:
    """Draw ties against gaps, for all lists or one reranker's, and per reranker."""
    heading(
        "Ties against gaps",
        "Darker cells: more lists, on a logarithmic scale. Grey strip: share of lists without a gap. Line: "
        "mean with its 95% interval.",
    )
    section_finding(stored_summary_finding(summary, measure, lists["query_id"].iloc[0] if len(lists) else ""))
    names = results.stored.rerankers
    reranker = controls.select_name("Lists of", [_ALL, *names], "results_lists", width=280)
    position = names.index(reranker) if reranker in names else None
    chart(
        gap_map(summary.ratios.cells(position), summary.sizes.cells(position), results.palette, measure),
        "gap-map",
        f"Tie ratio and largest tie against the gap in {measure}, and the distribution of gaps.",
        wide=640,
    )
    heading(
        "Ties and gaps, reranker by reranker",
        "Right: distribution of gaps over lists with a gap (orange: traditional score above tied score; grey: "
        "below); diamond: mean gap of all lists.",
    )
    if not len(leaderboard):
        return
    edges, counts = summary.ratios.signed_gaps()
    row_counts = [counts[names.index(str(name))] for name in leaderboard.index]
    chart(
        gap_rows(leaderboard, edges, row_counts, results.palette, measure),
        "gap-rows",
        f"Mean tie ratio and distribution of gaps in {measure} of each reranker.",
        wide=640,
    )


@section("The largest gaps")
def largest_gaps_table(lists: pd.DataFrame, measure: str) -> None:
    """Draw the lists with the largest gaps."""
    table(
        lists,
        "Lists with the largest gap",
        "largest-gaps",
        shown_columns(
            *("query_id", "gap", "reranker", "tie_ratio", "max_tie_size", "traditional", "tied"),
            traditional=measure,
            tied=f"Tied {measure}",
        ),
        download=lists.drop(columns="row"),
    )
    st.caption(
        f"The {len(lists):,} largest gaps. A stored evaluation holds no documents. Open the run on Data to see "
        "a list."
    )
