"""Commands that look at files before they are scored: check."""

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from metrics.cli.file_options import FileUse, NamedPath, Qrels, parse_run
from metrics.cli.options import OutputFormat, ReadingOptions, TableOutput, with_shared_options
from metrics.cli.output import write_text
from metrics.runs import check_files
from metrics.runs.findings import FindingGroup, FindingLine, group_findings
from metrics.support.escaping import clean
from metrics.support.wording import first_names

_MAX_LINES = 5
"""Messages of one kind that are printed; files for programs hold all."""
_MAX_NAMES = 20


@with_shared_options
def check_command(
    files: Annotated[
        list[NamedPath],
        typer.Argument(
            metavar="FILE",
            parser=parse_run,
            help="Runs, judgments and tables, in any order. NAME=PATH names a run.",
        ),
        FileUse.READ,
    ],
    qrels: Qrels = None,
    *,
    table_output: TableOutput,
    reading: ReadingOptions,
) -> None:
    """Say what is worth knowing of runs before they are scored; exit 1 where something is wrong."""
    judgments = [NamedPath(None, str(qrels))] if qrels else []
    findings, rerankers = check_files([*files, *judgments], **vars(reading))
    if table_output.format == OutputFormat.table:
        lines = _printed(group_findings(findings, rerankers))
        write_text("".join(f"{clean(line)}\n" for line in lines), table_output.path)
    else:
        table_output.write(findings)
    if "unreadable" in set(findings["code"]):
        raise typer.Exit(2)
    if "error" in set(findings["severity"]):
        raise typer.Exit(1)


def _printed(groups: Iterable[FindingGroup]) -> Iterator[str]:
    """Yield the lines of each group: how grave, which kind, whom it is about, what it says, what to do."""
    for group in groups:
        first, *others = group.lines
        subject = group.subject if others else _with_place(group.subject, first)
        yield f"{group.severity} · {group.code} · {subject}: {group.title}"
        if not others and len(first.names) > 1:
            yield f"    {first_names(first.names, _MAX_NAMES)}"
        for line in group.lines[:_MAX_LINES] if others else ():
            yield f"    {_with_place(first_names(line.names), line)}: {line.message}"
        if len(group.lines) > _MAX_LINES:
            yield f"    … and {len(group.lines) - _MAX_LINES:,} more: --format csv lists all."
        yield f"    {group.hint}"


def _with_place(names: str, line: FindingLine) -> str:
    return f"{names} ({line.place})" if line.place else names
