"""The first section of the Simulator: one small list to edit, and all that is exact about it."""

import math
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session
from dashboard.charts.one_list.sampling_convergence import sampling_convergence
from dashboard.charts.simulated.ladder_with_ranks import ladder_with_ranks
from dashboard.views.lab.simulator.tables import MAX_ORDERINGS, ordering_table, scenario_table
from dashboard.views.lab.simulator.text_table import TextTable, number, text
from dashboard.widgets.components import Card, cards, chart, finding, heading, side_by_side
from dashboard.widgets.figures import OF_NO_BOARD, kept_figure
from dashboard.widgets.list_panel import orderings_text
from dashboard.widgets.one_list import value_text
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.evaluation import ScoringOptions
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
from metrics.studies.one_list.ordering_samples import running_mean, sample_values
from metrics.studies.one_list.query import (
    every_ordering,
    first_rank_chances,
    first_rank_under,
    ladder,
    query_finding,
)
from metrics.support.wording import count_of
from metrics.ties import Ranking

KEY = "rows"
_QUERY = "list"
_TIES = ("input", "expected", "pessimistic", "optimistic", "std")
_SEED = 1
"""Of the orderings that are drawn."""
_LETTERS = 40


class SmallList(NamedTuple):
    """The list that is edited.

    Attributes:
        rows: its ladder, with the names the visitor gave.
        chances: of each rank of its first relevant document.
        orders: its orderings, as far as they are listed.
        scores: index measure, columns treatments.
        n_orderings: how many orderings, in words.
        listed_rank: rank of the first relevant document as listed, None where none is relevant.
        k: the cut-off.
        ranking: its tie groups.
    """

    rows: pd.DataFrame
    chances: pd.DataFrame
    orders: pd.DataFrame
    scores: pd.DataFrame
    n_orderings: str
    listed_rank: int | None
    k: int
    ranking: Ranking


@section("A small list")
def small_list() -> None:
    """Draw a list to edit, begun from one of four scenarios, and all that is exact about it."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        name = _choose_scenario()
        k = int(session.segmented("Cut-off k", ("1", "2", "3", "5"), "listk", "3"))
        relevant_from = _choose_grade()
    above = st.container()
    wide, small = _edited_list(name, relevant_from, k)
    if small is None:
        with above:
            cards(*(Card("circle", label, "–", "no document") for label in ("RR", "Tied RR", "Range", "Hits")))
        wide.info("Give a document a score to begin.", icon=":material/info:")
        return
    with above:
        _cards(small)
    with wide:
        figure = kept_figure(
            OF_NO_BOARD,
            ladder_with_ranks,
            *(small.rows, small.chances, session.theme(), small.k, small.listed_rank),
        )
        chart(figure, "small-list", "The list by score, and the chance of each rank of its first relevant one.")


def notebook_list() -> None:
    """Draw what the notebook shows of a list: every ordering, orderings drawn, and its four scenarios."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        name, relevant_from = _choose_scenario(), _choose_grade()
    wide, small = _edited_list(name, relevant_from)
    with wide:
        if small is None:
            st.info("Give a document a score to begin.", icon=":material/info:")
        else:
            ordering_table(small.orders, small.n_orderings, small.scores)
    narrow, wide = side_by_side(1, 1, "notebook")
    with narrow:
        scenario_table()
    if small is not None:
        with wide:
            _sampling(small)


def _choose_scenario() -> str:
    return session.segmented(
        "Scenario", list(NOTEBOOK_SCENARIOS), "scenario", "Complex Tie", on_change=_reset_table
    )


def _choose_grade() -> int:
    return int(session.segmented("Relevant from grade", ("1", "2", "3"), "listgrade"))


def _edited_list(name: str, relevant_from: int, k: int = 3) -> tuple[DeltaGenerator, SmallList | None]:
    """Draw the list to edit; return the place at its side, and what is exact about it.

    Args:
        name: of the scenario it begins from.
        relevant_from: the smallest relevant grade.
        k: the cut-off.
    """
    narrow, wide = side_by_side(2, 3, "list")
    with narrow:
        documents = _edit_table(name)
    return wide, _score(documents, k, relevant_from) if documents else None


