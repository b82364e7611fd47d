"""Commands that write for others: report, badge."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metrics.cli.auditing import PublishedNames, names_by_hand, published_files
from metrics.cli.file_options import FileUse, Qrels, RunPaths, output_option
from metrics.cli.messages import traditional_order
from metrics.cli.options import Measures, ReadingOptions, Traditional, with_shared_options
from metrics.cli.output import print_text
from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions
from metrics.runs import File
from metrics.runs.writing import open_output
from metrics.studies.targets import PRESETS as READY_TARGETS
from metrics.support.progress import progress

if TYPE_CHECKING:
    from metrics.studies.audit.published_table import PublishedTable


import re
from typing import TYPE_CHECKING

from metrics.cli.file_options import Output
from metrics.cli.messages import say_left_out
from metrics.cli.output import write_text
from metrics.evaluation import score_runs
from metrics.measures import parse

if TYPE_CHECKING:
    import pandas as pd

    from metrics.runs import Runs


class ReportFormat(StrEnum):
    """What a report is written as; text is what the G-RAG notebook's evaluator prints."""

    html = "html"
    markdown = "markdown"
    text = "text"
    latex = "latex"
    csv = "csv"
    parquet = "parquet"


@with_shared_options
def report_command(
    context: typer.Context,
    run: RunPaths,
    qrels: Qrels = None,
    output: Annotated[
        Path | None,
        output_option("report.html, .md, .txt, .tex, .csv or .parquet; else here."),
        FileUse.WRITTEN,
    ] = None,
    format: Annotated[  # noqa: A002 what other commands call it
        ReportFormat | None,
        typer.Option(help="What is written, whatever the file ends in; else as it ends, Markdown here."),
    ] = None,
    measure: Measures = None,
    traditional: Traditional = None,
    baseline: Annotated[
        str, typer.Option(help="Whom the others are compared with; else BM25, else the first.")
    ] = "",
    require: Annotated[
        list[str] | None, typer.Option("--require", "-r", help='Targets: "MTRR>=0.8", "R@5>=baseline-0.01".')
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(
            help="short: a summary, unless said; full: all behind it, too; paper: one table. "
            f"Ready targets: {', '.join(READY_TARGETS)}."
        ),
    ] = None,
    targets_for: Annotated[str, typer.Option(help="Whose targets are drawn; else the leader's.")] = "",
    test: Annotated[str, typer.Option(help="Which test; as for compare.")] = "t",
    correction: Annotated[str, typer.Option(help="What is done about many comparisons.")] = "holm",
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "",
    reranker: Annotated[list[str] | None, typer.Option(help="Only these, in this order.")] = None,
    segment: Annotated[list[str] | None, typer.Option(help="Only queries of these segments.")] = None,
    section: Annotated[list[str] | None, typer.Option(help="Only these sections: summary, scores ...")] = None,
    published: Annotated[
        list[str] | None,
        typer.Option(help="A published table to audit, as `tiescope audit` reads it."),
        FileUse.READ,
    ] = None,
    names: PublishedNames = None,
    traditional_only: Annotated[
        bool,
        typer.Option("--traditional-only", help="Leave tied values out; for --format text."),
    ] = False,
    day: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Day it bears; else today.")
    ] = None,
    *,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Write one file to send: scores, ties, tests, targets, and which number to report."""
    ending, presets = _ending(output, format), preset or []
    audited_files = published_files(published) if published else []
    paths = [*(Path(file.path) for file in run), *([qrels] if qrels else []), *audited_files]
    files = [File.open(path) for path in dict.fromkeys(paths) if path.is_file()]
    options: dict[str, Any] = {
        "baseline": baseline,
        "targets": [*(require or ()), *(name for name in presets if name in READY_TARGETS)],
        "targets_for": targets_for,
        "test": test,
        "correction": correction,
        "title": title,
        "rerankers": reranker or [],
        "segments": segment or [],
        "preset": ([name for name in presets if name not in READY_TARGETS] or ["short"])[-1],
        "sections": section or [],
        "files": [(file.name, file.sha256) for file in files],
        "scoring": scoring,
        "published": _read_published(audited_files),
        "published_names": list(names_by_hand(names or []).items()),
        "traditional_only": traditional_only,
    }
    if measure:
        options["measures"] = measure
    with progress("Reading"):
        runs = reading.read(run, qrels)
    options["traditional"] = traditional_order(runs, traditional)
    with progress("Writing the report"):
        from metrics.report import report

        written = report(runs, **options).file(ending, (day or datetime.now(UTC)).date(), context.obj)
    if output is None:
        print_text(written.decode())
        return
    with open_output(output) as stream:
        stream.write(written)


def _read_published(paths: list[Path]) -> "PublishedTable | None":
    if not paths:
        return None
    from metrics.studies.audit.published import read_published

    return read_published(paths)


_ENDINGS = {
    ReportFormat.html: ".html",
    ReportFormat.markdown: ".md",
    ReportFormat.latex: ".tex",
    ReportFormat.csv: ".csv",
    ReportFormat.parquet: ".parquet",
    ReportFormat.text: ".txt",
}
"""Format of a report → ending of its file."""


def _ending(output: Path | None, form: ReportFormat | None) -> str:
    if form is not None:
        if form == ReportFormat.parquet and output is None:
            raise UsageError("parquet needs a file: -o FILE.")
        return _ENDINGS[form]
    if output is None:
        return _ENDINGS[ReportFormat.markdown]
    if output.suffix.lower() not in _ENDINGS.values():
        raise UsageError(f"{output}: a report ends in {', '.join(_ENDINGS.values())}. Or say --format.")
    return output.suffix


Measure = Annotated[str, typer.Option("--measure", "-m", help="The measure: RR, nDCG@10, AP ...")]


@with_shared_options
def badge_command(
    run: RunPaths,
    qrels: Qrels = None,
    measure: Measure = "RR",
    reranker: Annotated[str, typer.Option(help="Whose value; else the leader's.")] = "",
    traditional: Traditional = None,
    output: Output = None,
    *,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Write a badge, an SVG: one tied value, and its verdict where the order of ties matters."""
    with progress("Scoring"):
        board, order = _leaderboard(reading.read(run, qrels), measure, traditional, scoring)
    name = reranker or str(board.index[0])
    if name not in board.index:
        raise UsageError(f"There is no reranker {name!r}. Rerankers: {', '.join(map(str, board.index))}.")
    from metrics.report.embedding import badge

    write_text(badge(board, name, str(parse(measure)), order), output)


