"""Tables as text for people and programs, on stdout or in a file."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from rich.cells import cell_len

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.runs.writing import open_output
from metrics.support.escaping import clean, csv_text, latex, markdown, visible
from metrics.support.wording import LONG


def long_table(evaluation: Evaluation, *, per_query: bool) -> pd.DataFrame:
    """Return reranker, (query_id,) measure, ties, value: means, or one row per list."""
    scores = evaluation.scores
    if not per_query:
        scores = scores.groupby(level="reranker", sort=False).mean().reindex(evaluation.policies.index)
    return stack_columns(scores)


def stack_columns(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per value of a table with columns (measure, ties)."""
    return scores.stack(["measure", "ties"], future_stack=True).rename("value").reset_index()  # noqa: PD013


def write_table(table: pd.DataFrame, format_name: str, output: Path | None) -> None:
    """Write a table to a file, or to stdout.

    Raises:
        UsageError: the file cannot be written, or parquet has no file.
    """
    if format_name == "parquet" and output is None:
        raise UsageError("parquet needs a file: -o FILE.")
    if format_name != "parquet":
        write_text(_WRITERS[format_name](table), output)
    elif output is not None:
        with open_output(output) as stream:
            table.to_parquet(stream, index=False)


def write_text(text: str, output: Path | None) -> None:
    """Write a text to a file, or to stdout."""
    if output is None:
        print_text(text)
        return
    with open_output(output) as stream:
        stream.write(text.encode())


def print_text(text: str) -> None:
    """Write a text to stdout; for a terminal, escape characters that control it."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


@contextmanager
def csv_rows(output: Path | None) -> Iterator[Callable[[pd.DataFrame], object]]:
    """Yield a function that appends a table, of the same columns each time, to one CSV file or to stdout."""
    is_first = True

    def text_of(table: pd.DataFrame) -> str:
        nonlocal is_first
        header, is_first = is_first, False
        return csv_text(table, header=header)

    if output is None:
        yield lambda table: print_text(text_of(table))
        return
    with open_output(output) as stream:
        yield lambda table: stream.write(text_of(table).encode())


def _json(table: pd.DataFrame) -> str:
    is_finite = table.notna() & ~table.isin([np.inf, -np.inf])
    records = table.astype(object).where(is_finite, None).to_dict("records")
    return json.dumps(records, indent=1, ensure_ascii=False) + "\n"


def _markdown(table: pd.DataFrame) -> str:
    wide = _wide(table)
    lines = [[markdown(cell) for cell in line] for line in [wide.columns, *wide.to_numpy()]]
    lines.insert(1, ["---"] * len(wide.columns))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _latex(table: pd.DataFrame) -> str:
    wide = _wide(table)
    body = [" & ".join(latex(cell) for cell in line) + r" \\" for line in [wide.columns, *wide.to_numpy()]]
    head = r"\begin{tabular}{" + "l" * len(wide.columns) + "}"
    return "\n".join([head, r"\toprule", body[0], r"\midrule", *body[1:], r"\bottomrule", r"\end{tabular}", ""])


def _for_people(table: pd.DataFrame) -> str:
    wide = _wide(table)
    columns = []
    for name, column in wide.items():
        cells = [str(name), *map(clean, column)]
        is_numeric = name not in table or pd.api.types.is_numeric_dtype(table[name])
        lengths = [cell_len(cell) for cell in cells]
        widest = max(lengths)
        spaces = [" " * (widest - length) for length in lengths]
        pairs = zip(spaces, cells, strict=True)
        columns.append([space + cell if is_numeric else cell + space for space, cell in pairs])
    return "".join(f" {'  '.join(line)} \n" for line in zip(*columns, strict=True))


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    if {"ties", "value"} <= set(table.columns):
        keys = [name for name in table.columns if name not in ("ties", "value")]
        table = table.set_index([*keys, "ties"])["value"].unstack(sort=False).reset_index()  # noqa: PD010
    printed = {str(name): [_cell(value) for value in column] for name, column in table.items()}
    return pd.DataFrame(printed, dtype=object)


def _cell(value: object) -> str:
    if value is pd.NA:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:z.4f}" if abs(value) < LONG else f"{value:.4e}"


_WRITERS: dict[str, Callable[[pd.DataFrame], str]] = {
    "table": _for_people,
    "csv": csv_text,
    "json": _json,
    "markdown": _markdown,
    "latex": _latex,
}
