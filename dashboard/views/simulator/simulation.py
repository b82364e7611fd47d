"""Simulator → LLM rerankers: simulate lists by settings, score them, and use them as a board."""

import math
from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from pyarrow import csv
from streamlit.delta_generator import DeltaGenerator

from dashboard import boards, cache, controls, pages, visitor
from dashboard.charts.simulator import tie_growth
from dashboard.charts.ties_vs_gap import gap_panels
from dashboard.library.boards import Board, BoardSpec
from dashboard.views.simulator.text_table import edit_rows, number, text
from dashboard.widgets import components as ui
from dashboard.widgets.columns import measures_in_names, reranker_columns
from dashboard.widgets.leaderboard_parts import leaderboard_charts
from metrics import Evaluation, Runs, evaluate, parse
from metrics.errors import TieScopeError
from metrics.runs import File
from metrics.simulation import (
    NOTEBOOK_RERANKERS,
    NOTEBOOK_SEGMENTS,
    LlmReranker,
    link_text,
    long_table,
    notebook_grag,
    notebook_llm_rerankers,
    notebook_synthetic,
    simulate,
    synthetic,
)
from metrics.simulation.drawing import PERFORMANCE
from metrics.studies import precisions
from metrics.studies.gaps import gap_finding, gap_summary, gaps
from metrics.studies.leaderboard import leaderboard
from metrics.support.wording import count_of

LLM, SEVERAL, SYNTHETIC = "LLM reranker", "Several rerankers", "Synthetic lists"
KINDS = {
    LLM: "Scores have a few levels. Some documents then copy the score of another document.",
    SEVERAL: "Your own rerankers on the same queries, one row each. Levels 0: continuous scores.",
    SYNTHETIC: "Scores take only a few values and do not depend on relevance. Noise removes the ties of some "
    "lists.",
}
"""Kinds of simulations with settings, and what their scores are."""
NOTEBOOK_LLMS, NOTEBOOK_LISTS, NOTEBOOK_GRAG = "Notebook: four LLMs", "Notebook: 200 lists", "Notebook: G-RAG"
_NOTEBOOK = {
    NOTEBOOK_LLMS: notebook_llm_rerankers,
    NOTEBOOK_LISTS: notebook_synthetic,
    NOTEBOOK_GRAG: notebook_grag,
}
"""Kinds of simulations without settings, as the notebook draws them."""
SEVERAL_AT_FIRST = [
    link_text.NamedReranker(each.tie_probability, each.levels, PERFORMANCE, name)
    for name, each in NOTEBOOK_RERANKERS.items()
] + [link_text.NamedReranker(0, 0, PERFORMANCE, "Continuous")]
"""The notebook's four rerankers and one that never ties."""
_TIES = ("expected", "input", "optimistic", "pessimistic")
Setting = TypeVar("Setting", int, float, tuple[int, int])


class Simulation(NamedTuple):
    """Settings of a simulation; see `metrics.simulation`.

    Attributes:
        kind: one of `KINDS`, or one of the notebook's kinds, which have no settings.
        queries: number of queries.
        documents: fewest and most documents of a list.
        relevant: fewest and most relevant documents of a list.
        seed: random seed.
        ties: chance that a document copies a score, or share of synthetic lists that may contain ties.
        levels: number of distinct scores.
        performance: how well scores separate relevant documents, 0 to 1; query types have their own.
        has_segments: whether queries have the notebook's four types.
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
    several: str = ""

    @property
    def rerankers(self) -> dict[str, LlmReranker]:
        """The simulated LLM rerankers: name → settings."""
        if self.kind == SEVERAL:
            return link_text.reranker_table(link_text.parse_rerankers(self.several) or SEVERAL_AT_FIRST)
        return {link_text.default_name(self.ties, self.levels): LlmReranker(self.ties, self.levels)}

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


@cache.cached(max_entries=16)
def runs(simulation: Simulation) -> Runs:
    """Return the simulated lists."""
    if simulation.kind in _NOTEBOOK:
        return _NOTEBOOK[simulation.kind]()
    if simulation.kind == SYNTHETIC:
        return synthetic(
            simulation.queries, simulation.documents, simulation.relevant, simulation.seed, simulation.ties
        )
    return simulation.simulate(simulation.rerankers)


@cache.cached(max_entries=16)
def scores(simulation: Simulation) -> Evaluation:
    """Return the scores of the simulated lists."""
    return evaluate(runs(simulation), ("RR", second_measure(simulation)), _TIES)


@cache.cached(max_entries=16)
def list_gaps(simulation: Simulation) -> pd.DataFrame:
    """Return the signed gaps of each list in two measures."""
    return gaps(scores(simulation), {"first": "RR", "second": second_measure(simulation)}, "input")


@cache.cached(max_entries=16)
def gap_sizes(simulation: Simulation) -> pd.DataFrame:
    """Return the mean scores, gaps and ties of each reranker."""
    return gap_summary(list_gaps(simulation))


def second_measure(simulation: Simulation) -> str:
    """Return the second measure whose gaps are shown, the notebook's choice."""
    return "Hits@5" if simulation.kind == NOTEBOOK_LLMS else "Hits@3"


