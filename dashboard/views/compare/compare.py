"""Compare: test whether one reranker is better than another, and whether ties, chance or noise decide it."""

from itertools import islice
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dashboard import choices, controls, visitor
from dashboard.cache import ShownBoard, board_turn
from dashboard.charts.compare import (
    difference_forest,
    finish_heatmap,
    matrix_width,
    order_matrix,
    verdict_matrix,
)
from dashboard.charts.labels import MATRIX_COLUMNS, SENTENCE_COLUMNS, short_names
from dashboard.choices import View, choose_test
from dashboard.escaping import escape_markdown
from dashboard.server.board_results import cached_by_key
from dashboard.views.compare.noise import best_rerankers, noise_section
from dashboard.views.compare.tradeoffs import tradeoff_section
from dashboard.widgets.browser import watch_width
from dashboard.widgets.columns import MOST_WRITTEN
from dashboard.widgets.components import chart, finding, heading, section, section_finding, table
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import FIRST_ROWS, ROWS_IN_TABLE, shown_rows
from metrics import Evaluation, parse
from metrics.studies import significance
from metrics.studies.comparisons import SortKey, detectable, query_differences
from metrics.studies.leaderboard import places
from metrics.studies.mean_distributions import variance_split
from metrics.studies.prose import Prose, Strong, and_more, decimal, signed
from metrics.studies.query_values import largest_difference
from metrics.studies.significance import Verdicts, is_testable, significance_finding
from metrics.studies.stability import OrderStability, same_runs, stability_finding
from metrics.studies.test_registry import find_correction, find_test
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of

BASELINE, PAIRS, STABILITY = "Against the baseline", "All pairs", "Stability"
NOISE, TRADEOFFS = "Noise", "Trade-offs"
_FEW = 4  # rerankers from which on every two are drawn: fewer fit into the table against the baseline


def show(view: View) -> None:
    """Draw the page."""
    st.title("Compare", anchor=False)
    watch_width()
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        baseline = choices.choose_baseline(view.rerankers, width=240)
        measure = choices.measure(has_more=False)
        choices.choose_relevant_from(view.board)
        with choices.more_menu(help="Choose the test, the correction or another measure."):
            test, correction = choose_test()
            found = find_test(test)
            st.caption(f"{found.summary} {found.interval_sentence} {_STARS}")
    has_pairs = len(view.rerankers) >= _FEW
    sections = [BASELINE, *([PAIRS, STABILITY] if has_pairs else []), NOISE, TRADEOFFS]
    section = controls.choose_section(sections)
    name = parse(measure).traditional
    verdicts = shown_verdicts(view, measure, view.traditional, baseline, test, correction)
    with verdict:
        sentence = significance_finding(verdicts, name, test)
        finding((*sentence, *detectable_sentence(view, verdicts, measure, baseline, test)), view.rerankers)
    if section == NOISE:
        noise_section(view, measure)
    elif section == TRADEOFFS:
        tradeoff_section(view, measure, baseline, test, correction)
    elif section in (PAIRS, STABILITY):
        pairs_section(view, measure, test, correction, is_stability=section == STABILITY)
    elif len(view.rerankers) > 1:
        baseline_section(view, verdicts, measure, baseline, test, correction)


_STARS = r"\*\*\* p < 0.001, \*\* p < 0.01, \* p < 0.05, ns not significant.".replace(
    " p < ", "\u00a0p\u00a0<\u00a0"
)
_MAX_NOTES = 4
"""Notes shown below the table at most; the table has all."""
_HIDDEN = (
    *("stars", ("traditional_stars", "stars_before"), "low", "high", "dz", "superiority"),
    *("won", "equal", "lost", "share_ties", "n", "note"),
)
"""Columns behind the table's menu of columns."""


@cached_by_key(show_spinner="Scoring all tie orders …", max_entries=24)
def list_spreads(view: ShownBoard, measure: str) -> Evaluation:
    """Return the tied, best and worst score of every list, and the standard deviation over tie orders."""
    return view.score(measure, ("expected", "optimistic", "pessimistic", "std"))


@cached_by_key(show_spinner="Testing differences …", max_entries=24)
def shown_verdicts(
    view: ShownBoard, measure: str, traditional: str, baseline: str | None, test: str, correction: str
) -> significance.Verdicts:
    """Return the tests against the baseline, or those of all pairs without one."""
    return significance.verdicts(view.evaluation, measure, traditional, baseline, test, correction)


def baseline_section(
    view: View, verdicts: Verdicts, measure: str, baseline: str, test: str, correction: str
) -> None:
    """Draw the differences from the baseline, their table, and the queries behind one of them."""
    row_range = shown_rows(len(view.rerankers), "paired")
    difference_chart(view, verdicts, parse(measure).traditional, test, row_range.n_shown)
    row_range.buttons()
    shares = variance_split(list_spreads(view, measure), measure, baseline)["share_ties"]
    comparison_table(verdicts, shares, measure, test, correction)
    comparison_detail(view, verdicts, measure, baseline)


