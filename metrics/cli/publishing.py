"""Commands that write what stands elsewhere: badge and embed."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from metrics.cli.file_options import Output, Qrels, RunPaths
from metrics.cli.messages import say_left_out, traditional_order
from metrics.cli.options import ReadingOptions, Traditional, with_shared_options
from metrics.cli.output import write_text
from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions, score_runs
from metrics.measures import parse
from metrics.support.progress import progress

if TYPE_CHECKING:
    import pandas as pd

    from metrics.runs import Runs


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
