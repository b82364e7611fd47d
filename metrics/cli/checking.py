"""Commands that look at files before they are scored: check."""

from pathlib import Path
from typing import Annotated

import typer

from metrics.cli.options import ReadingOptions, TableOutput, with_shared_options
from metrics.runs import check


@with_shared_options
def check_command(
    files: Annotated[list[Path], typer.Argument(help="Runs, judgments and tables, in any order.")],
    *,
    table_output: TableOutput,
    reading: ReadingOptions,
) -> None:
    """Say what is worth knowing of runs before they are scored; exit 1 where something is wrong."""
    findings = check(files, **vars(reading))
    table_output.write(findings)
    if "unreadable" in set(findings["code"]):
        raise typer.Exit(2)
    if "error" in set(findings["severity"]):
        raise typer.Exit(1)
