"""Which published table is audited, and whose figures are whose."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from dashboard import cache
from dashboard.charts.labels import CARD_COLUMNS, TABLE_COLUMNS, clipped, short_names
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.session import View
from dashboard.session.published import (
    FILE_ORDER,
    NO_TABLE,
    SAMPLE_TABLE,
    choose_table,
    is_new,
    match_by_hand,
    missing_table,
    take_files,
    take_table,
)
from dashboard.widgets import audited_table
from metrics import MEASURES
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published.table import PublishedTable
from metrics.support.wording import count_of, first_names

_FORMS = (
    "CSV, Markdown, LaTeX, JSON of BEIR and MTEB, or what trec_eval printed, a file a run (.eval). "
    "It stays in this session; a link carries its name alone."
)
_PASTE = "reranker,MRR,nDCG@10\nBM25,0.7270,0.6315"
_MOST_SELECTS = 20
"""Names that can be matched by hand at once."""
_NONE = "none of these"


class OpenTable(NamedTuple):
    """A published table, and what the link calls it."""

    name: str
    table: PublishedTable


def open_table(view: View) -> OpenTable | None:
    """Draw the field, and return what is audited: what the link calls it, and the table; None where nothing is.

    A file that cannot be read is refused, and what was audited before stays.
    """
    has_sample = view.board.label == cache.SAMPLE_LABEL
    table = choose_table(SAMPLE_TABLE if has_sample else NO_TABLE, has_sample=has_sample)
    if table == NO_TABLE:
        _offer_field(view.board)
        lost = missing_table()
        begin = (
            f"This link audits {escape_markdown(lost)}, which only the session that it was dropped in has. "
            "Drop it above to see the same"
            if lost
            else "No published table is here. Drop one above"
        )
        st.info(
            f"{begin}, or see what an audit says of the table that a careless script would print of this "
            "board: ties as the file lists them, four digits.",
            icon=":material/fact_check:",
        )
        st.button(
            "Audit the table of a careless script",
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
    names = {SAMPLE_TABLE: files[0].name, FILE_ORDER: "A careless script's"}
    and_more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    name = names.get(table) or clipped(files[0].name, CARD_COLUMNS) + and_more
    with st.container(border=True, horizontal=True, vertical_alignment="center", width=330):
        size = f"{count_of(len(published.rerankers), 'row')}, {count_of(len(published.measures), 'measure')}"
        st.markdown(f":material/table_view: **{escape_markdown(name)}**  \n:small[{size}]", width="content")
        st.space("stretch")
        with st.popover("Replace", icon=":material/upload:", type="tertiary"):
            _offer_field(board)
            if table != FILE_ORDER:
                st.button(
                    "Table of a careless script",
                    icon=":material/table_view:",
                    key="careless",
                    help="Ties as the file lists them, four digits.",
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
    else:
        take_files(files)


def names_popover(board: Board, names: NameMatches) -> None:
    """Draw how many names are matched, and controls for those that are not the same here."""
    n_matched = int(names.rerankers["matched"].ne("").sum())
    with st.container(width="content", gap="xxsmall"):
        st.markdown(":small[Names]")
        with st.popover(f"{n_matched} of {len(names.rerankers)} matched", icon=":material/link:"):
            name_controls(board, names)


def name_controls(board: Board, names: NameMatches) -> None:
    """Draw a control for each published name that is not the same here; arguments as of `names_popover`."""
    options = {
        "rerankers": list(board.runs.rerankers),
        "measures": list(dict.fromkeys([*cache.MEASURES, *_further_measures(names.measures)])),
    }
    for kind, table in (("rerankers", names.rerankers), ("measures", names.measures)):
        other = table[table["how"] != "same"]
        if not len(other):
            st.caption(f"All {kind} have the same name here.")
            continue
        st.markdown(f"**{kind.capitalize()}**")
        _selects(kind, other.head(_MOST_SELECTS), options[kind])
        if len(other) > _MOST_SELECTS:
            st.caption(f"The first {_MOST_SELECTS} of {len(other):,} {kind} that have another name here.")


def _selects(kind: str, rows: pd.DataFrame, options: list[str]) -> None:
    """Draw what each of some published names means here."""
    labels = short_names(rows["published"].astype(str), TABLE_COLUMNS)
    ours = short_names(options, TABLE_COLUMNS) | {"": _NONE}
    for row in rows.itertuples():
        key = f"match-{kind}-{row.published}-{row.matched}"  # a new one shows what is matched now
        choices = ["", *options, *([row.matched] if row.matched not in ("", *options) else [])]
        st.selectbox(
            escape_markdown(labels[str(row.published)]),
            choices,
            choices.index(row.matched),
            key=key,
            format_func=lambda name: ours.get(name, name),
            on_change=partial(match_by_hand, str(row.published), key),
        )


def _further_measures(measures: pd.DataFrame) -> list[str]:
    """Return further measures that a published name may mean: those matched, and all without a cut-off."""
    plain = [measure.name for measure in MEASURES if measure.cutoff != "required"]
    return [*measures.loc[measures["matched"].ne(""), "matched"], *plain]


def matching_line(names: NameMatches, published: PublishedTable) -> str:
    """Return Markdown of how names were matched, which were not, and what was read otherwise."""
    rows = names.rerankers
    counts = rows["how"].value_counts()
    parts = [f"Matched by name: {counts.get('same', 0) + counts.get('alike', 0)}."]
    labels = short_names(rows["published"].astype(str), CARD_COLUMNS)
    ours = short_names(rows["matched"].astype(str), CARD_COLUMNS)
    for how, words in (("alike", "Alike"), ("by hand", "By hand")):
        pairs = rows[(rows["how"] == how) & rows["matched"].ne("")]
        texts = [
            f"**{escape_markdown(labels[row.published])}** is {escape_markdown(ours[row.matched])}"
            for row in pairs.itertuples()
        ]
        parts += [f"{words}: {first_names(texts)}."] if texts else []
    for noun, table in (("reranker", rows), ("measure", names.measures)):
        lost = [escape_markdown(clipped(str(name), CARD_COLUMNS)) for name in _unmatched(table)]
        parts += (
            [f"Not matched, and left out: {count_of(len(lost), noun)} ({first_names(lost)})."] if lost else []
        )
    if names.unpublished:
        parts.append(f"Not in the table: {count_of(len(names.unpublished), 'reranker')} of the board.")
    return " ".join([*parts, *map(escape_markdown, published.notes)])


def _unmatched(table: pd.DataFrame) -> "pd.Series[str]":
    return table.loc[table["matched"].eq(""), "published"]
