"""Commands for whoever judges: judge-next.

Its studies are imported when it is called, as those of other commands.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metrics.cli.file_options import FileUse, Qrels, RunPaths, written_option
from metrics.cli.messages import say
from metrics.cli.options import ReadingOptions, TableOutput, with_shared_options
from metrics.cli.output import write_text
from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions
from metrics.measures import parse
from metrics.runs import File, Runs, as_judgments, read
from metrics.runs.joining import concat_judgments
from metrics.runs.stacks import RunStack
from metrics.support.progress import progress

if TYPE_CHECKING:
    import pandas as pd

    from metrics.runs.findings import Finding


@with_shared_options
def judge_next_command(
    run: RunPaths,
    qrels: Qrels = None,
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="The measure whose bounds are to narrow.")
    ] = "nDCG@10",
    top: Annotated[int, typer.Option(min=1, help="Documents to judge next.")] = 50,
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Documents that every run has below this place count as not relevant; else the measure's "
            "cut-off, or 10.",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Chance that an unjudged document is relevant; else as judged ones tell."
        ),
    ] = None,
    qrels_output: Annotated[
        Path | None,
        written_option(
            "Write a form for whoever judges: qrels with ? for each grade, or CSV with none (FILE.csv)."
        ),
        FileUse.WRITTEN,
    ] = None,
    judged: Annotated[
        Path | None,
        typer.Option(help="Such a form filled in: it joins the judgments, and what it settled is said."),
        FileUse.READ,
    ] = None,
    *,
    table_output: TableOutput,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Say which unjudged documents to judge next: those whose judgment narrows the leaderboard most."""
    from metrics.studies.judging import closing_text, judgments_value, plan_finding, plan_judging, value_finding
    from metrics.studies.prose import plain

    if qrels is None:
        raise UsageError(
            "Give judgments apart: --qrels FILE. What stands inside tables leaves nothing unjudged."
        )
    name = str(parse(measure))
    with progress("Reading"):
        before = reading.read(run, qrels)
        runs = before if judged is None else _with_judgments(before, judged, reading)
    with progress("Judging both ways"):
        plan = plan_judging(runs, name, scoring, depth=depth, rate=rate)
        if judged is not None:
            value = judgments_value(before, runs, name, scoring, plan.depth)
            say(plain(value_finding(value, plan)))
    say(plain(plan_finding(plan)))
    documents = plan.documents.head(top)
    if len(documents):
        say(closing_text(plan, len(documents)))
    if qrels_output is not None:
        write_text(_form(documents, qrels_output), qrels_output)
    table_output.write(documents)


def _with_judgments(runs: Runs, path: Path, reading: ReadingOptions) -> Runs:
    """Return the runs with the judgments of one more file; say what is in both."""
    source = as_judgments(read(File.open(path), reading.columns, strict=False))
    files = [
        RunStack.single("", judged.qrels, judged.judged_origin)
        for judged in (runs, Runs.from_sources([source], reading.repeated, judged=False))
        if judged.qrels is not None
    ]
    noted: list[Finding] = []
    judgments = concat_judgments(files, reading.repeated, noted)
    for finding in noted:
        say(f"{finding.severity} · {finding.file} · {finding.message}")
    return runs.judged_by(judgments.table)


def _form(documents: "pd.DataFrame", path: Path) -> str:
    """Return the form to be filled in: CSV where the file ends so, else TREC qrels."""
    from metrics.studies.judging import csv_form, trec_form

    return csv_form(documents) if path.suffix.lower() == ".csv" else trec_form(documents)
