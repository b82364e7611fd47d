"""Controls of the Simulator: what is drawn, and how."""

import math
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.session.controls import number_input, range_slider, slider
from dashboard.views.lab.simulator.cached import (
    LLM,
    NOTEBOOK,
    SEVERAL,
    SEVERAL_AT_FIRST,
    SYNTHETIC,
    Simulation,
)
from dashboard.views.lab.simulator.text_table import TextTable, number, text
from metrics.simulation import NOTEBOOK_RERANKERS
from metrics.simulation.model import PERFORMANCE
from metrics.simulation.reranker_text import (
    MAX_LEVELS,
    MAX_RERANKERS,
    NamedReranker,
    default_name,
    format_rerankers,
    parse_rerankers,
)

_PRESETS = dict(zip(("low", "medium", "high", "very high"), NOTEBOOK_RERANKERS.values(), strict=True))
_MOST_QUERIES, _MOST_DOCUMENTS, _MOST_RELEVANT = 1000, 60, 12
_LETTERS = 40


def choose_simulation(kind: str) -> Simulation:
    """Ask for the settings of one of `KINDS`; the notebook's own draws leave nothing to choose."""
    if kind in NOTEBOOK:
        return Simulation(kind)
    if kind == SYNTHETIC:
        return _choose_synthetic()
    return _choose_several() if kind == SEVERAL else _choose_llm(kind)


class _Lists(NamedTuple):
    """What lists are like, as the first settings of `Simulation` have it."""

    queries: int
    documents: tuple[int, int]
    relevant: tuple[int, int]
    seed: int


def _choose_llm(kind: str) -> Simulation:
    """Ask for one reranker and its queries; continuous scores leave its ties out."""
    above = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with above:
        presets = st.container(width="content") if kind == LLM else None
        has_segments = session.segmented("Query types", ("one", "the notebook's four"), "madetypes") != "one"
        is_compared = kind == LLM and (
            session.segmented("Beside it", ("nobody", "the notebook's four LLMs"), "madebeside") != "nobody"
        )
    grid = st.grid(4, min_column_width=150)
    ties, levels = _choose_ties(grid) if kind == LLM else (0.0, 0)
    lists = _choose_lists(grid, (8, 19), (1, 4))
    performance = PERFORMANCE
    if not has_segments:
        with grid.cell():
            performance = round(slider("Performance", (0, 1), PERFORMANCE, 0.05, "performance"), 4)
    if presets is not None:
        with presets:
            _preset_control(ties, levels)
    return Simulation(kind, *lists, ties, levels, performance, has_segments, is_compared)


def _choose_several() -> Simulation:
    """Ask for several rerankers, a row each, and their queries."""
    rerankers = TextTable(
        key="madeof",
        parse=parse_rerankers,
        line=format_rerankers,
        read=_rerankers,
        columns=_columns(),
        syntax="ties,levels,performance,name; …",
        hint="Performance and name may be left out.",
        max_rows=MAX_RERANKERS,
    ).edit(SEVERAL_AT_FIRST)
    lists = _choose_lists(st.grid(4, min_column_width=150), (8, 19), (1, 4))
    return Simulation(SEVERAL, *lists, several=format_rerankers(rerankers or SEVERAL_AT_FIRST))


def _columns() -> dict[str, Any]:
    chance: dict[str, Any] = {"min_value": 0.0, "max_value": 1.0, "step": 0.05, "format": "%.4g"}
    return {
        "name": st.column_config.TextColumn("Reranker", max_chars=_LETTERS, width="medium"),
        "ties": st.column_config.NumberColumn(
            "Tie probability", help="Chance that a document hands its score to another.", default=0.0, **chance
        ),
        "levels": st.column_config.NumberColumn(
            "Score levels",
            help="Distinct scores there are; 0 for any score, which never ties by itself.",
            min_value=0,
            max_value=MAX_LEVELS,
            step=1,
            default=10,
        ),
        "performance": st.column_config.NumberColumn(
            "Performance",
            help="Chance that a relevant document is scored higher.",
            default=PERFORMANCE,
            **chance,
        ),
    }


def _rerankers(frame: pd.DataFrame) -> list[NamedReranker]:
    """Return the rows that say ties and levels."""
    rerankers = []
    for row in frame.to_dict("records"):
        ties, levels = number(row["ties"], math.nan), number(row["levels"], math.nan)
        if math.isfinite(ties + levels):
            name = text(row["name"], default_name(ties, round(levels)))
            performance = number(row["performance"], PERFORMANCE)
            rerankers.append(NamedReranker(ties, round(levels), performance, name))
    return rerankers


def _choose_synthetic() -> Simulation:
    grid = st.grid(4, min_column_width=150)
    with grid.cell():
        ties = slider("Share of lists that may tie", (0, 1), 0.3, 0.05, "listties")
    return Simulation(SYNTHETIC, *_choose_lists(grid, (5, 14), (1, 3), "list"), round(ties, 4))


def _choose_ties(grid: Any) -> tuple[float, int]:  # noqa: ANN401 Streamlit's own is private
    with grid.cell():
        ties = round(slider("Tie probability", (0, 1), 0.3, 0.05, "madeties"), 4)
    with grid.cell():
        return ties, round(slider("Score levels", (1, MAX_LEVELS), 10, 1, "madelevels"))


def _choose_lists(
    grid: Any,  # noqa: ANN401 likewise
    documents: tuple[int, int],
    relevant: tuple[int, int],
    key: str = "made",
) -> _Lists:
    """Ask how many lists there are, and how long; names of the controls begin with `key`."""
    is_list = key == "list"
    with grid.cell():
        documents = range_slider("Documents", (1, _MOST_DOCUMENTS), documents, f"{key}docs")
    with grid.cell():
        relevant = range_slider("Relevant", (0, _MOST_RELEVANT), relevant, f"{key}relevant")
    with grid.cell():
        label, usual = ("Lists", 200) if is_list else ("Queries", 100)
        queries = round(slider(label, (10, _MOST_QUERIES), usual, 10, f"{key}queries"))
    with grid.cell():
        return _Lists(queries, documents, relevant, number_input("Seed", 0, 10**6, 42, "madeseed"))


def _preset_control(ties: float, levels: int) -> None:
    """Draw the notebook's rerankers by their ties; none is marked where the sliders say otherwise."""
    presets = {(preset.tie_probability, preset.levels): name for name, preset in _PRESETS.items()}
    session.set_value("_preset", presets.get((ties, levels)))
    st.segmented_control("Preset", list(_PRESETS), key="_preset", on_change=_take_preset)


def _take_preset() -> None:
    if preset := _PRESETS.get(session.get_value("_preset")):
        session.set_value("madeties", preset.tie_probability)
        session.set_value("madelevels", float(preset.levels))
