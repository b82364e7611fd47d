"""What checks look at: lists of one reranker, cut into tie groups once for all checks; judgments apart."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings.finding import Finding, Severity, make_finding, reranker_prefix
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.support.arrays import BoolArray, FloatArray, IntArray, span_starts
from metrics.support.cached import cached_property
from metrics.support.wording import describe_part, quote

RELEVANT_FROM = 1
"""Smallest grade that counts as relevant here."""


class CheckedRows:
    """Rows of a file that findings point at."""

    file: str
    pairs: QueryDocKeys
    line_of: Callable[[int], int]

    @property
    def message_prefix(self) -> str:
        """Begins a message where the name of the file does not say whom it is about; empty here."""
        return ""

    def finding(
        self,
        code: str,
        message: str,
        *,
        row: int | np.integer | None = None,
        count: int = 1,
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding about this file."""
        line = None if row is None else self.line_of(int(row))
        return make_finding(
            code, self.file, self.message_prefix + message, line=line, count=count, severity=severity
        )

    def queries_in(self, other: "CheckedRows") -> BoolArray:
        """Return (n_queries,) whether each query is one of theirs, too."""
        return np.asarray(pc.is_in(self.pairs.queries, value_set=other.pairs.queries), dtype=bool)


@dataclass(frozen=True, eq=False)
class JudgmentTable(CheckedRows):
    """Judgments given apart.

    Attributes:
        file: name of the file.
        table: its rows: query_id, doc_id, relevance.
        pairs: query and document of each row.
        line_of: the line of a row.
    """

    file: str
    table: pa.Table
    pairs: QueryDocKeys
    line_of: Callable[[int], int]

    @cached_property
    def grades(self) -> FloatArray:
        """(n_rows,) grade of each row."""
        return np.asarray(self.table["relevance"], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Listing(CheckedRows):
    """What one reranker gave. Rows of one query need not stand together.

    Attributes:
        name: the reranker.
        file: name of the file.
        table: its rows: query_id, doc_id, score, perhaps rank.
        pairs: query and document of each row.
        line_of: the line of a row.
        grades: (n_rows,) grade of each row, NaN where unjudged; None where nothing is known of relevance.
    """

    name: str
    file: str
    table: pa.Table
    pairs: QueryDocKeys
    line_of: Callable[[int], int]
    grades: FloatArray | None

    @property
    def message_prefix(self) -> str:
        """As `reranker_prefix`."""
        return reranker_prefix(self.name, self.file)

    @cached_property
    def order(self) -> IntArray:
        """(n_rows,) rows by query, falling score and place in the file: the order of what is below."""
        query, scores = self.pairs.query, self.table["score"].to_numpy()
        falls = (query[1:] == query[:-1]) & (scores[1:] <= scores[:-1])
        if (falls | (query[1:] > query[:-1])).all():
            return np.arange(len(scores))
        return np.lexsort((-scores, query))

    @cached_property
    def scores(self) -> FloatArray:
        """(n_rows,) scores in order."""
        scores: FloatArray = self.table["score"].to_numpy()
        return scores[self.order]

    @cached_property
    def values(self) -> FloatArray:
        """The distinct finite scores, lowest first."""
        return np.unique(self.scores[np.isfinite(self.scores)])

    @cached_property
    def list_starts(self) -> IntArray:
        """(n_lists + 1,) first place of each list, and the end."""
        return np.append(span_starts(self.pairs.query[self.order]), len(self.order))

    @cached_property
    def list_sizes(self) -> IntArray:
        """(n_lists,) documents of each list."""
        return np.diff(self.list_starts)

    @cached_property
    def list_queries(self) -> IntArray:
        """(n_lists,) query of each list, a place in `pairs.queries`."""
        return self.pairs.query[self.order[self.list_starts[:-1]]].astype(np.int64)

    @cached_property
    def starts(self) -> IntArray:
        """(n_groups,) first place of each tie group."""
        return span_starts(self.pairs.query[self.order], self.scores)

    @cached_property
    def sizes(self) -> IntArray:
        """(n_groups,) documents of each tie group."""
        return np.diff(self.starts, append=len(self.scores))

    @cached_property
    def group_lists(self) -> IntArray:
        """(n_groups,) list of each tie group."""
        return np.searchsorted(self.list_starts, self.starts, side="right") - 1

    @cached_property
    def above(self) -> IntArray:
        """(n_groups,) documents of the list above each tie group."""
        return self.starts - self.list_starts[self.group_lists]

    @cached_property
    def tied(self) -> int:
        """Documents in tie groups of two or more."""
        return int(self.sizes[self.sizes > 1].sum())

    @cached_property
    def relevant(self) -> IntArray:
        """(n_groups,) relevant documents of each tie group; none where nothing is known of relevance."""
        if self.grades is None:
            return np.zeros_like(self.starts)
        return np.add.reduceat(self.grades[self.order] >= RELEVANT_FROM, self.starts, dtype=np.int64)

    @cached_property
    def list_relevant(self) -> IntArray:
        """(n_lists,) relevant documents of each list."""
        counts = np.bincount(self.group_lists, self.relevant, len(self.list_sizes))
        return counts.astype(np.int64)

    def list_findings(self, code: str, is_concerned: BoolArray, verb: str) -> list[Finding]:
        """Return a finding about some lists, if there are any.

        Args:
            code: which kind.
            is_concerned: (n_lists,) whether it is about each list.
            verb: what these lists do, in the plural.
        """
        lists = np.flatnonzero(is_concerned)
        if not len(lists):
            return []
        query = self.list_queries[lists[0]]
        first = quote(self.pairs.queries[int(query)].as_py())
        message = f"{describe_part(len(lists), len(is_concerned), 'list', verb)}, {first} first."
        row = np.argmax(self.pairs.query == query)
        return [self.finding(code, message, row=row, count=len(lists))]
