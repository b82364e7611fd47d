"""Simulate lists, score them, and use them as a board."""

from collections.abc import Mapping
from io import BytesIO
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st
from pyarrow import csv

from dashboard import boards, cache, choices, visitor
from dashboard.boards import while_open
from dashboard.charts.ties_vs_gap import gap_panels, gap_scatter
from dashboard.library.boards import Board, BoardSpec
from dashboard.widgets.components import chart
from dashboard.widgets.figures import kept_figure
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
    reranker_text,
    simulate,
    synthetic,
)
from metrics.simulation.model import PERFORMANCE
from metrics.studies.gaps import gap_summary, gaps

LLM, SEVERAL, CONTINUOUS_KIND, SYNTHETIC = (
    "LLM reranker",
    "Several rerankers",
    "Continuous scores",
    "Synthetic lists",
)
KINDS = (LLM, SEVERAL, CONTINUOUS_KIND, SYNTHETIC)
"""Kinds of simulations with settings."""
NOTEBOOK_LLMS, NOTEBOOK_LISTS, NOTEBOOK_GRAG = "Notebook: four LLMs", "Notebook: 200 lists", "Notebook: G-RAG"
_NOTEBOOK = {
    NOTEBOOK_LLMS: notebook_llm_rerankers,
    NOTEBOOK_LISTS: notebook_synthetic,
    NOTEBOOK_GRAG: notebook_grag,
}
"""Kinds of simulations without settings, as the notebook draws them."""
SEVERAL_AT_FIRST = [
    each._replace(performance=PERFORMANCE) for each in reranker_text.named_rerankers(NOTEBOOK_RERANKERS)
] + [reranker_text.NamedReranker(0, 0, PERFORMANCE, "Continuous")]
"""The notebook's four rerankers and one that never ties."""
_TIES = ("expected", "input", "optimistic", "pessimistic")


class Simulation(NamedTuple):
    """Settings of a simulation; see `metrics.simulation`.

    Attributes:
        kind: one of `KINDS`, or one of the notebook's kinds, which have no settings.
        queries: number of queries.
        documents: fewest and most documents of a list.
        relevant: fewest and most relevant documents of a list.
        seed: random seed.
        ties: chance that a document copies a score, or share of synthetic lists that may tie.
        levels: number of distinct scores.
        performance: how well scores separate relevant documents, 0 to 1; query types have their own.
        has_segments: whether queries have the notebook's four types.
        is_compared: whether the four rerankers of the notebook are added.
        several: rerankers as text; empty for those offered at first.
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
        """The simulated LLM rerankers: name → settings."""
        if self.kind == SEVERAL:
            return reranker_text.reranker_table(reranker_text.parse_rerankers(self.several) or SEVERAL_AT_FIRST)
        if self.kind == CONTINUOUS_KIND:
            return {"Continuous": CONTINUOUS}
        own = {reranker_text.default_name(self.ties, self.levels): LlmReranker(self.ties, self.levels)}
        return {**own, **NOTEBOOK_RERANKERS} if self.is_compared else own

    def simulate(self, rerankers: Mapping[str, LlmReranker], *, common: bool = False) -> Runs:
        """Return the lists of rerankers, from common random numbers if `common` is set."""
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
    if simulation.kind in _NOTEBOOK:
        return _NOTEBOOK[simulation.kind]()
    if simulation.kind == SYNTHETIC:
        return synthetic(
            simulation.queries, simulation.documents, simulation.relevant, simulation.seed, simulation.ties
        )
    return simulation.simulate(simulation.rerankers)


@st.cache_resource(show_spinner=False, max_entries=16)
def scores(simulation: Simulation) -> Evaluation:
    """Return the scores of the simulated lists."""
    return evaluate(runs(simulation), ("RR", second_measure(simulation)), _TIES)


@st.cache_resource(show_spinner=False, max_entries=16)
def list_gaps(simulation: Simulation) -> pd.DataFrame:
    """Return the signed gaps of each list in two measures."""
    return gaps(scores(simulation), {"first": "RR", "second": second_measure(simulation)}, "input")


@st.cache_resource(show_spinner=False, max_entries=16)
def gap_sizes(simulation: Simulation) -> pd.DataFrame:
    """Return the mean scores, gaps and ties of each reranker."""
    return gap_summary(list_gaps(simulation))


def second_measure(simulation: Simulation) -> str:
    """Return the second measure whose gaps are shown, the notebook's choice."""
    return "Hits@5" if simulation.kind == NOTEBOOK_LLMS else "Hits@3"


def as_csv(table: pa.Table) -> bytes:
    """Return a table as the bytes of a CSV file."""
    file = BytesIO()
    csv.write_csv(table, file, csv.WriteOptions(quoting_style="needed"))
    return file.getvalue()


def build_board(files: list[File]) -> Board:
    """Return the board of files; TieScopeError if they cannot be read again."""
    spec = BoardSpec.of(files)
    board = cache.build_board(spec, [entry.read() for entry in spec.entries])
    if isinstance(board, TieScopeError):
        raise board
    return board


def lists_chart(lists: pd.DataFrame, names: tuple[str, str], key: str) -> None:
    """Draw the six panels of ties against gaps."""
    st.caption(
        "Shaded: four lists or more. Dot: one list. Grey strip: share of lists without a gap. Line: mean with "
        "95% band."
    )
    figure = kept_figure(gap_scatter, lists, visitor.theme(), names[0])
    chart(
        figure, f"{key}-scatter", f"Tie ratio against the gap in {names[0]} of the simulated lists.", wide=640
    )
    figure = kept_figure(gap_panels, lists, visitor.theme(), names)
    alt = f"Largest tie against the gaps in {names[0]} and {names[1]}, and one gap against the other."
    chart(figure, f"{key}-panels", alt, wide=640)


def exit_buttons(simulation: Simulation) -> None:
    """Draw the buttons that use the lists as a board or download them."""
    key = "" if simulation.kind in KINDS else f"-{simulation.kind}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Use as runs", icon=":material/library_add:", type="primary", key=f"use-simulated{key}"):
            boards.show_board(build_board([File("simulated.csv", as_csv(long_table(runs(simulation))))]))
        st.download_button(
            "Lists as CSV",
            data=while_open(lambda: as_csv(long_table(runs(simulation)))),
            file_name="tiescope-simulated.csv",
            mime="text/csv",
            key=f"download-lists{key}",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )
        if "simulated.csv" in [file.name for file in choices.view().board.files]:
            st.page_link(
                "views/leaderboard.py", label="All pages show the simulated runs", icon=":material/check:"
            )
