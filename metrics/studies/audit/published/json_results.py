"""JSON of results: measure → value, as BEIR prints it, by model; tables of pandas; and a task of MTEB."""

from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import Any

from metrics.errors import ReadError
from metrics.runs.formats.json_records import parse_file
from metrics.runs.reading.files import File
from metrics.studies.audit.measure_names import is_measure_of, our_measure
from metrics.studies.audit.published.grids import RERANKER_HEADINGS
from metrics.studies.audit.published.numbers import parse_number
from metrics.studies.audit.published.table import Figure

_SUBSET, _SCORES = "hf_subset", "scores"
_HINT = "Give measure → value, by model where there are several, or a task's results of MTEB."


def read_json(file: File) -> tuple[list[Figure], list[str]]:
    """Return the figures of a file of results, and sentences on those left out; a ReadError where none."""
    value = parse_file(file)
    if isinstance(value, dict) and isinstance(value.get(_SCORES), dict) and "task_name" in value:
        figures = list(_mteb_figures(file, value[_SCORES]))
    else:
        figures = list(_figures(file, value, ()))
    finite = [figure for figure in figures if isfinite(figure.value)]
    if not finite:
        raise ReadError(file.name, "there is no figure in this JSON", _HINT)
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
