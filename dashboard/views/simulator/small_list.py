"""The first section of the Simulator: one small list to edit, and all that is exact about it."""

import math
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.simulated.ladder_with_ranks import ladder_with_ranks
from dashboard.views.simulator.tables import LISTED, listed_orders, scenarios
from dashboard.widgets.components import Card, cards, chart, finding, heading
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.one_list import counted_noun, value_text
from metrics import parse
from metrics.simulation import NOTEBOOK_SCENARIOS
from metrics.simulation.list_text import (
    MAX_DOCUMENTS,
    Document,
    format_list,
    parse_list,
    runs_from_list,
    scenario_documents,
)
from metrics.studies.one_list import orderings
from metrics.studies.one_list.query import (
    every_ordering,
    first_rank_chances,
    first_rank_under,
    ladder,
    query_finding,
)
from metrics.ties import Ranking

KEY = "rows"
_QUERY = "list"
_TIES = ("input", "expected", "pessimistic", "optimistic")
_COLUMNS = {"name": "Document", "score": "Score", "grade": "Grade"}
_LETTERS = 40


class Small(NamedTuple):
    """The list that is edited.

    Attributes:
        rows: its ladder, with the names the visitor gave.
        chances: of each rank of its first relevant document.
        orders: its orderings, as far as they are listed.
        scores: index measure, columns treatments.
        written: how many orderings, in words.
        listed: rank of the first relevant document as listed, None where none is relevant.
        k: the cut-off.
    """

    rows: pd.DataFrame
    chances: pd.DataFrame
    orders: pd.DataFrame
    scores: pd.DataFrame
    written: str
    listed: int | None
    k: int


def small_list() -> None:
    """Four scenarios and whatever is made of them."""
    heading("A small list", "Edit a score or a grade, add or delete rows. Rows count in the order you see.")
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        name = session.segmented(
            "Scenario", list(NOTEBOOK_SCENARIOS), "scenario", "Complex Tie", on_change=_as_given
        )
        k = int(session.segmented("Cut-off k", ("1", "2", "3", "5"), "listk", "3"))
        least = int(session.segmented("Relevant from grade", ("1", "2", "3"), "listgrade"))
    above = st.container()
    left, right = st.columns([2, 3], gap="large")
    with left:
        documents = _edited(name)
    if not documents:
        with above:
            cards(*(Card("circle", label, "–", "no document") for label in ("RR", "Tied RR", "Range", "Hits")))
        right.info("Give a document a score to begin.", icon=":material/info:")
        return
    small = _look(documents, k, least)
    with above:
        _figures(small)
    with right:
        figure = ladder_with_ranks(small.rows, small.chances, session.theme(), k, small.listed)
        chart(figure, "small-list", "The list by score, and the chance of each rank of its first relevant one.")
    left, right = st.columns([4, 5], gap="large")
    with left:
        listed_orders(small.orders, small.written)
    with right:
        scenarios()


def _as_given() -> None:
    session.set_value(KEY, "")


def _edited(name: str) -> list[Document]:
    """The table to edit; what it holds is told in the link, and can be typed as a line."""
    given = format_list(scenario_documents(name))
    asked = session.get_value(KEY)
    now = asked if parse_list(asked) else given
    base, key = session.table_draft(KEY, now)
    start = pd.DataFrame(parse_list(base) or scenario_documents(name), columns=list(_COLUMNS))
    frame = st.data_editor(start, num_rows="dynamic", hide_index=True, key=key, column_config=_columns())
    documents = _documents(frame)
    line = format_list(documents)
    if documents and parse_list(line) and line != now:
        session.set_table_text(KEY, line)
        session.set_value(KEY, "" if line == given else line)
    with st.popover("As text", icon=":material/notes:"):
        session.text_input(
            "score,grade,name; …", KEY, placeholder=given, help="Grades and names may be left out."
        )
    return documents


def _columns() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("Document", max_chars=_LETTERS),
        "score": st.column_config.NumberColumn("Score", step=None, format="%.4g"),
        "grade": st.column_config.NumberColumn("Grade", min_value=0, max_value=10, default=0, format="%g"),
    }


def _documents(frame: pd.DataFrame) -> list[Document]:
    """Rows that have a score, as they stand."""
    rows = frame.head(MAX_DOCUMENTS).to_dict("records")
    return [
        Document(_name(row["name"], at), float(row["score"]), _number(row["grade"]))
        for at, row in enumerate(rows, 1)
        if math.isfinite(_number(row["score"], math.nan))
    ]


def _name(value: object, at: int) -> str:
    return value if isinstance(value, str) and value.strip() else f"doc{at}"


def _number(value: object, otherwise: float = 0.0) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else otherwise


def _look(documents: list[Document], k: int, least: int) -> Small:
    ranking = Ranking.of_query(runs_from_list(documents), _QUERY, _QUERY, least)
    rows = ladder(ranking, _QUERY)
    names = {str(at): one.name for at, one in enumerate(documents, 1)}
    rows["doc_id"] = rows["doc_id"].map(names)
    counts = orderings.counts(ranking, _QUERY)
    return Small(
        rows=rows,
        chances=first_rank_chances(ranking, _QUERY),
        orders=_orders(ranking, names),
        scores=orderings.list_values(ranking, _QUERY, ["RR", f"Hits@{k}"], _TIES),
        written=orderings_text(counts.log10_orderings, counts.orderings),
        listed=first_rank_under(ranking, _QUERY, "input"),
        k=k,
    )


def _orders(ranking: Ranking, names: dict[str, str]) -> pd.DataFrame:
    found = every_ordering(ranking, _QUERY, ["RR", "Hits@3"], LISTED)
    named = [" ".join(names[at] for at in row.split()) for row in found["documents"]]
    return found.assign(documents=named)


def _figures(small: Small) -> None:
    rr, hits = small.scores.loc["RR"], small.scores.loc[f"Hits@{small.k}"]
    finding(query_finding(small.rows, small.chances, rr, "RR", "input", small.written))
    ranks = small.chances["rank"]
    first = dict.fromkeys(f"{rank:,}" for rank in (ranks.min(), ranks.max())) if len(ranks) else ["none"]
    named = parse(f"Hits@{small.k}")
    cards(
        Card("diamond", "RR as listed", value_text(rr["input"]), "traditional", "orange"),
        Card(
            "circle",
            "Tied RR",
            value_text(rr["expected"]),
            f"mean of {counted_noun(small.written, 'ordering')}",
            "blue",
        ),
        Card(
            "height",
            "Worst to best",
            f"{rr['pessimistic']:.2f} – {rr['optimistic']:.2f}",
            f"first hit at {' to '.join(first)}",
        ),
        Card(
            "target",
            named.tied,
            value_text(hits["expected"]),
            f"traditional {value_text(hits['input'])}",
            "blue",
        ),
    )
