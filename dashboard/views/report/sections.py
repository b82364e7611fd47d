"""Sections of the Report page: targets, the file itself, and the ways to get it."""

from datetime import UTC, date, datetime

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.deciding.targets import MAX_COLUMNS, target_bullets, target_matrix
from dashboard.charts.report import draw_charts
from dashboard.escaping import escape_markdown
from dashboard.library import Board
from dashboard.session import View
from dashboard.views.report.command_line import command
from dashboard.widgets.components import chart, csv, heading, number, table
from metrics.errors import UsageError
from metrics.report import MEASURES, SECTIONS, Report, ReportOptions, report
from metrics.studies.targets.targets import VERDICTS, targets_of

_USUAL = ReportOptions()


def asked(
    view: View, measure: str, title: str, wanted: tuple[str, ...], targets_for: str, sections: list[str]
) -> ReportOptions:
    """What the page says is to be told."""
    every = view.rerankers == view.board.runs.rerankers
    return ReportOptions(
        measures=(measure, *MEASURES),
        traditional=view.traditional,
        baseline="" if view.baseline == view.rerankers[0] else view.baseline,
        targets_for=targets_for,
        targets=wanted,
        title=title,
        rerankers=() if every else tuple(view.rerankers),
        segments=view.segments,
        sections=() if len(sections) == len(SECTIONS) else tuple(sections),
        files=tuple((file.name, file.sha256) for file in view.board.files),
        scoring=view.scoring,
    )


@st.cache_resource(show_spinner="Writing the report …", max_entries=8)
def made(board: str, key: str, _board: Board, _asked: ReportOptions) -> Report:
    """The report of a board; `key` tells what was asked."""
    return report(_board.runs, **vars(_asked))


@st.cache_resource(show_spinner="Drawing the report …", max_entries=4)
def page_of(board: str, key: str, day: date, _report: Report) -> str:
    """The HTML file."""
    return _report.html(day, draw_charts(_report))


def targets(view: View, one: Report) -> None:
    """Targets of one reranker as bullet rows, and those of all."""
    rows, chosen = one.studies.targets, one.studies.targets_for
    own = rows[rows["reranker"] == chosen].reset_index(drop=True)
    left, right = st.columns([5, 3], gap="large")
    with left:
        heading("Targets", f"{escape_markdown(chosen)}. Upright line: target; bar: worst to best order.")
        alt = f"Each target with the tied and the traditional value of {chosen}."
        chart(target_bullets(own, view.palette), "targets", alt, wide=560)
    with right:
        who = "All rerankers" if len(view.rerankers) <= MAX_COLUMNS else f"The best {MAX_COLUMNS} rerankers"
        heading(who, "The same targets, by what the pass rests on.")
        alt = "Each target of each reranker, by what the pass rests on."
        chart(target_matrix(rows, view.palette, chosen), "passes", alt, wide=360)


def preview_and_export(view: View, one: Report) -> None:
    """The file itself, and the ways to get it."""
    key, today = repr(one.studies.options), datetime.now(UTC).date()
    left, right = st.columns([5, 3], gap="large")
    with left:
        heading("Preview", "The file itself, not a picture of it.")
        html = page_of(view.board.key, key, today, one)
        with st.container(border=True):
            st.iframe(html, height=760, alt="Preview of the report")
    with right:
        _export(one, html, today)
        _same(view, one.studies.options)


def _export(one: Report, html: str, today: date) -> None:
    heading("Export", "Every file carries the rule for ties; the report also policies, versions and hashes.")
    offers = (
        ("HTML", "html", "text/html", "one file, opens offline", lambda: html),
        ("Markdown", "md", "text/markdown", "for a pull request", lambda: one.markdown(today)),
        ("LaTeX", "tex", "text/x-tex", "booktabs tables", lambda: one.latex(today)),
        ("CSV", "csv", "text/csv", "every list and value", lambda: csv(one.per_query())),
        ("Parquet", "parquet", "application/vnd.apache.parquet", "the same, typed", lambda: _parquet(one)),
    )
    for name, ending, mime, use, data in offers:
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


def _parquet(one: Report) -> bytes:
    return bytes(one.per_query().to_parquet(index=False))


def _same(view: View, choices: ReportOptions) -> None:
    """The command that makes the same file."""
    heading("The same from a terminal", "Names of files as they were given.")
    st.code(command(view.board, choices), language=None, wrap_lines=True)
    if view.board.spec.names is not None:
        st.caption("Rerankers were arranged here; in a terminal they have the names of their files.")
    st.caption("This page's address is a link to the same view.")


def in_numbers(one: Report) -> None:
    """Every target of every reranker as a table."""
    rows = one.studies.targets
    rows = rows.assign(target_matrix=["pass" if ok else "fail" for ok in rows["passed"]], met=rows["verdict"])
    table(
        rows.assign(verdict=[[verdict] for verdict in rows["verdict"]]),
        "Targets in numbers",
        "targets",
        {
            "reranker": st.column_config.TextColumn("Reranker"),
            "target": st.column_config.TextColumn("Target"),
            "tied": number("Tied"),
            "missed_by": number("Missed by"),
            "traditional": number("Traditional"),
            "worst": number("Worst"),
            "best": number("Best"),
            "passes": st.column_config.TextColumn("Passes"),
            "verdict": st.column_config.MultiselectColumn(
                "Verdict",
                options=list(VERDICTS),
                color=["blue", "blue", "orange", "gray", "gray"],
                help="  \n".join(f"**{name}**: {meaning}" for name, meaning in VERDICTS.items()),
            ),
        },
        download=one.studies.targets.drop(columns="by_sort"),
    )


def wanted_targets() -> tuple[str, ...]:
    """The targets written out, or the usual ones where none are, or not as they should be."""
    usual = "MTRR>=0.8, R@5>0.7; empty: the usual"
    texts = session.text_input("Targets", "targets", placeholder=usual, max_chars=500, width=320)
    if not texts.strip():
        return _USUAL.targets
    try:
        return tuple(str(one).replace(" ", "") for one in targets_of(texts.replace(";", ",").split(",")))
    except UsageError as error:
        st.error(escape_markdown(str(error)), icon=":material/error:")
        return _USUAL.targets


def own_rows(one: Report) -> pd.DataFrame:
    """Targets of the reranker they are drawn for."""
    rows = one.studies.targets
    return rows[rows["reranker"] == one.studies.targets_for]
