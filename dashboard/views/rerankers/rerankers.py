"""Rerankers: what each scores by one order of its ties, over every order, and where the two part."""

import pandas as pd
import streamlit as st

from dashboard import cache, choices, controls
from dashboard.cache import ShownBoard
from dashboard.charts.rerankers import ACROSS, FEW_ROWS, aligned_rows, gap_multiples
from dashboard.choices import View, choose_relevant_from
from dashboard.server.board_results import cached_by_key
from dashboard.views.rerankers.groups import baseline_comparison, query_groups
from dashboard.views.rerankers.one_reranker import one_reranker
from dashboard.views.rerankers.summary import readings_table, summary_table
from dashboard.widgets.components import chart, finding, follow_old_section, heading
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import shown_rows
from dashboard.widgets.sections import section
from metrics import parse
from metrics.measures import question
from metrics.studies.gaps import gap_summary, gaps, reranker_finding
from metrics.studies.tie_rules import own_rule_note

SCORES, SUMMARY, TIES, GROUPS = "Scores", "Summary table", "Gap against tie ratio", "Query groups"
ALIKE = "Who copies whom"
OLD_SECTIONS = {"Summary": SUMMARY, "MRR beside MAP": SUMMARY, "Against the baseline": GROUPS, ALIKE: SCORES}


def show(view: View) -> None:
    """Draw score, ties and gap of each reranker."""
    st.title("Rerankers", anchor=False)
    verdict = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = choices.measure()
        choose_relevant_from(view.board)
        sort = controls.segmented("Sort by", ("tied", "traditional", "tie ratio", "gap"), "sort")
        is_signed = controls.segmented("Gap", ("absolute", "signed"), "gap") == "signed"
    has_groups = len(view.rerankers) > 1 or len(cache.segments(view.board))
    if controls.get_value("section") == ALIKE:
        controls.set_value("opened", view.rerankers[0])
    follow_old_section(OLD_SECTIONS)
    section = controls.segmented(
        "Section",
        [SCORES, SUMMARY, TIES, *[GROUPS] * bool(has_groups)],
        "section",
        label_visibility="collapsed",
    )
    row_range = shown_rows(len(view.rerankers))
    name = chosen = parse(measure)
    second = "Hits@5" if measure != "Hits@5" else "RR"
    if chosen.measure.answers:
        name, second = question(chosen), measure
    first = str(name)
    lists, summary = _gaps_and_summary(view, first, second, view.traditional)
    columns = {"tied": "first_tied", "traditional": "first_traditional", "tie ratio": "tie_ratio"}
    order = columns.get(sort, "first_gap" if is_signed else "first_gap_mean")
    summary = summary.sort_values(order, ascending=False, kind="stable")
    with verdict:
        finding((*own_rule_note(measure), *reranker_finding(lists, first)), view.rerankers)
    drawn_rows = row_range.of(summary)
    if section == SUMMARY:
        summary_table(summary, (name, parse(second)))
        readings_table(view)
    elif section == TIES:
        gap_panels(view, drawn_rows.index, lists, first, is_signed=is_signed)
        row_range.buttons()
    elif section == GROUPS:
        query_groups(view, first, drawn_rows.index)
        baseline_comparison(view, measure, row_range.n_shown)
        row_range.buttons()
    else:
        rows_chart(view, drawn_rows, lists, name.traditional, is_signed=is_signed)
        row_range.buttons()
        one_reranker(view, lists, first, drawn_rows.index, is_signed=is_signed)


@cached_by_key(show_spinner=False, max_entries=8)
def _gaps_and_summary(
    view: ShownBoard, first: str, second: str, traditional: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the gaps of all lists as `gaps` does, and what `gap_summary` makes of them."""
    lists = gaps(view.evaluation, {"first": first, "second": second}, traditional)
    return lists, gap_summary(lists)


@section("Scores, ties and gaps")
def rows_chart(view: View, rows: pd.DataFrame, lists: pd.DataFrame, measure: str, *, is_signed: bool) -> None:
    """Draw scores with their bounds, ties and gaps, a row a reranker."""
    sides = "orange where the traditional value is too high, grey where it is too low"
    explanation = f"Right: the lists with a gap{f', {sides}' * is_signed}. The mark is the mean over all lists."
    heading("Score, ties and gap, reranker by reranker", explanation)
    chart(
        kept_figure(view.board.key, aligned_rows, rows, lists, view.palette, measure, is_signed=is_signed),
        "rerankers",
        f"{measure} with tie bounds, mean tie ratio and distribution of gaps of each reranker.",
        wide=640,
    )


@section("Gap against tie ratio")
def gap_panels(view: View, names: pd.Index, lists: pd.DataFrame, measure: str, *, is_signed: bool) -> None:
    """Draw the gap of each list against its ties, a panel a reranker."""
    st.caption("Each dot is a list; grey repeats the lists of all rerankers. The line is the mean gap.")
    colours = {str(reranker): view.colour(str(reranker)) for reranker in names}
    chart(
        kept_figure(view.board.key, gap_multiples, lists, view.palette, colours, measure, is_signed=is_signed),
        "gap-multiples",
        f"{measure} gap against tie ratio, a panel a reranker, and their means together.",
        wide=670 if len(colours) < ACROSS * FEW_ROWS else 820,
    )
