"""Headings, sentences, cards, charts, tables and error messages of pages."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.boards import while_open
from dashboard.cache import drawn
from dashboard.charts.figure import Figure
from dashboard.charts.labels import elide_text, sentence_names
from dashboard.controls import recall
from dashboard.escaping import error_markdown, escape_markdown, without_controls
from dashboard.visitor import is_narrow, offer_copy
from dashboard.widgets import columns as table_columns
from dashboard.widgets.columns import Columns
from dashboard.widgets.first_rows import rows_left_out
from metrics.errors import TieScopeError
from metrics.runs.findings import FindingGroup
from metrics.studies.prose import Prose, Strong, plain
from metrics.support.escaping import spreadsheet_csv
from metrics.support.shown_columns import card_help
from metrics.support.wording import count_of

P = ParamSpec("P")
R = TypeVar("R")
Colour = Literal["blue", "orange", "gray", "green", "red"]
Height = int | Literal["auto"]

_SIDEWAYS = """<style>
.sideways-{wide} {{ container-type: inline-size; font-size: .875rem; opacity: .7 }}
@container (min-width: {wide}px) {{ .sideways-{wide} span {{ display: none }} }}
</style><div class="sideways-{wide}"><span>↔ Scroll the chart sideways to see all of it.</span></div>"""
"""Hint above a chart that is wider than its place."""
_WHOLE = 12
"""Rows up to which a table is shown whole; a longer one scrolls."""
_GAP = 48
"""Pixels between two columns."""


@dataclass(frozen=True)
class Card:
    """One figure with its name and note; `card_help` explains it."""

    icon: str
    label: str
    value: str
    note: str
    colour: Colour = "gray"
    help: str | None = None


def finding(prose: Prose, names: Iterable[str] = (), lines: Iterable[str] = (), key: str = "finding") -> None:
    """Show a finding with a button that copies it, further lines and a link as text.

    Its tooltip has long names in full.
    """
    with st.container(border=True, key=key, horizontal=True, vertical_alignment="center"):
        with st.container():
            section_finding(prose, names, ":material/lightbulb: ")
        offer_copy(f"copy-{key}", "Copy", "\n".join(map(without_controls, (plain(prose).strip(), *lines))))


def section_finding(prose: Prose, names: Iterable[str] = (), icon: str = "") -> None:
    """Show the finding of a section; its tooltip has long names in full."""
    short, full_names = elide_prose(prose, sentence_names(names))
    st.markdown(icon + prose_markdown(short), help=full_names or None)


def elide_prose(prose: Prose, labels: Mapping[str, str]) -> tuple[Prose, str]:
    """Return a sentence with shortened names, and Markdown with the full names."""
    text = plain(prose)
    elided = {name: label for name, label in labels.items() if name in text}
    short = tuple(
        Strong(elide_text(part.text, elided)) if isinstance(part, Strong) else elide_text(part, elided)
        for part in prose
    )
    lines = (f"**{escape_markdown(label)}** is {escape_markdown(name)}" for name, label in elided.items())
    return short, "  \n".join(lines)


def prose_markdown(prose: Prose) -> str:
    """Return a sentence as Markdown, with user texts escaped."""
    return "".join(
        f"**{escape_markdown(part.text.strip())}**" + " " * part.text.endswith(" ")
        if isinstance(part, Strong)
        else escape_markdown(part)
        for part in prose
    )


def offer(text: str) -> DeltaGenerator:
    """Show an offer in a frame, and return the place for its buttons, on the same line."""
    line = st.container(horizontal=True, vertical_alignment="center", border=True)
    line.markdown(text, width="content")
    return line


def cards(*row: Card) -> None:
    """Show cards side by side, in two rows where four do not fit."""
    for column, card in zip(st.columns(len(row)), row, strict=True):
        column.metric(
            f":material/{card.icon}: {card.label}",
            card.value,
            escape_markdown(card.note),
            delta_color=card.colour,
            delta_arrow="off",
            help=card.help or card_help(card.label),
            border=True,
            height="stretch",
        )


def side_by_side(left: int, right: int, key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return two columns of these relative widths, which narrow places show one below the other."""
    with st.container(key=f"pair-{key}"):
        first, second = st.columns((left, right), gap=_GAP)
    return first, second


