"""Compare: test whether one reranker is better than another, and whether ties, chance or noise decide it."""

from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dashboard import choices, controls, visitor
from dashboard.cache import ShownBoard, board_turn, cached, drawn
from dashboard.charts.compare import (
    difference_forest,
    finish_heatmap,
    matrix_width,
    order_matrix,
    verdict_matrix,
)
from dashboard.charts.labels import MATRIX_COLUMNS, short_names
from dashboard.choices import Selection, Testing, View, choose_testing
from dashboard.escaping import escape_markdown
from dashboard.long_work import is_cancelled, long_work
from dashboard.views.compare.tradeoffs import tradeoff_section
from dashboard.widgets.browser import watch_width
from dashboard.widgets.columns import MOST_WRITTEN
from dashboard.widgets.components import chart, finding, heading, section, section_finding, table
from dashboard.widgets.first_rows import FIRST_ROWS, ROWS_IN_TABLE, shown_rows
from dashboard.widgets.pairs import compared_pairs
from metrics import parse
from metrics.errors import UsageError
from metrics.studies.draws import Draws, Noise, draws, read_noise, same_runs, stability_finding
from metrics.studies.leaderboard import places
from metrics.studies.pair_findings import Verdicts, p_text, significance_finding
from metrics.studies.pairs import find_method, significant_signs
from metrics.studies.prose import Prose, Strong, and_more, signed
from metrics.studies.query_values import SortKey, query_differences
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of, part_of

BASELINE, PAIRS = "Against the baseline", "All pairs"
STABILITY, TRADEOFFS = "Stability", "Trade-offs"
_MOST_DRAWS = 10_000
_NOISE_HELP = (
    "Standard deviation of the normal noise that each draw adds to every score, such as 0.05; "
    "or score_std for the column of that name. Empty for no noise."
)
_FEW = 4  # rerankers from which on every two are drawn: fewer fit into the table against the baseline


def show(selection: Selection) -> None:
    """Draw the page."""
    st.title("Compare", anchor=False)
    watch_width()
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choices.choose_baseline(selection.rerankers, width=240)
        measure = choices.measure(has_more=False)
        choices.choose_relevant_from(selection.board)
        with choices.more_menu(help="Choose the test, the correction or another measure."):
            testing = choose_testing()
            st.caption(f"{find_method(testing.test, None)[0].summary} {_STARS}")
    view = selection.score(measure)
    baseline, has_pairs = view.baseline, len(view.rerankers) >= _FEW
    sections = [BASELINE, *([PAIRS] if has_pairs else []), STABILITY, TRADEOFFS]
    section = controls.choose_section(sections)
    name = parse(measure).traditional
    verdicts = compared_pairs(view, measure, view.traditional, baseline, testing)
    with verdict:
        finding(significance_finding(verdicts, name), view.rerankers)
    if section == STABILITY:
        stability_section(view, measure)
    elif section == TRADEOFFS:
        tradeoff_section(view, measure, baseline, testing)
    elif section == PAIRS:
        pairs_section(view, measure, testing)
    elif len(view.rerankers) > 1:
        baseline_section(view, verdicts, measure, baseline)


_STARS = r"\*\*\* p < 0.001, \*\* p < 0.01, \* p < 0.05, ns not significant.".replace(
    " p < ", "\u00a0p\u00a0<\u00a0"
)
_MAX_NOTES = 4
"""Notes shown below the table at most; the table has all."""
_HIDDEN = (
    *("stars", ("traditional_stars", "stars_before"), "low", "high", "won", "equal", "lost", "n", "note"),
)
"""Columns behind the table's menu of columns."""


def baseline_section(view: View, verdicts: Verdicts, measure: str, baseline: str) -> None:
    """Draw the differences from the baseline, their table, and the queries behind one of them."""
    row_range = shown_rows(len(view.rerankers), "paired")
    difference_chart(view, verdicts, parse(measure).traditional, row_range.n_shown)
    row_range.buttons()
    comparison_table(verdicts)
    comparison_detail(view, verdicts, measure, baseline)


@section("Differences from the baseline")
def difference_chart(view: View, verdicts: Verdicts, measure: str, n_drawn: int) -> None:
    """Draw the differences from the baseline with their intervals."""
    baseline = str(verdicts.tied["baseline"].iloc[0])
    name = short_names(view.rerankers)[baseline]
    n_pairs = len(verdicts.tied)
    changed = ", changed verdicts first" if verdicts.changed.any() else ""
    selection = f"{min(n_drawn, n_pairs)} of {n_pairs:,}{changed}. " if n_pairs > FIRST_ROWS else ""
    heading(
        f"Difference from {escape_markdown(name)}",
        f"{selection}Mean difference with 95% {verdicts.interval}; filled: significant. "
        "Right: stars by traditional and by tied scores.",
    )
    chart(
        drawn(difference_forest, verdicts.changed_first(FIRST_ROWS, n_drawn), view.palette, measure),
        "forest",
        f"{measure} difference of each reranker from {baseline}, by tied and by traditional values.",
    )


