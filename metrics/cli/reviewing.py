"""What a pull request does to runs: review."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metrics.cli.file_options import NAME_HELP, FileUse, NamedPath, Output, Qrels, RunPaths, parse_run
from metrics.cli.messages import say_left_out, traditional_order
from metrics.cli.options import (
    Measures,
    ReadingOptions,
    TargetBaseline,
    Targets,
    Traditional,
    with_shared_options,
)
from metrics.cli.output import write_text
from metrics.evaluation import Evaluation, ScoringOptions, score_runs
from metrics.measures import parse
from metrics.studies.targets.targets import check_targets, targets_of
from metrics.support.progress import progress

if TYPE_CHECKING:
    import pandas as pd


class FailOn(StrEnum):
    """What ends a review with exit code 1."""

    never = "never"
    missed = "missed"
    lowered = "lower"


@with_shared_options
def review_command(
    run: RunPaths,
    qrels: Qrels = None,
    measure: Measures = None,
    require: Targets = None,
    baseline: TargetBaseline = None,
    before: Annotated[
        list[NamedPath] | None,
        typer.Option(metavar="RUN", parser=parse_run, help=f"A run as it was before. Repeatable. {NAME_HELP}"),
        FileUse.READ,
    ] = None,
    before_qrels: Annotated[
        Path | None, typer.Option(help="Judgments as they were; else those of now."), FileUse.READ
    ] = None,
    since: Annotated[str, typer.Option(help="What the state before is called, such as main.")] = "before",
    fail_on: Annotated[
        FailOn,
        typer.Option(
            help="Exit 1: never; where a target is missed; there or where a value fell in every order."
        ),
    ] = FailOn.missed,
    traditional: Traditional = None,
    title: Annotated[str, typer.Option(help="Heading.")] = "TieScope",
    output: Output = None,
    *,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Write what a pull request does to runs, as Markdown: targets, and changes beyond what ties can do."""
    targets = targets_of(require, ()) if require else []
    measures = list(dict.fromkeys([*(measure or ()), *(str(target.measure) for target in targets)])) or ["RR"]
    with progress("Scoring"):
        runs = reading.read(run, qrels)
        order = traditional_order(runs, traditional)
        treatments = ["expected", "optimistic", "pessimistic", order]
        now = score_runs(runs, measures, treatments, scoring)
        changes = None
        if before:
            runs_before = reading.read(before, before_qrels or qrels)
            changes = _changes(score_runs(runs_before, measures, treatments, scoring), now, order)
    say_left_out(runs, now)
    outcomes = check_targets(now, targets, order, baseline)
    write_text(_markdown(now, outcomes, changes, order, (title, since)), output)
    is_missed = not outcomes["passed"].all()
    is_lower = changes is not None and (changes["verdict"] == "lower in every order").any()
    if (is_missed and fail_on != FailOn.never) or (is_lower and fail_on == FailOn.lowered):
        raise typer.Exit(1)


def _changes(before: Evaluation, now: Evaluation, order: str) -> "pd.DataFrame":
    from metrics.studies.leaderboard.value_changes import value_changes

    return value_changes(before, now, order)


def _markdown(
    now: Evaluation,
    outcomes: "pd.DataFrame",
    changes: "pd.DataFrame | None",
    order: str,
    names: tuple[str, str],
) -> str:
    """Return the review; `names` are its heading, and what the state before is called."""
    from metrics.report.embedding import review
    from metrics.studies.leaderboard.leaderboard import leaderboard, leaderboard_finding
    from metrics.studies.leaderboard.verdict_sentence import query_sets

    (title, since), measure = names, parse(now.measures[0])
    board = leaderboard(now, str(measure), order)
    finding = (*query_sets(now, str(measure)), *leaderboard_finding(board, measure.traditional, order))
    return review(title, finding, outcomes, changes, since)
