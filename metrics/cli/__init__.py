"""The command `tiescope`. Data on stdout, messages on stderr; 0 ok, 1 a check failed, 2 unusable input."""

import sys
from collections.abc import Callable

import typer
from rich.console import Console

from metrics.cli.checking import check_command
from metrics.cli.deciding import compare_command
from metrics.cli.gating import gate_command
from metrics.cli.reporting import report_command
from metrics.cli.scoring import evaluate_command, permutations_command
from metrics.cli.serving import app_command
from metrics.cli.sharing import boards_command, pull_command, push_command
from metrics.cli.simulating import simulate_command
from metrics.errors import TieScopeError

COMMANDS: dict[str, Callable[..., None]] = {
    "evaluate": evaluate_command,
    "compare": compare_command,
    "gate": gate_command,
    "report": report_command,
    "permutations": permutations_command,
    "check": check_command,
    "simulate": simulate_command,
    "app": app_command,
    "push": push_command,
    "boards": boards_command,
    "pull": pull_command,
}

app = typer.Typer(
    name="tiescope",
    help="Ranking metrics with ties done right.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for name, command in COMMANDS.items():
    app.command(name)(command)


def main() -> None:
    """Entry point: every error of ours is one message and exit code 2."""
    try:
        app()
    except TieScopeError as error:
        Console(stderr=True, soft_wrap=True).print(
            f"tiescope: {error}", markup=False, highlight=False, emoji=False
        )
        sys.exit(2)
