"""Scoring what is larger than memory, for `tiescope evaluate --stream` and `--engine dask`."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pandas as pd

from metrics.cli.options.shared import OutputFormat, TableOutput
from metrics.cli.output import csv_rows, long_table, stack_columns
from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.evaluation.merging import Means
from metrics.runs import Runs
from metrics.scale.stored import save_parts
from metrics.scale.stream import PartitionedRuns


def score_parts(
    runs: PartitionedRuns,
    score: Callable[[Runs], Evaluation],
    table_output: TableOutput,
    save: Path | None,
    *,
    per_query: bool,
) -> tuple[Evaluation, pd.DataFrame | None]:
    """Score part by part, and write the values of each list as it is read, where they are wanted.

    Args:
        runs: what is scored.
        score: scores one part.
        table_output: where values are written.
        save: file to keep what each list scored; None for none.
        per_query: whether the values of each list are wanted, not means.

    Returns:
        the last part, with the policies of all; and the means, where these are wanted.

    Raises:
        UsageError: values of each list are asked for in another form than csv, or a file cannot be written.
    """
    if per_query and table_output.format != OutputFormat.csv:
        raise UsageError("Of parts, one line a list is written as they are read: add --format csv.")
    parts = runs.parts(score)
    if save is not None:
        parts = save_parts(parts, save)
    means = Means()
    with csv_rows(table_output.path) if per_query else nullcontext() as write:
        for part in parts:
            if write is not None:
                write(long_table(part, per_query=True))
            else:
                means.add(part.scores, part.policies.index.to_list())
            last = part
    return replace(last, policies=runs.policies), None if per_query else stack_columns(means.table())
