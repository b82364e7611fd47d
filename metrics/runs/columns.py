"""The columns of a long table: our names, what others call them, and what they hold."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from metrics.errors import UsageError


@dataclass(frozen=True)
class Column:
    """One column of a long table: its name here, how it is read, and its other names.

    Texts that many rows share are of the kind `shared`: they are kept once, rows point at them.
    """

    name: str
    kind: Literal["shared", "text", "number", "grade"]
    synonyms: tuple[str, ...]
    summary: str


COLUMNS: tuple[Column, ...] = (
    Column("reranker", "shared", ("model", "system", "method", "run", "ranker", "runid"), "Who ranked."),
    Column(
        "query_id",
        "shared",
        ("qid", "topic", "query", "queryid", "topicid", "testtriple", "question"),
        "What was asked.",
    ),
    Column(
        "doc_id",
        "text",
        ("docid", "doc", "docno", "document", "documentid", "passageid", "pid", "passage", "corpusid"),
        "What was ranked.",
    ),
    Column(
        "score",
        "number",
        ("sim", "similarity", "logit", "tracinscore", "rerankscore", "relevancescore"),
        "What the ranking is sorted by, highest first.",
    ),
    Column(
        "relevance",
        "grade",
        ("rel", "label", "grade", "inpath", "isrelevant", "relevant", "qrel", "judgment"),
        "How relevant the document is: a number, or true and false.",
    ),
    Column(
        "target_id",
        "text",
        ("target", "targetid", "answerid", "groundtruthid", "clusterid"),
        "What the document satisfies; documents of one target count once in DR@k and Div@k.",
    ),
)
"""Columns read today, in the order they are shown."""

BY_NAME: Mapping[str, Column] = {column.name: column for column in COLUMNS}


def recognise(header: Sequence[str], chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """Match a header with our columns: ours → the file's, each of the file's used once.

    An exact name wins over a synonym, `chosen` wins over both. Case, spaces, dots, hyphens and
    underscores do not matter.

    Raises:
        UsageError: `chosen` names a column that does not exist, or one twice.
    """
    mapping = dict(chosen or {})
    for ours, theirs in mapping.items():
        if ours not in BY_NAME:
            raise UsageError(f"There is no column {ours!r}. Columns: {', '.join(BY_NAME)}.")
        if theirs not in header:
            raise UsageError(f"The table has no column {theirs!r}. It has: {', '.join(header)}.")
    if len(set(mapping.values())) < len(mapping):
        raise UsageError("Two columns are read from one column of the table. Choose another for one of them.")
    free = [name for name in header if name not in mapping.values()]
    for wanted in (lambda c: (_plain(c.name),), lambda c: c.synonyms):
        for column in COLUMNS:
            match = next((name for name in free if _plain(name) in wanted(column)), None)
            if column.name not in mapping and match is not None:
                mapping[column.name] = match
                free.remove(match)
    return {column.name: mapping[column.name] for column in COLUMNS if column.name in mapping}


def _plain(name: str) -> str:
    return re.sub(r"[\s._-]+", "", name.strip().casefold())
