"""Calls into the report, kept."""

from datetime import date

from dashboard.cache import board_turn
from dashboard.charts.report import draw_charts
from dashboard.library.boards import Board
from dashboard.server.board_results import cached_by_key
from metrics.report import Report, ReportOptions, report


@cached_by_key(show_spinner="Writing the report …", max_entries=8)
def board_report(board: Board, options_key: str, _options: ReportOptions) -> Report:
    """Return the report of a board.

    Args:
        board: the data.
        options_key: tells these options from others.
        _options: what the report is asked to tell.
    """
    with board_turn(board):
        return report(board.runs, **vars(_options))


@cached_by_key(show_spinner="Drawing the report …", max_entries=4)
def html_file(board: Board, options_key: str, day: date, _report: Report) -> str:
    """Return the report as an HTML file of a day.

    Args:
        board: the data.
        options_key: tells the options of the report from others.
        day: that the file names.
        _report: of the board.
    """
    return _report.html(day, draw_charts(_report))
