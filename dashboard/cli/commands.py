"""The command line `tiescope`: commands of `metrics.cli`, and commands that need the dashboard."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated

import typer

from dashboard.cli.serving import app_command
from metrics.cli.auditing import audit_command, conformance_command
from metrics.cli.deciding import compare_command, gate_command, review_command, stability_command
from metrics.cli.evaluating import check_command, evaluate_command, permutations_command
from metrics.cli.options import with_inputs_kept
from metrics.cli.reporting import report_command
from metrics.cli.simulating import simulate_command
from metrics.errors import needs

if TYPE_CHECKING:
    from metrics.report import Report, ReportCharts

COMMANDS: dict[str, Callable[..., None]] = {
    "evaluate": evaluate_command,
    "compare": compare_command,
    "stability": stability_command,
    "gate": gate_command,
    "review": review_command,
    "audit": audit_command,
    "conformance": conformance_command,
    "report": report_command,
    "permutations": permutations_command,
    "check": check_command,
    "simulate": simulate_command,
    "app": app_command,
}

tiescope = typer.Typer(
    name="tiescope",
    help="Measure how much of a reranker's score comes from relevance, and how much from the order of tied "
    "documents.",
    epilog="Begin with: tiescope evaluate llm.trec --qrels qrels.txt · or: tiescope app llm.trec --qrels "
    "qrels.txt",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _name, _command in COMMANDS.items():
    tiescope.command(_name)(with_inputs_kept(_command, "TIESCOPE_AUDIT_LOG"))


def _print_version(is_requested: bool) -> None:
    if is_requested:
        try:
            typer.echo(f"tiescope {version('tiescope')}")
        except PackageNotFoundError:
            typer.echo("tiescope (run from a checkout, not installed)")
        raise typer.Exit


@tiescope.callback()
def _options(
    *,
    _shows_version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit."),
    ] = False,
) -> None: ...


def draw(report: "Report") -> "ReportCharts":
    """Return the charts of a report; only this imports plotly."""
    with needs("report"):
        from dashboard.charts.report import draw_charts

    return draw_charts(report)
