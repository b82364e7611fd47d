"""The tables of Rerankers: means, ties and gaps; MRR and MAP in words and times."""

import pandas as pd
import streamlit as st

from dashboard.choices import View
from dashboard.widgets.columns import reranker_columns
from dashboard.widgets.components import section_finding, table
from dashboard.widgets.sections import section
from metrics import parse
from metrics.measures import MeasureAt
from metrics.studies.readings import MEASURES, TYPICAL_RANK, limits_text, readings, readings_finding
from metrics.support.shown_columns import shown_columns


@section("The table of rerankers")
def summary_table(summary: pd.DataFrame, measures: tuple[MeasureAt, MeasureAt]) -> None:
    """Draw the means, ties and gaps of each reranker, in the first and the second measure."""
    first, second = map(str, measures)
    download = summary.reset_index().rename(
        columns=lambda column: column.replace("first", first).replace("second", second)
    )
    table(summary.reset_index(), "", "rerankers", reranker_columns(measures), download=download)


@section("MRR beside MAP")
def readings_table(view: View) -> None:
    """Draw MRR beside MAP, each over that of the baseline, and what neither sees."""
    rr, ap = (parse(measure) for measure in MEASURES)
    rows = readings(view.evaluation, view.traditional, view.baseline)
    has_baseline = len(rows) > 1
    columns = shown_columns("reranker")
    for prefix, measure in (("rr", rr), ("ap", ap)):
        for value, name in (("traditional", measure.traditional), ("tied", measure.tied)):
            columns |= shown_columns((f"{prefix}_{value}", "value"), measure=name)
            if prefix == "rr":
                words = {"measure": name, "typical_rank": TYPICAL_RANK}
                columns |= shown_columns((f"{value}_rank", "typical_rank"), **words)
            if has_baseline:
                columns |= shown_columns((f"{prefix}_{value}_times", "times"), baseline=view.baseline)
    columns |= shown_columns("mean_rank") | (shown_columns("opposed", "one_sided") if has_baseline else {})
    columns |= shown_columns(("relevant", "relevant_mean"))
    table(rows.reset_index(), "MRR beside MAP", "readings", columns)
    section_finding(readings_finding(rows, view.baseline), view.rerankers)
    st.caption(
        f"{rr.traditional} does not see {limits_text('RR')} {ap.traditional} does not see {limits_text('AP')}"
    )
