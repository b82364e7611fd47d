"""Which published table is audited."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from dashboard import cache
from dashboard.charts.labels import CARD_COLUMNS, clipped
from dashboard.choices import View
from dashboard.escaping import error_markdown, escape_markdown
from dashboard.library.boards import Board
from dashboard.published import (
    FILE_ORDER,
    NO_TABLE,
    SAMPLE_TABLE,
    choose_table,
    is_new,
    missing_table,
    take_files,
    take_table,
)
from dashboard.widgets import audited_table
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.studies.audit.published_table import PublishedTable
from metrics.support.wording import count_of

_FORMS = (
    "CSV, Markdown, LaTeX, JSON of BEIR and MTEB, or what trec_eval printed, a file a run (.eval). "
    "It is kept with the board: a link shows the same audit."
)
_PASTE = "reranker,MRR,nDCG@10\nBM25,0.7270,0.6315"


class OpenTable(NamedTuple):
    """A published table, and what the link calls it."""

    name: str
    table: PublishedTable


def open_table(view: View) -> OpenTable | None:
    """Draw the field, and return what is audited: what the link calls it, and the table; None where nothing is.

    A file that cannot be read is refused, and what was audited before stays.
    """
    has_sample = view.board.label == cache.SAMPLE_LABEL
    table = choose_table(view.board, SAMPLE_TABLE if has_sample else NO_TABLE, has_sample=has_sample)
    if table == NO_TABLE:
        _offer_field(view.board)
        lost = missing_table()
        begin = (
            f"This link audits {escape_markdown(lost)}, which this board does not have any more. Drop it again"
            if lost
            else "Drop the results that were published of these runs: a table, or what trec_eval printed"
        )
        st.info(f"{begin}; or audit an example table with mistakes.", icon=":material/fact_check:")
        st.button(
            "Audit an example table with mistakes",
            icon=":material/table_view:",
            type="primary",
            key="careless",
            on_click=partial(take_table, FILE_ORDER),
        )
        return None
    files = audited_table.published_files(view.board, table)
    published = audited_table.read_table(audited_table.AuditKey(view.board.key, table), files)
    if isinstance(published, TieScopeError):
        _offer_field(view.board)
        st.error(escape_markdown(str(published)), icon=":material/error:")
        return None
    _table_card(view.board, table, files, published)
    return OpenTable(table, published)


def _table_card(board: Board, table: str, files: Sequence[File], published: PublishedTable) -> None:
    """Draw what the table is called and how large it is, and a way to another."""
    names = {SAMPLE_TABLE: files[0].name, FILE_ORDER: "Example with mistakes"}
    and_more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    name = names.get(table) or clipped(files[0].name, CARD_COLUMNS) + and_more
    with st.container(border=True, horizontal=True, vertical_alignment="center", width=400):
        size = f"{count_of(len(published.rerankers), 'row')}, {count_of(len(published.measures), 'measure')}"
        st.markdown(f":material/table_view: **{escape_markdown(name)}**  \n:small[{size}]", width="content")
        st.space("stretch")
        with st.popover("Replace", icon=":material/upload:", type="tertiary"):
            _offer_field(board)
            if table != FILE_ORDER:
                st.button(
                    "Example table with mistakes",
                    icon=":material/table_view:",
                    key="careless",
                    help="What a careless script prints of this board: ties in file order, four digits.",
                    on_click=partial(take_table, FILE_ORDER),
                )
            if table != SAMPLE_TABLE and board.label == cache.SAMPLE_LABEL:
                st.button("Table beside the sample", key="sample", on_click=partial(take_table, SAMPLE_TABLE))


def _offer_field(board: Board) -> None:
    """Draw where a table is dropped or pasted; one that can be read is audited from now on."""
    uploaded = st.file_uploader(
        "Published table", accept_multiple_files=True, key="published", help=_FORMS, max_upload_size=20
    )
    text = st.text_area("Or paste it", key="published-text", height=100, placeholder=_PASTE)
    files = [File(file.name, file.getvalue()) for file in uploaded]
    if text.strip() and not files:
        files = [File("pasted.txt", text.encode("utf-8", "replace"))]
    if not is_new(files):
        return
    digest = ",".join(file.sha256 for file in files)
    published = audited_table.read_table(audited_table.AuditKey(board.key, digest), tuple(files))
    if isinstance(published, TieScopeError):
        st.error(escape_markdown(str(published)), icon=":material/error:")
        st.caption("Nothing was replaced.")
        return
    try:
        take_files(board, files)
    except TieScopeError as error:
        st.error(error_markdown(error), icon=":material/error:")
    else:
        st.rerun()
