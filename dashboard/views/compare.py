"""Compare: test whether one reranker is better than another, and whether ties, chance or noise decide it."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dashboard import choices, controls, pages, visitor
from dashboard.cache import ShownBoard, Testing, board_turn, cached, compared_pairs, drawn
from dashboard.charts.compare import (
    difference_forest,
    difference_histogram,
    finish_heatmap,
    matrix_width,
    order_matrix,
    verdict_matrix,
)
from dashboard.charts.labels import MATRIX_COLUMNS, elide_text, sentence_names, short_names
from dashboard.charts.marks import MOST_BARS
from dashboard.charts.tradeoffs import latency_scatter, recall_dumbbell
from dashboard.choices import Selection, View, choose_testing
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.long_work import is_cancelled, long_work
from dashboard.widgets.columns import MOST_WRITTEN, badge_column
from dashboard.widgets.components import chart, finding, heading, section, section_finding, side_by_side, table
from dashboard.widgets.first_rows import FIRST_ROWS, MOST_ROWS, ROWS_IN_TABLE, ShownRows, shown_rows
from metrics import Evaluation, parse
from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions, score_runs
from metrics.studies import experiment, tradeoffs
from metrics.studies.draws import Draws, Noise, draws, read_noise, same_runs, stability_finding
from metrics.studies.experiment import heading as measure_heading
from metrics.studies.leaderboard import places
from metrics.studies.pair_findings import Verdicts, p_text, significance_finding
from metrics.studies.pairs import find_method, significant_signs
from metrics.studies.prose import Prose, Strong, and_more, decimal, plain, signed
from metrics.studies.query_values import SortKey, query_differences
from metrics.studies.targets import usual_baseline
from metrics.studies.tradeoffs import coverage
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of, describe_part

BASELINE, PAIRS = "Against the baseline", "All pairs"
STABILITY, TRADEOFFS = "Stability", "Trade-offs"
_MOST_DRAWS = 10_000
_NOISE_HELP = (
    "Standard deviation of the normal noise that each draw adds to every score, such as 0.05; "
    "or score_std for the column of that name. Empty for no noise."
)
_FEW = 4  # rerankers from which on every two are drawn: fewer fit into the table against the baseline
_FEW_ROWS = 12  # up to which the table below two charts is open


def show(selection: Selection) -> None:
    """Draw the page."""
    verdict, is_large = st.container(), len(selection.board.runs.rerankers) > MOST_ROWS
    with choices.settings_row():
        measure = choices.measure(has_more=False)
        with choices.more_menu():
            testing = choose_testing()
            st.caption(f"{find_method(testing.test, None)[0].summary} {_STARS}")
            if is_large:
                st.caption(f"All pairs of more than {MOST_ROWS} rerankers: `tiescope compare`.")
        choices.choose_relevant_from(selection.board)
        view = selection.score(measure)
        names = list(map(str, view.study(_means, measure).index))
        choices.choose_baseline(names, usual_baseline(view.rerankers), width=256)
    baseline = view.baseline
    has_pairs = len(view.rerankers) >= _FEW and not is_large
    sections = [BASELINE, *([PAIRS] if has_pairs else []), STABILITY, TRADEOFFS]
    section = controls.choose_section(sections)
    verdicts = compared_pairs(view, measure, view.traditional, baseline, testing)
    with verdict:
        prose, lines = _texts(view, measure, view.traditional, baseline, testing)
        finding(prose, view.rerankers, [*lines, view.conditions(measure)])
    if section == STABILITY:
        stability_section(view, measure)
    elif section == TRADEOFFS:
        tradeoff_section(view, measure, baseline, testing)
    elif section == PAIRS:
        pairs_section(view, measure, testing)
    elif len(view.rerankers) > _PAIR:
        baseline_section(view, verdicts, measure, baseline)
    elif len(view.rerankers) == _PAIR:
        two_section(view, verdicts, measure, baseline)


def _means(evaluation: Evaluation, measure: str) -> "pd.Series[float]":
    """Return the tied means of all rerankers, the highest first."""
    return evaluation.means(measure)["expected"].sort_values(ascending=False, kind="stable")


@cached(max_entries=24)
def _texts(
    view: ShownBoard, measure: str, traditional: str, baseline: str, testing: Testing
) -> tuple[Prose, list[str]]:
    """Return the finding of a comparison, and its figures to be copied."""
    verdicts, name = compared_pairs(view, measure, traditional, baseline, testing), parse(measure)
    return significance_finding(verdicts, name.traditional), figure_lines(verdicts, name.compared[1])


_STARS = r"\*\*\* p < 0.001, \*\* p < 0.01, \* p < 0.05, ns not significant.".replace(
    " p < ", "\u00a0p\u00a0<\u00a0"
)
_PAIR, _MOST_COPIED, _MOST_PAIRED, _PAIRED_ON_PHONE = 2, 30, 60, 12
_MAX_NOTES = 4
"""Notes shown below the table at most; the table has all."""
_HIDDEN = (
    *("stars", ("traditional_stars", "stars_before"), "low", "high", "won", "equal", "lost", "n", "note"),
)
"""Columns behind the table's menu of columns."""


