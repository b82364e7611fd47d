"""Sections of Share: the file itself, and the ways to get it."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial

import streamlit as st

from dashboard import controls
from dashboard.boards import while_open
from dashboard.choices import View
from dashboard.library.command_line import command
from dashboard.views.lab.share.cached import html_file
from dashboard.widgets.components import heading
from dashboard.widgets.page_body import section
from metrics.report import Report, ReportOptions
from metrics.support.escaping import spreadsheet_csv

_FORM_HELP = (
    "**page**: the HTML file. **text**: what the evaluator of the G-RAG notebook prints, reranker by reranker, "
    "to be copied."
)


@section("Preview and export")
def preview_and_export(view: View, report: Report, options: ReportOptions) -> None:
    """Draw the ways to get the file, and the file itself at full width, for its charts are wide.

    Args:
        view: what the sidebar says is shown.
        report: the report.
        options: what it was asked to tell.
    """
    today = datetime.now(UTC).date()
    html = partial(html_file, view.board, repr(options), today, report)
    _export_buttons(report, html, today)
    command_place = st.container()
    heading("Preview", "The file itself, not a picture of it.")
    form = controls.segmented("Preview as", ("page", "text"), "preview", help=_FORM_HELP)
    if form == "text":
        st.code(report.text(today), language=None, height=760, wrap_lines=True)
    else:
        with st.container(border=True):
            st.iframe(html(), height=760, alt="Preview of the report")
    with command_place:
        _command_section(view, options, "report.txt" if form == "text" else "report.html")


def _export_buttons(report: Report, html: Callable[[], str], today: date) -> None:
    heading("Export", "Every file carries the rule for ties; the report also policies, versions and hashes.")
    files = (
        ("HTML", "html", "text/html", "one file, opens offline", html),
        ("Markdown", "md", "text/markdown", "for a pull request", lambda: report.markdown(today)),
        ("Text", "txt", "text/plain", "as the G-RAG notebook prints it", lambda: report.text(today)),
        ("LaTeX", "tex", "text/x-tex", "compiles, and fits a page", lambda: report.latex(today)),
        ("CSV", "csv", "text/csv", "every list and value", lambda: spreadsheet_csv(report.per_query())),
        ("Parquet", "parquet", "application/vnd.apache.parquet", "the same, typed", lambda: _parquet(report)),
    )
    grid = st.grid(len(files), min_column_width=140)
    for name, ending, mime, use, data in files:
        with grid.container(gap="xxsmall"):
            st.download_button(
                name,
                data=while_open(data),
                file_name=f"tiescope-report.{ending}",
                mime=mime,
                key=f"report-{ending}",
                icon=":material/download:",
                type="primary" if ending == "html" else "secondary",
                on_click="ignore",
                width="stretch",
            )
            st.caption(use)


def _parquet(report: Report) -> bytes:
    return bytes(report.per_query().to_parquet(index=False))


def _command_section(view: View, options: ReportOptions, file_name: str) -> None:
    """Draw the command that makes the file that is shown."""
    heading("The same from a terminal", "Names of files as they were given.")
    st.code(command(view.board, options, file_name), language=None, wrap_lines=True)
    if view.board.spec.names is not None:
        st.caption("Rerankers were arranged here; in a terminal they have the names of their files.")
    st.caption("This page's address is a link to the same view.")
