"""The last section of the Simulator: the visitor's own scores with fewer digits."""

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.simulated.precision_panels import precision_panels
from dashboard.escaping import escape_markdown
from dashboard.views.simulator import cached
from dashboard.widgets.components import chart, heading, number, section_finding, share, table
from metrics import parse
from metrics.errors import TieScopeError
from metrics.studies.gaps.precisions import PRECISIONS, precision_finding, precision_label

_LABELS = {precision_label(one): one for one in PRECISIONS}


def number_formats(view: session.View) -> None:
    """What a reranker of the data shown would score in fewer bits, decimals or grades."""
    heading("Number formats", "What if the scores of your runs were held in fewer bits, decimals or grades?")
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        reranker = session.select("Reranker", view.rerankers, "reranker", width=240)
        measure = session.measure()
    queries = set(view.evaluation.scores.index.get_level_values("query_id"))
    curve = cached.precisions(view.key, reranker, measure, view.traditional, view.board, queries)
    name = parse(measure).traditional
    section_finding(precision_finding(curve, name))
    heading("What fewer digits do", "Left of the line: bits in memory. Right: digits in a file, and grades.")
    figure = precision_panels(curve, view.palette, name)
    chart(figure, "digits", f"Tie ratio and {name} under each number format.", wide=760)
    _in_numbers(curve, measure)
    _use(view)


def _in_numbers(curve: pd.DataFrame, measure: str) -> None:
    rows = curve.assign(tie_ratio=100 * curve["tie_ratio"], width=curve["best"] - curve["worst"])
    table(
        rows,
        "In numbers",
        "precisions",
        {
            "label": st.column_config.TextColumn("Format"),
            "tie_ratio": share("Tie ratio"),
            "tied": number(parse(measure).tied),
            "traditional": number(parse(measure).traditional),
            "std": number("± by ties", help="Standard deviation of the mean when ties are broken at random."),
            "width": number("Best − worst"),
            "worst": number("Worst"),
            "best": number("Best"),
        },
        download=curve,
    )


def _use(view: session.View) -> None:
    """The data escape_markdown, its scores in another format, as data of its own."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = session.select("All runs as", list(_LABELS), "held", "2 decimals", width=180)
        if st.button("Use as runs", icon=":material/library_add:", key="use-held"):
            try:
                held = cached.board_held(view.board, _LABELS[chosen])
                given = {file.sha256 for file in held.files}
                session.show_board(held, given, keep=False if session.is_session_only(view.board) else None)
            except TieScopeError as error:
                st.error(escape_markdown(str(error)), icon=":material/error:")
    st.caption(
        "Grades: scores of a reranker from its least to its largest, as whole numbers from 0 to 10. No format "
        "turns two documents round; it only lets them tie."
    )
