"""Calls into the simulation, kept; keyed by their settings."""

from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st
from pyarrow import csv

from dashboard import cache
from dashboard.cache import ShownBoard
from dashboard.library.boards import Board, BoardSpec
from dashboard.server.board_results import cached_by_key
from metrics import Evaluation, Runs, evaluate
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.simulation import (
    CONTINUOUS,
    NOTEBOOK_RERANKERS,
    NOTEBOOK_SEGMENTS,
    LlmReranker,
    long_table,
    notebook_grag,
    notebook_llm_rerankers,
    notebook_synthetic,
    simulate,
    synthetic,
)
from metrics.simulation.drawing import plain_columns
from metrics.simulation.model import PERFORMANCE
from metrics.simulation.reranker_text import (
    NamedReranker,
    default_name,
    named_rerankers,
    parse_rerankers,
    reranker_table,
)
from metrics.studies.gaps.gap import gaps
from metrics.studies.gaps.gap_summary import gap_summary
from metrics.studies.gaps.growth import TIE_PROBABILITIES, gap_by_settings, growth_curve
from metrics.studies.gaps.precisions import coarser_runs, precision_curve
from metrics.studies.leaderboard.leaderboard import leaderboard

LLM, SEVERAL, CONTINUOUS_KIND, SYNTHETIC = (
    "LLM reranker",
    "Several rerankers",
    "Continuous scores",
    "Synthetic lists",
)
NOTEBOOK = {
    "Notebook: four LLMs": notebook_llm_rerankers,
    "Notebook: 200 lists": notebook_synthetic,
    "Notebook: G-RAG": notebook_grag,
}
"""What the notebook draws, draw by draw."""
KINDS = (LLM, SEVERAL, CONTINUOUS_KIND, SYNTHETIC, *NOTEBOOK)
SEVERAL_AT_FIRST = [each._replace(performance=PERFORMANCE) for each in named_rerankers(NOTEBOOK_RERANKERS)] + [
    NamedReranker(0, 0, PERFORMANCE, "Continuous")
]
"""The notebook's four rerankers, and one that never ties."""
MEASURES = ("RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10")
_SECOND = {"Notebook: four LLMs": "Hits@5"}
"""Second measure of the gaps, where it is not Hits@3."""
_TIES = ("expected", "input", "optimistic", "pessimistic")


class Simulation(NamedTuple):
    """What is simulated; `metrics.simulation` says what the settings do.

    Attributes:
        kind: one of `KINDS`; the notebook's own have no settings.
        queries: how many.
        documents: of a list, the fewest and the most.
        relevant: of them relevant, the fewest and the most.
        seed: of all draws.
        ties: chance that a document copies a score; of synthetic lists, the share that may tie.
        levels: scores there are.
        performance: how well scores tell relevant documents, 0 to 1; the types of queries have their own.
        has_segments: whether queries are of the notebook's four types.
        is_compared: whether the notebook's rerankers stand beside it.
        several: line of several rerankers; empty for those there are at first.
    """

    kind: str
    queries: int = 100
    documents: tuple[int, int] = (8, 19)
    relevant: tuple[int, int] = (1, 4)
    seed: int = 42
    ties: float = 0.3
    levels: int = 10
    performance: float = 0.9
    has_segments: bool = False
    is_compared: bool = False
    several: str = ""

    @property
    def rerankers(self) -> dict[str, LlmReranker]:
        """Name → how it scores, of simulated LLMs."""
        if self.kind == SEVERAL:
            return reranker_table(parse_rerankers(self.several) or SEVERAL_AT_FIRST)
        if self.kind == CONTINUOUS_KIND:
            return {"Continuous": CONTINUOUS}
        own = {default_name(self.ties, self.levels): LlmReranker(self.ties, self.levels)}
        return {**own, **NOTEBOOK_RERANKERS} if self.is_compared else own

    def simulate(self, rerankers: Mapping[str, LlmReranker], *, common: bool = False) -> Runs:
        """Return the lists of these rerankers on its queries, from draws in common where `common` is set."""
        return simulate(
            rerankers,
            self.queries,
            self.documents,
            self.relevant,
            self.seed,
            None if self.has_segments else self.performance,
            NOTEBOOK_SEGMENTS if self.has_segments else None,
            common=common,
        )


