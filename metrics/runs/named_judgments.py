"""Judgments of ir_datasets: read by name from its cache, never downloaded, and recognised by its metadata."""

import json
import logging
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
"""Prefix of a dataset's name where a path is expected."""
_FETCH = "ir_datasets export {name} qrels > qrels.txt"


def read_named_judgments(name: str) -> bytes:
    """Return the judgments of an ir_datasets dataset as a table with a header.

    Args:
        name: such as `beir/scifact/test`.

    Raises:
        MissingPackageError: the extra `ir-datasets` is not installed.
        ReadError: the dataset does not exist, has no judgments, or is not in the cache.
    """
    with needs("ir-datasets"):
        import ir_datasets  # noqa: PLC0415 of an extra
    file = PREFIX + name
    try:
        dataset = ir_datasets.load(name)
    except (KeyError, ValueError) as error:
        hint = "Names are listed on ir-datasets.com and by `ir_datasets list`."
        raise ReadError(file, "ir_datasets has no dataset of this name", hint) from error
    if not dataset.has_qrels():
        raise ReadError(
            file, "this dataset has no judgments", "Name a part that has judgments, such as NAME/test."
        )
    try:
        with _downloads_refused():
            judgments = list(dataset.qrels_iter())
    except (_Missing, FileNotFoundError) as error:
        hint = f"Fetch them: {_FETCH.format(name=name)}"
        raise ReadError(file, "these judgments are not in the ir_datasets cache", hint) from error
    columns = "query_id", "doc_id", "relevance"
    rows = ["\t".join(str(getattr(judgment, column)) for column in columns) for judgment in judgments]
    return "\n".join(["\t".join(columns), *rows, ""]).encode()


class _Missing(BaseException):
    """Raised instead of a download. It is a BaseException because ir_datasets catches every Exception."""


_refusing = threading.Lock()


@contextmanager
def _downloads_refused() -> Iterator[None]:
    """Raise `_Missing` when this thread makes ir_datasets download."""
    from ir_datasets import lazy_libs  # noqa: PLC0415 of an extra
    from ir_datasets.util.download import GoogleCloudBucketStream  # noqa: PLC0415 likewise

    thread, requests, stream = threading.get_ident(), lazy_libs.requests, GoogleCloudBucketStream.stream

    def refuse(*arguments: Any) -> Any:  # noqa: ANN401 as the function it replaces
        if threading.get_ident() == thread:
            raise _Missing
        return stream(*arguments) if arguments else requests()

    with _refusing:
        disabled = logging.root.manager.disable
        logging.disable(max(disabled, logging.INFO))  # it reports every step
        lazy_libs.requests, GoogleCloudBucketStream.stream = refuse, refuse
        try:
            yield
        finally:
            lazy_libs.requests, GoogleCloudBucketStream.stream = requests, stream
            logging.disable(disabled)


FROM_2: dict[tuple[int, ...], str] = {
    (1601, 1804, 697): "TREC Deep Learning 2019",
    (1940, 1020, 646): "TREC Deep Learning 2020",
    (3063, 2341, 1086): "TREC Deep Learning 2021",
    (52218, 46080, 1659): "TREC Deep Learning 2022",
    (4372, 2259, 1830): "TREC Deep Learning 2023",
    (810, 634, 350): "DL-Hard",
}
"""Judgments of grades 1, 2 and 3 of passage collections: papers count documents as relevant from grade 2."""


def lookalikes(n_queries: int, grades: FloatArray) -> list[str]:
    """Return the ir_datasets datasets with as many judged queries and as many judgments of each grade.

    The metadata are part of the package. Returns an empty list if it is not installed.
    """
    counts = Counter(f"{grade:g}" for grade in grades.tolist())
    return _names_by_counts().get((n_queries, frozenset(counts.items())), [])


def lookalike_text(n_queries: int, grades: FloatArray) -> str:
    """Return a sentence that names the datasets that judgments look like, or an empty text."""
    names = lookalikes(n_queries, grades)
    if not names:
        return ""
    counts = f"{count_of(n_queries, 'query')}, {count_of(len(grades), 'judgment')}"
    return f"These judgments look like {' or '.join(names[:2])} ({counts})."


@cache
def _names_by_counts() -> dict[tuple[int, frozenset[tuple[str, int]]], list[str]]:
    """Return (number of queries, judgments of each grade) → names of the datasets."""
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
    """Return the metadata of one part of a dataset, which may be a reference to another dataset."""
    entry: dict[str, Any] = metadata.get(name, {}).get(part, {})
    return _entry(metadata, entry["_ref"], part) if "_ref" in entry else entry
