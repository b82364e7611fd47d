"""JSON of results: measure → value, as BEIR prints it, by model; and a task of MTEB."""

from collections.abc import Iterator, Mapping
from typing import Any

from metrics.errors import ReadError
from metrics.runs.formats.json_text import parse_file
from metrics.runs.reading.files import File
from metrics.studies.audit.published.numbers import parse_number
from metrics.studies.audit.published.table import Figure

_SUBSET, _SCORES = "hf_subset", "scores"
_HINT = "Give measure → value, by model where there are several, or a task's results of MTEB."


def read_json(file: File) -> tuple[list[Figure], list[str]]:
    """Return the figures of a file of results, and sentences on what was left out.

    Raises:
        ReadError: it holds none, or is too large or nested too deep.
    """
    value = parse_file(file)
    if isinstance(value, dict) and isinstance(value.get(_SCORES), dict) and "task_name" in value:
        figures = list(_mteb_figures(file, value[_SCORES]))
    else:
        figures = list(_figures(file, value, ()))
    if not figures:
        raise ReadError(file.name, "there is no figure in this JSON", _HINT)
    return figures, []


def _figures(file: File, value: Any, path: tuple[str, ...]) -> Iterator[Figure]:  # noqa: ANN401 whatever JSON holds
    """Yield the figures below a value; what stands above their measures names the reranker.

    Args:
        file: that holds it.
        value: a mapping, or several of them, as BEIR's four.
        path: keys above it.
    """
    for part in value if isinstance(value, list) else [value]:
        if not isinstance(part, Mapping):
            continue
        for key, inner in part.items():
            if _is_number(inner):
                yield _figure(file, " / ".join(path) or file.stem, str(key), float(inner))
            elif isinstance(inner, (Mapping, list)):
                yield from _figures(file, inner, (*path, str(key)))


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
                yield _figure(file, file.stem, before + str(key), float(value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _figure(file: File, reranker: str, measure: str, value: float) -> Figure:
    """Return a figure as its shortest text says it.

    Args:
        file: that holds it.
        reranker: whose.
        measure: as spelled there.
        value: the number.
    """
    number = parse_number(repr(value))
    text, decimals = (number.text, number.decimals) if number else (repr(value), 0)
    return Figure(reranker, measure, None, value, text, decimals, 1, file.name, None)
