"""Sections of Share: the file itself, and the ways to get it."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial

import streamlit as st

from dashboard import session
from dashboard.library.command_line import command
from dashboard.session import View
from dashboard.session.boards import while_open
from dashboard.views.lab.share.cached import html_file
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
    command_place = st.expander("The same from a terminal")
    form = session.segmented(
        "Preview as", ("page", "text"), "preview", label_visibility="collapsed", help=_FORM_HELP
    )
    if form == "text":
        st.code(report.text(today), language=None, height=760, wrap_lines=True)
    else:
        with st.container(border=True):
            st.iframe(html(), height=760, alt="Preview of the report")
    with command_place:
        _command_section(view, options, "report.txt" if form == "text" else "report.html")


def _export_buttons(report: Report, html: Callable[[], str], today: date) -> None:
    files = (
        ("HTML", "html", "text/html", "One file that opens offline", html),
        ("Markdown", "md", "text/markdown", "For a pull request", lambda: report.markdown(today)),
        ("Text", "txt", "text/plain", "As the G-RAG notebook prints it", lambda: report.text(today)),
        ("LaTeX", "tex", "text/x-tex", "Compiles, and fits a page", lambda: report.latex(today)),
        ("CSV", "csv", "text/csv", "Every list and value", lambda: spreadsheet_csv(report.per_query())),
        ("Parquet", "parquet", "application/vnd.apache.parquet", "The same, typed", lambda: _parquet(report)),
    )
    with st.container(horizontal=True, gap="small"):
        for name, ending, mime, use, data in files:
            st.download_button(
                name,
                data=while_open(data),
                file_name=f"tiescope-report.{ending}",
                mime=mime,
                key=f"report-{ending}",
                help=use,
                icon=":material/download:",
                type="primary" if ending == "html" else "secondary",
                on_click="ignore",
            )


def _parquet(report: Report) -> bytes:
    return bytes(report.per_query().to_parquet(index=False))


def _command_section(view: View, options: ReportOptions, file_name: str) -> None:
    """Draw the command that makes the file that is shown."""
    st.code(command(view.board, options, file_name), language=None, wrap_lines=True)
    if view.board.spec.names is not None:
        st.caption("Rerankers were arranged here; in a terminal they have the names of their files.")
