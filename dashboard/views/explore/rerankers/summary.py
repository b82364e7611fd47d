"""The four cards of the Rerankers page, and the table that the notebook prints."""

import pandas as pd
import streamlit as st

from dashboard.widgets.columns import deviation_columns
from dashboard.widgets.components import Card, cards, table
from dashboard.widgets.leaders import farthest_off, leader_name, most_ties
from dashboard.widgets.page_body import section
from metrics.evaluation import EQUAL
from metrics.measures import MeasureAt
from metrics.studies.prose import decimal, signed
from metrics.support.shown_columns import shown_columns


@section("The cards")
def summary_cards(summary: pd.DataFrame, measure: MeasureAt) -> None:
    """Draw who is best, whose mean is farthest off, who ties most, and whose single list is farthest off.

    The measure chosen is the second of the summary where it settles ties by its own rule, else the first.
    """
    best = summary["second_tied" if measure.measure.answers else "first_tied"]
    gaps, farthest = summary["first_gap"], summary["first_gap_max"]
    gap, farthest_reranker = farthest_off(gaps)
    single = leader_name(farthest, above=EQUAL)
    cards(
        Card("trophy", f"Best {measure.tied}", decimal(best.max(), 4), leader_name(best), "blue"),
        Card("casino", "Largest gap", signed(gap, 4), farthest_reranker, "orange"),
        Card("join_inner", "Most ties", *most_ties(summary["tie_ratio"]), "orange"),
        Card("vertical_align_center", "Farthest single list", decimal(farthest.max(), 4), single),
    )


@section("The table of rerankers")
def summary_table(summary: pd.DataFrame, measures: tuple[MeasureAt, MeasureAt]) -> None:
    """Draw the means, ties and gaps of each reranker, in the first and the second measure."""
    columns, deviations = shown_columns("reranker", "tie_ratio"), {}
    for prefix, measure in zip(("first", "second"), measures, strict=True):
        columns |= shown_columns(
            (f"{prefix}_traditional", "traditional"),
            (f"{prefix}_tied", "tied"),
            (f"{prefix}_gap_mean", "measure_gap_mean"),
            (f"{prefix}_gap_max", "measure_gap_max"),
            traditional=measure.traditional,
            tied=measure.tied,
            measure=measure,
        )
        deviations[f"{prefix}_traditional_std"] = measure.traditional
        deviations[f"{prefix}_tied_std"] = measure.tied
    columns |= shown_columns(("tie_ratio_std", "share_deviation")) | deviation_columns(deviations)
    first, second = map(str, measures)
    download = summary.reset_index().rename(
        columns=lambda column: column.replace("first", first).replace("second", second)
    )
    table(summary.reset_index(), "Summary", "rerankers", columns, download=download)
    st.caption("± SD: sample standard deviation over lists (ddof 1), as the notebook's summary has it.")
