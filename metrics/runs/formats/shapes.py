"""The shapes of JSON documents: where each holds queries, documents, scores and grades."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from metrics.errors import ReadError
from metrics.runs.columns import normalised, recognise

_MAX_EXCERPT = 40

Record = Mapping[str, object]
DOCUMENT_ARRAYS = ("candidates", "hits", "documents", "passages", "docs", "contexts")
"""Names of fields that hold the documents of a record."""
MODEL = "mteb_model_meta"
"""MTEB's key for the model."""
_RUN = ("results", "run", "runs", "rankings")
_JUDGMENTS = ("ground_truth", "qrels", "relevant_docs", "judgments")
"""Fields of a document with both a run and judgments."""


def _any(_: Record) -> bool:
    return True


def _names_document(record: Record) -> bool:
    return "doc_id" in recognise(list(record)) or any(name in record for _, name in _HIT)


def _is_hit(record: Record) -> bool:
    return _names_document(record) and not _names_query(record)


def _names_query(record: Record) -> bool:
    """Return whether a record has a document and the ID of its query, not only the text."""
    names = recognise(list(record))
    return "doc_id" in names and normalised(names.get("query_id", "query")) not in ("query", "question")


def _has_number(record: Record) -> bool:
    return bool({"score", "relevance"} & recognise(list(record)).keys())


def _holds_documents(record: Record) -> bool:
    return any(isinstance(record.get(name), list) for name in DOCUMENT_ARRAYS)


def _holds_hits(record: Record) -> bool:
    """Return whether a record has a list of documents by its name, or of hits, also as Elasticsearch does."""
    fields = [record, *(value for value in [record.get("hits")] if isinstance(value, dict))]
    lists = [of_field.get(name) for of_field in fields for name in (*DOCUMENT_ARRAYS, *RANKINGS)]
    starts = [value[0] for value in lists if isinstance(value, list) and value]
    return _holds_documents(record) or any(isinstance(start, dict) and _is_hit(start) for start in starts)


@dataclass(frozen=True)
class Shape:
    """One way to write lists as JSON.

    Attributes:
        format: name of its format.
        path: steps from the document to its rows: a name is a field, `*` all fields, `[]` all entries.
        keys: our columns that the names and places at `*` and `[]` give; "" for a step that tells nothing.
        leaf: whether a row is a record, a plain value, or a pair of document and score.
        holds: what the first record must hold.
        usual: our columns and the fields of a record that hold them if no name tells.
        form: what to write, in errors.
    """

    format: str
    path: tuple[str, ...]
    keys: tuple[str, ...] = ()
    leaf: Literal["record", "value", "pair"] = "record"
    holds: Callable[[Record], bool] = _any
    usual: tuple[tuple[str, str], ...] = ()
    form: str = "all parts alike"

    def fits(self, document: object) -> bool:
        """Return whether a document has its first row where this shape has it."""
        value: Any = document
        for step in self.path:
            if not _has_step(value, step):
                return False
            if step not in ("*", "[]"):
                value = value.get(step)
                continue
            if isinstance(value, dict) and (list_of_ids(value) or _holds_documents(value)):
                return False
            children = [child for child in _children(value) if not _is_empty(child)]
            if self.leaf == "record" and len(set(map(type, children))) > 1:
                return False
            value = children[0] if children else None
        if self.leaf == "pair":
            return _is_pair(value)
        if self.leaf == "value":
            return value is not None and not isinstance(value, dict | list)
        return isinstance(value, dict) and self.holds(value)

    def records(self, file: str, document: object) -> list[Record]:
        """Return a record for each row, with the columns of `keys`; a ReadError for a part of another shape."""
        if isinstance(document, list) and not any(self.keys) and all(isinstance(row, dict) for row in document):
            return document
        records = list[Record]()
        for keys, node in self._nodes(file, document, self.path):
            row = dict(zip(_PAIR, node, strict=True)) if self.leaf == "pair" and _is_pair(node) else node
            if not isinstance(row, dict):
                where = f" ({' → '.join(map(repr, keys))})" if len(keys) > 1 else ""
                problem = f"{excerpt(row)} is not a record{where}"
                raise ReadError(file, problem, f"Write {self.form}.", line=len(records) + 1, unit="record")
            key_fields = {ours: key for ours, key in zip(self.keys, keys, strict=True) if ours}
            records.append(key_fields | row if key_fields else row)
        return records

    def lists(self, file: str, document: object) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yield each object or array of plain values that is not empty, below the keys above it."""
        last = self.path[-1]
        for keys, values in self._nodes(file, document, self.path[:-1]):
            entries = values.values() if isinstance(values, dict) else values
            if not _has_step(values, last) or holds_objects(entries):
                problem = f"{' → '.join(map(repr, keys))} holds {excerpt(values)}"
                raise ReadError(file, problem, f"Write {self.form}.")
            if values:
                yield keys, values

    def _nodes(
        self,
        file: str,
        node: Any,  # noqa: ANN401 whatever JSON holds
        path: tuple[str, ...],
        keys: tuple[str, ...] = (),
    ) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yield the nodes at the end of a path, below the keys at its `*` and `[]`."""
        if not path:
            yield keys, node
        elif not _has_step(node, path[0]):
            where = " → ".join(map(repr, keys)) or "the file"
            raise ReadError(file, f"{where} holds {excerpt(node)}", f"Write {self.form}.")
        elif path[0] in ("*", "[]"):
            for name, child in node.items() if path[0] == "*" else enumerate(node):
                if child is not None or path[0] == "[]" or self.leaf == "value":
                    yield from self._nodes(file, child, path[1:], (*keys, str(name)))
        elif path[0] in node:
            yield from self._nodes(file, node[path[0]], path[1:], keys)


