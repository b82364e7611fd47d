"""The second section of the Simulator: many lists, drawn by settings or as the notebook draws them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session
from dashboard.charts.gaps.gap_panels import gap_panels
from dashboard.charts.leaderboard.score_bounds import score_bounds
from dashboard.charts.simulated.gap_heatmap import gap_heatmap
from dashboard.charts.simulated.tie_growth import tie_growth
from dashboard.views.simulator import cached
from dashboard.views.simulator.cached import KINDS, LLM, SECOND, SYNTHETIC, Made
from dashboard.views.simulator.settings import settings
from dashboard.widgets.components import chart, heading, number, section_finding, share, table
from metrics import parse
from metrics.simulation import long_table
from metrics.studies.gaps.gap import gap_finding, gaps
from metrics.studies.gaps.growth import LEVELS, TIE_PROBABILITIES, growth_finding
from metrics.studies.leaderboard.leaderboard import leaderboard
from metrics.studies.leaderboard.tie_summary import tie_summary

_EXPLAINED = {
    LLM: "The notebook's simulator: scores fall on a few levels, then some documents copy that of another.",
    SYNTHETIC: "Scores drawn from a few, whatever is relevant; some lists get noise, which leaves no tie.",
}


def many_lists() -> None:
    """What is drawn, its charts, its figures, and the way into the app."""
    place = st.container()
    kind = session.segmented("Lists", KINDS, "made")
    with place:
        heading("Many lists", _EXPLAINED.get(kind, "Draw by draw what the notebook draws, with its seed."))
    made = settings(kind)
    if kind == LLM:
        _growth(made)
    _side_by_side(made)
    _gaps(made)
    _figures(made)
    _way_out(made)


def _growth(made: Made) -> None:
    """One reranker as its ties grow, and its gap over both settings."""
    curve, name = cached.growth(made, "RR"), parse("RR").traditional
    section_finding(growth_finding(curve, made.ties, made.levels, name))
    left, right = st.columns([3, 2], gap="large")
    with left:
        heading("Score as ties grow", f"{made.queries:,} queries, {made.levels} score levels, the same draws.")
        figure = tie_growth(curve, session.theme(), name, made.ties)
        chart(figure, "growth", "Tied mean, shuffles and bounds as the tie probability grows.", wide=420)
    with right:
        heading("Mean gap of a list", "| RR − tied RR | over both settings; box: yours.")
        yours = (made.levels, made.ties)
        figure = gap_heatmap(
            cached.gaps_by_settings(made, "RR"),
            session.theme(),
            yours if made.levels in LEVELS and made.ties in TIE_PROBABILITIES else None,
        )
        chart(figure, "gap-grid", "Mean gap by score levels and tie probability.", wide=360)


def _side_by_side(made: Made) -> None:
    """Several rerankers as on the Leaderboard."""
    board = leaderboard(cached.scores(made), "RR", "input")
    if len(board) > 1:
        heading("Score with tie bounds", "Pale: worst to best order. Dot: tied. Diamond: traditional.")
        figure = score_bounds(board, session.theme(), parse("RR").traditional)
        chart(figure, "simulated-bounds", "MRR of each simulated reranker with its tie bounds.")


def _gaps(made: Made) -> None:
    """The notebook's six panels."""
    second = SECOND.get(made.kind, "Hits@3")
    lists = gaps(cached.scores(made), {"first": "RR", "second": second}, "input")
    lists = lists.assign(first_size=lists["first_gap"].abs(), second_size=lists["second_gap"].abs())
    heading(
        "Ties against gaps",
        "Shaded cells hold four lists or more; dots are single lists; grey: share of lists without any gap.",
    )
    section_finding(gap_finding(lists, "RR"))
    figure = gap_panels(lists, session.theme(), ("RR", second))
    alt = f"Tie ratio and largest tie against the gap in RR and in {second} of the simulated lists."
    chart(figure, "simulated-gaps", alt, wide=820)


def _figures(made: Made) -> None:
    second = SECOND.get(made.kind, "Hits@3")
    values = cached.scores(made)
    rows = tie_summary(values, "RR", second)
    means = values.scores.groupby(level="reranker", sort=False).mean()
    columns: dict[str, Any] = {
        "reranker": st.column_config.TextColumn("Reranker"),
        "tie_ratio": share("Tie ratio"),
        "with_ties": number("Lists with ties", "%d"),
        "n": number("Lists", "%d"),
    }
    _both(rows, columns, means, values.measures[:1])
    for p, measure in (("first", "RR"), ("second", second)):
        columns[f"{p}_gap_mean"] = number(f"|{measure} gap|", help="Mean over lists of the absolute gap.")
        columns[f"{p}_gap_std"] = number("± std")
        columns[f"{p}_gap_max"] = number("max")
    columns |= {
        "r_ratio": number("r, tie ratio", "%.3f", "Correlation of the RR gap with the tie ratio."),
        "r_size": number("r, largest tie", "%.3f", "Correlation of the RR gap with the largest tie."),
        "tie_groups": number("Ties a list", "%.2f"),
        "max_tie_size_mean": number("Largest tie, mean", "%.2f"),
        "max_tie_size": number("Largest tie", "%d"),
    }
    _both(rows, columns, means, values.measures[1:])
    shown = rows.reset_index().assign(tie_ratio=100 * rows["tie_ratio"].to_numpy())
    table(shown, "In figures", "simulated", columns, download=rows.reset_index())


def _both(rows: pd.DataFrame, columns: dict[str, Any], means: pd.DataFrame, measures: Sequence[str]) -> None:
    """Add the traditional and the tied mean of measures to rows and columns."""
    for measure in measures:
        for how, called in (("input", parse(measure).traditional), ("expected", parse(measure).tied)):
            rows[f"{measure}_{how}"] = means[measure, how]
            columns[f"{measure}_{how}"] = number(called)


def _way_out(made: Made) -> None:
    """The lists into the app, or as a file."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Use as runs", icon=":material/library_add:", type="primary", key="use-simulated"):
            session.show_board(cached.board(made))
        st.download_button(
            "Lists as CSV",
            data=lambda: cached.as_csv(long_table(cached.runs(made))),
            file_name="tiescope-simulated.csv",
            mime="text/csv",
            key="download-lists",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )
        if "simulated.csv" in [file.name for file in session.view().board.files]:
            st.page_link(
                "views/leaderboard/leaderboard.py",
                label="Simulated runs are shown on every page",
                icon=":material/check:",
            )
