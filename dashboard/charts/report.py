"""The charts of a report, each for light and for dark ground, and the script that shows them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from dashboard.charts.deciding.finish import finish_heatmap
from dashboard.charts.deciding.forest import difference_forest
from dashboard.charts.deciding.targets import MAX_COLUMNS, target_bullets, target_matrix
from dashboard.charts.leaderboard.leaderboard import rank_slope, score_bounds
from dashboard.charts.leaderboard.rerankers import aligned_rows
from dashboard.charts.leaderboard.tools import tool_strip
from dashboard.charts.palette import DARK, LIGHT, Palette
from metrics.report import Figure, Report, ReportCharts, ReportStudies


@dataclass(frozen=True)
class _Chart:
    """How a chart is made from the studies, and what is said of it."""

    title: Callable[[ReportStudies], str]
    alt: str
    draw: Callable[[ReportStudies, Palette], go.Figure]
    wide: int = 560


def draw_charts(report: Report) -> ReportCharts:
    """The charts of the sections that a report has."""
    names = [name for section in report.sections for name in section.charts]
    return ReportCharts(get_plotlyjs(), {name: _figure(_CHARTS[name], report.found) for name in names})


def _figure(one: _Chart, found: ReportStudies) -> Figure:
    light, dark = (one.draw(found, palette) for palette in (LIGHT, DARK))
    height = int(light.layout.height)
    return Figure(one.title(found), one.alt, light.to_json(), dark.to_json(), height, one.wide)


def _scores(found: ReportStudies, palette: Palette) -> go.Figure:
    return score_bounds(found.board, palette, found.name.traditional)


def _gaps(found: ReportStudies, palette: Palette) -> go.Figure:
    return aligned_rows(found.summary, found.lists, palette, found.name.traditional)


def _differences(found: ReportStudies, palette: Palette) -> go.Figure:
    return difference_forest(found.verdicts.best_first(), palette, found.name.traditional)


def _places(found: ReportStudies, palette: Palette) -> go.Figure:
    spread = found.chances.spread
    order = spread.sort_values("expected", ascending=False, kind="stable").index
    ranks = found.board.loc[order, "traditional_rank"].astype(int).tolist()
    return finish_heatmap(found.chances.places.loc[order], spread.loc[order], ranks, palette)


def _targets(found: ReportStudies, palette: Palette) -> go.Figure:
    rows = found.targets
    return target_bullets(rows[rows["reranker"] == found.targets_for].reset_index(drop=True), palette)


def _passes(found: ReportStudies, palette: Palette) -> go.Figure:
    return target_matrix(found.targets, palette, found.targets_for)


def _tools(found: ReportStudies, palette: Palette) -> go.Figure:
    own = found.tools[found.tools["measure"] == found.measure]
    return tool_strip(found.board, own, palette, found.name.traditional)


_CHARTS: Mapping[str, _Chart] = {
    "scores": _Chart(
        lambda found: f"{found.name.traditional} with tie bounds",
        "Worst, best, tied and traditional mean of each reranker.",
        _scores,
    ),
    "ranks": _Chart(
        lambda _: "Place, traditional and tied",
        "Place of each reranker by its traditional value and by its tied value.",
        lambda found, palette: rank_slope(found.board, palette),
        400,
    ),
    "targets": _Chart(
        lambda found: f"Targets of {found.targets_for}",
        "Each target with the tied and the traditional value, and the range from worst to best order.",
        _targets,
    ),
    "passes": _Chart(
        lambda found: (
            "Targets of all rerankers"
            if len(found.rerankers) <= MAX_COLUMNS
            else f"Targets of the best {MAX_COLUMNS}"
        ),
        "Each target of each reranker, by what the pass rests on.",
        _passes,
        480,
    ),
    "gaps": _Chart(
        lambda _: "Score, ties and gap, reranker by reranker",
        "Score with tie bounds, mean tie ratio and distribution of gaps of each reranker.",
        _gaps,
        820,
    ),
    "differences": _Chart(
        lambda found: f"Difference from {found.baseline}",
        "Difference of each reranker from the baseline with its interval, by tied and by traditional values.",
        _differences,
        620,
    ),
    "places": _Chart(
        lambda _: "Where each reranker can finish",
        "Chance of each place when ties are broken at random, and every place the ties allow.",
        _places,
    ),
    "tools": _Chart(
        lambda found: f"{found.name.traditional} as each tool reports it",
        "Value of each tool on the range from worst to best order.",
        _tools,
    ),
}
"""Every chart that a section may name."""