def _paired_rows(view: View, first: int) -> ShownRows:
    """Return how many rerankers a chart of pairs has: `first` ones at first, on a phone as many as fit."""
    return shown_rows(len(view.rerankers), "paired", _PAIRED_ON_PHONE if visitor.is_narrow() else first)


def baseline_section(view: View, verdicts: Verdicts, measure: str, baseline: str) -> None:
    """Draw the differences from the baseline, their table, and the queries behind one of them."""
    row_range = _paired_rows(view, FIRST_ROWS)
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
    is_narrow = visitor.is_narrow()
    queries = "" if is_narrow else "queries by tied scores, then "
    heading(
        f"Difference from {escape_markdown(name)}",
        f"{selection}95% {verdicts.interval}. Right: {queries}stars by traditional and by tied scores.",
    )
    rows = verdicts.changed_first(FIRST_ROWS, n_drawn)
    chart(
        drawn(difference_forest, rows, view.palette, measure, is_narrow=is_narrow),
        "forest",
        f"{measure} difference of each reranker from {baseline}, by tied and by traditional values.",
    )


@section("The table of comparisons")
def comparison_table(verdicts: Verdicts) -> None:
    """Draw the table of comparisons with the baseline, and name test and correction."""
    verdicts = verdicts.changed_first(FIRST_ROWS)
    baseline = str(verdicts.tied["baseline"].iloc[0])
    labels = short_names([*verdicts.tied["reranker"], baseline])
    rows = drawn(_comparison_rows, verdicts)
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
    test_notes(verdicts, labels)


def test_notes(verdicts: Verdicts, labels: Mapping[str, str]) -> None:
    """Name test and correction, and show the reservations about comparisons."""
    st.caption(f"Test: {verdicts.method}.")
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
        controls.remember("comparison-detail", value=True)
    detail = st.expander("One comparison, query by query", key="comparison-detail", on_change="rerun")
    if not detail.open:
        return
    with detail:
        with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
            other_names = [name for name in view.rerankers if name != baseline]
            tie_effect = verdicts.tied.set_index("reranker")["difference"]
            tie_effect -= verdicts.traditional.set_index("reranker")["difference"]
            most_moved = str(tie_effect.abs().fillna(0).idxmax())
            reranker = controls.select_name("Reranker", other_names, "compared", most_moved, width=340)
            order = controls.segmented("Largest first by", ("ties", "difference"), "farthest")
        row = verdicts.tied.set_index("reranker", drop=False).loc[reranker]
        prose = comparison_sentence(row, parse(measure).compared[1])
        lines = [_test_line(verdicts), view.conditions(measure)]
        finding(prose, view.rerankers, lines, "comparison")
        _query_table(view, measure, reranker, baseline, order)


