"""One reranker that was opened on Rerankers: its gaps, its readings, and whose lists are like its own."""

import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.cache import ShownBoard
from dashboard.charts.ties_vs_gap import gap_scatter
from dashboard.choices import View
from dashboard.controls import link_parameters
from dashboard.escaping import escape_markdown
from dashboard.server.board_results import cached_by_key
from dashboard.widgets.components import chart, heading, section_finding, table
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.first_rows import rows_left_out
from dashboard.widgets.sections import section
from metrics.studies.rank_similarity import Variant
from metrics.studies.readings import readings, readings_finding
from metrics.support.shown_columns import shown_columns

NOBODY = "none"
MOST_LISTS = 10
"""Lists with the largest gaps that are in sight."""
_MEANINGS: dict[str, Variant] = {"they are alike": "b", "nobody knows": "a", "they share a rank": "w"}
"""What a tie may mean → variant of rank-biased overlap."""


@section("One reranker")
def one_reranker(
    view: View, lists: pd.DataFrame, measure: str, drawn_rerankers: pd.Index, *, is_signed: bool
) -> None:
    """Draw the choice of a reranker, and below it what is particular about that one."""
    names = [str(name) for name in drawn_rerankers]
    name = controls.select_name("Open one reranker", [NOBODY, *names], "opened", width=340)
    if name == NOBODY:
        return
    own = lists[lists["reranker"] == name]
    heading(escape_markdown(name), f"Its lists: tie ratio against the {measure} gap.")
    if own["first_gap"].any():
        chart(
            kept_figure(view.board.key, gap_scatter, own, view.palette, measure, None, is_signed=is_signed),
            "own-gaps",
            f"Tie ratio of each list of {name} against its gap in {measure}, and the distribution of gaps.",
            wide=640,
        )
        _largest_gaps(own, measure)
    section_finding(readings_finding(_own_readings(view, name), view.baseline), view.rerankers)
    if len(names) > 1:
        _similar_rankings(view, name, names)
    st.page_link(
        "views/data/data.py",
        label="Its versions over time",
        icon=":material/history:",
        query_params=link_parameters({"section": "Library"}),
    )


def _own_readings(view: View, name: str) -> pd.DataFrame:
    """Return the readings of a reranker, and those of the baseline, or of the next where it is the baseline."""
    rows = readings(view.evaluation, view.traditional, view.baseline)
    return rows.loc[list(dict.fromkeys([name, view.baseline]))]


def _largest_gaps(own: pd.DataFrame, measure: str) -> None:
    ordered = own.loc[own["first_gap"].abs().sort_values(ascending=False, kind="stable").index]
    columns = shown_columns(
        *("query_id", ("first_gap", "measure_gap"), "tie_ratio", "max_tie_size"),
        ("first_traditional", "traditional"),
        ("first_tied", "tied"),
        traditional=measure,
        tied=f"Tied {measure}",
        measure=measure,
    )
    explanation = rows_left_out(min(MOST_LISTS, len(ordered)), len(ordered))
    table(ordered.head(MOST_LISTS), "Largest gaps", "own-gaps", columns, ordered, explanation)


@cached_by_key(show_spinner="Comparing lists …", max_entries=8)
def _list_pairs(view: ShownBoard, rerankers: tuple[str, ...], variant: Variant) -> pd.DataFrame:
    """Return how alike the lists of each two rerankers are, by what a tie means."""
    from metrics.studies.rank_similarity import list_similarity  # noqa: PLC0415 when asked

    return list_similarity({name: view.ranking(name) for name in rerankers}, variant, queries=view.queries)


def _similar_rankings(view: View, name: str, names: list[str]) -> None:
    """Draw how alike the lists of the other rerankers are to those of this one."""
    from metrics.studies.rank_similarity import (  # noqa: PLC0415 when asked for
        DEPTH,
        LIST_QUESTIONS,
        similarity_finding,
    )

    heading(
        "Similar rankings",
        f"Rank-biased overlap of the first {DEPTH} ranks, mean over the queries that both rerankers rank.",
    )
    variant = _MEANINGS[controls.segmented("Tied documents", tuple(_MEANINGS), "tied")]
    pairs = _list_pairs(view, tuple(sorted(names, key=view.rerankers.index)), variant)
    own = pairs[(pairs["reranker"] == name) | (pairs["other"] == name)]
    section_finding(similarity_finding(own), view.rerankers)
    own = own.assign(other=own["other"].where(own["reranker"] == name, own["reranker"]))
    columns = shown_columns(("other", "reranker"), ("similarity", "list_overlap"), "identical", "n")
    table(own, "", "similar", columns, explanation=LIST_QUESTIONS[variant])
