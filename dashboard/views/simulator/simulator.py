"""Simulator: the effect of ties on small, simulated and rounded lists."""

import math

import pandas as pd
import streamlit as st

from dashboard import boards, choices, controls, visitor
from dashboard.cache import ShownBoard, cached, drawn
from dashboard.charts.simulator import precision_panels
from dashboard.choices import Selection
from dashboard.escaping import escape_markdown
from dashboard.library.boards import Board
from dashboard.views.simulator.notebook import notebook
from dashboard.views.simulator.simulation import as_csv, build_board, llm_rerankers
from dashboard.views.simulator.text_table import edit_rows, number, text
from dashboard.widgets import components as ui
from dashboard.widgets.one_list import draw_permutations, orderings_text
from metrics import parse
from metrics.errors import TieScopeError
from metrics.evaluation import ScoringOptions
from metrics.runs import File
from metrics.simulation import NOTEBOOK_SCENARIOS, link_text, long_table
from metrics.simulation.drawing import plain_columns
from metrics.studies import orderings, precisions
from metrics.studies.one_list import first_rank_chances, ladder, query_finding
from metrics.studies.permutations import PossibleValues, possible_values
from metrics.studies.prose import decimal
from metrics.support.shown_columns import shown_columns
from metrics.ties import Ranking
from metrics.ties.permutations import count_orderings

SMALL, NOTEBOOK, LLMS, ROUNDING = "Small list", "Notebook", "LLM rerankers", "Rounding"
# Of the edited list in the session and in the link.
KEY = "rows"
_QUERY = "list"
_TIES = ("input", "expected", "pessimistic", "optimistic")
_LETTERS = 40


def show(selection: Selection) -> None:
    """Draw the page."""
    section = controls.choose_section([SMALL, NOTEBOOK, LLMS, ROUNDING])
    if section == NOTEBOOK:
        notebook(link_text.parse_list(controls.get_text(KEY)), _choose_scenario)
    elif section == LLMS:
        llm_rerankers()
    elif section == ROUNDING:
        number_formats(selection)
    else:
        small_list()