@with_shared_options
def embed_command(
    run: RunPaths,
    qrels: Qrels = None,
    measure: Measure = "RR",
    traditional: Traditional = None,
    link: Annotated[str, typer.Option(help="Address that it leads to, such as that of the board.")] = "",
    output: Output = None,
    *,
    scoring: ScoringOptions,
    reading: ReadingOptions,
) -> None:
    """Write a leaderboard to embed: an HTML fragment without scripts that asks nothing of any host."""
    if link and not re.match(r"https?://[^\s/]", link):
        raise UsageError(f"--link {link[:60]!r}: give an address that begins with https:// or http://.")
    with progress("Scoring"):
        board, order = _leaderboard(reading.read(run, qrels), measure, traditional, scoring)
    from metrics.report.embedding import embed

    write_text(embed(board, str(parse(measure)), order, link), output)


def _leaderboard(
    runs: "Runs", measure: str, traditional: str | None, scoring: ScoringOptions
) -> tuple["pd.DataFrame", str]:
    """Score runs by one measure, say what was left out, and return their leaderboard and traditional order."""
    from metrics.studies.leaderboard import leaderboard

    order = traditional_order(runs, traditional)
    evaluation = score_runs(runs, [measure], ["expected", "optimistic", "pessimistic", order], scoring)
    say_left_out(runs, evaluation)
    return leaderboard(evaluation, str(parse(measure)), order), order
