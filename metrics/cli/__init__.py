"""Floor 8: the commands that need no browser. Data on stdout, messages on stderr.

`metrics.cli.exits` says by which codes they end. A command is imported when it is called: neither `--help` nor
another command waits for what it needs.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from inspect import getdoc
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from metrics.cli.exits import end, exit_code, with_reader_left
from metrics.support.interrupts import exit_at_interrupt

if TYPE_CHECKING:
    from metrics.cli.reporting import DrawCharts

Command = Callable[..., None]
"""A function whose parameters are the arguments and options of a command."""


def evaluate() -> Command:
    """Score runs under one or more treatments of their ties."""
    from metrics.cli.scoring import evaluate_command

    return evaluate_command


def compare() -> Command:
    """Test differences between runs, and whether the verdicts depend on the order of ties."""
    from metrics.cli.deciding import compare_command

    return compare_command


def stability() -> Command:
    """Say how likely each run comes out above each other when all ties are broken at random."""
    from metrics.cli.stabilizing import stability_command

    return stability_command


def gate() -> Command:
    """Hold runs to targets: a line a target, exit 1 where one is missed."""
    from metrics.cli.gating import gate_command

    return gate_command


def report() -> Command:
    """Write one file to send: scores, ties, tests, targets, and which number to report."""
    from metrics.cli.reporting import report_command

    return report_command


def permutations() -> Command:
    """List the orderings one list's ties allow, with what each scores."""
    from metrics.cli.permuting import permutations_command

    return permutations_command


def check() -> Command:
    """Say what is worth knowing of runs before they are scored; exit 1 where something is wrong."""
    from metrics.cli.checking import check_command

    return check_command


def simulate() -> Command:
    """Make runs that nobody ranked, with relevance inside, as one long table."""
    from metrics.cli.simulating import simulate_command

    return simulate_command


COMMANDS: Sequence[Callable[[], Command]] = (
    evaluate,
    compare,
    stability,
    gate,
    report,
    permutations,
    check,
    simulate,
)
"""What imports each command; its name and first sentence are those of the command."""


class DeferredCommand(TyperCommand):
    """A command whose name and summary are known, and whose module is imported when it is called."""

    def __init__(self, load: Callable[[], Command]) -> None:
        """Take the name and the summary from the function that imports the command."""
        super().__init__(name=load.__name__, help=getdoc(load))
        self._load = load

    @cached_property
    def loaded(self) -> TyperCommand:
        """The command itself, with its options."""
        with exit_at_interrupt():
            app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            app.command(self.name)(with_reader_left(self._load()))
            return cast("TyperCommand", typer.main.get_command(app))

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 lines are wrapped, not cut
        """Return all of the summary."""
        return self.help or ""

    def make_context(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 as Typer's
        """Read the command line of the command itself."""
        return self.loaded.make_context(*arguments, **options)


def command_line(commands: Sequence[Callable[[], Command]]) -> TyperGroup:
    """Return the command `tiescope` with these subcommands.

    Its help is set without Rich, which takes longer to import than to say all of it.
    """
    return TyperGroup(
        name="tiescope",
        help="How much of a reranker's score is relevance, and how much is the order its ties were sorted in.",
        epilog="Begin with: tiescope evaluate llm.trec --qrels qrels.txt · or: tiescope app llm.trec --qrels "
        "qrels.txt",
        commands=[DeferredCommand(load) for load in commands],
        no_args_is_help=True,
        rich_markup_mode=None,
    )


def run(app: TyperGroup, draw: "DrawCharts") -> None:
    """Run the command, and end the process; what a terminal cannot print is written as an escape.

    Args:
        app: as `command_line` makes it.
        draw: makes the charts of a report, when its HTML is asked for.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end(exit_code(lambda: app(obj=draw)))
