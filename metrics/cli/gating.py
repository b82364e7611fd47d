"""Whether runs reach targets: gate."""

from collections.abc import Hashable
from typing import Annotated, Any

import typer

from metrics.cli.file_options import Qrels, RunPaths
from metrics.cli.messages import say_left_out, traditional_order
from metrics.cli.options import (
    OutputFormat,
    ReadingOptions,
    TableOutput,
    TargetBaseline,
    Targets,
    Traditional,
    with_shared_options,
)
from metrics.evaluation import ScoringOptions, score_runs
from metrics.measures import parse
from metrics.studies.targets import PRESETS, check_targets, targets_of
from metrics.support.escaping import clean
from metrics.support.progress import progress
from metrics.ties import treatment

_PRESETS = "; ".join(f"{name}: {', '.join(targets)}" for name, targets in PRESETS.items())


@with_shared_options
def gate_command(
    run: RunPaths,
    qrels: Qrels = None,
    require: Targets = None,
    preset: Annotated[list[str] | None, typer.Option(help=f"Ready targets. {_PRESETS}.")] = None,
    baseline: TargetBaseline = None,
    ties: Annotated[str, typer.Option(help="The treatment of ties that decides.")] = "expected",
    traditional: Traditional = None,
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Hold runs to targets: a line a target, exit 1 where one is missed."""
    targets = targets_of(require or (), preset or ())
    with progress("Scoring"):
        runs = reading.read(run, qrels)
        traditional = traditional_order(runs, traditional)
        evaluation = score_runs(
            runs,
            [str(target.measure) for target in targets],
            ["expected", "optimistic", "pessimistic", traditional, ties],
            scoring,
        )
    say_left_out(runs, evaluation)
    outcomes = check_targets(evaluation, targets, traditional, baseline, ties)
    if table_output == TableOutput(OutputFormat.table, None):
        for row in outcomes.to_dict("records"):
            typer.echo(clean(_line(row, traditional, ties)))
    else:
        table_output.write(outcomes)
    if not outcomes["passed"].all():
        raise typer.Exit(1)


def _line(row: dict[Hashable, Any], traditional: str, ties: str) -> str:
    """Return the outcome of one target in words."""
    bound = str(row["target"]).split(" ", 1)[1]
    if "baseline" in bound:
        bound += f" = {row['bound']:.4f}"
    outcome = "pass" if row["passed"] else "MISS"
    value = f"{row['measure']} {row['value']:.4f}"
    return f"{outcome}  {row['reranker']}  {value} {bound}: {_reason(row, traditional, ties)}"


def _reason(row: dict[Hashable, Any], traditional: str, ties: str) -> str:
    verdict, tied = row["verdict"], f"tied it is {row['tied']:.4f}"
    if verdict == "not scored":
        return "no list is scored"
    if row["passed"] and parse(str(row["target"]).split(" ", 1)[0]).measure.answers:
        return "by its own rule for ties"
    if row["passed"] and treatment(ties).noise is not None:
        return f"on average over noisy scores; {tied}"
    if row["passed"]:
        reasons = {
            "met": "whatever the order of ties",
            "met on average": "on average; some order of ties misses it",
        }
        return reasons.get(verdict, f"by this order of ties; {tied}")
    missed = f"missed by {row['missed_by']:.4f}"
    if verdict == "sort order only":
        return f"{missed}; {treatment(traditional).order} gives {row['traditional']:.4f}"
    return missed if verdict == "missed" else f"{missed}; {tied}, which meets it"
