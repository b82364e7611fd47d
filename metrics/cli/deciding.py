"""Commands that help to decide between rerankers: compare.

Its studies are imported when it is called: statsmodels takes a second that other commands need not pay.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from metrics.cli.options import (
    Columns,
    Form,
    Format,
    Measures,
    Output,
    Qrels,
    Repeated,
    Repeats,
    listing,
    parse_columns,
    with_scoring_options,
)
from metrics.cli.output import write_table
from metrics.cli.scoring import say_left_out
from metrics.evaluation import AS_READ, Evaluation, ScoringOptions, score_runs
from metrics.runs import read_runs
from metrics.support.progress import progress

MEASURES = ("RR", "nDCG@10")
TIES = ("input", "expected")
SMALLEST = 0.00005
"""Smallest p that four decimals show."""


def _tests() -> list[tuple[str, str]]:
    from metrics.studies.significance.test_registry import CORRECTIONS, TESTS  # noqa: PLC0415 statsmodels

    tests = [(f"--test {one.name}", one.summary) for one in TESTS]
    return tests + [(f"--correction {one.name}", one.summary) for one in CORRECTIONS]


@with_scoring_options
def compare_command(
    run: Annotated[list[Path], typer.Argument(help="Run files, or long tables with relevance.")],
    qrels: Qrels = None,
    baseline: Annotated[
        list[str] | None, typer.Option(help="Whom the others are compared with; omitted: all pairs.")
    ] = None,
    measure: Measures = None,
    ties: Annotated[
        list[str] | None, typer.Option(help="What is done about ties; input and expected unless said.")
    ] = None,
    test: Annotated[str, typer.Option(help="Which test; --list-tests.")] = "t",
    correction: Annotated[
        str, typer.Option(help="What is done about many comparisons; --list-tests.")
    ] = "holm",
    level: Annotated[float, typer.Option(help="Of the intervals; below 1 - level, p is significant.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of randomisation and bootstrap.")] = 0,
    format: Form = Format.table,  # noqa: A002
    output: Output = None,
    scoring: ScoringOptions = AS_READ,
    column: Columns = None,
    repeated: Repeats = Repeated.error,
    _tests_asked: Annotated[
        bool, typer.Option("--list-tests", is_eager=True, callback=listing(_tests))
    ] = False,
) -> None:
    """Test differences between runs, and whether the verdicts depend on the order of ties."""
    from metrics.studies.significance.comparisons import baseline_pairs  # noqa: PLC0415 statsmodels
    from metrics.studies.significance.test_registry import find_correction, find_test  # noqa: PLC0415 likewise

    find_test(test), find_correction(correction)
    with progress("Reading"):
        runs = read_runs(run, qrels, columns=parse_columns(column), repeated=repeated.value)
    baseline_pairs(runs.rerankers, baseline)
    with progress("Scoring"):
        evaluation = score_runs(
            runs,
            measure or MEASURES,
            ties or TIES,
            scoring,
        )
    say_left_out(runs, evaluation)
    with progress("Testing"):
        tables = [
            _compared(evaluation, name, baseline, test, correction, level, seed) for name in evaluation.measures
        ]
    write_table(_printable(pd.concat(tables, ignore_index=True), format), format.value, output)


def _compared(
    evaluation: Evaluation,
    measure: str,
    baselines: list[str] | None,
    test: str,
    correction: str,
    level: float,
    seed: int,
) -> pd.DataFrame:
    """Comparisons by one measure, treatments of a pair side by side; what ties change is said on stderr."""
    from metrics.studies.prose import plain  # noqa: PLC0415 likewise
    from metrics.studies.significance import significance  # noqa: PLC0415 statsmodels

    tables = {
        how: significance.compare(evaluation, measure, how, baselines, test, correction, level, seed)
        for how in evaluation.ties
    }
    tied = tables.get("expected")
    if tied is not None and len(tables) > 1:
        tied = tied.assign(changed=False)
        for treatment in [name for name in tables if name != "expected"]:
            changed = significance.changed_verdicts(tied, tables[treatment], level)
            tables[treatment] = tables[treatment].assign(changed=changed)
            tied["changed"] |= changed
            verdicts = significance.Verdicts(tied, tables[treatment], changed, treatment, level)
            typer.echo(
                f"{measure}: {plain(significance.significance_finding(verdicts, measure, test))}", err=True
            )
        tables["expected"] = tied
    parts = [table.assign(measure=measure, ties=how) for how, table in tables.items()]
    table = pd.concat(parts).sort_index(kind="stable")
    return table[["measure", "ties", *table.columns.drop(["measure", "ties"])]]


def _printable(table: pd.DataFrame, form: Format) -> pd.DataFrame:
    """For people, p as four decimals show it; for JSON, an effect without bound as null."""
    if form in (Format.table, Format.markdown, Format.latex):
        for name in ("p", "p_adjusted"):
            table[name] = [f"{p:.4f}" if p >= SMALLEST else "<0.0001" for p in table[name]]
    if form == Format.json:
        table["dz"] = table["dz"].where(np.isfinite(table["dz"]))
    return table