@section("The table of comparisons")
def comparison_table(verdicts: Verdicts) -> None:
    """Draw the table of comparisons with the baseline, and name test and correction."""
    verdicts = verdicts.changed_first(FIRST_ROWS)
    baseline = str(verdicts.tied["baseline"].iloc[0])
    labels = short_names([*verdicts.tied["reranker"], baseline])
    rows = _comparison_rows(verdicts)
    has_changed_first = len(rows) > FIRST_ROWS and rows["changed"].any()
    table(
        rows,
        f"Results against {escape_markdown(labels[baseline])}",
        "significance",
        shown_columns(
            *("reranker", "difference", "p_adjusted", "n_differ", "traditional_difference", "changed"),
            ("traditional_p_adjusted", "p_adjusted_before"),
            *_HIDDEN,
        ),
        explanation="Changed verdicts first." if has_changed_first else "",
    )
    st.caption(f"{verdicts.method[0].upper()}{verdicts.method[1:]}.")
    noted = verdicts.tied[verdicts.tied["note"] != ""].groupby("note", sort=False)["reranker"]
    for note, names in islice(noted, _MAX_NOTES):
        further = and_more(len(names) - 1)
        st.caption(escape_markdown(f"For {labels[names.iloc[0]]}{further}, {note}."))


def _comparison_rows(verdicts: Verdicts) -> pd.DataFrame:
    traditional = verdicts.traditional[["difference", "p_adjusted", "stars"]].add_prefix("traditional_")
    first = ["difference", "low", "high", "p", "p_adjusted", "stars", "n_differ"]
    last = ["won", "equal", "lost", "note"]
    tied = verdicts.tied
    parts = tied[["reranker", "n"]], traditional, tied[first], verdicts.changed.rename("changed"), tied[last]
    return pd.concat(parts, axis=1)


@section("One comparison in detail")
def comparison_detail(view: View, verdicts: Verdicts, measure: str, baseline: str) -> None:
    """Draw one comparison and the queries behind it when the section is opened."""
    if controls.is_linked("compared") or controls.is_linked("farthest"):
        controls.set_widget("comparison-detail", value=True)
    detail = st.expander("One comparison, query by query", key="comparison-detail", on_change="rerun")
    if not detail.open:
        return
    with detail:
        with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
            others = [name for name in view.rerankers if name != baseline]
            reranker = controls.select_name("Compared with the baseline", others, "compared", width=240)
            order = controls.segmented("Largest first by", ("ties", "difference"), "farthest")
        row = verdicts.tied.set_index("reranker").loc[reranker]
        section_finding(comparison_sentence(row, parse(measure).traditional), view.rerankers)
        _query_table(view, measure, reranker, baseline, order)


def comparison_sentence(row: "pd.Series[Any]", measure: str) -> Prose:
    """Describe a comparison in words: difference, interval, p and queries."""
    if not row["n"]:
        return Strong(str(row.name)), " has no query in common with the baseline."
    interval = f", 95% interval {signed(row['low'])} to {signed(row['high'])} ({p_text(row)}). "
    return (
        Strong(str(row.name)),
        f": {signed(row['difference'])} {measure}",
        ". " if pd.isna(row["p_adjusted"]) else interval,
        f"The reranker is better on {row['won']:,} of {count_of(int(row['n']), 'query')}, worse on "
        f"{row['lost']:,} and equal on {row['equal']:,}.",
    )


def _query_table(view: View, measure: str, reranker: str, baseline: str, order: str) -> None:
    sort_by: SortKey = "moved" if order == "ties" else "difference"
    rows = view.study(query_differences, measure, reranker, baseline, view.traditional, sort_by=sort_by)
    row_range = shown_rows(len(rows), "queries", ROWS_IN_TABLE, MOST_WRITTEN)
    first, lists = row_range.of(rows), {"reranker": reranker, "beside": baseline, "section": "Documents"}
    links = [
        f"/query?{urlencode(controls.link_parameters(lists | {'query': query}), doseq=True)}"
        for query in first["query_id"]
    ]
    names = short_names(view.rerankers, MATRIX_COLUMNS)
    table(
        first.assign(open=pd.Series(links, dtype="str")),
        "Query by query",
        "queries",
        {
            **shown_columns("query_id"),
            "open": st.column_config.LinkColumn(
                "Lists",
                display_text="Open both",
                width="small",
                help="Opens both lists of the query, side by side.",
            ),
            **shown_columns(("difference", "query_difference"), "difference_before", "moved"),
            **shown_columns(
                "a", "b", "a_before", "b_before", reranker=names[reranker], baseline=names[baseline]
            ),
        },
        download=rows,
        explanation=row_range.rows_note(),
    )
    row_range.buttons()


@cached(max_entries=24)
def shown_draws(view: ShownBoard, measure: str, n_draws: int, noise: Noise) -> Draws:
    """Return the shown means with ties broken at random, or raise the UsageError of `draws`."""
    with board_turn(view.board):
        return draws(view.runs, measure, view.scoring, n_draws, noise, queries=view.queries)


