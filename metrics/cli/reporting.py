"""Commands that write files to share: report, badge, embed."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from metrics.cli import options
from metrics.cli.auditing import PublishedNames, names_by_hand, published_files
from metrics.cli.messages import traditional_order
from metrics.errors import UsageError
from metrics.support.progress import progress

if TYPE_CHECKING:
    import pandas as pd

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
    run: options.RunPaths,
    qrels: options.Qrels = None,
    output: Annotated[
        Path | None,
        options.output_option(
            "File to write: report.html, .md, .txt, .tex, .csv or .parquet (default: stdout)."
        ),
        options.FileUse.WRITTEN,
    ] = None,
    format: Annotated[  # noqa: A002 as in other commands
        ReportFormat | None,
        typer.Option(
            help="Format (default: from the file name; Markdown on stdout). text is the report that the "
            "evaluator of the G-RAG notebook prints."
        ),
    ] = None,
    measure: options.Measures = None,
    traditional: options.Traditional = None,
    baseline: Annotated[
        str, typer.Option(help="The reranker to compare with (default: BM25, else the first).")
    ] = "",
    require: Annotated[
        list[str] | None, typer.Option("--require", "-r", help='Targets: "MTRR>=0.8", "R@5>=baseline-0.01".')
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(
            help="short: a summary (default). full: all sections. paper: one table. retrieval: adds the set of "
            "targets for retrieval."
        ),
    ] = None,
    targets_for: Annotated[
        str, typer.Option(help="Reranker for which the chart of targets is drawn (default: the leader).")
    ] = "",
    test: Annotated[str, typer.Option(help="Test of differences, as in compare.")] = "t",
    correction: Annotated[str, typer.Option(help="Correction for multiple comparisons.")] = "holm",
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "",
    reranker: Annotated[list[str] | None, typer.Option(help="Only these rerankers, in this order.")] = None,
    segment: Annotated[list[str] | None, typer.Option(help="Only queries of these query groups.")] = None,
    section: Annotated[list[str] | None, typer.Option(help="Only these sections: summary, scores ...")] = None,
    published: Annotated[
        list[str] | None,
        typer.Option(help="A published table to audit, as in `tiescope audit`."),
        options.FileUse.READ,
    ] = None,
    names: PublishedNames = None,
    traditional_only: Annotated[
        bool, typer.Option("--traditional-only", help="Leave tied values out of --format text.")
    ] = False,
    day: Annotated[
        datetime | None,
        typer.Option("--date", formats=["%Y-%m-%d"], help="Date of the report (default: today)."),
    ] = None,
    *,
    scoring: "ScoringOptions",
    reading: options.ReadingOptions,
) -> None:
    """Write one file to share: scores, ties, tests, targets, and which number to report."""
    from metrics.cli.output import print_text
    from metrics.report import report
    from metrics.runs import File
    from metrics.runs.writing import open_output
    from metrics.studies.audit.published import read_published
    from metrics.studies.targets import PRESETS

    ending, presets = _ending(output, format), preset or []
    audited_files = published_files(published) if published else []
    paths = [*(Path(file.path) for file in run), *([qrels] if qrels else []), *audited_files]
    files = [File.open(path) for path in dict.fromkeys(paths) if path.is_file()]
    choices: dict[str, Any] = {
        "baseline": baseline,
        "targets": [*(require or ()), *(name for name in presets if name in PRESETS)],
        "targets_for": targets_for,
        "test": test,
        "correction": correction,
        "title": title,
        "rerankers": reranker or [],
        "segments": segment or [],
        "preset": (["short"] + [name for name in presets if name not in PRESETS])[-1],
        "sections": section or [],
        "files": [(file.name, file.sha256) for file in files],
        "scoring": scoring,
        "published": read_published(audited_files) if audited_files else None,
        "published_names": list(names_by_hand(names or []).items()),
        "traditional_only": traditional_only,
    }
    if measure:
        choices["measures"] = measure
    runs = reading.read(run, qrels)
    choices["traditional"] = traditional_order(runs, traditional)
    with progress("Writing the report"):
        content = report(runs, **choices).file(ending, (day or datetime.now(UTC)).date(), context.obj)
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
        raise UsageError(
            f"{output}: the name of a report ends in {', '.join(_ENDINGS.values())}. Or choose --format."
        )
    return output.suffix


@options.with_shared_options
def badge_command(
    run: options.RunPaths,
    qrels: options.Qrels = None,
    measure: options.Measure = "RR",
    reranker: Annotated[str, typer.Option(help="The reranker (default: the leader).")] = "",
    traditional: options.Traditional = None,
    output: options.Output = None,
    *,
    scoring: "ScoringOptions",
    reading: options.ReadingOptions,
) -> None:
    """Write an SVG badge: one tied value, and a verdict if tie order matters."""
    from metrics.cli.output import write_text
    from metrics.report.embedding import badge

    board, name, order = _leaderboard(reading, run, qrels, measure, traditional, scoring)
    reranker = reranker or str(board.index[0])
    if reranker not in board.index:
        raise UsageError(f"There is no reranker {reranker!r}. Rerankers: {', '.join(map(str, board.index))}.")
    write_text(badge(board, reranker, name, order), output)


@options.with_shared_options
def embed_command(
    run: options.RunPaths,
    qrels: options.Qrels = None,
    measure: options.Measure = "RR",
    traditional: options.Traditional = None,
    link: Annotated[str, typer.Option(help="Address that the leaderboard links to.")] = "",
    output: options.Output = None,
    *,
    scoring: "ScoringOptions",
    reading: options.ReadingOptions,
) -> None:
    """Write a leaderboard to embed: an HTML fragment without scripts or external requests."""
    from metrics.cli.output import write_text
    from metrics.report.embedding import embed

    if link and not re.match(r"https?://[^\s/]", link):
        raise UsageError(f"--link {link[:60]!r}: give an address that begins with https:// or http://.")
    board, name, order = _leaderboard(reading, run, qrels, measure, traditional, scoring)
    write_text(embed(board, name, order, link), output)


def _leaderboard(
    reading: options.ReadingOptions,
    paths: Sequence[options.NamedPath],
    qrels: Path | None,
    measure: str,
    traditional: str | None,
    scoring: "ScoringOptions",
) -> "tuple[pd.DataFrame, str, str]":
    """Return the leaderboard by one measure, the measure's name and the traditional tie order."""
    from metrics.studies.leaderboard import leaderboard

    _, evaluation, order = reading.score(paths, qrels, [measure], traditional, scoring)
    return leaderboard(evaluation, evaluation.measures[0], order), evaluation.measures[0], order