def detectable_sentence(view: View, verdicts: Verdicts, measure: str, baseline: str, test_name: str) -> Prose:
    """Return a sentence with the smallest difference that a t-test of this kind detects; empty if unknown."""
    if not is_testable(verdicts.tied).any():
        return ()
    least = view.study(
        detectable, measure, "expected", baseline, verdicts.level, paired=find_test(test_name).paired
    )
    if not 0 < least < largest_difference(measure):
        return ()
    return (f" With these queries, a t-test has 80% power to detect a difference of {decimal(least)}.",)


@section("Differences from the baseline")
def difference_chart(view: View, verdicts: Verdicts, measure: str, test_name: str, n_drawn: int) -> None:
    """Draw the differences from the baseline with their intervals."""
    baseline = str(verdicts.tied["baseline"].iloc[0])
    name = short_names(view.rerankers, SENTENCE_COLUMNS)[baseline]
    n_pairs = len(verdicts.tied)
    changed = ", changed verdicts first" if verdicts.changed.any() else ""
    selection = f"{min(n_drawn, n_pairs)} of {n_pairs:,}{changed}. " if n_pairs > FIRST_ROWS else ""
    heading(
        f"Difference from {escape_markdown(name)}",
        f"{selection}Mean difference with the {verdicts.level:.0%} {find_test(test_name).interval_scope}. "
        "Right: verdicts after correction, by traditional and by tied scores.",
    )
    chart(
        kept_figure(difference_forest, verdicts.changed_first(FIRST_ROWS, n_drawn), view.palette, measure),
        "forest",
        f"{measure} difference of each reranker from {baseline}, by tied and by traditional values.",
    )


@section("The table of comparisons")
def comparison_table(
    verdicts: Verdicts,
    tie_shares: "pd.Series[float]",
    measure: str,
    test_name: str,
    correction_name: str,
) -> None:
    """Draw the table of comparisons with the baseline, and name test and correction."""
    verdicts = verdicts.changed_first(FIRST_ROWS)
    baseline = str(verdicts.tied["baseline"].iloc[0])
    labels = short_names([*verdicts.tied["reranker"], baseline], SENTENCE_COLUMNS)
    shares = tie_shares.reindex(verdicts.tied["reranker"]).to_numpy()
    rows = _comparison_rows(verdicts).assign(share_ties=shares)
    has_changed_first = len(rows) > FIRST_ROWS and rows["changed"].any()
    table(
        rows,
        f"Results against {escape_markdown(labels[baseline])}",
        "significance",
        shown_columns(
            *("reranker", "difference", "p_adjusted", "traditional_difference", "changed"),
            ("traditional_p_adjusted", "p_adjusted_before"),
            *_HIDDEN,
        ),
        download=rows.assign(share_ties=100 * rows["share_ties"]),
        explanation="Changed verdicts first." if has_changed_first else "",
    )
    test, correction = find_test(test_name), find_correction(correction_name)
    is_corrected = not test.simultaneous and correction.method is not None
    corrected = f", {correction.label} over {count_of(len(rows), 'comparison')}" if is_corrected else ""
    st.caption(f"{test.label[0].upper()}{test.label[1:]}{corrected}.")
    noted = verdicts.tied[verdicts.tied["note"] != ""].groupby("note", sort=False)["reranker"]
    for note, names in islice(noted, _MAX_NOTES):
        further = and_more(len(names) - 1)
        st.caption(escape_markdown(f"For {labels[names.iloc[0]]}{further}, {note}."))


def _comparison_rows(verdicts: Verdicts) -> pd.DataFrame:
    tested = verdicts.without_untested()
    traditional = tested.traditional[["difference", "p_adjusted", "stars"]].add_prefix("traditional_")
    first, last = (
        ["difference", "low", "high", "p", "p_adjusted", "stars"],
        ["dz", "superiority", "won", "equal", "lost", "note"],
    )
    tied = tested.tied
    parts = tied[["reranker", "n"]], traditional, tied[first], verdicts.changed.rename("changed"), tied[last]
    return pd.concat(parts, axis=1)


@section("One comparison in detail")
def comparison_detail(view: View, verdicts: Verdicts, measure: str, baseline: str) -> None:
    """Draw one comparison and the queries behind it when the section is opened."""
    if controls.asked_text("compared") or controls.asked_text("farthest"):
        controls.set_value("comparison-detail", True)
    detail = st.expander("One comparison, query by query", key="comparison-detail", on_change="rerun")
    if not detail.open:
        return
    with detail:
        with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
            others = [name for name in view.rerankers if name != baseline]
            reranker = controls.select_name("Compared with the baseline", others, "compared", width=240)
            order = controls.segmented("Largest first by", ("ties", "difference"), "farthest")
        tested = verdicts.without_untested()
        row = tested.tied.set_index("reranker").loc[reranker]
        section_finding(comparison_sentence(row, parse(measure).traditional, verdicts.level), view.rerankers)
        _query_table(view, measure, reranker, baseline, order)


