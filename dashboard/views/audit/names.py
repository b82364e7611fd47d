"""Whose figures are whose: published names of rerankers and measures, and ours."""

from functools import partial

import pandas as pd
import streamlit as st

from dashboard import cache
from dashboard.charts.labels import CARD_COLUMNS, TABLE_COLUMNS, clipped, short_names
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.published import match_by_hand
from metrics import MEASURES
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published_table import PublishedTable
from metrics.support.wording import count_of, first_names

_MOST_SELECTS = 20
"""Names that can be matched by hand at once."""
_NONE = "none of these"


def name_controls(board: Board, names: NameMatches) -> None:
    """Draw a control for each published name that is not the same here."""
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
    grid = st.grid(3, min_column_width=250)
    labels = short_names(rows["published"].astype(str), TABLE_COLUMNS)
    ours = short_names(options, TABLE_COLUMNS) | {"": _NONE}
    for row in rows.itertuples():
        key = f"match-{kind}-{row.published}-{row.matched}"  # a new one shows what is matched now
        choices = ["", *options, *([row.matched] if row.matched not in ("", *options) else [])]
        grid.cell().selectbox(
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
    """Return Markdown of names that are not the same here, those not matched, and what was read otherwise."""
    rows = names.rerankers
    parts = []
    labels = short_names(rows["published"].astype(str), CARD_COLUMNS)
    ours = short_names(rows["matched"].astype(str), CARD_COLUMNS)
    for kind, words in (("alike", "Alike"), ("by hand", "By hand")):
        pairs = rows[(rows["how"] == kind) & rows["matched"].ne("")]
        texts = [
            f"**{escape_markdown(labels[row.published])}** is {escape_markdown(ours[row.matched])}"
            for row in pairs.itertuples()
            if not row.published.casefold().startswith(f"{row.matched}.".casefold())  # the name of its file
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
