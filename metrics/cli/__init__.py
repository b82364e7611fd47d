"""Floor 8: the commands that need no browser. Data on stdout, messages on stderr.

`metrics.cli.exits` says by which codes they end.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from metrics.cli.exits import end, exit_code

if TYPE_CHECKING:
    from metrics.cli.reporting import DrawCharts


def run(command_line: Callable[..., None], draw: "DrawCharts") -> None:
    """Run the command, and end the process.

    Args:
        command_line: runs what the arguments of the process ask for.
        draw: makes the charts of a report, when its HTML is asked for.
    """
    end(exit_code(lambda: command_line(obj=draw)))
