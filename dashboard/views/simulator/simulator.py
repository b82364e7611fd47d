"""Simulator: the effect of ties on small, simulated and rounded lists."""

import math
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dashboard import boards, choices, controls, visitor
from dashboard.boards import is_session_only
from dashboard.cache import ShownBoard
from dashboard.charts.simulator import ladder_with_ranks, precision_panels
from dashboard.choices import View
from dashboard.controls import follow_defaults, toggle
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
from dashboard.views.simulator.llm_rerankers import llm_rerankers
from dashboard.views.simulator.notebook import notebook
from dashboard.views.simulator.simulation import as_csv, build_board
from dashboard.views.simulator.text_table import TextTable, number, text
from dashboard.widgets.components import (
    Card,
    cards,
    chart,
    finding,
    heading,
    section,
    section_finding,
    side_by_side,
    table,
)
from dashboard.widgets.figures import kept_figure
from dashboard.widgets.one_list import orderings_text
from metrics import parse
from metrics.errors import TieScopeError
from metrics.evaluation import ScoringOptions
from metrics.runs import File
from metrics.simulation import NOTEBOOK_SCENARIOS, list_text, long_table
from metrics.simulation.drawing import plain_columns
from metrics.studies import orderings, precisions
from metrics.studies.one_list import first_rank_chances, first_rank_under, ladder, query_finding
from metrics.studies.prose import decimal
from metrics.support.shown_columns import shown_columns

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
    note = f"as listed {decimal(values['input'], 4)} · {ends}"
    return Card("circle", f"Tied {measure}", decimal(values["expected"], 4), note, "blue")


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


_PRECISIONS = {precisions.precision_label(precision): precision for precision in precisions.PRECISIONS}


@section("Number formats")
def number_formats(view: View) -> None:
    """Draw the scores of one reranker in fewer bits, decimals or grades."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        follow_defaults({"reranker": view.rerankers[0]})
        reranker = controls.select_name("Reranker", view.rerankers, "reranker", width=240)
        measure = choices.measure()
    curve = _precisions(view, reranker, measure, view.traditional)
    name = parse(measure).traditional
    section_finding(precisions.precision_finding(curve, name))
    heading("Effect of fewer digits", "Left of the line: bits in memory. Right: digits in a file, and grades.")
    figure = kept_figure(precision_panels, curve, view.palette, name)
    chart(figure, "digits", f"Tie ratio and {name} under each number format.")
    with st.expander("In numbers"):
        _precision_table(curve, measure)
    _use_button(view)


def _precision_table(curve: pd.DataFrame, measure: str) -> None:
    name = parse(measure)
    columns = shown_columns(
        *(("label", "number_format"), "tie_ratio", "tied", "traditional", "std", "width", "worst", "best"),
        tied=name.tied,
        traditional=name.traditional,
    )
    rows = curve.assign(width=curve["best"] - curve["worst"])
    table(rows, "In numbers", "precisions", columns, download=curve)


def _use_button(view: View) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        precision = controls.select("All runs as", list(_PRECISIONS), "held", "2 decimals", width=180)
        if st.button("Use as runs", icon=":material/library_add:", key="use-held"):
            try:
                board = board_at_precision(view.board, _PRECISIONS[precision])
                hashes = {file.sha256 for file in board.files}
                boards.show_board(board, hashes, keep=False if is_session_only(view.board) else None)
            except TieScopeError as error:
                st.error(escape_markdown(str(error)), icon=":material/error:")
    st.caption(
        "Grades scale each reranker's scores, from lowest to highest, to whole numbers from 0 to 10. No format "
        "swaps the order of two documents; rounding only creates ties."
    )


@cached_by_key(show_spinner="Rounding scores …", max_entries=24)
def _precisions(view: ShownBoard, reranker: str, measure: str, traditional: str) -> pd.DataFrame:
    """Return the scores of one reranker under each number format, over the queries shown."""
    queries = set(view.evaluation.scores.index.get_level_values("query_id"))
    runs = view.board.runs.arranged({reranker: reranker})
    return precisions.precision_curve(runs, measure, traditional, queries=queries, scoring=view.scoring)


def board_at_precision(board: Board, precision: str) -> Board:
    """Return a board with its scores in a number format; TieScopeError if the files cannot be read again."""
    rounded_runs = precisions.coarser_runs(board.runs, precision)
    name = precision.replace(":", "-")
    files = [File(f"{name}.csv", as_csv(long_table(rounded_runs)))]
    if rounded_runs.qrels is not None:
        files.append(File("judgments.csv", as_csv(plain_columns(rounded_runs.qrels))))
    return build_board(files)