@ui.section("A small list")
def small_list() -> None:
    """Draw a list to edit, with its exact scores and ranks."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = _choose_scenario()
        k = int(controls.segmented("Cut-off k", ("1", "2", "3", "5"), "listk", "3"))
        relevant_from = int(controls.segmented("Relevant from grade", ("1", "2", "3"), "listgrade"))
        has_further = controls.toggle("Then by", "listthen", help="A further score that breaks ties.")
    above = st.container()
    narrow, wide = ui.side_by_side(2, 3, "list")
    with narrow:
        documents = _edit_table(name, has_further=has_further)
    measures = ("RR", f"Hits@{k}", "AP", f"nDCG@{k}")
    if not documents:
        wide.info("Give a document a score to begin.", icon=":material/info:")
        return
    rows, chances, scores, n_orders, possible = _score(documents, measures, relevant_from)
    with above:
        rr = scores.loc["RR"]
        ui.finding(query_finding(rows, chances, rr, "RR", "input", n_orders, "the order listed"))
        draw_permutations(possible, rows, visitor.theme(), "small-list")
    cards = [
        ui.Card(
            "circle",
            f"Tied {value.Index}",
            decimal(value.expected, 4),
            f"as listed {decimal(value.input, 4)} · {value.pessimistic:.2f} to {value.optimistic:.2f}",
            "blue",
        )
        for value in scores.itertuples()
    ]
    with wide:
        ui.cards(*cards[:2])
        ui.cards(*cards[2:])


def _choose_scenario() -> str:
    name = controls.choose("scenario", "Complex Tie", NOTEBOOK_SCENARIOS.__contains__)
    options = controls.bound("scenario", name, clears=[KEY])
    st.segmented_control("Scenario", list(NOTEBOOK_SCENARIOS), required=True, wrap=True, **options)
    return name


def _edit_table(name: str, *, has_further: bool) -> list[link_text.Document]:
    documents = link_text.parse_list(controls.get_text(KEY)) or link_text.scenario_documents(name)
    number_column = st.column_config.NumberColumn
    breaks_ties = "Breaks ties in the score, highest first."
    columns = {
        "name": st.column_config.TextColumn("Document", max_chars=_LETTERS),
        "score": number_column("Score", step=None, format="%.4g"),
        "further": number_column("Then by", step=None, default=0, format="%.4g", help=breaks_ties),
        "grade": number_column("Grade", min_value=0, max_value=10, default=0, format="%g"),
    }
    if not has_further and not any(document.further for document in documents):
        del columns["further"]
    start, max_rows = link_text.scenario_documents(name), link_text.MAX_DOCUMENTS
    return edit_rows(KEY, start, columns, link_text.parse_list, link_text.format_list, _documents, max_rows)


def _documents(frame: pd.DataFrame) -> list[link_text.Document]:
    rows = frame.to_dict("records")
    return [
        link_text.Document(
            text(row["name"], f"doc{position}"),
            float(row["score"]),
            number(row["grade"]),
            number(row.get("further")),
        )
        for position, row in enumerate(rows, 1)
        if math.isfinite(number(row["score"], math.nan))
    ]


@cached(max_entries=16)
def _score(
    documents: list[link_text.Document], measures: tuple[str, ...], relevant_from: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, str, PossibleValues]:
    """Return the results of the edited list.

    Returns:
        the list with its ties, and the visitor's names of documents; the chance of each rank of the first
        relevant document; scores (index measure, columns treatments); the number of orders in words; the
        possible values of RR.
    """
    is_split = any(document.further for document in documents)
    options = ScoringOptions(relevant_from=relevant_from, tiebreak_by=("further",) * is_split)
    ranking = Ranking.of(link_text.runs_from_list(documents), _QUERY, options, _QUERY)
    rows, counts = ladder(ranking, _QUERY), count_orderings(ranking, _QUERY)
    names = {str(position): document.name for position, document in enumerate(documents, 1)}
    return (
        rows.assign(doc_id=rows["doc_id"].map(names)),
        first_rank_chances(ranking, _QUERY),
        orderings.list_values(ranking, _QUERY, measures, _TIES),
        orderings_text(counts.log10_orderings),
        possible_values(ranking, _QUERY, "RR", "input", measures[1]),
    )


_PRECISIONS = {precisions.precision_label(precision): precision for precision in precisions.PRECISIONS}


@ui.section("Number formats")
def number_formats(selection: Selection) -> None:
    """Draw the scores of one reranker in fewer bits, decimals or grades."""
    with choices.settings_row():
        reranker = controls.select_name("Reranker", selection.rerankers, "reranker", width=240)
        measure = choices.measure()
    view = selection.score(measure)
    curve = _precisions(view, reranker, measure, view.traditional)
    name = parse(measure).traditional
    ui.section_finding(precisions.precision_finding(curve, name))
    ui.heading(
        "Effect of fewer digits", "Left of the line: bits in memory. Right: digits in a file, and grades."
    )
    figure = drawn(precision_panels, curve, view.palette, name)
    ui.chart(figure, "digits", f"Tie ratio and {name} under each number format.")
    columns = shown_columns(
        *(("label", "number_format"), "tie_ratio", "tied", "traditional", "std", "width", "worst", "best"),
        tied=parse(measure).tied,
        traditional=name,
    )
    with st.expander("In numbers"):
        rows = curve.assign(width=curve["best"] - curve["worst"])
        ui.table(rows, "", "precisions", columns, download=curve)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        precision = controls.select("All runs as", list(_PRECISIONS), "held", "2 decimals", width=180)
        if st.button("Use as runs", icon=":material/library_add:", key="use-held"):
            try:
                board = board_at_precision(view.board, _PRECISIONS[precision])
                hashes = {file.sha256 for file in board.files}
                boards.show_board(board, hashes, keep=False if boards.is_session_only(view.board) else None)
            except TieScopeError as error:
                st.error(escape_markdown(str(error)), icon=":material/error:")
    st.caption(
        "Grades 0 to 10: each reranker's scores become whole numbers, its lowest score 0 and its highest 10. "
        "No format swaps the order of two documents; rounding only creates ties."
    )


@cached(show_spinner="Rounding scores …", max_entries=24)
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
