"""What tools print: trec_eval and ir_measures, and the JSON of BEIR, MTEB and pandas."""

import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf, isfinite
from typing import Any

from metrics.errors import ReadError
from metrics.runs.files import File
from metrics.runs.formats.json_records import parse_file
from metrics.studies.audit.names import is_measure_of, our_measure
from metrics.studies.audit.published.grids import RERANKER_HEADINGS, parse_number
from metrics.studies.audit.published.table import Figure

_NAMES = {"runid", "relstring"}
"""Lines whose value is a text."""
_COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret"}
"""Lines that count queries and documents, and measure nothing."""
_ALL = {"all", "amean"}
_NO_NUMBERS = {"nan", "-nan", "inf", "-inf"}
"""What trec_eval prints of what it cannot compute."""
_FIELDS = (2, 3)
_TREC_EVAL_HINT = "Give trec_eval's output: measure, query or all, value."


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
            raise ReadError(name, f"{row[:60]!r} is no figure", _TREC_EVAL_HINT, line=line)
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


_SUBSET, _SCORES = "hf_subset", "scores"
_JSON_HINT = "Give measure → value, by model where there are several, or a task's results of MTEB."


def read_json(file: File) -> tuple[list[Figure], list[str]]:
    """Return the figures of a file of results, and sentences on those left out; a ReadError where none."""
    value = parse_file(file)
    if isinstance(value, dict) and isinstance(value.get(_SCORES), dict) and "task_name" in value:
        figures = list(_mteb_figures(file, value[_SCORES]))
    else:
        figures = list(_figures(file, value, ()))
    finite = [figure for figure in figures if isfinite(figure.value)]
    if not finite:
        raise ReadError(file.name, "there is no figure in this JSON", _JSON_HINT)
    infinite = dict.fromkeys(figure.measure for figure in figures if not isfinite(figure.value))
    notes = [f"{file.name}: what is no finite number is left out: {', '.join(infinite)}."] if infinite else []
    return finite, notes


def _figures(file: File, value: Any, path: tuple[str, ...]) -> Iterator[Figure]:  # noqa: ANN401 whatever JSON holds
    """Yield the figures below a value; the keys above their measures name the reranker, or one of theirs."""
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, Mapping):
            continue
        names = next((part[key] for key in part if key.casefold() in RERANKER_HEADINGS), None)
        own_path = (*path, names) if isinstance(names, str) else path
        for key, inner in part.items():
            if _is_number(inner):
                yield _figure(file, *_owner(file, own_path, key), inner)
            elif isinstance(inner, Mapping) and isinstance(names, Mapping) and our_measure(key):
                rows = [(str(names[row]), number) for row, number in inner.items() if row in names]
                yield from (_figure(file, name, key, number) for name, number in rows if _is_number(number))
            elif isinstance(inner, (Mapping, list)):
                yield from _figures(file, inner, (*own_path, key))


def _owner(file: File, path: tuple[str, ...], key: str) -> tuple[str, str]:
    """Return reranker and measure of a number: its key is one of them.

    Measures may stand above rerankers, as pandas writes a table, or above their own cut-offs, as in BEIR's
    `{"ndcg": {"NDCG@10": ...}}`.
    """
    if len(path) == 1 and our_measure(path[0]) and not our_measure(key):
        return key, path[0]
    return " / ".join(name for name in path if not is_measure_of(key, name)) or file.stem, key


def _mteb_figures(file: File, splits: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield the figures of a task; names of several splits and subsets stand before those of measures."""
    results = [
        (split, result)
        for split, of_split in splits.items()
        for result in (of_split if isinstance(of_split, list) else [])
        if isinstance(result, Mapping)
    ]
    for split, result in results:
        before = f"{split} {result.get(_SUBSET, '')} " if len(results) > 1 else ""
        for key, value in result.items():
            if _is_number(value):
                yield _figure(file, file.stem, before + str(key), value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _figure(file: File, reranker: str, measure: str, value: float) -> Figure:
    """Return a figure as its shortest text says it."""
    try:
        value = float(value)
    except OverflowError:
        value = inf
    number = parse_number(repr(value))
    text, decimals = (number.text, number.decimals) if number else (repr(value), 0)
    return Figure(reranker, measure, None, value, text, decimals, 1, file.name, None)
