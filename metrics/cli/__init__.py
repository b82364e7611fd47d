"""Floor 8: the commands that need no browser. Data on stdout, messages on stderr.

`metrics.cli.exits` says by which codes they end.
"""

import sys
from typing import TYPE_CHECKING

from metrics.cli.exits import end, exit_code

if TYPE_CHECKING:
    from typer.core import TyperGroup

    from metrics.report import DrawCharts


def run(commands: "TyperGroup", draw: "DrawCharts") -> None:
    """Run the command that the arguments of the process name, and end the process."""

    def command() -> None:
        with commands.make_context("tiescope", sys.argv[1:], obj=draw) as context:
            commands.invoke(context)

    end(exit_code(command))
