"""The command that writes a file to share: report."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from metrics.cli import options
from metrics.cli.auditing import PublishedNames, names_by_hand, published_files
from metrics.cli.messages import say_left_out, traditional_order
from metrics.errors import UsageError
from metrics.support.progress import progress

if TYPE_CHECKING:
    from metrics.evaluation import ScoringOptions

ReportFormat = Literal["html", "markdown", "text", "latex", "csv", "parquet"]
_ENDINGS: dict[ReportFormat, str] = {
    "html": ".html",
    "markdown": ".md",
    "latex": ".tex",
    "csv": ".csv",
    "parquet": ".parquet",
    "text": ".txt",
}


@options.with_shared_options
def report_command(
    context: typer.Context,
    inputs: options.Inputs,
    output: Annotated[
        Path | None,
        options.output_option("File: report.html, .md, .txt, .tex, .csv or .parquet (default: stdout)."),
        options.FileUse.WRITTEN,
    ] = None,
    format: Annotated[  # noqa: A002 as in other commands
        ReportFormat | None,
        Option(help="Format (default: by file name, else markdown). text: the report of the G-RAG notebook."),
    ] = None,
    measure: options.Measures = None,
    traditional: options.Traditional = None,
    baseline: Annotated[str, Option(help="Reranker to compare with (default: BM25, else the first).")] = "",
    require: options.Targets = None,
    preset: Annotated[
        list[str] | None,
        Option(
            help="short: a summary (default). full: all sections. paper: one table. retrieval: adds the set of "
            "targets for retrieval."
        ),
    ] = None,
    targets_for: Annotated[str, Option(help="Reranker in the chart of targets (default: the leader).")] = "",
    test: Annotated[str, Option(help="Test of differences, as in compare.")] = "flips",
    correction: Annotated[str, Option(help="Correction for the number of pairs, as in compare.")] = "",
    title: Annotated[str, Option(help="Heading of the report.")] = "",
    reranker: Annotated[list[str] | None, Option(help="Only these rerankers, in this order.")] = None,
    segment: Annotated[list[str] | None, Option(help="Only queries of these query groups.")] = None,
    section: Annotated[list[str] | None, Option(help="Only these sections: summary, scores ...")] = None,
    published: Annotated[
        list[str] | None, Option(help="Published table to audit, as in tiescope audit."), options.FileUse.READ
    ] = None,
    names: PublishedNames = None,
    day: Annotated[
        datetime | None,
        Option("--date", formats=["%Y-%m-%d"], help="Date of the report (default: today)."),
    ] = None,
    *,
    scoring: "ScoringOptions",
) -> None:
    """Write one file to share: scores, ties, targets, tests of the first measure, and the number to report."""
    from metrics.cli.output import print_text
    from metrics.report import MEASURES, report
    from metrics.runs import File
    from metrics.runs.writing import open_output
    from metrics.studies.audit.published import read_published
    from metrics.studies.targets import PRESETS

    ending, presets = _ending(output, format), preset or []
    audited_files = published_files(published) if published else []
    paths = [*(Path(file.path) for file in inputs.run), *filter(None, [inputs.qrels]), *audited_files]
    opened = [File.open(path) for path in dict.fromkeys(paths) if path.is_file()]
    files = [(file.name, file.sha256) for file in opened]
    published_table = read_published(audited_files) if audited_files else None
    published_names = list(names_by_hand(names or []).items())
    runs = inputs.read()
    say_left_out(runs)
    order = traditional_order(runs, traditional)
    with progress("Writing the report"):
        written = report(
            runs,
            measures=measure or MEASURES,
            traditional=order,
            baseline=baseline,
            targets=[*(require or ()), *(name for name in presets if name in PRESETS)],
            targets_for=targets_for,
            test=test,
            correction=correction,
            title=title,
            rerankers=reranker or (),
            segments=segment or (),
            preset=["short", *(name for name in presets if name not in PRESETS)][-1],
            sections=section or (),
            files=files,
            scoring=scoring,
            published=published_table,
            published_names=published_names,
        )
        content = written.file(ending, (day or datetime.now(UTC)).date(), context.obj)
    if output is None:
        print_text(content.decode())
        return
    with open_output(output) as stream:
        stream.write(content)


def _ending(output: Path | None, form: ReportFormat | None) -> str:
    if form is not None:
        if form == "parquet" and output is None:
            raise UsageError("parquet needs a file: -o FILE.")
        return _ENDINGS[form]
    if output is None:
        return ".md"
    if output.suffix.lower() not in _ENDINGS.values():
        raise UsageError(f"{output}: a report ends in {', '.join(_ENDINGS.values())}. Or choose --format.")
    return output.suffix
