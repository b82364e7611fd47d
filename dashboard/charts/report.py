"""Charts of a report, each for light and dark backgrounds, and the script that draws them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plotly.offline import get_plotlyjs

from dashboard.charts.compare import difference_forest, finish_heatmap
from dashboard.charts.figure import Figure
from dashboard.charts.leaderboard import LEAST_WIDTH, leaderboard_figure, tool_strip
from dashboard.charts.palette import DARK, LIGHT, Palette
from dashboard.charts.rerankers import aligned_rows
from dashboard.charts.targets import MAX_COLUMNS, matrix_width, target_bullets, target_matrix
from metrics import parse
from metrics.report import Figure as ReportFigure
from metrics.report import Report, ReportCharts, ReportStudies
from metrics.studies.emulation import comparable_values

_BASIC_SCRIPT = Path(__file__).parents[1] / "assets" / "plotly-basic.min.js"
"""plotly.js with scatter and bar traces alone: npm's plotly.js-basic-dist-min, 4.1.1."""
_BEYOND_BASIC = {"places"}
"""Charts that need the full plotly.js: heatmaps."""
MOST_DRAWN = 20
"""Maximum rerankers in a chart, best tied mean first; tables list all."""


@dataclass(frozen=True)
class _Chart:
    """A chart that report sections can name."""

    title: Callable[[ReportStudies], str]  # caption
    alt: str  # description for screen readers
    draw: Callable[[ReportStudies, Palette], Figure]  # function of the report's studies and a palette
    min_width: Callable[[ReportStudies], int] = lambda _: 560  # pixels that it keeps on a phone


def draw_charts(report: Report) -> ReportCharts:
    """Return the charts of a report's sections."""
    names = [name for section in report.sections for name in section.charts]
    script = get_plotlyjs() if _BEYOND_BASIC & {*names} else _BASIC_SCRIPT.read_text(encoding="utf-8")
    return ReportCharts(script, {name: _figure(CHARTS[name], report.studies) for name in names})


def _figure(chart: _Chart, studies: ReportStudies) -> ReportFigure:
    light, dark = (chart.draw(studies, palette) for palette in (LIGHT, DARK))
    height, width = light.height, chart.min_width(studies)
    return ReportFigure(chart.title(studies), chart.alt, light.to_json(), dark.to_json(), height, width)


def _finishes(studies: ReportStudies, palette: Palette) -> Figure:
    tie_draws = studies.draws
    ranks = studies.leaderboard.loc[tie_draws.means.columns, "traditional_rank"].rank(method="min")
    return finish_heatmap(tie_draws.places, tie_draws.rank_ranges, ranks.astype(int).tolist(), palette)


def _targets(studies: ReportStudies, palette: Palette) -> Figure:
    rows = studies.targets
    return target_bullets(rows[rows["reranker"] == studies.targets_for].reset_index(drop=True), palette)


def _tools(studies: ReportStudies, palette: Palette) -> Figure:
    rerankers = studies.leaderboard.head(MOST_DRAWN)
    values = comparable_values(studies.tools, studies.measure)
    values = values[values["reranker"].isin(rerankers.index)]
    return tool_strip(rerankers, values, palette, studies.measure_at.traditional)


def _published(studies: ReportStudies, palette: Palette) -> Figure:
    order = studies.audited_order
    name = parse(studies.audit.measure(order.measure))
    labels = name.tied, "published"
    return leaderboard_figure(order.places, palette, labels, list(order.places.index[:MOST_DRAWN]), "published")


def _of_many(studies: ReportStudies) -> str:
    n_rerankers = len(studies.rerankers)
    return f": the top {MOST_DRAWN} of {n_rerankers:,}" if n_rerankers > MOST_DRAWN else ""


CHARTS: Mapping[str, _Chart] = {
    "leaderboard": _Chart(
        lambda studies: f"Rank and {studies.measure_at.traditional} with tie bounds{_of_many(studies)}",
        "Rank of each reranker by traditional and by tied score, its name, and its worst, best, tied "
        "and traditional mean.",
        lambda studies, palette: leaderboard_figure(
            studies.leaderboard,
            palette,
            (studies.measure_at.tied, studies.measure_at.traditional),
            list(studies.leaderboard.index[:MOST_DRAWN]),
        ),
        lambda _: LEAST_WIDTH,
    ),
    "published": _Chart(
        lambda studies: f"Published and tied ranks{_of_many(studies)}",
        "Published and tied rank of each reranker, and its score with tie bounds and confidence interval.",
        _published,
        lambda _: LEAST_WIDTH,
    ),
    "targets": _Chart(
        lambda studies: f"Targets of {studies.targets_for}",
        "Each target with the tied and the traditional score, and the range from worst to best case.",
        _targets,
    ),
    "passes": _Chart(
        lambda studies: (
            "Targets of all rerankers"
            if len(studies.rerankers) <= MAX_COLUMNS
            else f"Targets of the best {MAX_COLUMNS} rerankers"
        ),
        "Targets that each reranker meets: in every order, on average, or only in the traditional order.",
        lambda studies, palette: target_matrix(studies.targets, palette, studies.targets_for),
        lambda studies: matrix_width(len(studies.rerankers)),
    ),
    "gaps": _Chart(
        lambda studies: f"Score, ties and gap of each reranker{_of_many(studies)}",
        "Score with tie bounds, mean tie ratio and distribution of gaps of each reranker.",
        lambda studies, palette: aligned_rows(
            studies.summary.head(MOST_DRAWN), studies.lists, palette, studies.question.traditional
        ),
        lambda _: 820,
    ),
    "differences": _Chart(
        lambda studies: f"Difference from {studies.baseline}{_of_many(studies)}",
        "Difference of each reranker from the baseline with its interval, by tied and by traditional scores.",
        lambda studies, palette: difference_forest(
            studies.verdicts.changed_first(MOST_DRAWN, MOST_DRAWN), palette, studies.measure_at.traditional
        ),
        lambda _: 620,
    ),
    "places": _Chart(
        lambda _: "Possible ranks of each reranker",
        "Probability of each rank when ties are broken at random, and all possible ranks.",
        _finishes,
    ),
    "tools": _Chart(
        lambda studies: f"{studies.measure_at.traditional} reported by each tool{_of_many(studies)}",
        "Score of each tool within the range from worst to best case.",
        _tools,
    ),
}
"""All charts that a section can name."""