@section("Two rerankers")
def two_section(view: View, verdicts: Verdicts, measure: str, baseline: str) -> None:
    """Draw the differences of two rerankers query by query, and the queries that decide."""
    pair = verdicts.tied.iloc[0]
    reranker = str(pair["reranker"])
    rows = view.study(query_differences, measure, reranker, baseline, view.traditional, sort_by="difference")
    differences = rows.loc[rows["difference"] != 0, "difference"].to_numpy()
    interval = f" (hollow: not significant) with 95% {verdicts.interval}" * bool(pd.notna(pair["p"]))
    equal = f" {count_of(int(pair['equal']), 'query')} are equal and not drawn." * bool(pair["equal"])
    labels = short_names(view.rerankers)
    heading(
        f"{escape_markdown(labels[reranker])} minus {escape_markdown(labels[baseline])}, query by query",
        f"Tied {measure} differences. Above: their mean{interval}.{equal}",
    )
    figure = drawn(difference_histogram, differences, pair, view.palette, measure)
    chart(
        figure, "differences", f"Number of queries by tied {measure} difference of {reranker} from {baseline}."
    )
    test_notes(verdicts, labels)
    _query_table(view, measure, reranker, baseline, "difference")


def figure_lines(verdicts: Verdicts, measure: str) -> list[str]:
    """Return a line with the figures of each comparison that has a test, and their test, to be copied."""
    rows = verdicts.tied.nlargest(_MOST_COPIED, "difference")
    lines = [f"- {plain(comparison_sentence(row, measure))}" for _, row in rows[rows["n"] > 1].iterrows()]
    return [*lines, *[_test_line(verdicts)] * bool(lines)]


def _test_line(verdicts: Verdicts) -> str:
    return f"Test: {verdicts.method}. 95% {verdicts.interval}."


def comparison_sentence(row: "pd.Series[Any]", measure: str) -> Prose:
    """Describe a comparison in words: means, difference, interval, p and queries."""
    if not row["n"]:
        return Strong(str(row["reranker"])), f" has no query in common with {row['baseline']}."
    interval = f", 95% interval {signed(row['low'])} to {signed(row['high'])} ({p_text(row)})"
    return (
        Strong(str(row["reranker"])),
        f" has {decimal(row['mean'])} {measure} against {decimal(row['mean_baseline'])} of {row['baseline']}: "
        f"{signed(row['difference'])}{'' if pd.isna(row['p_adjusted']) else interval}. It is better on "
        f"{row['won']:,} of {count_of(int(row['n']), 'query')}, worse on {row['lost']:,} and equal on "
        f"{row['equal']:,}.",
    )


