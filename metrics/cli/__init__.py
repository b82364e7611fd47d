"""Floor 8: the commands that need no browser. Data on stdout, messages on stderr.

Exit codes: 0 ok, 1 a check failed, 2 unusable input.
"""

import sys
from collections.abc import Callable, Mapping

import typer

from metrics.cli.checking import check_command
from metrics.cli.deciding import compare_command
from metrics.cli.gating import gate_command
from metrics.cli.messages import say
from metrics.cli.permuting import permutations_command
from metrics.cli.reporting import DrawCharts, report_command
from metrics.cli.scoring import evaluate_command
from metrics.cli.simulating import simulate_command
from metrics.cli.stabilizing import stability_command
from metrics.errors import TieScopeError

COMMANDS: Mapping[str, Callable[..., None]] = {
    "evaluate": evaluate_command,
    "compare": compare_command,
    "stability": stability_command,
    "gate": gate_command,
    "report": report_command,
    "permutations": permutations_command,
    "check": check_command,
    "simulate": simulate_command,
}


def command_line(commands: Mapping[str, Callable[..., None]]) -> typer.Typer:
    """Return the command `tiescope` with these subcommands."""
    app = typer.Typer(
        name="tiescope",
        help="Ranking metrics with ties done right.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name, command in commands.items():
        app.command(name)(command)
    return app


def run(app: typer.Typer, draw: DrawCharts) -> None:
    """Run the command; an error of ours is one message and exit code 2.

    Args:
        app: as `command_line` makes it.
        draw: makes the charts of a report, when its HTML is asked for.
    """
    try:
        app(obj=draw)
    except TieScopeError as error:
        say(f"tiescope: {error}")
        sys.exit(2)