@st.cache_resource(show_spinner=False, max_entries=16)
def runs(simulation: Simulation) -> Runs:
    """Return the simulated lists."""
    if simulation.kind in NOTEBOOK:
        return NOTEBOOK[simulation.kind]()
    if simulation.kind == SYNTHETIC:
        return synthetic(
            simulation.queries, simulation.documents, simulation.relevant, simulation.seed, simulation.ties
        )
    return simulation.simulate(simulation.rerankers)


@st.cache_resource(show_spinner=False, max_entries=16)
def scores(simulation: Simulation) -> Evaluation:
    """Return what the simulated lists score by the notebook's measures."""
    return evaluate(runs(simulation), MEASURES, _TIES)


@st.cache_resource(show_spinner=False, max_entries=16)
def places(simulation: Simulation) -> pd.DataFrame:
    """Return the leaderboard of the simulated rerankers by RR."""
    return leaderboard(scores(simulation), "RR", "input")


@st.cache_resource(show_spinner=False, max_entries=16)
def list_gaps(simulation: Simulation) -> pd.DataFrame:
    """Return the gaps of each list in RR and in the second measure, signed."""
    return gaps(scores(simulation), {"first": "RR", "second": second_measure(simulation)}, "input")


@st.cache_resource(show_spinner=False, max_entries=16)
def gap_sizes(simulation: Simulation) -> pd.DataFrame:
    """Return each reranker's mean gaps and ties."""
    return gap_summary(list_gaps(simulation))


@st.cache_resource(show_spinner=False, max_entries=16)
def growth(simulation: Simulation, measure: str) -> pd.DataFrame:
    """Return what the same reranker scores under every tie probability."""
    probabilities = sorted({*TIE_PROBABILITIES, simulation.ties})
    return growth_curve(partial(simulation.simulate, common=True), simulation.levels, measure, probabilities)


@st.cache_resource(show_spinner=False, max_entries=16)
def gaps_by_settings(simulation: Simulation, measure: str) -> pd.DataFrame:
    """Return its mean gap over score levels and tie probability."""
    return gap_by_settings(partial(simulation.simulate, common=True), measure)


@cached_by_key(show_spinner="Rounding scores …", max_entries=24)
def precisions(view: ShownBoard, reranker: str, measure: str, traditional: str) -> pd.DataFrame:
    """Return what one reranker of a board would score under each precision, over the queries shown.

    Args:
        view: what is shown.
        reranker: whose scores.
        measure: name of the measure.
        traditional: the treatment taken as the traditional one.
    """
    queries = set(view.evaluation.scores.index.get_level_values("query_id"))
    runs = view.board.runs.arranged({reranker: reranker})
    return precision_curve(runs, measure, traditional, queries=queries, scoring=view.scoring)


def second_measure(simulation: Simulation) -> str:
    """Return the measure whose gaps stand beside those in RR."""
    return _SECOND.get(simulation.kind, "Hits@3")


def as_csv(table: pa.Table) -> bytes:
    """Return a table as the bytes of a CSV file."""
    file = BytesIO()
    csv.write_csv(table, file, csv.WriteOptions(quoting_style="needed"))
    return file.getvalue()


def simulated_board(simulation: Simulation) -> Board:
    """Return the simulated lists as if their file had been uploaded."""
    return _build_board([File("simulated.csv", as_csv(long_table(runs(simulation))))])


def board_at_precision(board: Board, precision: str) -> Board:
    """Return a board with its scores held in a precision; TieScopeError where that cannot be read again."""
    rounded_runs = coarser_runs(board.runs, precision)
    name = precision.replace(":", "-")
    files = [File(f"{name}.csv", as_csv(long_table(rounded_runs)))]
    if rounded_runs.qrels is not None:
        files.append(File("judgments.csv", as_csv(plain_columns(rounded_runs.qrels))))
    return _build_board(files)


def _build_board(files: list[File]) -> Board:
    spec = BoardSpec.of(files)
    board = cache.build_board(spec, [entry.read() for entry in spec.entries])
    if isinstance(board, TieScopeError):
        raise board
    return board
