"""Rerankers: the tied and traditional score, ties and gap of each reranker."""

import pandas as pd
import streamlit as st

from dashboard import cache, choices, controls
from dashboard.charts import rerankers as charts
from dashboard.charts.ties_vs_gap import gap_scatter
from dashboard.choices import Selection, View, choose_relevant_from
from dashboard.escaping import escape_markdown
from dashboard.widgets import components as ui
from dashboard.widgets.columns import measures_in_names, reranker_columns
from dashboard.widgets.first_rows import rows_left_out, shown_rows
from dashboard.widgets.leaderboard_parts import TABLE, segment_chart, segment_gaps
from dashboard.widgets.one_list import largest_gaps_table
from metrics import Evaluation, parse
from metrics.measures import MeasureAt, question
from metrics.studies.gaps import gap_summary, gaps, ranks_and_ratios, reranker_finding
from metrics.studies.prose import Prose, own_rule_note
from metrics.studies.query_values import win_loss, win_loss_finding
from metrics.studies.rank_similarity import DEPTH, list_similarity, similarity_finding
from metrics.support.shown_columns import shown_columns

_OVERLAP = (("similarity", "list_overlap"), "identical", "n")
_COPIES = "Tied documents count as equal, so a list and its copy have an overlap of 1."
_SORTED_BY = {
    "tied": "first_tied",
    "traditional": "first_traditional",
    "tie ratio": "tie_ratio",
    "gap": "first_gap_mean",
}
SCORES, SUMMARY, TIES, GROUPS = "Scores", "Summary table", "Gap against tie ratio", "Query groups"


def show(selection: Selection) -> None:
    """Draw the page."""
    if not selection.board.runs.is_judged:
        ties_and_agreement(selection.score())
        return
    verdict = st.container()
    texts = {name: name for name in _SORTED_BY} | {"gap": "mean |gap|"}
    with choices.settings_row():
        measure = choices.measure()
        choose_relevant_from(selection.board)
        sort = controls.select_after("Sort by", texts, "sort", width=185)
    view = selection.score(measure)
    has_groups = len(view.rerankers) > 1 or len(cache.segments(view.board))
    section = controls.choose_section([SCORES, SUMMARY, TIES, *[GROUPS] * bool(has_groups)])
    row_range = shown_rows(len(view.rerankers))
    name = parse(measure)
    second = "Hits@5" if measure != "Hits@5" else "RR"
    if name.measure.answers:
        name, second = question(name), measure
    first = str(name)
    lists, summary, prose = view.study(_gaps_and_finding, first, second, view.traditional)
    summary = summary.sort_values(_SORTED_BY[sort], ascending=False, kind="stable")
    with verdict:
        ui.finding((*own_rule_note(measure), *prose), view.rerankers, [view.conditions(first)])
    drawn_rows = row_range.of(summary)
    if section == SUMMARY:
        summary_table(view, summary, (name, parse(second)))
    elif section == TIES:
        gap_panels(view, drawn_rows.index, lists, first)
        row_range.buttons()
    elif section == GROUPS:
        if len(cache.segments(view.board)):
            rows = segment_gaps(view, first, view.traditional)
            segment_chart(view, rows, first, drawn_rows.index, "groups")
            ui.download_csv(rows, "groups")
        baseline_comparison(view, measure, summary.index, row_range.n_shown)
        row_range.buttons()
    else:
        rows_chart(view, drawn_rows, lists, name.traditional)
        row_range.buttons()
        one_reranker(view, lists, first, drawn_rows.index)


@ui.section("Ties and agreement")
def ties_and_agreement(view: View) -> None:
    """Draw what needs no judgments: the ties of each reranker, and the overlap of every two."""
    st.caption("Without judgments: ties and agreement only.")
    pairs = _list_pairs(view, tuple(view.rerankers))
    ui.finding(similarity_finding(pairs), view.rerankers)
    summary = gap_summary(view.evaluation.lists).reset_index()
    names = ("reranker", "n", "with_ties", "with_ties_share", "tie_ratio", "tie_groups", "max_tie_size")
    ui.table(summary, "Ties", "ties", shown_columns(*names))
    if len(pairs):
        columns = shown_columns("reranker", ("other", "reranker"), *_OVERLAP)
        ui.table(pairs, "Agreement", "similar", columns, explanation=_COPIES)


def _gaps_and_finding(
    evaluation: Evaluation, first: str, second: str, traditional: str
) -> tuple[pd.DataFrame, pd.DataFrame, Prose]:
    """Return the gaps of all lists, their summary by reranker, and what they show."""
    lists = gaps(evaluation, {"first": first, "second": second}, traditional)
    return lists, gap_summary(lists), reranker_finding(lists, first)


@ui.section("Scores, ties and gaps")
def rows_chart(view: View, rows: pd.DataFrame, lists: pd.DataFrame, measure: str) -> None:
    """Draw scores with bounds, ties and gaps, one row per reranker."""
    st.caption("Right: distribution of |gap| over lists with a gap; diamond: mean |gap| of all lists.")
    names = rows.index.astype(str)
    ui.chart(
        cache.drawn(charts.aligned_rows, rows, lists, view.palette, measure),
        "reranker-rows",
        f"{measure} with tie bounds, mean tie ratio and distribution of gaps of each reranker.",
        wide=640,
        on_click=lambda point: controls.set_values({"opened": names[round(point["y"])]}),
    )