def _has_step(value: object, step: str) -> bool:
    return isinstance(value, list | tuple if step == "[]" else dict)


def _is_pair(value: Any) -> bool:  # noqa: ANN401 whatever JSON holds
    is_pair = isinstance(value, list | tuple) and len(value) == len(_PAIR)
    return is_pair and isinstance(value[1], int | float)


def excerpt(value: object) -> str:
    """Return a JSON value for a message, shortened."""
    text = json.dumps(value, default=str)
    return text if len(text) <= _MAX_EXCERPT else f"{text[:_MAX_EXCERPT]} ..."


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, dict | list) and not value)


def _children(value: Any) -> Iterable[object]:  # noqa: ANN401 a dictionary or a list
    return value.values() if isinstance(value, dict) else value


_BY_QUERY = ("query_id", "")
_PAIR = ("doc_id", "score")
_HIT = (("doc_id", "_id"), ("doc_id", "id"))
_ARRAY, RECORD = Shape("json", ("[]",), ("",)), Shape("json", ())
LISTS = "json-lists"
_FLAT = "{query: {document: score}}"
_MTEB = f"{_FLAT}, or {{subset: {{split: {_FLAT}}}}} as MTEB does"
_IN_SUBSETS = Shape("mteb-predictions", ("*",) * 4, leaf="value", form=_MTEB)
SHAPES = (
    Shape(
        "rank-eval",
        ("details", "*", "hits", "[]"),
        _BY_QUERY,
        usual=(("doc_id", "hit._id"), ("score", "hit._score"), ("relevance", "rating")),
    ),
    Shape("json", ("*", "[]"), ("", ""), holds=_names_query),
    Shape("json-hits", ("*", "[]"), _BY_QUERY, holds=_names_document, usual=_HIT),
    Shape("json-hits", ("[]", "[]"), _BY_QUERY, holds=_is_hit, usual=_HIT),
    Shape("json-hits", ("*", "[]"), _BY_QUERY, "pair"),
    Shape("json", ("*",), ("query_id",), holds=_holds_hits, usual=_HIT),
    Shape(LISTS, ("*", "[]"), leaf="value", form="{query: [document, document]}"),
    Shape("nested-json", ("*", "*"), leaf="value", form=_FLAT),
    Shape("nested-json", ("*", "*"), ("query_id", "doc_id"), holds=_has_number),
    _IN_SUBSETS,
    replace(_IN_SUBSETS, path=("*",) * 3),
    replace(_IN_SUBSETS, path=("*",) * 5),
    _ARRAY,
    RECORD,
)
"""All shapes, in the order in which they are tried."""
_UNSCORED = (
    (
        {"took", "hits"},
        "the response of one search of Elasticsearch or OpenSearch, which lacks the ID of its query",
        "Write {query: response['hits']['hits']} for all queries.",
    ),
    (
        {"responses"},
        "the response of a multi-search of Elasticsearch or OpenSearch, which lacks the IDs of its queries",
        "Write {query: response['hits']['hits']} for each response.",
    ),
    (
        {"metric_score", "details"},
        "a _rank_eval response without hits",
        "Repeat the request, so that details holds the hits of every query.",
    ),
    (
        {"task_name", "scores"},
        "MTEB's results of a task, which lack the scores of documents",
        "Give the predictions, as MTEB saves them with save_predictions.",
    ),
    (
        {"_id", "text"},
        "BEIR's corpus or queries, which lack the scores of documents",
        "Give the run, {query: {document: score}}.",
    ),
)
"""Names of fields → what such a file is and lacks, and what to do."""


