"""Calls into the report, kept."""

from datetime import date

from dashboard.cache import board_turn
from dashboard.charts.report import draw_charts
from dashboard.library import Board
from dashboard.server.board_results import cached_for_board
from metrics.report import Report, ReportOptions, report


@cached_for_board(show_spinner="Writing the report …", max_entries=8)
def board_report(board: str, key: str, _board: Board, _options: ReportOptions) -> Report:
    """Return the report of a board; `key` tells its options from others.

    Args:
        board: `Board.key`.
        key: tells these options from others.
        _board: the board.
        _options: what the report is asked to tell.
    """
    with board_turn(_board):
        return report(_board.runs, **vars(_options))


@cached_for_board(show_spinner="Drawing the report …", max_entries=4)
def html_file(board: str, key: str, day: date, _report: Report) -> str:
    """Return the report as an HTML file of a day.

    Args:
        board: `Board.key`.
        key: tells the report's options from others.
        day: the day it bears.
        _report: the report.
    """
    return _report.html(day, draw_charts(_report))
