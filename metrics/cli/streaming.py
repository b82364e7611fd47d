"""Scoring files larger than memory, for `tiescope evaluate --stream`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from metrics.cli.options import Format
from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.memory import one_allocator
from metrics.merging import Means
from metrics.output import csv_rows, long, long_table, progress, put
from metrics.runs import Runs
from metrics.streaming import Stream


@one_allocator
def score_stream(
    stream: Stream, score: Callable[[Runs], Evaluation], form: Format, output: Path | None, *, per_query: bool
) -> Evaluation:
    """Print means, or the values of each list as it is read.

    Returns:
        the last part, with the policies of all.

    Raises:
        UsageError: values of each list are asked for in another form than csv.
    """
    if per_query:
        return _rows(stream, score, form, output)
    means = Means()
    with progress("Scoring"):
        for part in stream.parts(score):
            means.add(part.scores, part.policies.index.to_list())
            last = part
    put(long(means.table()), form.value, output)
    return replace(last, policies=stream.policies)


def _rows(stream: Stream, score: Callable[[Runs], Evaluation], form: Format, output: Path | None) -> Evaluation:
    if form != Format.csv:
        raise UsageError("--stream writes one line a list as it reads them: add --format csv.")
    with csv_rows(output) as write, progress("Scoring"):
        for part in stream.parts(score):
            write(long_table(part, per_query=True))
            last = part
    return replace(last, policies=stream.policies)
