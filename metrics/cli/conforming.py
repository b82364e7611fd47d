"""The command that tests another evaluation tool: conformance."""

from pathlib import Path
from typing import Annotated

import typer

from metrics.cli.messages import say
from metrics.cli.options import FileUse, TableOutput, with_shared_options
from metrics.support.wording import count_of, part_of


@with_shared_options
def conformance_command(
    results: Annotated[
        Path | None,
        typer.Argument(metavar="RESULTS.json", help="Values from the tool: case → value, as JSON."),
        FileUse.READ,
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest difference that passes; 5e-5 for four printed decimals.")
    ] = 1e-6,
    *,
    table_output: TableOutput,
) -> None:
    """Find the tie order of another evaluation tool and the cases it fails; exit with 1 if it fails any.

    Without RESULTS.json, print where the cases are and the format of RESULTS.json.
    """
    from metrics import conformance
    from metrics.cli.output import print_text

    cases = conformance.load_cases()
    if results is None:
        print_text(
            f"The {len(cases)} cases: {conformance.CASES_FILE}\n"
            "Score the run of each case with its qrels and measure. Write case → value (null: not computed):\n"
            f'{{"{cases[0]["id"]}": 0.5, "{cases[1]["id"]}": 0, ...}}\n'
            "Then: tiescope conformance RESULTS.json\n"
        )
        return
    table = conformance.compare_results(conformance.read_results(results), tolerance)
    for sentence in conformance.order_sentences(table):
        say(sentence)
    table = table.drop(columns="also")
    failed = table[~table["passes"]]
    n_missing = len(cases) - len(table)
    say(f"{part_of(len(failed), len(table), 'case')} failed; {count_of(n_missing, 'case')} without a value.")
    if not table_output.is_for_people:
        table_output.write(table)
    elif len(failed):
        table_output.write(failed.drop(columns="passes"))
    if len(failed):
        raise typer.Exit(1)
