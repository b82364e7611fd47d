"""Simulator → Rounding: score the board's runs with fewer digits."""

import pandas as pd
import streamlit as st

from dashboard import boards, choices, controls
from dashboard.boards import is_session_only
from dashboard.cache import ShownBoard
from dashboard.charts.simulator import precision_panels
from dashboard.choices import View
from dashboard.controls import follow_defaults
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
from dashboard.views.simulator.simulation import as_csv, build_board
from dashboard.widgets.components import chart, heading, section, section_finding, table
from dashboard.widgets.figures import kept_figure
from metrics import parse
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.simulation import long_table
from metrics.simulation.drawing import plain_columns
from metrics.studies import precisions
from metrics.support.shown_columns import shown_columns

_PRECISIONS = {precisions.precision_label(precision): precision for precision in precisions.PRECISIONS}


@section("Number formats")
def number_formats(view: View) -> None:
    """Draw the scores of one reranker in fewer bits, decimals or grades."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        follow_defaults({"reranker": view.rerankers[0]})
        reranker = controls.select_name("Reranker", view.rerankers, "reranker", width=240)
        measure = choices.measure()
    curve = _precisions(view, reranker, measure, view.traditional)
    name = parse(measure).traditional
    section_finding(precisions.precision_finding(curve, name))
    heading("Effect of fewer digits", "Left of the line: bits in memory. Right: digits in a file, and grades.")
    figure = kept_figure(precision_panels, curve, view.palette, name)
    chart(figure, "digits", f"Tie ratio and {name} under each number format.")
    with st.expander("In numbers"):
        _precision_table(curve, measure)
    _use_button(view)


def _precision_table(curve: pd.DataFrame, measure: str) -> None:
    name = parse(measure)
    columns = shown_columns(
        *(("label", "number_format"), "tie_ratio", "tied", "traditional", "std", "width", "worst", "best"),
        tied=name.tied,
        traditional=name.traditional,
    )
    rows = curve.assign(width=curve["best"] - curve["worst"])
    table(rows, "In numbers", "precisions", columns, download=curve)


def _use_button(view: View) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        precision = controls.select("All runs as", list(_PRECISIONS), "held", "2 decimals", width=180)
        if st.button("Use as runs", icon=":material/library_add:", key="use-held"):
            try:
                board = board_at_precision(view.board, _PRECISIONS[precision])
                hashes = {file.sha256 for file in board.files}
                boards.show_board(board, hashes, keep=False if is_session_only(view.board) else None)
            except TieScopeError as error:
                st.error(escape_markdown(str(error)), icon=":material/error:")
    st.caption(
        "Grades map a reranker's lowest to highest score to whole numbers from 0 to 10. No format swaps the "
        "order of two documents; rounding only creates ties."
    )


@cached_by_key(show_spinner="Rounding scores …", max_entries=24)
def _precisions(view: ShownBoard, reranker: str, measure: str, traditional: str) -> pd.DataFrame:
    """Return the scores of one reranker under each number format, over the queries shown."""
    queries = set(view.evaluation.scores.index.get_level_values("query_id"))
    runs = view.board.runs.arranged({reranker: reranker})
    return precisions.precision_curve(runs, measure, traditional, queries=queries, scoring=view.scoring)


def board_at_precision(board: Board, precision: str) -> Board:
    """Return a board with its scores in a number format; TieScopeError if the files cannot be read again."""
    rounded_runs = precisions.coarser_runs(board.runs, precision)
    name = precision.replace(":", "-")
    files = [File(f"{name}.csv", as_csv(long_table(rounded_runs)))]
    if rounded_runs.qrels is not None:
        files.append(File("judgments.csv", as_csv(plain_columns(rounded_runs.qrels))))
    return build_board(files)
