"""Sliders of the Simulator: what is drawn, and how."""

import streamlit as st

from dashboard import session
from dashboard.views.simulator.cached import LLM, NOTEBOOK, SYNTHETIC, Made
from metrics.simulation import NOTEBOOK_RERANKERS

_PRESETS = dict(zip(("low", "medium", "high", "very high"), NOTEBOOK_RERANKERS.values(), strict=True))
_MOST_QUERIES, _MOST_DOCUMENTS, _MOST_RELEVANT, _MOST_LEVELS = 1000, 60, 12, 50


def settings(kind: str) -> Made:
    """What the visitor chooses of one of `KINDS`; the notebook's own draws leave nothing to choose."""
    if kind in NOTEBOOK:
        return Made(kind)
    return _llm() if kind == LLM else _synthetic()


def _llm() -> Made:
    first, second = st.container(), st.grid(4, min_column_width=150)
    with second.cell():
        ties = round(session.slider("Tie probability", (0, 1), 0.3, 0.05, "madeties"), 4)
    with second.cell():
        levels = round(session.slider("Score levels", (1, _MOST_LEVELS), 10, 1, "madelevels"))
    with second.cell():
        documents = session.range_slider("Documents", (1, _MOST_DOCUMENTS), (8, 19), "madedocs")
    with second.cell():
        relevant = session.range_slider("Relevant", (0, _MOST_RELEVANT), (1, 4), "maderelevant")
    with second.cell():
        queries = round(session.slider("Queries", (10, _MOST_QUERIES), 100, 10, "madequeries"))
    with second.cell():
        performance = round(session.slider("Performance", (0, 1), 0.9, 0.05, "performance"), 4)
    with second.cell():
        seed = session.number_input("Seed", 0, 10**6, 42, "madeseed")
    with first, st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        _preset(ties, levels)
        types = session.segmented("Query types", ("one", "the notebook's four"), "madetypes")
        beside = session.segmented("Beside it", ("nobody", "the notebook's four LLMs"), "madebeside")
    return Made(LLM, queries, documents, relevant, seed, ties, levels, performance,
                types != "one", beside != "nobody")  # fmt: skip


def _synthetic() -> Made:
    grid = st.grid(4, min_column_width=150)
    with grid.cell():
        ties = session.slider("Share of lists that may tie", (0, 1), 0.3, 0.05, "listties")
    with grid.cell():
        documents = session.range_slider("Documents", (1, _MOST_DOCUMENTS), (5, 14), "listdocs")
    with grid.cell():
        relevant = session.range_slider("Relevant", (0, _MOST_RELEVANT), (1, 3), "listrelevant")
    with grid.cell():
        queries = session.slider("Lists", (10, _MOST_QUERIES), 200, 10, "listqueries")
    with grid.cell():
        seed = session.number_input("Seed", 0, 10**6, 42, "madeseed")
    return Made(SYNTHETIC, round(queries), documents, relevant, seed, round(ties, 4))


def _preset(ties: float, levels: int) -> None:
    """The notebook's rerankers by their ties; none is marked where the sliders say otherwise."""
    now = next(
        (name for name, one in _PRESETS.items() if (one.tie_probability, one.levels) == (ties, levels)), None
    )
    session.set_value("_preset", now)
    st.segmented_control("Preset", list(_PRESETS), key="_preset", on_change=_take_preset)


def _take_preset() -> None:
    if chosen := _PRESETS.get(session.get_value("_preset")):
        session.set_value("madeties", chosen.tie_probability)
        session.set_value("madelevels", float(chosen.levels))
