"""The commands of `tiescope`: those of `metrics.cli`, and those that need the dashboard."""

from typing import TYPE_CHECKING

from metrics.cli import COMMANDS, Command, command_line

if TYPE_CHECKING:
    from metrics.report import Report, ReportCharts


def app() -> Command:
    """Serve the dashboard in the browser."""
    from dashboard.cli.serving import app_command

    return app_command


def push() -> Command:
    """Keep runs and judgments on a board of the library; a file of a name that is there takes its place."""
    from dashboard.cli.sharing import push_command

    return push_command


def boards() -> Command:
    """List the boards of the library, the one changed last first."""
    from dashboard.cli.sharing import boards_command

    return boards_command


def pull() -> Command:
    """Write the runs and judgments of a board as files that every tool reads."""
    from dashboard.cli.sharing import pull_command

    return pull_command


tiescope = command_line((*COMMANDS, app, push, boards, pull))


def draw(report: "Report") -> "ReportCharts":
    """Return the charts of a report; plotly is imported when it is called."""
    from dashboard.charts.report import draw_charts

    return draw_charts(report)
