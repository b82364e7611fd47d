"""The commands of `tiescope`: those of `metrics.cli`, and those that need the dashboard."""

from typing import TYPE_CHECKING

from dashboard.cli.serving import app_command
from dashboard.cli.sharing import boards_command, pull_command, push_command
from metrics.cli import COMMANDS, command_line

if TYPE_CHECKING:
    from metrics.report import Report, ReportCharts

app = command_line(
    {
        **COMMANDS,
        "app": app_command,
        "push": push_command,
        "boards": boards_command,
        "pull": pull_command,
    }
)


def draw(report: "Report") -> "ReportCharts":
    """Return the charts of a report; plotly is imported when it is called."""
    from dashboard.charts.report import draw_charts  # noqa: PLC0415 plotly

    return draw_charts(report)