def refuse_unscored(file: str, document: object, line: int | None = None) -> None:
    """Raise a ReadError that names the known shape of a document or record that lacks what scoring needs."""
    for names, problem, hint in _UNSCORED:
        if isinstance(document, dict) and names <= document.keys():
            raise ReadError(file, f"this is {problem}", hint, line=line)


def shape_of(document: object) -> Shape:
    """Return the first shape that a document has; an array of records or one record if it has no other."""
    if isinstance(document, dict) and MODEL in document:
        return _IN_SUBSETS
    other = _ARRAY if isinstance(document, list) else RECORD
    return next((shape for shape in SHAPES if shape.fits(document)), other)


def run_and_judgments(document: object) -> tuple[str, ...] | None:
    """Return the fields of a document that hold a run and judgments by query, or a run beside plain values."""
    if not isinstance(document, dict):
        return None
    runs, judgments = ([name for name in names if name in document] for names in (_RUN, _JUDGMENTS))
    if len(runs) == len(judgments) == 1:
        return runs[0], judgments[0]
    parts = [name for name, value in document.items() if isinstance(value, dict | list)]
    is_run = len(runs) == 1 < len(document) and parts == runs and isinstance(document[runs[0]], dict)
    return (runs[0],) if is_run else None


def may_list_documents(plain_fields: Iterable[str]) -> bool:
    """Return whether the lists of a record may be its documents: none of its plain fields is one's value."""
    return not {"doc_id", "score", "relevance", "rank"} & recognise(list(plain_fields)).keys()


def list_of_ids(record: Record) -> str:
    """Return the field of a record that lists the IDs of its documents, or an empty string."""
    lists = [name for name, value in record.items() if isinstance(value, list)]
    if not may_list_documents(record.keys() - set(lists)):
        return ""
    plain = [name for name in lists if not holds_objects(record[name])]
    ids = [name for name in plain if "doc_id" in recognise([singular(name)])]
    rankings = [name for name in plain if name in RANKINGS or name.startswith("retrieved_")]
    return next(iter(ids or rankings), "")


def relevant_ids(record: Record) -> str:
    """Return the field of a record that lists its relevant documents beside those of a run, or ""."""
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    truths = [name for name in lists if _RELEVANT.match(name) and {*map(type, lists[name])} <= {str}]
    fields = {name: value for name, value in record.items() if name not in truths}
    return truths[0] if len(truths) == 1 and list_of_ids(fields) else ""


def holds_objects(values: Any) -> bool:  # noqa: ANN401 a list of JSON
    """Return whether a list holds objects or lists."""
    return not {dict, list}.isdisjoint(map(type, values))


def singular(name: str) -> str:
    """Return the name of one value of a list: `doc_id` for `doc_ids`."""
    return name.removesuffix("s")


RANKINGS = (
    "ranking",
    "ranked",
    "retrieved",
    "results",
    "hits",
    "predictions",
    "prediction",
    "points",
    "matches",
)
"""Names of fields that list the IDs of documents, or hits."""
_RELEVANT = re.compile("expected|reference|relevant|gold|ground_?truth|positive", re.IGNORECASE)
