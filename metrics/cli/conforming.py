"""Commands that hold another evaluation tool against known values: conformance."""

from pathlib import Path
from typing import Annotated

import typer

from metrics.cli.file_options import FileUse
from metrics.cli.messages import say
from metrics.cli.options import FOR_PEOPLE, TableOutput, with_shared_options
from metrics.cli.output import print_text
from metrics.support.wording import count_of, part_of


@with_shared_options
def conformance_command(
    results: Annotated[
        Path | None,
        typer.Argument(metavar="RESULTS.json", help="Values of the tool: case → value, as JSON."),
        FileUse.READ,
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest difference that passes; 5e-5 for four printed decimals.")
    ] = 1e-6,
    *,
    table_output: TableOutput,
) -> None:
    """Say which tie order another evaluation tool uses, and which cases it fails; exit 1 where it fails.

    Without RESULTS.json, say where the cases are and how RESULTS.json looks.
    """
    from metrics import conformance

    cases = conformance.load_cases()
    if results is None:
        print_text(
            f"The {len(cases)} cases: {conformance.CASES_FILE}\n"
            "Score the run of each case by its qrels and measure. Write case → value (null: not computed):\n"
            f'{{"{cases[0]["id"]}": 0.5, "{cases[1]["id"]}": 0, ...}}\n'
            "Then: tiescope conformance RESULTS.json\n"
        )
        return
    table = conformance.compare_results(conformance.read_results(results), tolerance)
    for sentence in conformance.order_sentences(table):
        say(sentence)
    table = table.drop(columns="also")
    n_failed = int((~table["passes"]).sum())
    n_missing = len(cases) - len(table)
    say(f"{part_of(n_failed, len(table), 'case')} failed; {count_of(n_missing, 'case')} without a value.")
    if table_output.format not in FOR_PEOPLE:
        table_output.write(table)
    elif n_failed:
        table_output.write(table[~table["passes"]].drop(columns="passes"))
    if n_failed:
        raise typer.Exit(1)