def comparison_sentence(row: "pd.Series[Any]", measure: str, level: float) -> Prose:
    """Describe a comparison in words: difference, interval, effect and queries."""
    if not row["n"]:
        return Strong(str(row.name)), " has no query in common with the baseline."
    interval = f", {level:.0%} interval {signed(row['low'])} to {signed(row['high'])}; "
    effect = f"effect d {signed(row['dz'], 2)}. "
    return (
        Strong(str(row.name)),
        f": {signed(row['difference'])} {measure}, ties averaged",
        ". " if pd.isna(row["p_adjusted"]) else interval + effect,
        f"The reranker is better on {row['won']:,} of {count_of(int(row['n']), 'query')}, worse on "
        f"{row['lost']:,} and equal on {row['equal']:,}.",
    )


def _query_table(view: View, measure: str, reranker: str, baseline: str, order: str) -> None:
    sort_by: SortKey = "moved" if order == "ties" else "difference"
    rows = view.list_study(query_differences, measure, reranker, baseline, view.traditional, sort_by=sort_by)
    row_range = shown_rows(len(rows), "queries", ROWS_IN_TABLE, MOST_WRITTEN)
    first, lists = row_range.of(rows), {"reranker": reranker, "beside": baseline}
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


@cached_by_key(show_spinner="Breaking ties at random …", max_entries=24)
def shown_stability(view: ShownBoard, measure: str, _lists: Evaluation) -> OrderStability:
    """Return how random tie-breaking moves the leaderboard."""
    rankings = {name: view.ranking(name) for name in view.rerankers}
    with board_turn(view.board):
        return OrderStability.of(_lists.only(view.rerankers), measure, rankings)


def pairs_section(view: View, measure: str, test: str, correction: str, *, is_stability: bool) -> None:
    """Draw the verdict on every pair, or the chance of each order of two."""
    row_range = shown_rows(len(view.rerankers), "paired")
    best_view = best_rerankers(view, measure, row_range.n_shown)
    stability = shown_stability(best_view, measure, list_spreads(view, measure))
    name = parse(measure).traditional
    if is_stability:
        section_finding(
            stability_finding(
                stability.pairs,
                stability.bounds,
                stability.tau,
                name,
                same_runs(view.board.runs, best_view.evaluation, measure),
            ),
            view.rerankers,
        )
        order_chart(view, stability)
        finish_chart(best_view, stability, measure, name)
    else:
        pairs = shown_verdicts(best_view, measure, view.traditional, None, test, correction)
        pair_chart(best_view, pairs, stability, measure, test, correction)
    row_range.buttons()


@section("Verdicts on all pairs")
def pair_chart(
    view: View, pairs: Verdicts, stability: OrderStability, measure: str, test_name: str, correction_name: str
) -> None:
    """Draw which pairs differ significantly."""
    correction = find_correction(correction_name)
    corrected = "no correction" if correction.method is None else f"{correction.label} correction"
    corrected = "tested together" if find_test(test_name).simultaneous else corrected
    n_pairs = count_of(len(pairs.tied), "pair")
    heading(
        "All pairs",
        f"Tied {measure} difference, row minus column; bold: significant. Colour: significance by traditional "
        f"and by tied scores (level {1 - pairs.level:.0%}, {corrected}, {n_pairs}).",
    )
    order = _best_first(stability)
    alt = "Tied difference of each pair of rerankers, with significance by traditional and by tied scores."
    is_narrow = visitor.is_narrow()
    figure = kept_figure(verdict_matrix, pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "all-pairs", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


@section("Chances of each order")
def order_chart(view: View, stability: OrderStability) -> None:
    """Draw the chance that each reranker ranks above each other reranker."""
    heading(
        "P(row above column) with ties broken at random",
        "Percentage of random tie-breaks that rank the row above the column. Numbers are ranks by tied score.",
    )
    alt = "For each pair of rerankers, the chance that one ranks above the other if ties are broken at random."
    order = _best_first(stability)
    is_narrow = visitor.is_narrow()
    figure = kept_figure(order_matrix, stability.pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "above", alt, wide=matrix_width(len(order), is_narrow=is_narrow))


@section("Chances of each rank")
def finish_chart(view: View, stability: OrderStability, measure: str, name: str) -> None:
    """Draw the chance of each rank, and all ranks that ties allow."""
    heading(
        "Where each reranker can finish",
        f"Shade: chance of the rank. Outline: all ranks that ties allow. Diamond: rank by {name}.",
    )
    order = _best_first(stability)
    ranks = places(view.evaluation.means(measure)[view.traditional]).loc[order].astype(int).tolist()
    chart(
        kept_figure(
            finish_heatmap, stability.ranks.loc[order], stability.bounds.loc[order], ranks, view.palette
        ),
        "finishes",
        "Chance of each rank for each reranker when ties are broken at random.",
    )


def _best_first(stability: OrderStability) -> list[str]:
    """Return the rerankers from the highest to the lowest tied mean."""
    return list(stability.bounds.sort_values("expected", ascending=False, kind="stable").index)
