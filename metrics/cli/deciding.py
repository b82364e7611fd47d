"""Commands that help to decide between rerankers: compare.

Its studies are imported when it is called: statsmodels takes a second that other commands need not pay.
"""

from functools import partial
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from metrics.cli.messages import say_left_out
from metrics.cli.options import (
    Measures,
    OutputFormat,
    Qrels,
    ReadingOptions,
    RunPaths,
    TableOutput,
    listing,
    with_shared_options,
)
from metrics.evaluation import ScoringOptions, score_runs
from metrics.support.progress import progress

MEASURES = ("RR", "nDCG@10")
TIES = ("input", "expected")
SMALLEST = 0.00005
"""Smallest p that four decimals show."""


def _tests() -> list[tuple[str, str]]:
    from metrics.studies.significance.test_registry import CORRECTIONS, TESTS  # noqa: PLC0415 statsmodels

    tests = [(f"--test {entry.name}", entry.summary) for entry in TESTS]
    return tests + [(f"--correction {entry.name}", entry.summary) for entry in CORRECTIONS]


@with_shared_options
def compare_command(
    run: RunPaths,
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
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
    _is_listing: Annotated[bool, typer.Option("--list-tests", is_eager=True, callback=listing(_tests))] = False,
) -> None:
    """Test differences between runs, and whether the verdicts depend on the order of ties."""
    from metrics.studies.significance import significance  # noqa: PLC0415 statsmodels
    from metrics.studies.significance.comparisons import baseline_pairs  # noqa: PLC0415 likewise
    from metrics.studies.significance.test_registry import find_correction, find_test  # noqa: PLC0415 likewise

    find_test(test), find_correction(correction)
    with progress("Reading"):
        runs = reading.read(run, qrels)
    baseline_pairs(runs.rerankers, baseline)
    with progress("Scoring"):
        evaluation = score_runs(runs, measure or MEASURES, ties or TIES, scoring)
    say_left_out(runs, evaluation)
    compare = partial(
        significance.compare,
        evaluation,
        baselines=baseline,
        test=test,
        correction=correction,
        level=level,
        seed=seed,
    )
    tables = []
    with progress("Testing"):
        for name in evaluation.measures:
            by_treatment = {treatment: compare(name, treatment) for treatment in evaluation.ties}
            if len(by_treatment) > 1 and "expected" in by_treatment:
                by_treatment = _with_changes(by_treatment, name, test, level)
            tables.append(_side_by_side(by_treatment, name))
    table_output.write(_printable(pd.concat(tables, ignore_index=True), table_output.format))


def _with_changes(
    tables: dict[str, pd.DataFrame], measure: str, test: str, level: float
) -> dict[str, pd.DataFrame]:
    """Return tables with a column `changed`: whether a verdict differs from the tied one; say so on stderr.

    Args:
        tables: treatment → comparisons by it, `expected` among them.
        measure: that is compared.
        test: name of the test.
        level: of the intervals.
    """
    from metrics.studies.prose import plain  # noqa: PLC0415 statsmodels
    from metrics.studies.significance import significance  # noqa: PLC0415 likewise

    tied = tables["expected"].assign(changed=False)
    tables = tables | {"expected": tied}
    for treatment in [name for name in tables if name != "expected"]:
        changed = significance.changed_verdicts(tied, tables[treatment], level)
        tables[treatment] = tables[treatment].assign(changed=changed)
        tied["changed"] |= changed
        verdicts = significance.Verdicts(tied, tables[treatment], changed, treatment, level)
        finding = significance.significance_finding(verdicts, measure, test)
        typer.echo(f"{measure}: {plain(finding)}", err=True)
    return tables


def _side_by_side(tables: dict[str, pd.DataFrame], measure: str) -> pd.DataFrame:
    """Return the rows of all treatments, those of one pair of rerankers next to each other."""
    parts = [table.assign(measure=measure, ties=treatment) for treatment, table in tables.items()]
    table = pd.concat(parts).sort_index(kind="stable")
    return table[["measure", "ties", *table.columns.drop(["measure", "ties"])]]


def _printable(table: pd.DataFrame, form: OutputFormat) -> pd.DataFrame:
    """Return the table with p as four decimals show it, for people; an unbounded effect as null, for JSON."""
    if form in (OutputFormat.table, OutputFormat.markdown, OutputFormat.latex):
        for name in ("p", "p_adjusted"):
            table[name] = [f"{p:.4f}" if p >= SMALLEST else "<0.0001" for p in table[name]]
    if form == OutputFormat.json:
        table["dz"] = table["dz"].where(np.isfinite(table["dz"]))
    return table
