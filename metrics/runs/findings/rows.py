"""Rows of a file that findings point at, and judgments given apart."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings.finding import Finding, found
from metrics.runs.findings.kinds import Severity
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.support.arrays import BoolArray, FloatArray

RELEVANT_FROM = 1
"""Smallest grade that counts as relevant here."""


class Rows:
    """Rows of a file that findings point at."""

    file: str
    pairs: QueryDocKeys
    line_of: Callable[[int], int]

    @property
    def speaker(self) -> str:
        """Begins a message where the name of the file does not say whom it is about; empty here."""
        return ""

    def found(
        self,
        code: str,
        message: str,
        *,
        row: int | np.integer | None = None,
        count: int = 1,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding about this file, at the line of a row."""
        line = None if row is None else self.line_of(int(row))
        return found(code, self.file, self.speaker + message, line=line, count=count, severity=severity)

    def shared(self, other: "Rows") -> BoolArray:
        """(n_queries,) whether each query is one of theirs, too."""
        return np.asarray(pc.is_in(self.pairs.queries, value_set=other.pairs.queries), dtype=bool)


@dataclass(frozen=True, eq=False)
class Judged(Rows):
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
