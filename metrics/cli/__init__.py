"""Floor 8: the commands that need no browser. Data on stdout, messages on stderr.

`metrics.cli.exits` says by which codes they end.
"""

import sys
from collections.abc import Callable, Mapping
from io import TextIOWrapper

import typer

from metrics.cli.checking import check_command
from metrics.cli.deciding import compare_command
from metrics.cli.exits import end, exit_code, with_reader_left
from metrics.cli.gating import gate_command
from metrics.cli.permuting import permutations_command
from metrics.cli.reporting import DrawCharts, report_command
from metrics.cli.scoring import evaluate_command
from metrics.cli.simulating import simulate_command
from metrics.cli.stabilizing import stability_command

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
        help="How much of a reranker's score is relevance, and how much is the order its ties were sorted in.",
        epilog="Begin with: tiescope evaluate llm.trec --qrels qrels.txt · or: tiescope app llm.trec --qrels "
        "qrels.txt",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name, command in commands.items():
        app.command(name)(with_reader_left(command))
    return app


def run(app: typer.Typer, draw: DrawCharts) -> None:
    """Run the command, and end the process; what a terminal cannot print is written as an escape.

    Args:
        app: as `command_line` makes it.
        draw: makes the charts of a report, when its HTML is asked for.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end(exit_code(lambda: app(obj=draw)))
