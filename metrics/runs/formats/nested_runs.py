"""JSON by query and document, alone or inside subsets and splits, as MTEB saves predictions."""

from collections.abc import Iterator, Sequence
from typing import Any

from metrics.errors import ReadError
from metrics.runs.columns import ColumnChoice
from metrics.runs.files import File, FileProvenance
from metrics.runs.formats.format import Format
from metrics.runs.formats.json_records import (
    begins,
    excerpt,
    holds_records,
    no_records,
    parse_file,
    value_array,
)
from metrics.runs.source import Source, build_source

_MTEB = "mteb-predictions"
MODEL = "mteb_model_meta"
"""Key beside the subsets, under which MTEB says whose predictions these are."""
_NAME = rb'"(?:[^"\\]|\\.)*"\s*:\s*'
_IS_NESTED = begins(rb"\{\s*" + _NAME + rb"\{")
_IS_DEEPER = begins(rb"\{\s*(?:" + rb"\{\s*".join([_NAME] * 3) + rb'|"' + MODEL.encode() + rb'"\s*:)')
_FLAT, _DEEP = "{query: {document: score}}", "{subset: {split: {query: {document: score}}}}"
Part = tuple[tuple[str, ...], str, dict[str, object]]
"""Names of what a list is part of, its query, and document → score."""


def read_nested(file: File, choice: ColumnChoice, format_name: str) -> Source:
    """Read `{query: {document: score}}`, perhaps in subsets and splits; grades if all are whole numbers.

    Where there are several subsets, splits or tasks, each is a segment, named by what differs between them.

    Raises:
        ReadError: no such JSON, a value that cannot be read, or a query in two segments; names it.
    """
    document = parse_file(file)
    model = document.pop(MODEL, None) if format_name == _MTEB else None
    parts = list(_parts(file, document))
    if not parts:
        raise no_records(file.name)
    segments = _segments([path for path, _, _ in parts])
    _refuse_repeated_queries(file, parts, segments)
    fields: dict[str, list[object]] = {
        "query": [query for _, query, scores in parts for _ in scores],
        "document": [name for _, _, scores in parts for name in scores],
        "value": [value for _, _, scores in parts for value in scores.values()],
    }
    ours = "relevance" if all(isinstance(number, int) for number in fields["value"]) else "score"
    usual = {"query_id": "query", "doc_id": "document", ours: "value"}
    if len(set(segments)) > 1:
        usual["segment"] = "segment"
        fields["segment"] = [name for name, part in zip(segments, parts, strict=True) for _ in part[2]]
    name = model.get("model_name") if isinstance(model, dict) else None
    if ours == "score" and isinstance(name, str) and name.strip():
        usual["reranker"] = "model"
        fields["model"] = [name] * len(fields["value"])
    origin = FileProvenance(file.name, lambda row: row + 1, "entry")
    mapping = choice.mapping(file.name, tuple(fields), usual)
    raw = {field: value_array(values, field, origin) for field, values in fields.items()}
    return build_source(raw, mapping, origin, format_name, tuple(fields), missing_score=choice.missing_score)


def _parts(file: File, node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[Part]:
    """Yield the lists of a file, and the names above each; a ReadError where something else stands."""
    first = next((child for child in node.values() if child), None)
    is_deeper = isinstance(first, dict) and any(isinstance(inner, dict) for inner in first.values())
    for name, child in node.items():
        if not isinstance(child, dict):
            of_path = f" of {' → '.join(path)}" if path else ""
            problem = f"{'part' if is_deeper else 'query'} {name!r}{of_path} holds {excerpt(child)}"
            raise ReadError(file.name, problem, f"Write {_DEEP if is_deeper or path else _FLAT}.")
        if is_deeper:
            yield from _parts(file, child, (*path, name))
        elif child:
            yield path, name, child


def _segments(paths: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the name of each list's segment: of the names above it those that differ between lists.

    A stroke parts them, or more strokes than any name has.
    """
    depth = max(map(len, paths))
    padded = [path + ("",) * (depth - len(path)) for path in paths]
    telling = [level for level in range(depth) if len({path[level] for path in padded}) > 1]
    stroke = "/"
    while any(stroke in name for path in paths for name in path):
        stroke += "/"
    return [stroke.join(path[level] for level in telling if path[level]) for path in padded]


def _refuse_repeated_queries(file: File, parts: Sequence[Part], segments: Sequence[str]) -> None:
    """Raise a ReadError where two segments have a query of one name: judgments could not tell them apart."""
    owners: dict[str, str] = {}
    for (_, query, _), segment in zip(parts, segments, strict=True):
        other = owners.setdefault(query, segment)
        if other != segment:
            problem = f"query {query!r} stands in {other} and in {segment}"
            raise ReadError(file.name, problem, "Write a file for each, or give their queries other names.")


FORMATS = (
    Format(
        _MTEB,
        f"MTEB's predictions: {_DEEP}; several are segments.",
        '{"mteb_model_meta": {"model_name": "llm"},\n "default": {"test": {"q1": {"d7": 0.9, "d2": 0.9},\n'
        '                      "q2": {"d4": 0.3}}}}',
        lambda head: _IS_DEEPER(head) and not holds_records(head),
        lambda head, choice: read_nested(head.file, choice, _MTEB),
        has_header=False,
        scores_may_be_grades=True,
        tie_order="docid_desc",
    ),
    Format(
        "nested-json",
        f"JSON by query and document: {_FLAT}, grades if all are whole numbers.",
        '{"q1": {"d7": 0.9,\n        "d2": 0.9},\n "q2": {"d4": 0.3}}',
        lambda head: _IS_NESTED(head) and not holds_records(head),
        lambda head, choice: read_nested(head.file, choice, "nested-json"),
        has_header=False,
        scores_may_be_grades=True,
    ),
)