def in_cell(grid: Any, draw: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:  # noqa: ANN401 Streamlit's own is private
    """Draw a control in the next cell of a grid and return its value."""
    with grid.cell():
        return draw(*arguments, **options)


def columns_line(findings: pd.DataFrame) -> None:
    """Say how the first file was read whose column names do not tell."""
    for message in findings.loc[findings["code"] == "columns-told", "message"].head(1):
        st.caption(f":material/info: {escape_markdown(message)}")


def group_text(group: FindingGroup) -> str:
    """Return a group of findings as Markdown: what has it, and what it is."""
    return f"**{escape_markdown(group.subject)}**: {escape_markdown(group.title)}"


def heading(title: str, explanation: str = "") -> None:
    """Show the title of a section and how to read it."""
    with st.container(gap="xxsmall"):
        st.header(title, anchor=False)
        if explanation:
            st.caption(explanation)


def chart(
    figure: Figure,
    key: str,
    alt: str,
    *,
    wide: int | None = None,
    on_click: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Show a figure with its alternative text; `on_click` takes the point that the visitor clicked."""
    selection: dict[str, Any] = {}
    if on_click is not None:
        selection = {"on_select": partial(_take_click, key, on_click), "selection_mode": "points"}
    config = {
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "svg", "filename": f"tiescope-{key}"},
    }
    sent, key = figure.to_plotly(is_clickable=bool(selection)), key if selection else f"chart-{key}"
    with keep_wide(wide):
        st.plotly_chart(sent, theme=None, key=key, alt=alt, config=config, **selection)


def _take_click(key: str, on_click: Callable[[dict[str, Any]], None]) -> None:
    for point in recall(key)["selection"]["points"][:1]:
        on_click(point)


def keep_wide(wide: int | None) -> Any:  # noqa: ANN401 a container
    """Return a container that keeps its width on a phone and scrolls sideways."""
    if wide is None:
        return nullcontext()
    parts = st.container(gap="xxsmall")
    parts.html(_SIDEWAYS.format(wide=wide))
    return parts.grid(1, wrap=False, min_column_width=wide).cell()


def table(
    frame: pd.DataFrame,
    title: str,
    name: str,
    columns: Columns,
    download: pd.DataFrame | Callable[[], pd.DataFrame] | None = None,
    explanation: str = "",
    height: Height = "auto",
) -> None:
    """Show a table under its heading, with a download of all rows as CSV.

    Shares in `frame` are 0 to 1. `download` is the file's content if it differs, or a function that makes it.
    `height` is that of a long table.
    """
    table_head(title, name, frame if download is None else download)
    if explanation:
        st.caption(explanation)
    table_rows(frame, name, columns, height)


def table_rows(frame: pd.DataFrame, name: str, columns: Columns, height: Height = "auto") -> None:
    """Show the rows of a table, as `table` does below its heading."""
    drawn(_draw_rows, frame, name, columns, height, is_phone=is_narrow())


def _draw_rows(frame: pd.DataFrame, name: str, columns: Columns, height: Height, *, is_phone: bool) -> None:
    by_hand = table_columns.writers(frame.head(table_columns.MOST_ROWS), columns)
    n_shown = table_columns.MOST_WRITTEN if by_hand else table_columns.MOST_ROWS
    if note := rows_left_out(n_shown, len(frame)):
        st.caption(note)
    frame, columns = table_columns.elide_names(frame.head(n_shown), columns)
    frame = table_columns.scale_shares(frame, columns)
    in_sight = table_columns.columns_in_sight(columns)
    if n_hidden := len(columns) - len(in_sight):
        st.caption(f"{count_of(n_hidden, 'more column')}: click :material/visibility: or see the CSV.")
    st.dataframe(
        table_columns.written(frame, columns, by_hand),
        column_config=table_columns.streamlit_columns(columns, by_hand, is_narrow=is_phone),
        column_order=in_sight,
        hide_index=True,
        key=f"table-{name}",
        placeholder="–",
        height="content" if len(frame) <= _WHOLE else height,
    )


def table_head(title: str, name: str, download: pd.DataFrame | Callable[[], pd.DataFrame]) -> None:
    """Show the title of a table and its download, left of the place where Streamlit shows a table's menu."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if title:
            st.header(title, anchor=False, width="content")
        download_csv(download, name)


def download_csv(frame: pd.DataFrame | Callable[[], pd.DataFrame], name: str) -> None:
    """Show a button that downloads a table as CSV, made on request if a function is given."""

    def written() -> bytes:
        return spreadsheet_csv(frame() if callable(frame) else frame)

    file, key = f"tiescope-{name}.csv", f"download-{name}"
    download("CSV", written, file, "text/csv", key, type="tertiary")


def download(label: str, write: Callable[[], str | bytes], file: str, mime: str, key: str, **look: Any) -> None:
    """Draw the download of a file, which is made on a click while the visitor may open the board shown.

    `look` are further options of Streamlit's button.
    """
    look = {"icon": ":material/download:", "on_click": "ignore"} | look
    st.download_button(label, data=while_open(write), file_name=file, mime=mime, key=key, **look)


THIS_PAGE = "This page"
"""Name of a page as the outermost section."""
_LOG = logging.getLogger(__name__)


@contextmanager
def section(name: str) -> Iterator[None]:
    """Show an error in place of what fails inside, and continue with the page; also decorates a function.

    Streamlit stops and reruns scripts by exceptions that do not derive from `Exception`; they pass.
    """
    try:
        yield
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
    except Exception as error:  # noqa: BLE001 whatever it is, the other sections stay
        show_failure(name, error)


def show_failure(name: str, error: Exception) -> None:
    """Show that a section failed, and log the traceback, which pages do not show."""
    _LOG.error("%s could not be shown", name, exc_info=error)
    st.error(
        f"**{name} could not be shown** ({type(error).__name__}). Reload the page or change a setting. If the "
        "error returns, report it with the traceback in the server's log.",
        icon=":material/error:",
    )