def _sampling(small: SmallList) -> None:
    """Draw how the mean of orderings that are drawn nears the exact value."""
    heading("Sampling RR", "Mean of the orderings drawn so far; grey: 1.96 standard errors of the mean.")
    n = int(session.segmented("Draws", ("100", "1000", "10000"), "draws", "1000"))
    rr = small.scores.loc["RR"]
    means = running_mean(sample_values(small.ranking, _QUERY, "RR", n, _SEED), float(rr["std"]))
    figure = kept_figure(OF_NO_BOARD, sampling_convergence, means, float(rr["expected"]), session.theme(), "RR")
    chart(
        figure, "sampling", "Running mean of the orderings drawn, with its standard error, and the exact value."
    )


def _reset_table() -> None:
    session.set_value(KEY, "")


def _edit_table(name: str) -> list[Document]:
    """Draw the table to edit; return its documents."""
    text_table = TextTable(
        key=KEY,
        parse=parse_list,
        line=format_list,
        read=_documents,
        columns=_columns(),
        syntax="score,grade,name; …",
        hint="Grades and names may be left out. A further score that splits ties follows the score: 0.5/2.",
        max_rows=MAX_DOCUMENTS,
    )
    return text_table.edit(scenario_documents(name))


def _columns() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("Document", max_chars=_LETTERS),
        "score": st.column_config.NumberColumn("Score", step=None, format="%.4g"),
        "further": st.column_config.NumberColumn(
            "Then by", step=None, default=0, format="%.4g", help="Splits ties in the score, highest first."
        ),
        "grade": st.column_config.NumberColumn("Grade", min_value=0, max_value=10, default=0, format="%g"),
    }


def _documents(frame: pd.DataFrame) -> list[Document]:
    """Return the rows that have a score, as they stand."""
    rows = frame.to_dict("records")
    return [
        Document(
            text(row["name"], f"doc{position}"),
            float(row["score"]),
            number(row["grade"]),
            number(row["further"]),
        )
        for position, row in enumerate(rows, 1)
        if math.isfinite(number(row["score"], math.nan))
    ]


@st.cache_resource(show_spinner=False, max_entries=16)
def _score(documents: list[Document], k: int, relevant_from: int) -> SmallList:
    is_split = any(document.further for document in documents)
    options = ScoringOptions(relevant_from=relevant_from, tiebreak_by=("further",) * is_split)
    ranking = options.ranking(runs_from_list(documents), _QUERY, _QUERY)
    rows = ladder(ranking, _QUERY)
    names = {str(position): document.name for position, document in enumerate(documents, 1)}
    rows["doc_id"] = rows["doc_id"].map(names)
    counts = orderings.count_orderings(ranking, _QUERY)
    return SmallList(
        rows=rows,
        chances=first_rank_chances(ranking, _QUERY),
        orders=_orders(ranking, names),
        scores=orderings.list_values(ranking, _QUERY, ["RR", "Hits@3", f"Hits@{k}"], _TIES),
        n_orderings=orderings_text(counts.log10_orderings, counts.orderings),
        listed_rank=first_rank_under(ranking, _QUERY, "input"),
        k=k,
        ranking=ranking,
    )


def _orders(ranking: Ranking, names: dict[str, str]) -> pd.DataFrame:
    """Return the orderings, as far as they are listed, with the names the visitor gave."""
    orders = every_ordering(ranking, _QUERY, ["RR", "Hits@3"], MAX_ORDERINGS)
    documents = [" ".join(names[position] for position in row.split()) for row in orders["documents"]]
    return orders.assign(documents=documents)


def _cards(small: SmallList) -> None:
    rr, hits = small.scores.loc["RR"], small.scores.loc[f"Hits@{small.k}"]
    finding(query_finding(small.rows, small.chances, rr, "RR", "input", small.n_orderings))
    ranks = small.chances["rank"]
    first_ranks = dict.fromkeys(f"{rank:,}" for rank in (ranks.min(), ranks.max())) if len(ranks) else ["none"]
    hits_name = parse(f"Hits@{small.k}").tied
    cards(
        Card("diamond", "RR as listed", value_text(rr["input"]), "traditional", "orange"),
        Card(
            "circle",
            "Tied RR",
            value_text(rr["expected"]),
            f"mean of {count_of(small.n_orderings, 'ordering')}",
            "blue",
        ),
        Card(
            "height",
            "Worst to best",
            f"{rr['pessimistic']:.2f} – {rr['optimistic']:.2f}",
            f"first hit at {' to '.join(first_ranks)}",
        ),
        Card(
            "target",
            hits_name,
            value_text(hits["expected"]),
            f"traditional {value_text(hits['input'])}",
            "blue",
        ),
    )
