"""What trec_eval prints: measure, query or `all`, value; and what ir_measures prints: measure, value."""

import re
from collections.abc import Iterable

from metrics.errors import ReadError
from metrics.studies.audit.published.numbers import parse_number
from metrics.studies.audit.published.table import Figure

_NAMES = {"runid", "relstring"}
"""Lines whose value is a text."""
_COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret"}
"""Lines that count queries and documents, and measure nothing."""
_ALL = {"all", "amean"}
_NO_NUMBERS = {"nan", "-nan", "inf", "-inf"}
"""What trec_eval prints of what it cannot compute."""
_FIELDS = (2, 3)
_HINT = "Give trec_eval's output: measure, query or all, value."


def is_trec_eval(lines: Iterable[str]) -> bool:
    """Return whether all of the first lines of a file are those of trec_eval's output."""
    rows = [_fields(line) for line in lines if line.strip()]
    return bool(rows) and all(
        len(row) in _FIELDS and (row[0] in _NAMES or row[-1] in _NO_NUMBERS or parse_number(row[-1]))
        for row in rows
    )


def read_trec_eval(name: str, text: str, stem: str) -> tuple[list[Figure], str]:
    """Return the figures of one run, under the name of its file, and its `runid`, empty where none is said.

    The figures of several runs, each with its `runid`, have the names of these. A run begins at its `runid`;
    where queries stand before the first one, as trec_eval -q prints them, they stand before every one.

    Args:
        name: of the file.
        text: all of it.
        stem: of the file's name.

    Raises:
        ReadError: a line is no figure.
    """
    figures: list[Figure] = []
    run_ids: list[str] = []
    n_begun: list[int] = []
    for line, row in enumerate(text.splitlines(), 1):
        fields = _fields(row)
        if not fields or fields[-1] in _NO_NUMBERS or fields[0] in _COUNTS:
            continue
        if fields[0] in _NAMES:
            if fields[:2] == ["runid", "all"]:
                run_ids.append(fields[-1])
            continue
        number = parse_number(fields[-1]) if len(fields) in _FIELDS else None
        if number is None:
            raise ReadError(name, f"{row[:60]!r} is no figure", _HINT, line=line)
        query = None if len(fields) == _FIELDS[0] or fields[1] in _ALL else fields[1]
        figures.append(
            Figure(stem, fields[0], query, number.value, number.text, number.decimals, 1, name, line)
        )
        n_begun.append(len(run_ids))
    if not run_ids[1:]:
        return figures, "".join(run_ids)
    of_means, of_queries = [run_ids[0], *run_ids], [*run_ids, run_ids[-1]]
    names = (
        (of_queries if figure.query_id is not None and n_begun[0] == 0 else of_means)[n]
        for figure, n in zip(figures, n_begun, strict=True)
    )
    return [figure._replace(reranker=name) for figure, name in zip(figures, names, strict=True)], ""


def _fields(line: str) -> list[str]:
    """Return the fields of a line: between tabs, else between spaces; the name of a run may hold spaces."""
    by_tabs = [field.strip() for field in line.strip().split("\t")]
    return (
        by_tabs
        if len(by_tabs) == _FIELDS[1]
        else re.split(r"\s+", line.strip(), maxsplit=2)
        if line.strip()
        else []
    )
