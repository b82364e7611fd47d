"""The choice of a list: at first the one with the largest gap; a link says another."""

from dataclasses import replace
from textwrap import shorten
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.escaping import escape_markdown
from dashboard.session.controls import follow_defaults
from dashboard.views.explore.query.cached import ordered_lists, query_labels, reranker_labels
from dashboard.widgets.components import page_head
from dashboard.widgets.one_list import LETTERS, ListInView, load_list
from metrics.studies.one_list.list_order import list_reason
from metrics.studies.one_list.query import text_column

ALONE = "no other"


def choose_list(view: session.View) -> ListInView:
    """Draw the head of the page, which says why a list is shown, and the controls; return that list."""
    head = st.container()
    controls = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    measure = session.measure()
    shown = view, measure, view.traditional
    lists = ordered_lists(*shown)
    with controls:
        place = st.empty()
        reranker = _choose_reranker(view, lists.iloc[0], reranker_labels(*shown))
        with place:
            query = _choose_query(query_labels(*shown, reranker))
        others = set(lists.loc[lists["query_id"] == query, "reranker"]) - {reranker}
        alternatives = [name for name in view.rerankers if name in others]
        beside = session.select_name("Beside", [ALONE, *alternatives], "beside", width=240)
    list_in_view = load_list(view, reranker, query, measure)
    with head:
        _explain_choice(list_in_view, lists)
    return replace(list_in_view, beside=None if beside == ALONE else beside)


def _choose_reranker(view: session.View, first: pd.Series, labels: dict[str, str]) -> str:
    """Draw the choice of a reranker: of the list with the largest gap unless the visitor or the link says more.

    A link of an earlier version may name a query and, where it was the first of the board, no reranker.
    """
    follow_defaults({"reranker": str(first["reranker"]), "query": str(first["query_id"])})
    query = session.get_value("query")
    is_old_link = bool(query) and not session.get_value("reranker")
    default = view.rerankers[0] if is_old_link else str(first["reranker"])
    is_named = query not in ("", first["query_id"])
    return session.select(
        "Reranker",
        list(labels),
        "reranker",
        default,
        is_explicit=is_named,
        width=340,
        help="With its largest gap, and the share of a list's documents that tie, mean over its lists.",
        **_as_labelled(labels),
    )


def _choose_query(labels: dict[str, str]) -> str:
    label = "Query, largest gap first"
    shares = "With the gap of this reranker's list, and the share of that list's documents that tie."
    return session.select(label, list(labels), "query", width=300, help=shares, **_as_labelled(labels))


def _as_labelled(labels: dict[str, str]) -> dict[str, Any]:
    """Return the options of a list whose ids are shown with their labels and found by their letters."""
    return {"format_func": labels.__getitem__, "filter_mode": "contains"}


def _explain_choice(current: ListInView, lists: pd.DataFrame) -> None:
    """Draw the title, why this list is shown, the way to that with the largest gap, and what the query says."""
    first = lists.iloc[0]
    page_head("Queries", list_reason(lists, current.reranker, current.query, current.measure))
    if first["gap"] and (current.reranker, current.query) != (first["reranker"], first["query_id"]):
        st.button(
            "Show the largest gap",
            key="show-largest",
            type="tertiary",
            icon=":material/arrow_forward:",
            on_click=_show,
            args=(str(first["reranker"]), str(first["query_id"])),
        )
    document = current.ranking.documents_of(current.query)[:1]
    text = text_column(current.view.board.runs, current.reranker, current.ranking.rows[document], "query_text")
    if text and text[0].strip():
        st.markdown(f":material/search: **{escape_markdown(shorten(text[0], 2 * LETTERS, placeholder=' …'))}**")


def _show(reranker: str, query: str) -> None:
    session.set_value("reranker", reranker)
    session.set_value("query", query)
