"""Sections of the Report page: targets, the file itself, and the ways to get it."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.deciding.target_bullets import target_bullets
from dashboard.charts.deciding.target_matrix import MAX_COLUMNS, target_matrix
from dashboard.escaping import escape_markdown
from dashboard.session import View
from dashboard.views.report.cached import html_file
from dashboard.views.report.command_line import command
from dashboard.widgets.columns import badge_column
from dashboard.widgets.components import Card, cards, chart, heading, table
from metrics.report import Report, ReportOptions
from metrics.studies.targets.target_summary import target_summary
from metrics.studies.targets.targets import VERDICTS
from metrics.support.escaping import spreadsheet_csv
from metrics.support.shown_columns import shown_columns

_FORM_HELP = (
    "**page**: the HTML file. **text**: what the evaluator of the G-RAG notebook prints, reranker by reranker, "
    "to be copied."
)


def target_cards(targets: pd.DataFrame, reranker: str) -> None:
    """Draw how many targets one reranker meets, and what that rests on.

    Args:
        targets: of the reranker.
        reranker: its name.
    """
    summary = target_summary(targets)
    by_sort_order = ", ".join(summary.by_sort[:4]) or "none"
    cards(
        Card("adjust", "Targets met, tied", f"{summary.tied} of {summary.targets}", reranker, "blue"),
        Card(
            "adjust",
            "Targets met, traditional",
            f"{summary.traditional} of {summary.targets}",
            "same targets",
            "orange",
        ),
        Card("verified", "Met in every order", str(summary.always), "even in the worst"),
        Card(
            "casino",
            "Met by sort order only",
            str(len(summary.by_sort)),
            by_sort_order,
            "orange" if summary.by_sort else "gray",
        ),
    )


def target_charts(view: View, targets: pd.DataFrame, reranker: str) -> None:
    """Draw the targets of one reranker as bullet rows, and those of all.

    Args:
        view: what the sidebar says is shown.
        targets: of every reranker.
        reranker: whose rows are drawn.
    """
    wide, narrow = st.columns([5, 3], gap="large")
    with wide:
        heading("Targets", f"{escape_markdown(reranker)}. Upright line: target; bar: worst to best order.")
        own_targets = targets[targets["reranker"] == reranker].reset_index(drop=True)
        alt = f"Each target with the tied and the traditional value of {reranker}."
        chart(target_bullets(own_targets, view.palette), "targets", alt, wide=560)
    with narrow:
        has_all = len(view.rerankers) <= MAX_COLUMNS
        heading(
            "All rerankers" if has_all else f"The best {MAX_COLUMNS} rerankers",
            "The same targets, by what the pass rests on.",
        )
        alt = "Each target of each reranker, by what the pass rests on."
        chart(target_matrix(targets, view.palette, reranker), "passes", alt, wide=360)


def preview_and_export(view: View, report: Report, options: ReportOptions) -> None:
    """Draw the file itself, and the ways to get it.

    Args:
        view: what the sidebar says is shown.
        report: the report.
        options: what it was asked to tell.
    """
    today = datetime.now(UTC).date()
    wide, narrow = st.columns([5, 3], gap="large")
    with wide:
        heading("Preview", "The file itself, not a picture of it.")
        form = session.segmented("Preview as", ("page", "text"), "preview", help=_FORM_HELP)
        html = partial(html_file, view.board.key, repr(options), today, report)
        if form == "text":
            st.code(report.text(today), language=None, height=760, wrap_lines=True)
        else:
            with st.container(border=True):
                st.iframe(html(), height=760, alt="Preview of the report")
    with narrow:
        _export_buttons(report, html, today)
        _command_section(view, options, "report.txt" if form == "text" else "report.html")


def _export_buttons(report: Report, html: Callable[[], str], today: date) -> None:
    heading("Export", "Every file carries the rule for ties; the report also policies, versions and hashes.")
    files = (
        ("HTML", "html", "text/html", "one file, opens offline", html),
        ("Markdown", "md", "text/markdown", "for a pull request", lambda: report.markdown(today)),
        ("Text", "txt", "text/plain", "as the G-RAG notebook prints it", lambda: report.text(today)),
        ("LaTeX", "tex", "text/x-tex", "booktabs tables", lambda: report.latex(today)),
        ("CSV", "csv", "text/csv", "every list and value", lambda: spreadsheet_csv(report.per_query())),
        ("Parquet", "parquet", "application/vnd.apache.parquet", "the same, typed", lambda: _parquet(report)),
    )
    for name, ending, mime, use, data in files:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.download_button(
                name,
                data=data,
                file_name=f"tiescope-report.{ending}",
                mime=mime,
                key=f"report-{ending}",
                icon=":material/download:",
                type="primary" if ending == "html" else "secondary",
                on_click="ignore",
                width=136,
            )
            st.caption(use, width="stretch")


def _parquet(report: Report) -> bytes:
    return bytes(report.per_query().to_parquet(index=False))


def _command_section(view: View, options: ReportOptions, file_name: str) -> None:
    """Draw the command that makes the file that is shown."""
    heading("The same from a terminal", "Names of files as they were given.")
    st.code(command(view.board, options, file_name), language=None, wrap_lines=True)
    if view.board.spec.names is not None:
        st.caption("Rerankers were arranged here; in a terminal they have the names of their files.")
    st.caption("This page's address is a link to the same view.")


def target_table(targets: pd.DataFrame) -> None:
    """Draw every target of every reranker as a table."""
    table(
        targets.assign(
            passes=["pass" if passed else "fail" for passed in targets["passed"]],
            verdict=[[verdict] for verdict in targets["verdict"]],
        ),
        "Targets in numbers",
        "targets",
        {
            **shown_columns("reranker", "target", "tied", "missed_by"),
            **shown_columns("traditional", "worst", "best", "passes"),
            "verdict": badge_column("Verdict", VERDICTS, ("blue", "blue", "orange", "gray", "gray")),
        },
        download=targets.drop(columns="by_sort"),
    )