@ui.section("Gap against tie ratio")
def gap_panels(view: View, names: pd.Index, lists: pd.DataFrame, measure: str) -> None:
    """Draw the gap of each list against its tie ratio, one panel per reranker."""
    st.caption("Dot: one list. Grey: lists of all rerankers. Line: mean |gap|.")
    ui.chart(
        cache.drawn(charts.gap_multiples, lists, view.palette, view.colours(map(str, names)), measure),
        "gap-multiples",
        f"{measure} gap against tie ratio, one panel per reranker, with a panel of the means.",
        wide=charts.PANELS_WIDTH,
    )


NOBODY = "none"
MOST_LISTS = 10
"""Lists with the largest gaps shown."""


@ui.section("One reranker")
def one_reranker(view: View, lists: pd.DataFrame, measure: str, drawn_rerankers: pd.Index) -> None:
    """Draw the choice of a reranker, and its lists and similar rerankers."""
    names = [str(name) for name in drawn_rerankers]
    name = controls.select_name("Open one reranker", [NOBODY, *names], "opened", width=340)
    if name == NOBODY:
        return
    own = lists[lists["reranker"] == name]
    ui.heading(escape_markdown(name), f"Its lists: tie ratio against the {measure} gap.")
    if own["first_gap"].any():
        ui.chart(
            cache.drawn(gap_scatter, own, view.palette, view.colours([name]), measure, view.treatment.order),
            "own-gaps",
            f"Tie ratio of each list of {name} against its gap in {measure}.",
        )
        n_shown = min(MOST_LISTS, len(own))
        largest_gaps_table(own, measure, "own-gaps", n_shown, explanation=rows_left_out(n_shown, len(own)))
    if len(names) > 1:
        _similar_rankings(view, name, names)


@cache.cached(show_spinner="Comparing lists …", max_entries=8)
def _list_pairs(view: cache.ShownBoard, rerankers: tuple[str, ...]) -> pd.DataFrame:
    """Return the similarity of the lists of every two rerankers."""
    return list_similarity({name: view.ranking(name) for name in rerankers}, view.queries)


def _similar_rankings(view: View, name: str, names: list[str]) -> None:
    ui.heading(
        "Similar rankings",
        f"Rank-biased overlap of the first {DEPTH} ranks, mean over the queries that both rerankers rank.",
    )
    pairs = _list_pairs(view, tuple(sorted(names, key=view.rerankers.index)))
    own = pairs[(pairs["reranker"] == name) | (pairs["other"] == name)]
    ui.section_finding(similarity_finding(own), view.rerankers)
    own = own.assign(other=own["other"].where(own["reranker"] == name, own["reranker"]))
    columns = shown_columns(("other", "reranker"), *_OVERLAP)
    ui.table(own, "", "similar", columns, explanation=_COPIES)


@ui.section("Against the baseline")
def baseline_comparison(view: View, measure: str, order: pd.Index, n_drawn: int) -> None:
    """Draw the queries won, equal and lost against the baseline, by tied and traditional scores."""
    if len(view.rerankers) == 1:
        return
    ui.heading("Against the baseline, query by query", "Upper bar: tied scores. Lower, paler bar: traditional.")
    choices.choose_baseline(view.rerankers, width=320)
    baseline = view.baseline
    rows = win_loss(view.evaluation, measure, baseline, view.traditional)
    rows = rows.loc[order.intersection(rows.index, sort=False)]
    ui.section_finding(win_loss_finding(rows, baseline, measure), view.rerankers)
    ui.chart(
        charts.win_loss_bars(rows.head(n_drawn), view.palette),
        "duels",
        f"Queries on which each reranker is ahead of, level with or behind {baseline}.",
    )
    ui.table(
        rows.reset_index(),
        "Won, equal, lost",
        "duels",
        shown_columns(
            *("reranker", "won", "equal", "lost", "won_before", "equal_before", "lost_before"),
            ("changed", "changed_queries"),
            "n",
        ),
        height=TABLE,
    )


@ui.section("The table of rerankers")
def summary_table(view: View, summary: pd.DataFrame, measures: tuple[MeasureAt, MeasureAt]) -> None:
    """Draw the mean scores, ties and gaps of each reranker in two measures, and how to read the means."""
    rows = summary.join(ranks_and_ratios(view.evaluation, str(measures[0]), view.baseline)).reset_index()
    columns = reranker_columns(measures) | shown_columns("typical_rank")
    if len(rows) > 1:
        columns |= shown_columns("times", tied=measures[0].tied, baseline=view.baseline)
    columns |= shown_columns(("relevant", "relevant_mean"))
    download = measures_in_names(rows, *map(str, measures))
    ui.table(rows, "", "rerankers", columns, download=download)
