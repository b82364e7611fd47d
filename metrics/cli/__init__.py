"""The commands that need no browser: data on stdout, messages on stderr, exit codes by `metrics.cli.exits`."""

import sys
from typing import TYPE_CHECKING

import typer

from metrics.cli.exits import end, exit_code

if TYPE_CHECKING:
    from metrics.report import DrawCharts


def run(app: typer.Typer, draw: "DrawCharts") -> None:
    """Run the command line of the process with an application, and end the process."""

    def command() -> None:
        tiescope = typer.main.get_command(app)
        with tiescope.make_context("tiescope", sys.argv[1:], obj=draw) as context:
            tiescope.invoke(context)

    end(exit_code(command))