def as_csv(rows: pa.Table) -> bytes:
    """Return a table as the bytes of a CSV file."""
    file = BytesIO()
    csv.write_csv(rows, file, csv.WriteOptions(quoting_style="needed"))
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
    figure = cache.drawn(gap_panels, lists, visitor.theme(), names)
    alt = f"Tie ratio and largest tie against the gaps in {names[0]} and {names[1]}, and one against the other."
    ui.chart(figure, f"{key}-panels", alt, wide=760)


def exit_buttons(simulation: Simulation) -> None:
    """Draw the buttons that use the lists as a board or download them."""

    def written() -> bytes:
        return as_csv(long_table(runs(simulation)))

    key = "" if simulation.kind in KINDS else f"-{simulation.kind}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Use as runs", icon=":material/library_add:", type="primary", key=f"use-simulated{key}"):
            board = build_board([File("simulated.csv", written())])
            boards.show_board(board, page=pages.LEADERBOARD.file)
        file, key = "tiescope-simulated.csv", f"download-lists{key}"
        ui.download("Lists as CSV", written, file, "text/csv", key, type="tertiary")


_MOST_QUERIES, _MOST_DOCUMENTS, _MOST_RELEVANT = 1000, 60, 12
_LETTERS = 40


@ui.section("LLM rerankers")
def llm_rerankers() -> None:
    """Draw the settings, charts and figures of a simulation, and the buttons to use its lists."""
    kind = controls.segmented("Lists", list(KINDS), "made")
    settings, first_chart = st.container(), st.container()
    choose = {LLM: _choose_llm, SEVERAL: _choose_several, SYNTHETIC: _choose_synthetic}[kind]
    simulation = choose(settings)
    st.caption(KINDS[kind])
    with first_chart:
        if kind == LLM:
            _growth_section(simulation)
        if kind == SEVERAL:
            ui.heading("Score with tie bounds", "Pale: worst to best order. Dot: tied. Diamond: traditional.")
            leaderboard_charts(leaderboard(scores(simulation), "RR", "input"), visitor.theme(), parse("RR"))
    second, lists = second_measure(simulation), list_gaps(simulation)
    ui.heading("Ties against gaps")
    ui.section_finding(gap_finding(lists, "RR"))
    if lists["n_tie_groups"].any():
        lists_chart(lists, ("RR", second), "simulated")
    with st.expander("In figures"):
        rows = gap_sizes(simulation).reset_index()
        columns = reranker_columns((parse("RR"), parse(second)))
        ui.table(rows, "", "simulated", columns, measures_in_names(rows, "RR", second))
    exit_buttons(simulation)


@cache.cached(max_entries=16)
def growth(simulation: Simulation, measure: str) -> pd.DataFrame:
    """Return the scores of one reranker for each tie probability."""
    probabilities = sorted({*precisions.TIE_PROBABILITIES, simulation.ties})
    return precisions.growth_curve(
        partial(simulation.simulate, common=True), simulation.levels, measure, probabilities
    )


def _growth_section(simulation: Simulation) -> None:
    curve, name, palette = growth(simulation, "RR"), parse("RR").traditional, visitor.theme()
    levels, ties = simulation.levels, simulation.ties
    ui.section_finding(precisions.growth_finding(curve, ties, levels, name))
    ui.heading("Score as ties grow")
    alt = "Tied mean, random tie orders and bounds as the tie probability grows."
    ui.chart(cache.drawn(tie_growth, curve, palette, name, ties), "growth", alt, wide=420)
    size = f"{count_of(simulation.queries, 'query')}, {count_of(levels, 'score level')}"
    st.caption(f"{size}. The same random draws at every tie probability.")