def _query_table(view: View, measure: str, reranker: str, baseline: str, order: str) -> None:
    sort_by: SortKey = "moved" if order == "ties" else "difference"
    rows = view.study(query_differences, measure, reranker, baseline, view.traditional, sort_by=sort_by)
    row_range = shown_rows(len(rows), "queries", ROWS_IN_TABLE, MOST_WRITTEN)
    first, lists = row_range.of(rows), {"reranker": reranker, "beside": baseline, "section": "Documents"}
    page = Path(pages.QUERIES.file).stem
    links = [
        f"/{page}?{urlencode(controls.link_parameters(lists | {'query': query}), doseq=True)}"
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
            **shown_columns(("difference", "query_difference"), "moved"),
            **shown_columns("a", "b", reranker=names[reranker], baseline=names[baseline]),
            **shown_columns(
                "difference_before", "a_before", "b_before", reranker=names[reranker], baseline=names[baseline]
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


def best_rerankers(view: View, measure: str, limit: int, note: str = "") -> View:
    """Return the view of the best scored rerankers by tied score, best first, and mention the selection.

    `note` ends the sentence: what is counted among these alone.
    """
    means = view.study(_means, measure).dropna()
    if len(means) > limit:
        st.caption(f"The best {limit} of {len(view.rerankers):,} rerankers by tied mean{note}.")
    names = [str(name) for name in means.index[:limit]] or view.rerankers
    return replace(view, rerankers=names, evaluation=view.evaluation.only(names))


def pairs_section(view: View, measure: str, testing: Testing) -> None:
    """Draw the verdict on every pair."""
    row_range = _paired_rows(view, _MOST_PAIRED)
    best_view = best_rerankers(view, measure, row_range.n_shown)
    pairs = compared_pairs(view, measure, view.traditional, "", testing._replace(family="all"))
    pair_chart(best_view, pairs, measure)
    row_range.buttons()


def stability_section(view: View, measure: str) -> None:
    """Draw how often each order and each rank occurs if ties are broken at random, after noise if asked."""
    first_chart = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        n_draws = controls.number_input("Draws", 10, _MOST_DRAWS, 1000, "draws", width=130)
        text = controls.text_input("Noise in the scores", "noise", placeholder="0", help=_NOISE_HELP, width=190)
    row_range = _paired_rows(view, FIRST_ROWS)
    best_view = best_rerankers(view, measure, row_range.n_shown, "; pairs and ranks are counted among these")
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
    with first_chart:
        section_finding(stability_finding(tie_draws, name.traditional, copies), view.rerankers)
        if len(best_view.rerankers) > _PAIR:  # the sentence says all of one pair
            order_chart(view, tie_draws)
    finish_chart(best_view, tie_draws, measure, name.traditional)
    rows = tie_draws.summary.add_prefix("drawn_").assign(tied=tie_draws.bounds["expected"]).reset_index()
    columns = shown_columns(
        "reranker", "tied", "drawn_mean", "drawn_mean_error", "drawn_std", "drawn_std_error", tied=name.tied
    )
    with st.expander("Means over the draws", expanded=len(rows) <= _FEW_ROWS):
        table(rows, "", "draws-table", columns)
    row_range.buttons()


@section("Verdicts on all pairs")
def pair_chart(view: View, pairs: Verdicts, measure: str) -> None:
    """Draw which pairs of the view differ significantly, and count all pairs."""
    n_significant = int((significant_signs(pairs.tied) != 0).sum())
    st.caption(
        f"{describe_part(n_significant, len(pairs.tied), 'pair', 'differ')} significantly by tied scores. Tied "
        f"{measure} difference, row minus column; bold: significant. Colour: significance by traditional and "
        "by tied scores."
    )
    order = [name for name in view.rerankers if name in {*pairs.tied["reranker"], *pairs.tied["baseline"]}]
    alt = "Tied difference of each pair of rerankers, with significance by traditional and by tied scores."
    is_narrow = visitor.is_narrow()
    figure = drawn(verdict_matrix, pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "all-pairs", alt, wide=matrix_width(len(order), is_narrow=is_narrow))
    st.caption(f"Test: {pairs.method}.")


@section("Chances of each order")
def order_chart(view: View, tie_draws: Draws) -> None:
    """Draw the chance that each reranker ranks above each other reranker."""
    heading("P(row above column)")
    alt = "For each pair of rerankers, the chance that one ranks above the other if ties are broken at random."
    order, is_narrow = list(tie_draws.means.columns), visitor.is_narrow()
    pairs = tie_draws.pairs.assign(reversible=True) if tie_draws.noise else tie_draws.pairs
    figure = drawn(order_matrix, pairs, order, view.palette, is_narrow=is_narrow)
    chart(figure, "above", alt, wide=matrix_width(len(order), is_narrow=is_narrow))
    st.caption(
        f"Percentage of {count_of(tie_draws.n, 'random tie-break')} that rank the row above the column. "
        "Numbers order the rerankers by tied score."
    )


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
    chances = tie_draws.places, tie_draws.rank_ranges, ranks
    figure = drawn(finish_heatmap, *chances, view.palette, is_narrow=visitor.is_narrow())
    chart(figure, "finishes", "Chance of each rank for each reranker when ties are broken at random.")


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
    """Draw quality against latency, recall with diversity, and every measure against the baseline."""
    is_timed, charts = bool(len(list_speeds(view))), st.container()
    k, latency, budget = _choose(is_timed=is_timed)
    row_range = shown_rows(len(view.rerankers))
    name, n_drawn = parse(measure), row_range.n_shown
    rows = ranked_tradeoffs(view, measure, view.traditional, latency)
    ordered = replace(view, rerankers=list(rows.index))
    covered = depth_coverage(view, k, view.traditional)
    names_with_targets = [name for name in tradeoffs.with_targets(view.board.runs) if name in view.rerankers]
    has_targets = bool(names_with_targets)
    with charts:
        section_finding(tradeoffs.tradeoff_finding(rows, covered, name.traditional, budget, k), view.rerankers)
        has_both = is_timed and has_targets
        wide, narrow = side_by_side(3, 2, "speed") if has_both else (st.container(), st.container())
    if is_timed:
        with wide:
            latency_section(view, rows, name.traditional, latency, budget, n_drawn)
    if has_targets:
        with narrow:
            recall_section(view, covered.loc[names_with_targets], k, n_drawn)
            row_range.buttons()
    tested = tested_experiment(ordered, k, view.traditional, baseline, testing)
    figures = rows.join(covered)
    experiment_table(tested, figures, view.traditional, baseline, is_timed=is_timed, has_targets=has_targets)
    hidden_charts(view, {"latency": is_timed, "target_id": has_targets})


def _choose(*, is_timed: bool) -> tuple[int, tradeoffs.Latency, float | None]:
    """Draw the controls and return ranks for targets, statistic of the latency and seconds per list.

    Latency and budget need timed lists; the budget is None for any latency.
    """
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
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
        budget = controls.select("Latency budget", [NO_LIMIT, *BUDGETS], "budget", width=330)
    return int(depth), cast("tradeoffs.Latency", latency), BUDGETS.get(budget)


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
    heading("Quality against latency")
    if len(drawn_rows) < len(rows):
        st.caption(f"Shows the best {n_drawn} of {len(rows):,} rerankers, and every reranker on a front.")
    figure = drawn(latency_scatter, drawn_rows, view.palette, title, LATENCY_NAMES[latency], budget)
    chart(figure, "latency", f"{title} against latency of each reranker, with the Pareto fronts.", wide=480)
    st.caption(
        f"Lines: Pareto fronts. Grey bars{whose}: median to 95th percentile of latency. Pale bars: worst to "
        "best tie order."
    )


@section("Recall and diversity")
def recall_section(view: View, coverage: pd.DataFrame, k: int, n_drawn: int) -> None:
    """Draw recall beside recall that counts each target once, with the number of targets."""
    heading("Recall and diversity")
    if len(coverage) > n_drawn:
        st.caption(f"The chart shows {n_drawn} of {len(coverage):,} rerankers.")
    alt = f"Recall@{k}, DR@{k} and Div@{k} of each reranker, the largest loss first."
    losses = coverage.sort_values("lost", ascending=False, kind="stable")
    chart(drawn(recall_dumbbell, losses.head(n_drawn), view.palette, k), "recall", alt)
    st.caption(
        f"Ring: Recall@{k}. Dot: DR@{k}, each target counted once. Right: their difference, and Div@{k}, "
        "distinct targets per query."
    )


@section("Every measure, tested")
def experiment_table(
    tested: tuple[pd.DataFrame, pd.DataFrame, str],
    figures: pd.DataFrame,
    traditional: str,
    baseline: str,
    *,
    is_timed: bool,
    has_targets: bool,
) -> None:
    """Draw every measure with stars, one tied and one traditional line per reranker, and its latencies.

    Hits at four depths come last, because narrow pages have no room for them.
    """
    rows, lines, note = tested
    hidden = () if has_targets else ("DR@", "Div@")
    measures = [name for name in rows["measure"].unique() if not name.startswith(hidden)]
    headings = {
        measure_heading(name): "Seconds." if name == tradeoffs.LATENCY else f"Tied line: {parse(name).tied}."
        for name in sorted(measures, key=lambda name: name.startswith("Hits@"))
    }
    lines = lines.replace({"ties": {"expected": "tied", traditional: "traditional"}})
    columns: dict[str, Any] = dict(shown_columns("reranker", "ties"))
    columns |= {name: st.column_config.TextColumn(name, help=text) for name, text in headings.items()}
    further = ["repeated"] if has_targets else []
    if is_timed:
        columns["standing"] = badge_column(
            "Front", tradeoffs.STANDINGS, ("blue", "blue", "orange", "gray", "gray")
        )
        further += ["p50", "p95", "mean", "beaten_by"]
        milliseconds = figures[list(tradeoffs.LATENCIES)].map(lambda seconds: float(f"{1000 * seconds:.3g}"))
        figures = figures.assign(**milliseconds, standing=[[standing] for standing in figures["standing"]])
    columns |= shown_columns(*(("mean", "mean_latency") if name == "mean" else name for name in further))
    lines = lines.join(figures[[name for name in columns if name in figures]], on="reranker")
    rerankers = rows["reranker"].unique()
    name = short_names(rerankers)[baseline]
    title = f"Against {escape_markdown(name)}" if len(rerankers) > 1 else "Means"
    table(lines, title, "experiment", columns, download=rows)
    st.caption(escape_markdown(elide_text(note, sentence_names(rerankers))))
