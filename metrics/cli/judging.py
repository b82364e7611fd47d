"""The command for assessors: judge-next."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metrics.cli import options
from metrics.cli.messages import say
from metrics.errors import UsageError
from metrics.support.progress import progress

if TYPE_CHECKING:
    from metrics.evaluation import ScoringOptions
    from metrics.runs import Runs
    from metrics.runs.findings import Finding


@options.with_shared_options
def judge_next_command(
    run: options.RunPaths,
    qrels: options.Qrels = None,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="The measure whose bounds the judgments should narrow.")
    ] = "nDCG@10",
    top: Annotated[int, typer.Option(min=1, help="Number of documents to judge next.")] = 50,
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Documents below this rank in every run count as not relevant (default: the measure's "
            "cut-off, or 10).",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Probability that an unjudged document is relevant (default: estimated from judged "
            "documents).",
        ),
    ] = None,
    qrels_output: Annotated[
        Path | None,
        options.written_option(
            "Write a form for assessors: qrels with ? in place of each grade, or a table with an empty column "
            "relevance (FILE.csv)."
        ),
        options.FileUse.WRITTEN,
    ] = None,
    judged: Annotated[
        Path | None,
        typer.Option(help="A completed form: add its judgments and report how much they narrowed the bounds."),
        options.FileUse.READ,
    ] = None,
    *,
    table_output: options.TableOutput,
    scoring: "ScoringOptions",
    reading: options.ReadingOptions,
) -> None:
    """List the unjudged documents whose judgments would narrow the leaderboard most."""
    from metrics.cli.output import write_text
    from metrics.measures import parse
    from metrics.studies import judging
    from metrics.studies.prose import plain

    if qrels is None:
        raise UsageError(
            "Give the judgments as a file: --qrels FILE. In a table with a relevance column, every document is "
            "judged."
        )
    name = str(parse(measure))
    before = reading.read(run, qrels)
    runs = before if judged is None else _with_judgments(before, judged, reading)
    with progress("Judging both ways"):
        plan = judging.plan_judging(runs, name, scoring, depth=depth, rate=rate)
        if judged is not None:
            value = judging.judgments_value(before, runs, name, scoring, plan.depth)
            say(plain(judging.value_finding(value, plan)))
    say(plain(judging.plan_finding(plan)))
    documents = plan.documents.head(top)
    if len(documents):
        say(judging.closing_text(plan, len(documents)))
    if qrels_output is not None:
        form = judging.csv_form if qrels_output.suffix.lower() == ".csv" else judging.trec_form
        write_text(form(documents), qrels_output)
    table_output.write(documents)


def _with_judgments(runs: "Runs", path: Path, reading: options.ReadingOptions) -> "Runs":
    """Add the judgments of one more file; report documents that both files judge."""
    from metrics.runs import File, Runs, as_judgments, read
    from metrics.runs.joining import concat_judgments
    from metrics.runs.stacks import RunStack

    source = as_judgments(read(File.open(path), reading.columns, strict=False))
    files = [
        RunStack.single("", judged.qrels, judged.judged_origin)
        for judged in (runs, Runs.from_sources([source], reading.repeated, judged=False))
        if judged.qrels is not None
    ]
    findings: list[Finding] = []
    judgments = concat_judgments(files, reading.repeated, findings)
    for finding in findings:
        say(f"{finding.severity} · {finding.file} · {finding.message}")
    return runs.judged_by(judgments.table)
