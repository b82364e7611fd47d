"""Simulator: the effect of ties on small, simulated and rounded lists."""

import math
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dashboard import controls, visitor
from dashboard.charts.simulator import ladder_with_ranks
from dashboard.choices import View
from dashboard.controls import toggle
from dashboard.views.simulator.llm_rerankers import llm_rerankers
from dashboard.views.simulator.notebook import notebook
from dashboard.views.simulator.rounding import number_formats
from dashboard.views.simulator.text_table import TextTable, number, text
from dashboard.widgets.components import Card, cards, chart, finding, section, side_by_side
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.one_list import orderings_text, value_text
from metrics.evaluation import ScoringOptions
from metrics.simulation import NOTEBOOK_SCENARIOS, list_text
from metrics.studies import orderings
from metrics.studies.one_list import first_rank_chances, first_rank_under, ladder, query_finding

SMALL, NOTEBOOK, LLMS, ROUNDING = "Small list", "Notebook", "LLM rerankers", "Rounding"
# Of the edited list in the session and in the link.
KEY = "rows"
_QUERY = "list"
_TIES = ("input", "expected", "pessimistic", "optimistic")
_LETTERS = 40


def show(view: View) -> None:
    """Draw the page."""
    st.title("Simulator", anchor=False)
    is_notebook = controls.get_value("made").startswith("Notebook: ")  # a link of an earlier version
    section = controls.choose_section(
        [SMALL, NOTEBOOK, LLMS, ROUNDING], {"Many lists": NOTEBOOK if is_notebook else LLMS}
    )
    if section == NOTEBOOK:
        notebook(list_text.parse_list(controls.get_value(KEY)), _choose_scenario)
    elif section == LLMS:
        llm_rerankers()
    elif section == ROUNDING:
        number_formats(view)
    else:
        small_list()


class SmallList(NamedTuple):
    """The edited list.

    Attributes:
        rows: the list with its ties, and the visitor's names of documents.
        chances: chance of each rank of the first relevant document.
        scores: index measure, columns treatments.
        n_orders: number of orders in words.
        listed_rank: rank of the first relevant document as listed, None without any.
    """

    rows: pd.DataFrame
    chances: pd.DataFrame
    scores: pd.DataFrame
    n_orders: str
    listed_rank: int | None


@section("A small list")
def small_list() -> None:
    """Draw a list to edit, with its exact scores and ranks."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = _choose_scenario()
        k = int(controls.segmented("Cut-off k", ("1", "2", "3", "5"), "listk", "3"))
        relevant_from = int(controls.segmented("Relevant from grade", ("1", "2", "3"), "listgrade"))
        has_further = toggle("Then by", "listthen", help="A further score that breaks ties.")
    above = st.container()
    narrow, wide = side_by_side(2, 3, "list")
    with narrow:
        documents = _edit_table(name, has_further=has_further)
    measures = {"RR": "RR", "Hits": f"Hits@{k}", "AP": "AP", "nDCG": f"nDCG@{k}"}
    if not documents:
        with above:
            cards(*(Card("circle", f"Tied {measure}", "–", "no document") for measure in measures.values()))
        wide.info("Give a document a score to begin.", icon=":material/info:")
        return
    small = _score(documents, tuple(measures.values()), relevant_from)
    with above:
        rr = small.scores.loc["RR"]
        finding(query_finding(small.rows, small.chances, rr, "RR", "input", small.n_orders, "the order listed"))
        cards(*(_card(str(measure), values) for measure, values in small.scores.iterrows()))
    with wide:
        figure = kept_figure(
            ladder_with_ranks, *(small.rows, small.chances, visitor.theme(), k, small.listed_rank)
        )
        alt = "The list by score, and the chance of each rank of its first relevant document."
        chart(figure, "small-list", alt)


def _card(measure: str, values: "pd.Series[float]") -> Card:
    ends = f"{values['pessimistic']:.2f} to {values['optimistic']:.2f}"
    note = f"as listed {value_text(values['input'])} · {ends}"
    return Card("circle", f"Tied {measure}", value_text(values["expected"]), note, "blue")


def _choose_scenario() -> str:
    return controls.segmented(
        "Scenario",
        list(NOTEBOOK_SCENARIOS),
        "scenario",
        "Complex Tie",
        on_change=controls.set_value,
        args=(KEY, ""),
    )


def _edit_table(name: str, *, has_further: bool) -> list[list_text.Document]:
    documents = list_text.parse_list(controls.get_value(KEY)) or list_text.scenario_documents(name)
    columns = _columns()
    if not has_further and not any(document.further for document in documents):
        del columns["further"]
    text_table = TextTable(
        key=KEY,
        parse=list_text.parse_list,
        line=list_text.format_list,
        read=_documents,
        columns=columns,
        syntax="score,grade,name; …",
        hint="Grades and names are optional. Write a tie-breaking score after the score: 0.5/2.",
        max_rows=list_text.MAX_DOCUMENTS,
    )
    return text_table.edit(list_text.scenario_documents(name))


def _columns() -> dict[str, Any]:
    return {
        "name": st.column_config.TextColumn("Document", max_chars=_LETTERS),
        "score": st.column_config.NumberColumn("Score", step=None, format="%.4g"),
        "further": st.column_config.NumberColumn(
            "Then by", step=None, default=0, format="%.4g", help="Breaks ties in the score, highest first."
        ),
        "grade": st.column_config.NumberColumn("Grade", min_value=0, max_value=10, default=0, format="%g"),
    }


def _documents(frame: pd.DataFrame) -> list[list_text.Document]:
    rows = frame.to_dict("records")
    return [
        list_text.Document(
            text(row["name"], f"doc{position}"),
            float(row["score"]),
            number(row["grade"]),
            number(row.get("further")),
        )
        for position, row in enumerate(rows, 1)
        if math.isfinite(number(row["score"], math.nan))
    ]


@st.cache_resource(show_spinner=False, max_entries=16)
def _score(documents: list[list_text.Document], measures: tuple[str, ...], relevant_from: int) -> SmallList:
    is_split = any(document.further for document in documents)
    options = ScoringOptions(relevant_from=relevant_from, tiebreak_by=("further",) * is_split)
    ranking = options.ranking(list_text.runs_from_list(documents), _QUERY, _QUERY)
    rows = ladder(ranking, _QUERY)
    names = {str(position): document.name for position, document in enumerate(documents, 1)}
    rows["doc_id"] = rows["doc_id"].map(names)
    counts = orderings.count_orderings(ranking, _QUERY)
    return SmallList(
        rows=rows,
        chances=first_rank_chances(ranking, _QUERY),
        scores=orderings.list_values(ranking, _QUERY, measures, _TIES),
        n_orders=orderings_text(counts.log10_orderings, counts.orderings),
        listed_rank=first_rank_under(ranking, _QUERY, "input"),
    )
