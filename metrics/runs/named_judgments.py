"""Judgments by the name that ir_datasets gives them, from its cache alone: nothing is ever downloaded."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from metrics.errors import ReadError, needs
from metrics.support.arrays import FloatArray
from metrics.support.wording import count_of

PREFIX = "ir_datasets:"
"""Prefix of a data set's name where a path is expected."""
_FETCH = "ir_datasets export {name} qrels > qrels.txt"


def read_named_judgments(name: str) -> bytes:
    """Return the judgments of a data set of ir_datasets as a table with a header.

    Args:
        name: such as `beir/scifact/test`.

    Raises:
        MissingPackageError: the extra `ir-datasets` is not installed.
        ReadError: there is no such data set, it has no judgments, or they are not in the cache.
    """
    with needs("ir-datasets"):
        import ir_datasets  # noqa: PLC0415 of an extra
    file = PREFIX + name
    try:
        dataset = ir_datasets.load(name)
    except (KeyError, ValueError) as error:
        hint = "The names are at ir-datasets.com, and `ir_datasets list` prints them."
        raise ReadError(file, "ir_datasets has no data set of this name", hint) from error
    if not dataset.has_qrels():
        raise ReadError(
            file, "this data set has no judgments", "Name a part of it that has, such as NAME/test."
        )
    try:
        with _downloads_refused():
            judgments = list(dataset.qrels_iter())
    except (_Missing, FileNotFoundError) as error:
        hint = f"Fetch them: {_FETCH.format(name=name)}"
        raise ReadError(file, "these judgments are not in the cache of ir_datasets", hint) from error
    columns = {"query_id": "query_id", "doc_id": "doc_id", "relevance": "relevance"}
    if "subtopic_id" in dataset.qrels_cls()._fields:
        columns["subtopic"] = "subtopic_id"
    rows = ["\t".join(str(getattr(judgment, field)) for field in columns.values()) for judgment in judgments]
    return "\n".join(["\t".join(columns), *rows, ""]).encode()


class _Missing(BaseException):
    """Raised in place of a download; a BaseException, because ir_datasets catches every Exception."""


_refusing = threading.Lock()


@contextmanager
def _downloads_refused() -> Iterator[None]:
    """Have every download that this thread asks ir_datasets for raise `_Missing`."""
    from ir_datasets import lazy_libs  # noqa: PLC0415 of an extra
    from ir_datasets.util.download import GoogleCloudBucketStream  # noqa: PLC0415 likewise

    thread, requests, stream = threading.get_ident(), lazy_libs.requests, GoogleCloudBucketStream.stream

    def refuse(*arguments: Any) -> Any:  # noqa: ANN401 as the function it stands for
        if threading.get_ident() == thread:
            raise _Missing
        return stream(*arguments) if arguments else requests()

    with _refusing:
        lazy_libs.requests, GoogleCloudBucketStream.stream = refuse, refuse
        try:
            yield
        finally:
            lazy_libs.requests, GoogleCloudBucketStream.stream = requests, stream


def lookalikes(n_queries: int, grades: FloatArray) -> list[str]:
    """Return the data sets of ir_datasets with as many judged queries, and as many judgments of each grade.

    Reads the metadata inside the package. Returns an empty list if the package is not installed.
    """
    counts = Counter(f"{grade:g}" for grade in grades.tolist())
    return _names_by_counts().get((n_queries, frozenset(counts.items())), [])


def lookalike_text(n_queries: int, grades: FloatArray) -> str:
    """Return the sentence that names the data sets that judgments look like, empty where there are none."""
    names = lookalikes(n_queries, grades)
    if not names:
        return ""
    counts = f"{count_of(n_queries, 'query')}, {count_of(len(grades), 'judgment')}"
    return f"These judgments look like {' or '.join(names[:2])} ({counts})."


@cache
def _names_by_counts() -> dict[tuple[int, frozenset[tuple[str, int]]], list[str]]:
    """Return (queries, judgments of each grade) → the data sets that have as many."""
    spec = find_spec("ir_datasets")
    names: dict[tuple[int, frozenset[tuple[str, int]]], list[str]] = {}
    if spec is None or spec.origin is None:
        return names
    metadata = json.loads((Path(spec.origin).parent / "etc" / "metadata.json").read_text(encoding="utf-8"))
    for name in metadata:
        queries, qrels = (_entry(metadata, name, part) for part in ("queries", "qrels"))
        grades = qrels.get("fields", {}).get("relevance", {}).get("counts_by_value", {})
        if grades and "count" in queries:
            names.setdefault((queries["count"], frozenset(grades.items())), []).append(name)
    return names


def _entry(metadata: dict[str, Any], name: str, part: str) -> dict[str, Any]:
    """Return the metadata of one part of a data set; follow a reference to another data set."""
    entry: dict[str, Any] = metadata.get(name, {}).get(part, {})
    return _entry(metadata, entry["_ref"], part) if "_ref" in entry else entry
