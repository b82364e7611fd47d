"""Sliders of the Simulator: what is drawn, and how."""

import streamlit as st

from dashboard import session
from dashboard.session.controls import number_input, range_slider, slider
from dashboard.views.simulator.cached import LLM, NOTEBOOK, SYNTHETIC, Simulation
from metrics.simulation import NOTEBOOK_RERANKERS

_PRESETS = dict(zip(("low", "medium", "high", "very high"), NOTEBOOK_RERANKERS.values(), strict=True))
_MOST_QUERIES, _MOST_DOCUMENTS, _MOST_RELEVANT, _MOST_LEVELS = 1000, 60, 12, 50


def choose_simulation(kind: str) -> Simulation:
    """Ask for the settings of one of `KINDS`; the notebook's own draws leave nothing to choose."""
    if kind in NOTEBOOK:
        return Simulation(kind)
    return _choose_llm() if kind == LLM else _choose_synthetic()


def _choose_llm() -> Simulation:
    above, grid = st.container(), st.grid(4, min_column_width=150)
    with grid.cell():
        ties = round(slider("Tie probability", (0, 1), 0.3, 0.05, "madeties"), 4)
    with grid.cell():
        levels = round(slider("Score levels", (1, _MOST_LEVELS), 10, 1, "madelevels"))
    with grid.cell():
        documents = range_slider("Documents", (1, _MOST_DOCUMENTS), (8, 19), "madedocs")
    with grid.cell():
        relevant = range_slider("Relevant", (0, _MOST_RELEVANT), (1, 4), "maderelevant")
    with grid.cell():
        queries = round(slider("Queries", (10, _MOST_QUERIES), 100, 10, "madequeries"))
    with grid.cell():
        performance = round(slider("Performance", (0, 1), 0.9, 0.05, "performance"), 4)
    with grid.cell():
        seed = number_input("Seed", 0, 10**6, 42, "madeseed")
    with above, st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        _preset_control(ties, levels)
        query_types = session.segmented("Query types", ("one", "the notebook's four"), "madetypes")
        beside = session.segmented("Beside it", ("nobody", "the notebook's four LLMs"), "madebeside")
    return Simulation(LLM, queries, documents, relevant, seed, ties, levels, performance,
                query_types != "one", beside != "nobody")  # fmt: skip


def _choose_synthetic() -> Simulation:
    grid = st.grid(4, min_column_width=150)
    with grid.cell():
        ties = slider("Share of lists that may tie", (0, 1), 0.3, 0.05, "listties")
    with grid.cell():
        documents = range_slider("Documents", (1, _MOST_DOCUMENTS), (5, 14), "listdocs")
    with grid.cell():
        relevant = range_slider("Relevant", (0, _MOST_RELEVANT), (1, 3), "listrelevant")
    with grid.cell():
        queries = slider("Lists", (10, _MOST_QUERIES), 200, 10, "listqueries")
    with grid.cell():
        seed = number_input("Seed", 0, 10**6, 42, "madeseed")
    return Simulation(SYNTHETIC, round(queries), documents, relevant, seed, round(ties, 4))


def _preset_control(ties: float, levels: int) -> None:
    """Draw the notebook's rerankers by their ties; none is marked where the sliders say otherwise."""
    presets = {(preset.tie_probability, preset.levels): name for name, preset in _PRESETS.items()}
    session.set_value("_preset", presets.get((ties, levels)))
    st.segmented_control("Preset", list(_PRESETS), key="_preset", on_change=_take_preset)


def _take_preset() -> None:
    if preset := _PRESETS.get(session.get_value("_preset")):
        session.set_value("madeties", preset.tie_probability)
        session.set_value("madelevels", float(preset.levels))
