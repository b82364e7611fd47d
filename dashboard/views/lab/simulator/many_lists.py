"""The second section of the Simulator: many lists, drawn by settings or as the notebook draws them."""

import streamlit as st

from dashboard import session
from dashboard.charts.gaps.gap_panels import gap_panels
from dashboard.charts.leaderboard import score_bounds
from dashboard.charts.simulated.gap_heatmap import gap_heatmap
from dashboard.charts.simulated.tie_growth import tie_growth
from dashboard.session.boards import while_open
from dashboard.views.lab.simulator import cached
from dashboard.views.lab.simulator.cached import (
    CONTINUOUS_KIND,
    KINDS,
    LLM,
    SEVERAL,
    SYNTHETIC,
    Simulation,
)
from dashboard.views.lab.simulator.settings import choose_simulation
from dashboard.views.lab.simulator.tables import mean_columns
from dashboard.widgets.columns import deviation_columns, gap_columns
from dashboard.widgets.components import chart, heading, section_finding, side_by_side, table
from dashboard.widgets.figures import OF_NO_BOARD, kept_figure
from dashboard.widgets.page_body import section
from metrics import parse
from metrics.simulation import long_table
from metrics.studies.gaps.gap import gap_finding
from metrics.studies.gaps.growth import LEVELS, TIE_PROBABILITIES, growth_finding
from metrics.support.shown_columns import shown_columns
from metrics.support.wording import count_of

_EXPLAINED = {
    LLM: "The notebook's simulator: scores fall on a few levels, then some documents copy that of another.",
    SEVERAL: "Rerankers of your own on the same queries: edit a row, add or delete some. Levels 0: any score.",
    CONTINUOUS_KIND: "Scores of any size, which no two documents share: what there is without ties.",
    SYNTHETIC: "Scores drawn from a few, whatever is relevant; some lists get noise, which leaves no tie.",
}


@section("Many lists")
def many_lists() -> None:
    """Draw what is simulated, its charts, its figures, and the way into the app."""
    above = st.container()
    kind = session.segmented("Lists", KINDS, "made")
    with above:
        st.caption(_EXPLAINED.get(kind, "Draw by draw what the notebook draws, with its seed."))
    simulation = choose_simulation(kind)
    if kind == LLM:
        _growth_section(simulation)
    _reranker_section(simulation)
    _gap_section(simulation)
    _figure_table(simulation)
    _exit_buttons(simulation)


def _growth_section(simulation: Simulation) -> None:
    """Draw one reranker as its ties grow, and its gap over both settings."""
    curve, name = cached.growth(simulation, "RR"), parse("RR").traditional
    section_finding(growth_finding(curve, simulation.ties, simulation.levels, name))
    wide, narrow = side_by_side(3, 2, "many")
    with wide:
        heading(
            "Score as ties grow",
            f"{count_of(simulation.queries, 'query')}, {count_of(simulation.levels, 'score level')}, "
            "the same draws.",
        )
        figure = kept_figure(OF_NO_BOARD, tie_growth, curve, session.theme(), name, simulation.ties)
        chart(figure, "growth", "Tied mean, shuffles and bounds as the tie probability grows.", wide=420)
    with narrow:
        heading("Mean gap of a list", "| RR − tied RR | over both settings; box: yours.")
        setting = (simulation.levels, simulation.ties)
        figure = kept_figure(
            OF_NO_BOARD,
            gap_heatmap,
            cached.gaps_by_settings(simulation, "RR"),
            session.theme(),
            setting if simulation.levels in LEVELS and simulation.ties in TIE_PROBABILITIES else None,
        )
        chart(figure, "gap-grid", "Mean gap by score levels and tie probability.", wide=360)


def _reranker_section(simulation: Simulation) -> None:
    """Draw several rerankers as on the Leaderboard."""
    rows = cached.places(simulation)
    if len(rows) > 1:
        heading("Score with tie bounds", "Pale: worst to best order. Dot: tied. Diamond: traditional.")
        figure = kept_figure(OF_NO_BOARD, score_bounds, rows, session.theme(), parse("RR").traditional)
        chart(figure, "simulated-bounds", "MRR of each simulated reranker with its tie bounds.")


def _gap_section(simulation: Simulation) -> None:
    """Draw the notebook's six panels."""
    second, lists = cached.second_measure(simulation), cached.list_gaps(simulation)
    lists = lists.assign(first_size=lists["first_gap"].abs(), second_size=lists["second_gap"].abs())
    heading(
        "Ties against gaps",
        "Shaded cells hold four lists or more; dots are single lists; grey: share of lists without any gap.",
    )
    section_finding(gap_finding(lists, "RR"))
    if not lists["n_tie_groups"].any():
        return
    figure = kept_figure(OF_NO_BOARD, gap_panels, lists, session.theme(), ("RR", second))
    alt = f"Tie ratio and largest tie against the gap in RR and in {second} of the simulated lists."
    chart(figure, "simulated-gaps", alt, wide=640)


def _figure_table(simulation: Simulation) -> None:
    """Draw each reranker's means, gaps and ties as a table."""
    second = cached.second_measure(simulation)
    evaluation = cached.scores(simulation)
    means = evaluation.scores.groupby(level="reranker", sort=False).mean()
    first_means, first_columns = mean_columns(means, evaluation.measures[:1])
    other_means, other_columns = mean_columns(means, evaluation.measures[1:])
    columns = shown_columns("reranker", "tie_ratio") | first_columns | gap_columns("first", "RR")
    columns |= other_columns | gap_columns("second", second)
    columns |= shown_columns("with_ties", ("n", "n_lists"), "tie_groups", "max_tie_size")
    columns |= deviation_columns({"first_gap_std": "|RR gap|", "second_gap_std": f"|{second} gap|"})
    columns |= shown_columns("max_tie_size_mean", "tie_size_mean")
    rows = cached.gap_sizes(simulation).join([first_means, other_means]).reset_index()
    with st.expander("In figures"):
        table(rows, "In figures", "simulated", columns)


def _exit_buttons(simulation: Simulation) -> None:
    """Draw the ways of the lists into the app, or into a file."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Use as runs", icon=":material/library_add:", type="primary", key="use-simulated"):
            session.show_board(cached.simulated_board(simulation))
        st.download_button(
            "Lists as CSV",
            data=while_open(lambda: cached.as_csv(long_table(cached.runs(simulation)))),
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
