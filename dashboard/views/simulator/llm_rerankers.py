"""Simulator → LLM rerankers: simulate lists by settings."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from dashboard import controls, visitor
from dashboard.charts.leaderboard import score_bounds
from dashboard.charts.simulator import gap_heatmap, tie_growth
from dashboard.controls import number_input, range_slider, slider
from dashboard.views.simulator import simulation as simulations
from dashboard.views.simulator.text_table import TextTable, number, text
from dashboard.widgets.columns import measures_in_names, reranker_columns
from dashboard.widgets.components import chart, heading, section, section_finding, side_by_side, table
from dashboard.widgets.figures import kept_figure
from metrics import parse
from metrics.simulation import NOTEBOOK_RERANKERS, reranker_text
from metrics.simulation.model import PERFORMANCE
from metrics.studies import precisions
from metrics.studies.gaps import gap_finding
from metrics.studies.leaderboard import leaderboard
from metrics.support.wording import count_of

_EXPLAINED = {
    simulations.LLM: "Scores have a few levels. Some documents then copy the score of another document.",
    simulations.SEVERAL: "Your own rerankers on the same queries, one row each. Levels 0: continuous scores.",
    simulations.CONTINUOUS_KIND: "Continuous scores, which never tie.",
    simulations.SYNTHETIC: "Scores take a few values, whatever the relevance. Noise breaks some ties.",
}
_PRESETS = dict(zip(("low", "medium", "high", "very high"), NOTEBOOK_RERANKERS.values(), strict=True))
P = ParamSpec("P")
R = TypeVar("R")
_MOST_QUERIES, _MOST_DOCUMENTS, _MOST_RELEVANT = 1000, 60, 12
_LETTERS = 40


@section("LLM rerankers")
def llm_rerankers() -> None:
    """Draw the settings, charts and figures of a simulation, and the buttons to use its lists."""
    above = st.container()
    kind = controls.segmented("Lists", simulations.KINDS, "made")
    with above:
        st.caption(_EXPLAINED[kind])
    if kind == simulations.SYNTHETIC:
        simulation = _choose_synthetic()
    else:
        simulation = _choose_several() if kind == simulations.SEVERAL else _choose_llm(kind)
    if kind == simulations.LLM:
        _growth_section(simulation)
    places = _places(simulation)
    if len(places) > 1:
        heading("Score with tie bounds", "Pale: worst to best order. Dot: tied. Diamond: traditional.")
        figure = kept_figure(score_bounds, places, visitor.theme(), "MRR")
        chart(figure, "simulated-bounds", "MRR of each simulated reranker with its tie bounds.")
    second, lists = simulations.second_measure(simulation), simulations.list_gaps(simulation)
    heading("Ties against gaps", "")
    section_finding(gap_finding(lists, "RR"))
    if lists["n_tie_groups"].any():
        simulations.lists_chart(lists, ("RR", second), "simulated")
    with st.expander("In figures"):
        rows = simulations.gap_sizes(simulation).reset_index()
        columns = reranker_columns((parse("RR"), parse(second)))
        table(rows, "In figures", "simulated", columns, measures_in_names(rows, "RR", second))
    simulations.exit_buttons(simulation)


@st.cache_resource(show_spinner=False, max_entries=16)
def _places(simulation: simulations.Simulation) -> pd.DataFrame:
    return leaderboard(simulations.scores(simulation), "RR", "input")


@st.cache_resource(show_spinner=False, max_entries=16)
def growth(simulation: simulations.Simulation, measure: str) -> pd.DataFrame:
    """Return the scores of one reranker for each tie probability."""
    probabilities = sorted({*precisions.TIE_PROBABILITIES, simulation.ties})
    return precisions.growth_curve(
        partial(simulation.simulate, common=True), simulation.levels, measure, probabilities
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def gaps_by_settings(simulation: simulations.Simulation, measure: str) -> pd.DataFrame:
    """Return the mean gap for each number of score levels and tie probability."""
    return precisions.gap_by_settings(partial(simulation.simulate, common=True), measure)


def _growth_section(simulation: simulations.Simulation) -> None:
    curve, name, palette = growth(simulation, "RR"), parse("RR").traditional, visitor.theme()
    levels, ties = simulation.levels, simulation.ties
    section_finding(precisions.growth_finding(curve, ties, levels, name))
    wide, narrow = side_by_side(3, 2, "many")
    with wide:
        size = f"{count_of(simulation.queries, 'query')}, {count_of(levels, 'score level')}"
        heading("Score as ties grow", f"{size}, the same draws.")
        alt = "Tied mean, random tie orders and bounds as the tie probability grows."
        chart(kept_figure(tie_growth, curve, palette, name, ties), "growth", alt, wide=420)
    with narrow:
        heading(
            "Mean gap of a list", "| RR − tied RR | by score levels and tie probability. Box: your settings."
        )
        is_drawn = levels in precisions.LEVELS and ties in precisions.TIE_PROBABILITIES
        setting = (levels, ties) if is_drawn else None
        figure = kept_figure(gap_heatmap, gaps_by_settings(simulation, "RR"), palette, setting)
        chart(figure, "gap-grid", "Mean gap by score levels and tie probability.", wide=360)


def _choose_llm(kind: str) -> simulations.Simulation:
    above = st.container(horizontal=True, vertical_alignment="top", gap="medium")
    with above:
        presets = st.container(width="content") if kind == simulations.LLM else None
        has_segments = _is_second("Query types", ("one", "the notebook's four"), "madetypes", ("one", "four"))
        beside = "nobody", "the notebook's four LLMs"
        is_compared = kind == simulations.LLM and _is_second(
            "Compare with", beside, "madebeside", ("none", "four LLMs")
        )
    grid = st.grid(4, min_column_width=150)
    ties, levels = 0.0, 0
    if kind == simulations.LLM:
        ties = round(_in_cell(grid, slider, "Tie probability", (0, 1), 0.3, 0.05, "madeties"), 4)
        most = reranker_text.MAX_LEVELS
        levels = round(_in_cell(grid, slider, "Score levels", (1, most), 10, 1, "madelevels"))
    lists = _choose_lists(grid, (8, 19), (1, 4))
    performance = PERFORMANCE
    if not has_segments:
        choice = _in_cell(grid, slider, "Performance", (0, 1), PERFORMANCE, 0.05, "performance")
        performance = round(choice, 4)
    if presets is not None:
        with presets:
            _preset_control(ties, levels)
    return simulations.Simulation(kind, *lists, ties, levels, performance, has_segments, is_compared)


def _in_cell(grid: Any, draw: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:  # noqa: ANN401 Streamlit's own is private
    """Draw a control in the next cell of a grid."""
    with grid.cell():
        return draw(*arguments, **options)


def _is_second(label: str, options: tuple[str, str], key: str, labels: tuple[str, str]) -> bool:
    """Draw a choice of two and return whether the second is chosen; links keep the options of version 0.2."""
    names = dict(zip(options, labels, strict=True))
    return controls.segmented(label, options, key, format_func=names.__getitem__) == options[1]


def _choose_several() -> simulations.Simulation:
    number_column = st.column_config.NumberColumn
    chance: dict[str, Any] = {"min_value": 0.0, "max_value": 1.0, "step": 0.05, "format": "%.4g"}
    rerankers = TextTable(
        key="madeof",
        parse=reranker_text.parse_rerankers,
        line=reranker_text.format_rerankers,
        read=_rerankers,
        columns={
            "name": st.column_config.TextColumn("Reranker", max_chars=_LETTERS, width="medium"),
            "ties": number_column(
                "Tie probability",
                help="Chance that a document copies its score to another document.",
                default=0.0,
                **chance,
            ),
            "levels": number_column(
                "Score levels",
                help="Number of distinct scores; 0 for continuous scores.",
                min_value=0,
                max_value=reranker_text.MAX_LEVELS,
                step=1,
                default=10,
            ),
            "performance": number_column(
                "Performance",
                help="Chance that relevance raises the score of a relevant document.",
                default=PERFORMANCE,
                **chance,
            ),
        },
        syntax="ties,levels,performance,name; …",
        hint="Performance and name are optional.",
        max_rows=reranker_text.MAX_RERANKERS,
    ).edit(simulations.SEVERAL_AT_FIRST)
    lists = _choose_lists(st.grid(4, min_column_width=150), (8, 19), (1, 4))
    several = reranker_text.format_rerankers(rerankers or simulations.SEVERAL_AT_FIRST)
    return simulations.Simulation(simulations.SEVERAL, *lists, several=several)


def _rerankers(frame: pd.DataFrame) -> list[reranker_text.NamedReranker]:
    rerankers = []
    for row in frame.to_dict("records"):
        ties, levels = number(row["ties"], math.nan), number(row["levels"], math.nan)
        if math.isfinite(ties + levels):
            name = text(row["name"], reranker_text.default_name(ties, round(levels)))
            performance = number(row["performance"], PERFORMANCE)
            rerankers.append(reranker_text.NamedReranker(ties, round(levels), performance, name))
    return rerankers


def _choose_synthetic() -> simulations.Simulation:
    grid = st.grid(4, min_column_width=150)
    ties = _in_cell(grid, slider, "Share of lists that may tie", (0, 1), 0.3, 0.05, "listties")
    return simulations.Simulation(
        simulations.SYNTHETIC, *_choose_lists(grid, (5, 14), (1, 3), "list"), round(ties, 4)
    )


def _choose_lists(
    grid: Any,  # noqa: ANN401 likewise
    documents: tuple[int, int],
    relevant: tuple[int, int],
    key: str = "made",
) -> tuple[int, tuple[int, int], tuple[int, int], int]:
    """Draw the controls of lists and return queries, documents, relevant and seed; keys begin with `key`."""
    documents = _in_cell(grid, range_slider, "Documents", (1, _MOST_DOCUMENTS), documents, f"{key}docs")
    relevant = _in_cell(grid, range_slider, "Relevant", (0, _MOST_RELEVANT), relevant, f"{key}relevant")
    label, usual = ("Lists", 200) if key == "list" else ("Queries", 100)
    queries = _in_cell(grid, slider, label, (10, _MOST_QUERIES), usual, 10, f"{key}queries")
    seed = _in_cell(grid, number_input, "Seed", 0, 10**6, 42, "madeseed")
    return round(queries), documents, relevant, seed


def _preset_control(ties: float, levels: int) -> None:
    """Draw the presets; none is selected if the sliders have other values."""
    presets = {(preset.tie_probability, preset.levels): name for name, preset in _PRESETS.items()}
    controls.set_value("_preset", presets.get((ties, levels)))
    st.segmented_control("Preset", list(_PRESETS), key="_preset", on_change=_take_preset)


def _take_preset() -> None:
    if preset := _PRESETS.get(controls.get_value("_preset")):
        controls.set_value("madeties", preset.tie_probability)
        controls.set_value("madelevels", float(preset.levels))
