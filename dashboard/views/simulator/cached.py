"""Calls into the simulation, kept; keyed by their settings."""

from collections.abc import Collection, Mapping
from functools import partial
from io import BytesIO
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st
from pyarrow import csv

from dashboard import cache
from dashboard.cache import ViewKey
from dashboard.library import Board, BoardSpec
from metrics import Evaluation, Runs, evaluate
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.simulation import (
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
from metrics.simulation.tables import plain_columns
from metrics.studies.gaps.growth import TIE_PROBABILITIES, gap_by_settings, growth_curve
from metrics.studies.gaps.precisions import precision_curve, runs_at_precision

LLM, SYNTHETIC = "LLM reranker", "Synthetic lists"
NOTEBOOK = {
    "Notebook: four LLMs": notebook_llm_rerankers,
    "Notebook: 200 lists": notebook_synthetic,
    "Notebook: G-RAG": notebook_grag,
}
"""What the notebook draws, draw by draw."""
KINDS = (LLM, SYNTHETIC, *NOTEBOOK)
MEASURES = ("RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10")
SECOND = {"Notebook: four LLMs": "Hits@5"}
"""Second measure of the gaps, where it is not Hits@3."""
_TIES = ("expected", "input", "optimistic", "pessimistic")


class Made(NamedTuple):
    """What is simulated: one of `KINDS` and its settings; `metrics.simulation` says what they do."""

    kind: str
    queries: int = 100
    documents: tuple[int, int] = (8, 19)
    relevant: tuple[int, int] = (1, 4)
    seed: int = 42
    ties: float = 0.3
    levels: int = 10
    performance: float = 0.9
    segments: bool = False
    others: bool = False

    @property
    def name(self) -> str:
        """What its reranker is called."""
        return f"LLM ({self.ties:g} ties, {self.levels} levels)"

    def simulate(self, rerankers: Mapping[str, LlmReranker], *, common: bool = False) -> Runs:
        """These rerankers on its queries."""
        return simulate(
            rerankers,
            self.queries,
            self.documents,
            self.relevant,
            self.seed,
            self.performance,
            NOTEBOOK_SEGMENTS if self.segments else None,
            common=common,
        )


@st.cache_resource(show_spinner=False, max_entries=16)
def runs(made: Made) -> Runs:
    """What these settings make."""
    if made.kind in NOTEBOOK:
        return NOTEBOOK[made.kind]()
    if made.kind == SYNTHETIC:
        return synthetic(made.queries, made.documents, made.relevant, made.seed, made.ties)
    others = NOTEBOOK_RERANKERS if made.others else {}
    return made.simulate({made.name: LlmReranker(made.ties, made.levels), **others})


@st.cache_resource(show_spinner=False, max_entries=16)
def scores(made: Made) -> Evaluation:
    """Their values by the notebook's measures."""
    return evaluate(runs(made), MEASURES, _TIES)


@st.cache_resource(show_spinner=False, max_entries=16)
def growth(made: Made, measure: str) -> pd.DataFrame:
    """The same reranker under every tie probability."""
    chances = sorted({*TIE_PROBABILITIES, made.ties})
    return growth_curve(partial(made.simulate, common=True), made.levels, measure, chances)


@st.cache_resource(show_spinner=False, max_entries=16)
def gaps_by_settings(made: Made, measure: str) -> pd.DataFrame:
    """Its mean gap over score levels and tie probability."""
    return gap_by_settings(partial(made.simulate, common=True), measure)


@st.cache_resource(show_spinner="Rounding scores …", max_entries=24)
def precisions(
    shown: ViewKey, reranker: str, measure: str, traditional: str, _board: Board, _queries: Collection[str]
) -> pd.DataFrame:
    """What one reranker of a board would score under each precision."""
    return precision_curve(
        _board.runs.arranged({reranker: reranker}),
        measure,
        traditional,
        queries=_queries,
        scoring=shown.scoring,
    )


def as_csv(table: pa.Table) -> bytes:
    """A table as a file."""
    held_bytes = BytesIO()
    csv.write_csv(table, held_bytes, csv.WriteOptions(quoting_style="needed"))
    return held_bytes.getvalue()


def board(made: Made) -> Board:
    """What was simulated, as if its file had been uploaded."""
    return _uploaded([File("simulated.csv", as_csv(long_table(runs(made))))])


def board_held(of: Board, precision: str) -> Board:
    """A board whose scores are held in a precision.

    Raises:
        TieScopeError: its files cannot be read again.
    """
    fewer = runs_at_precision(of.runs, precision)
    name = precision.replace(":", "-")
    files = [File(f"{name}.csv", as_csv(long_table(fewer)))]
    if fewer.qrels is not None:
        files.append(File("judgments.csv", as_csv(plain_columns(fewer.qrels))))
    return _uploaded(files)


def _uploaded(files: list[File]) -> Board:
    spec = BoardSpec.of(files)
    made = cache.build_board(spec, [one.read() for one in spec.entries])
    if isinstance(made, TieScopeError):
        raise made
    return made