def _choose_llm(place: DeltaGenerator) -> Simulation:
    grid = place.grid(4, min_column_width=150)
    has_segments = ui.in_cell(grid, controls.segmented, "Query types", ("one", "four"), "madetypes") == "four"
    ties = _slider(grid, "Tie probability", (0, 1), 0.3, 0.05, "madeties")
    levels = _slider(grid, "Score levels", (1, link_text.MAX_LEVELS), 10, 1, "madelevels")
    performance = PERFORMANCE
    if not has_segments:
        performance = _slider(grid, "Performance", (0, 1), PERFORMANCE, 0.05, "performance")
    lists = _choose_lists((8, 19), (1, 4))
    return Simulation(LLM, *lists, ties, levels, performance, has_segments)


def _choose_several(place: DeltaGenerator) -> Simulation:
    number_column = st.column_config.NumberColumn
    chance: dict[str, Any] = {"min_value": 0.0, "max_value": 1.0, "step": 0.05, "format": "%.4g"}
    columns = {
        "name": st.column_config.TextColumn("Reranker", max_chars=_LETTERS, width="medium"),
        "ties": number_column(
            "Tie probability",
            help="Chance that a document's score is copied to another document.",
            default=0.0,
            **chance,
        ),
        "levels": number_column(
            "Score levels",
            help="Number of distinct scores; 0 for continuous scores.",
            min_value=0,
            max_value=link_text.MAX_LEVELS,
            step=1,
            default=10,
        ),
        "performance": number_column(
            "Performance",
            help="Probability that the simulation raises the score of a relevant document.",
            default=PERFORMANCE,
            **chance,
        ),
    }
    write, max_rows = link_text.format_rerankers, link_text.MAX_RERANKERS
    with place:
        rerankers = edit_rows(
            "madeof", SEVERAL_AT_FIRST, columns, link_text.parse_rerankers, write, _rerankers, max_rows
        )
    lists = _choose_lists((8, 19), (1, 4))
    several = write(rerankers or SEVERAL_AT_FIRST)
    return Simulation(SEVERAL, *lists, several=several)


def _rerankers(frame: pd.DataFrame) -> list[link_text.NamedReranker]:
    rerankers = []
    for row in frame.to_dict("records"):
        ties, levels = number(row["ties"], math.nan), number(row["levels"], math.nan)
        if math.isfinite(ties + levels):
            name = text(row["name"], link_text.default_name(ties, round(levels)))
            performance = number(row["performance"], PERFORMANCE)
            rerankers.append(link_text.NamedReranker(ties, round(levels), performance, name))
    return rerankers


def _choose_synthetic(place: DeltaGenerator) -> Simulation:
    grid = place.grid(4, min_column_width=150)
    ties = _slider(grid, "Share of lists that may contain ties", (0, 1), 0.3, 0.05, "listties")
    return Simulation(SYNTHETIC, *_choose_lists((5, 14), (1, 3), "list"), ties)


def _choose_lists(
    documents: tuple[int, int], relevant: tuple[int, int], key: str = "made"
) -> tuple[int, tuple[int, int], tuple[int, int], int]:
    """Draw the controls of lists and return queries, documents, relevant and seed; keys begin with `key`."""
    grid = st.grid(4, min_column_width=150)
    documents = _slider(grid, "Documents", (1, _MOST_DOCUMENTS), documents, 1, f"{key}docs")
    relevant = _slider(grid, "Relevant", (0, _MOST_RELEVANT), relevant, 1, f"{key}relevant")
    label, usual = ("Lists", 200) if key == "list" else ("Queries", 100)
    queries = _slider(grid, label, (10, _MOST_QUERIES), usual, 10, f"{key}queries")
    seed = ui.in_cell(grid, controls.number_input, "Seed", 0, 10**6, 42, "madeseed")
    return queries, documents, relevant, seed


def _slider(
    grid: Any,  # noqa: ANN401 Streamlit's own is private
    label: str,
    ends: tuple[int, int],
    default: Setting,
    step: float,
    key: str,
) -> Setting:
    """Draw a slider in the next cell of a grid, for a range if `default` is a pair, and return its setting."""
    kind, is_range = type(step), isinstance(default, tuple)
    low, high = map(kind, ends)

    def read(texts: list[str]) -> Any:  # noqa: ANN401 a number or a pair
        numbers = sorted(kind(round(float(text), 4)) for text in texts)
        return tuple(numbers) if is_range else numbers[-1]

    def is_valid(setting: Any) -> bool:  # noqa: ANN401 likewise
        return low <= np.min(setting) <= np.max(setting) <= high and np.size(setting) == np.size(default)

    setting = controls.choose(key, default, is_valid, read)
    with grid.cell():
        written = "%.0f" if kind is int else "%.2f"
        st.slider(label, low, high, default, step, written, **controls.bound(key, setting))
    return setting
