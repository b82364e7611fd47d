"""Commands that look at files before they are scored: check."""

from pathlib import Path
from typing import Annotated

import typer

from metrics.cli.options import Columns, Form, Format, Output, Repeated, Repeats, parse_columns
from metrics.cli.output import write_table
from metrics.runs import check


def check_command(
    files: Annotated[list[Path], typer.Argument(help="Runs, judgments and tables, in any order.")],
    format: Form = Format.table,  # noqa: A002
    output: Output = None,
    column: Columns = None,
    repeated: Repeats = Repeated.error,
) -> None:
    """Say what is worth knowing of runs before they are scored; exit 1 where something is wrong."""
    findings = check(files, columns=parse_columns(column), repeated=repeated.value)
    write_table(findings, format.value, output)
    if "unreadable" in set(findings["code"]):
        raise typer.Exit(2)
    if "error" in set(findings["severity"]):
        raise typer.Exit(1)
