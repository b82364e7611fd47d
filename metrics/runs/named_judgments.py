"""Judgments of ir_datasets: read by name from its cache, never downloaded."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from metrics.errors import ReadError, needs

FROM_2: dict[tuple[int, ...], str] = {
    (1601, 1804, 697): "TREC Deep Learning 2019",
    (1940, 1020, 646): "TREC Deep Learning 2020",
    (3063, 2341, 1086): "TREC Deep Learning 2021",
    (52218, 46080, 1659): "TREC Deep Learning 2022",
    (4372, 2259, 1830): "TREC Deep Learning 2023",
    (810, 634, 350): "DL-Hard",
}
"""Judgments of grades 1, 2 and 3 of passage collections: papers count documents as relevant from grade 2."""
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