def best_rerankers(view: View, measure: str, most: int) -> View:
    """Return the view of the best scored rerankers by tied score, best first, and mention the selection."""
    means = view.evaluation.means(measure)["expected"].sort_values(ascending=False, kind="stable").dropna()
    if len(means) > most:
        st.caption(f"The best {most} of {len(view.rerankers):,} rerankers by tied mean.")
    names = [str(name) for name in means.index[:most]] or view.rerankers
    return replace(view, rerankers=names, evaluation=view.evaluation.only(names))


def pairs_section(view: View, measure: str, testing: Testing) -> None:
    """Draw the verdict on every pair."""
    row_range = shown_rows(len(view.rerankers), "paired")
    best_view = best_rerankers(view, measure, row_range.n_shown)
    pairs = compared_pairs(view, measure, view.traditional, "", testing._replace(family="all"))
    pair_chart(best_view, pairs, measure)
    row_range.buttons()


def stability_section(view: View, measure: str) -> None:
    """Draw how often each order and each rank occurs if ties are broken at random, after noise if asked."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        n_draws = controls.number_input("Draws", 10, _MOST_DRAWS, 1000, "draws", width=140)
        text = controls.text_input("Noise in the scores", "noise", placeholder="0", help=_NOISE_HELP, width=200)
    row_range = shown_rows(len(view.rerankers), "paired")
    best_view = best_rerankers(view, measure, row_range.n_shown)
    work = f"draws-{measure}-{n_draws}-{text}"
    if is_cancelled(work, "No ties were broken."):
        return
    try:
        with long_work(work):
            tie_draws = shown_draws(best_view, measure, n_draws, read_noise(text or "0"))
    except UsageError as error:
        st.warning(escape_markdown(str(error)))
        return
    name = parse(measure)
    copies = same_runs(view.board.runs, best_view.evaluation, measure)
    section_finding(stability_finding(tie_draws, name.traditional, copies), view.rerankers)
    order_chart(view, tie_draws)
    finish_chart(best_view, tie_draws, measure, name.traditional)
    rows = tie_draws.summary.add_prefix("drawn_").assign(tied=tie_draws.bounds["expected"]).reset_index()
    columns = shown_columns(
        "reranker", "tied", "drawn_mean", "drawn_mean_error", "drawn_std", "drawn_std_error", tied=name.tied
    )
    table(rows, "Means over the draws", "draws-table", columns)
    row_range.buttons()


@section("Verdicts on all pairs")
def pair_chart(view: View, pairs: Verdicts, measure: str) -> None:
    """Draw which pairs of the view differ significantly, and count all pairs."""
    n_significant = int((significant_signs(pairs.tied) != 0).sum())
    heading(
        "All pairs",
        f"{part_of(n_significant, len(pairs.tied), 'pair')} differ significantly by tied scores. Tied "
        f"{measure} difference, row minus column; bold: significant. Colour: significance by traditional and "
        f"by tied scores. {pairs.method[0].upper()}{pairs.method[1:]}.",
    )
    pairs = pairs.among(view.rerankers)
    order = [name for name in view.rerankers if name in {*pairs.tied["reranker"], *pairs.tied["baseline"]}]
    alt = "Tied difference of each pair of rerankers, with significance by traditional and by tied scores."
    is_narrow = visitor.is_narrow()
    figure = drawn(verdict_matrix, pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "all-pairs", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


@section("Chances of each order")
def order_chart(view: View, tie_draws: Draws) -> None:
    """Draw the chance that each reranker ranks above each other reranker."""
    heading(
        "P(row above column) with ties broken at random",
        f"Percentage of {count_of(tie_draws.n, 'random tie-break')} that rank the row above the column. "
        "Numbers are ranks by tied score.",
    )
    alt = "For each pair of rerankers, the chance that one ranks above the other if ties are broken at random."
    order, is_narrow = list(tie_draws.means.columns), visitor.is_narrow()
    pairs = tie_draws.pairs.assign(reversible=True) if tie_draws.noise else tie_draws.pairs
    figure = drawn(order_matrix, pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "above", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


@section("Chances of each rank")
def finish_chart(view: View, tie_draws: Draws, measure: str, name: str) -> None:
    """Draw the chance of each rank, and all ranks that are possible."""
    heading(
        "Where each reranker can finish",
        "Shade: chance of the rank. Outline: all ranks that "
        f"{'were drawn' if tie_draws.noise else 'ties allow'}. Diamond: rank by {name}.",
    )
    means = view.evaluation.means(measure)[view.traditional]
    ranks = places(means).loc[tie_draws.means.columns].astype(int).tolist()
    chart(
        drawn(finish_heatmap, tie_draws.places, tie_draws.rank_ranges, ranks, view.palette),
        "finishes",
        "Chance of each rank for each reranker when ties are broken at random.",
    )
