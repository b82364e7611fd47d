"""Whom rerankers are compared with unless somebody says otherwise."""

import re
from collections.abc import Sequence

_BM25 = re.compile(r"(?<![a-z0-9])bm[ _-]?25(?![a-z0-9])", re.IGNORECASE)
"""BM25 as a word of its own: in `bm25-rm3` and `run.BM25`, not in `bm256`."""


def usual_baseline(names: Sequence[str]) -> str:
    """Return the reranker that is BM25, by its name; the first where none is.

    Of several whose names have BM25 in them, the shortest: `bm25` rather than `bm25-top100-monot5`.
    """
    return min((name for name in names if _BM25.search(name)), key=len, default=names[0])
