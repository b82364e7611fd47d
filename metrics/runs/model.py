"""Runs: the lists of rerankers as given, rows in file order, and their judgments."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import get_args

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import TieScopeError, UsageError, relevant_from_error
from metrics.runs.columns import ColumnChoice, MissingScore
from metrics.runs.files import FileProvenance
from metrics.runs.findings import Finding, as_frame, make_finding
from metrics.runs.formats.frames import Frame, of_frame
from metrics.runs.formats.letor import PREDICTIONS, with_predictions
from metrics.runs.inspection import Listing, inspect, inspect_coverage
from metrics.runs.joining import Repeated, join_sources
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.source import Source
from metrics.runs.stacks import RunStack, Stacks
from metrics.support.arrays import FloatArray
from metrics.support.cached import cached_property
from metrics.support.wording import count_of

_MAX_INSPECTED = 1_000
"""Most rerankers that are checked one by one."""


@dataclass(frozen=True, eq=False)
class Runs:
    """The lists of one or more rerankers, and the relevance of their documents.

    Attributes:
        tables: reranker → its rows in file order: query_id (text or dictionary), doc_id (text), score
            (float64), relevance (float64, without qrels), and more of `metrics.runs.columns`.
        qrels: judgments as query_id, doc_id, relevance; None if the tables hold relevance.
        noted: findings of reading.
        judged_origin: where the judgments came from.
        tie_orders: for each file of runs, how the software that its format belongs to breaks ties.
    """

    tables: Mapping[str, pa.Table]
    qrels: pa.Table | None = None
    noted: tuple[Finding, ...] = ()
    judged_origin: FileProvenance | None = None
    tie_orders: tuple[str, ...] = ()

    @classmethod
    def from_sources(
        cls, sources: Iterable[Source], repeated: Repeated = "error", *, judged: bool = True
    ) -> "Runs":
        """Join runs, tables and judgments read from several files, in any order.

        Args:
            sources: the content of each file.
            repeated: what to do with a document twice in one list: `error` (names the lines), keep the `first`
                row, or keep the highest score or grade (`max`).
            judged: whether a run and relevance are required.

        Raises:
            ReadError: a document twice in one list, or predictions without the queries of a LETOR file.
            UsageError: no run, no relevance, or two runs of one name.
        """
        if repeated not in get_args(Repeated):
            raise UsageError(f"repeated must be 'error', 'first' or 'max', not {repeated!r}.")
        contents, read = list(sources), list[Source]()
        has_predictions = any(source.format == PREDICTIONS for source in contents)
        for content in with_predictions(contents) if has_predictions else contents:
            if isinstance(content, TieScopeError):
                raise content
            read.append(content)
        noted = [finding for source in read for finding in source.noted]
        stacks, judgments = join_sources(read, repeated, noted, judged=judged)
        return cls(
            Stacks(stacks),
            None if judgments is None else judgments.table,
            tuple(noted),
            judged_origin=None if judgments is None else judgments.provenance,
            tie_orders=tuple(source.tie_order for source in read if source.kind == "run"),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        columns: Mapping[str, str] | None = None,
        repeated: Repeated = "error",
        missing_score: MissingScore = "error",
    ) -> "Runs":
        """Return runs from one long table in memory that holds relevance.

        Args:
            frame: one row per document: query_id, doc_id, score, relevance, and reranker if there are several.
                Synonyms are recognised as in a file.
            columns: our column → the frame's, to override recognition by name.
            repeated: what to do with a document twice in one list: `error`, `first` or `max`.
            missing_score: what to do with a document without a numeric score: `error`, `last` or `drop`.

        Raises:
            ReadError: a missing column, an empty ID, a score that is not a number, a repeated document.
        """
        choice = ColumnChoice(columns or {}, missing_score=missing_score)
        return cls.from_sources([of_frame(frame, choice)], repeated)

    def __repr__(self) -> str:
        judgments = None if self.qrels is None else len(self.qrels)
        rows = sum(len(stack.table) for stack in self.stacks.stacks)
        return f"Runs(rerankers={len(self.tables)}, rows={rows}, judgments={judgments})"

    def _repr_html_(self) -> str:
        from metrics.support import html_repr  # noqa: PLC0415 only where it is shown

        origin = self.judged_origin or FileProvenance.memory("memory")
        judgments = None if self.qrels is None else (origin.file, len(self.qrels))
        severities = [finding.severity for finding in self.noted]
        return html_repr.runs(self.tables, judgments, severities)

    @property
    def tie_order(self) -> str:
        """The default tie order: that of all files if they agree, else `input`."""
        return self.tie_orders[0] if len(set(self.tie_orders)) == 1 else "input"

    def arranged(self, names: Mapping[str, str]) -> "Runs":
        """Select, order and rename rerankers: old name → new name.

        Raises:
            UsageError: a reranker that does not exist, none at all, or two of one new name.
        """
        unknown = [old for old in names if old not in self.tables]
        if unknown or not names:
            raise UsageError(f"Choose from the rerankers {', '.join(self.tables)}.")
        if len(set(names.values())) < len(names) or not all(new.strip() for new in names.values()):
            raise UsageError("Every reranker needs a name of its own.")
        return replace(self, tables=self.stacks.renamed(names))

    def rescored(self, scores: Mapping[str, FloatArray]) -> "Runs":
        """Replace the scores: reranker → (n_rows,) scores."""
        return replace(self, tables=self.stacks.rescored(scores.__getitem__))

    def judged_by(self, qrels: pa.Table) -> "Runs":
        """Replace the judgments: query_id, doc_id, relevance, each pair once."""
        return replace(self, tables=self.stacks, qrels=qrels, judged_origin=None)

    @property
    def is_judged(self) -> bool:
        """Whether there is relevance; without it, only ties and agreement can be told."""
        tables = [stack.table for stack in self.stacks.stacks]
        return self.qrels is not None or all("relevance" in table.column_names for table in tables)

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in the order given."""
        return list(self.tables)

    def pairs(self, reranker: str) -> QueryDocKeys:
        """Return query and document of each row of a reranker."""
        return self.stacks.reranker(reranker).pairs

    @property
    def queries(self) -> Mapping[str, pa.Array]:
        """Reranker → its queries, in order of appearance."""
        return {name: self.pairs(name).queries for name in self.tables}

    @property
    def every_query(self) -> pa.Array:
        """The judged queries, or else those of all rerankers, in order of appearance."""
        if self.qrels is not None:
            return self.judged_pairs.queries
        queries = [stack.pairs.queries.cast(pa.string()) for stack in self.stacks.stacks]
        return pc.unique(pa.chunked_array(queries, pa.string()))

    @cached_property
    def judged_pairs(self) -> QueryDocKeys:
        """Query and document of each judgment of the qrels."""
        return QueryDocKeys.none() if self.qrels is None else QueryDocKeys.of(self.qrels)

    @cached_property
    def stacks(self) -> Stacks:
        """The rows of all rerankers, those of one file in one table."""
        if isinstance(self.tables, Stacks):
            return self.tables
        return Stacks([RunStack.single(name, table) for name, table in self.tables.items()])

    @cached_property
    def origins(self) -> Mapping[str, FileProvenance]:
        """Reranker → where its rows came from."""
        return {name: self.stacks.reranker(name).provenance for name in self.tables}

    @cached_property
    def matched_stacks(self) -> Stacks:
        """The same rows with the grade of each row in the qrels."""
        if self.qrels is None:
            return self.stacks
        return Stacks([stack.matched(self.qrels, self.judged_pairs) for stack in self.stacks.stacks])

    @cached_property
    def findings(self) -> pd.DataFrame:
        """Findings on these runs: severity, code, file, line, message, hint, count."""
        return self.findings_from(1)

    def findings_from(self, relevant_from: float) -> pd.DataFrame:
        """Return `findings` with another smallest relevant grade.

        Raises:
            UsageError: the grade is not above 0.
        """
        if not relevant_from > 0:
            raise relevant_from_error(relevant_from)
        listings = [
            self._listing(name, relevant_from, with_ranks=True) for name in self.rerankers[:_MAX_INSPECTED]
        ]
        unjudged = [
            make_finding("no-relevance", listing.file, _NO_RELEVANCE)
            for listing in listings
            if listing.grades is None
        ]
        findings = inspect(listings, self._judgment_table(relevant_from))
        return as_frame([*self.noted, *self._many_rerankers, *unjudged, *findings])

    @property
    def left_out(self) -> pd.DataFrame:
        """Findings on unscored queries and on changes by reading; skips the checks of scores."""
        listings = [self._listing(name) for name in self.rerankers[:_MAX_INSPECTED]]
        coverage = inspect_coverage(listings, self._judgment_table())
        return as_frame([*self.noted, *self._many_rerankers, *coverage])

    @property
    def _many_rerankers(self) -> Iterator[Finding]:
        n_rerankers = len(self.tables)
        if n_rerankers > _MAX_INSPECTED:
            stacks = self.stacks.stacks
            n_rows = sum(len(stack.table) for stack in stacks)
            message = (
                f"{count_of(n_rerankers, 'reranker')} in {count_of(n_rows, 'row')}. Does the reranker column "
                f"hold documents or queries? Only the first {_MAX_INSPECTED:,} rerankers are checked."
            )
            file = max(stacks, key=lambda stack: len(stack.names)).provenance.file
            yield make_finding("many-rerankers", file, message, count=n_rerankers)

    def _listing(self, name: str, relevant_from: float = 1, *, with_ranks: bool = False) -> Listing:
        """Return the lists of a reranker, with the ranks of its file if any and if it can still be read."""
        stack = self.matched_stacks.reranker(name)
        table, origin = stack.table, stack.provenance
        if with_ranks and "rank" not in table.column_names:
            with suppress(TieScopeError):
                if (ranks := origin.ranks()) is not None:
                    table = table.append_column("rank", ranks)
        grades = self._grades(stack)
        return Listing(origin.file, table, stack.pairs, origin.line_of, name, grades, relevant_from)

    def _grades(self, stack: RunStack) -> FloatArray | None:
        """Return the (n_rows,) grades, NaN if unjudged; None without relevance."""
        if self.qrels is None or stack.grades is None:
            return stack.table["relevance"].to_numpy() if "relevance" in stack.table.column_names else None
        return stack.grades

    def _judgment_table(self, relevant_from: float = 1) -> Listing | None:
        if self.qrels is None:
            return None
        origin = self.judged_origin or FileProvenance.memory("judgments")
        grades, pairs = self.qrels["relevance"].to_numpy(), self.judged_pairs
        return Listing(origin.file, self.qrels, pairs, origin.line_of, None, grades, relevant_from)


_NO_RELEVANCE = "No document is known to be relevant because judgments are missing."
