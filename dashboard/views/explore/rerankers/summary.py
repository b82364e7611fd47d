"""The table of rerankers that the notebook prints."""

import pandas as pd

from dashboard.widgets.columns import deviation_columns
from dashboard.widgets.components import table
from dashboard.widgets.page_body import section
from metrics.measures import MeasureAt
from metrics.support.shown_columns import shown_columns


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
    table(summary.reset_index(), "", "rerankers", columns, download=download)
