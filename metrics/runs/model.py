"""Runs: what was ranked, as given. Columns as named here, rows in file order, nothing sorted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.runs.columns import SUBTOPICS, ColumnChoice, MissingScore, SpreadKind
from metrics.runs.files import RowProvenance
from metrics.runs.findings import Finding, as_frame, make_finding
from metrics.runs.formats.frames import Frame, of_frame
from metrics.runs.joining import Repeated, join_sources
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.repeats import combine_repeats, read_with_repeats
from metrics.runs.source import Source
from metrics.runs.stacks import OpenDocuments, RunStack, Stacks, find_open_documents
from metrics.support.arrays import FloatArray
from metrics.support.cached import cached_property

if TYPE_CHECKING:
    from metrics.runs.inspection import JudgmentTable, Listing


@dataclass(frozen=True, eq=False)
class Runs:
    """The lists of one or more rerankers, with what is known of relevance.

    Attributes:
        tables: reranker → its rows in file order: query_id (text, perhaps as a dictionary), doc_id
            (text), score (float64), relevance (float64) where there are no qrels, and whatever else
            of `metrics.runs.columns` the file has.
        qrels: judgments as query_id, doc_id, relevance; None where the tables hold relevance.
        noted: what was found while reading.
        origins: reranker → where its rows came from; those made in memory have none.
        judged_origin: where the judgments came from.
        tie_orders: of each file of runs, the treatment that the software it is written for gives it.
        whole: what nobody judged of all runs of which these are a part; None: they are the whole.
    """

    tables: Mapping[str, pa.Table]
    qrels: pa.Table | None = None
    noted: tuple[Finding, ...] = ()
    origins: Mapping[str, RowProvenance] = field(default_factory=dict)
    judged_origin: RowProvenance | None = None
    tie_orders: tuple[str, ...] = ()
    whole: OpenDocuments | None = None

    @classmethod
    def from_sources(
        cls, sources: Iterable[Source], repeated: Repeated = "error", *, judged: bool = True
    ) -> "Runs":
        """Return what was read from several files, joined: runs, tables and judgments, in any order.

        Args:
            sources: what each file holds.
            repeated: what is done about a document twice in one list: an error that names the lines,
                keep the `first` row, or the one of the highest score or grade (`max`).
            judged: whether there must be a run, and known which documents are relevant.

        Raises:
            ReadError: a document twice in one list.
            UsageError: no run, no relevance, or two runs of one name.
        """
        joined = join_sources(sources, repeated, judged=judged)
        stacks = Stacks(joined.stacks)
        return cls(
            stacks,
            joined.qrels,
            tuple(joined.noted),
            stacks.origins,
            joined.judged_origin,
            tuple(joined.tie_orders),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        columns: Mapping[str, str] | None = None,
        repeated: Repeated = "error",
        missing_score: MissingScore = "error",
    ) -> "Runs":
        """Return runs from one long table in memory, with relevance inside.

        Args:
            frame: one row a document: query_id, doc_id, score, relevance, and reranker where
                there are several. Other names, and numbered scores, are recognised as in a file.
            columns: our column → the frame's, where the name says it otherwise.
            repeated: what is done about a document twice in one list: `error`, `first` or `max`.
            missing_score: what is done about a score that is no number: `error`, `last` or `drop`.

        Raises:
            ReadError: a missing column, an empty id, a score that is no number, a repeated document.
        """
        choice = ColumnChoice(columns or {}, missing_score=missing_score)
        source = read_with_repeats(lambda chosen: of_frame(frame, chosen), choice)
        return cls.from_sources([source], repeated)

    def __repr__(self) -> str:
        judgments = None if self.qrels is None else len(self.qrels)
        rows = sum(len(stack.table) for stack in self.stacks.stacks)
        return f"Runs(rerankers={len(self.tables)}, rows={rows}, judgments={judgments})"

    def _repr_html_(self) -> str:
        from metrics.support import html_repr  # noqa: PLC0415 only where it is shown

        origin = self.judged_origin or RowProvenance.memory("memory")
        judgments = None if self.qrels is None else (origin.file, len(self.qrels))
        return html_repr.runs(
            self.tables, self._grades, judgments, [finding.severity for finding in self.noted]
        )

    @property
    def tie_order(self) -> str:
        """The treatment that is traditional until another is chosen: that of all files, else `input`."""
        return self.tie_orders[0] if len(set(self.tie_orders)) == 1 else "input"

    def arranged(self, names: Mapping[str, str]) -> "Runs":
        """Return the rerankers named, in that order, under new names: old → new.

        Raises:
            UsageError: a reranker that does not exist, none at all, or two of one new name.
        """
        unknown = [old for old in names if old not in self.tables]
        if unknown or not names:
            raise UsageError(f"Choose among the rerankers: {', '.join(self.tables)}.")
        if len(set(names.values())) < len(names) or not all(new.strip() for new in names.values()):
            raise UsageError("Every reranker needs a name of its own.")
        return replace(
            self,
            tables=self.stacks.renamed(names),
            origins={new: self.origins[old] for old, new in names.items() if old in self.origins},
        )

    def combined(self, repeats: Mapping[str, Sequence[str]], spread: SpreadKind = "order") -> "Runs":
        """Return the rerankers with repeats combined: a name → the rerankers that are repeats of one.

        The combined reranker stands where the first of its repeats stood. A document's score is its mean over
        the repeats that have it, `score_std` their standard deviation (`metrics.runs.repeats`).

        Args:
            repeats: name of a combined reranker → at least two rerankers.
            spread: what `score_std` is: how one further `run` would scatter, s with n - 1, how that changes
                an `order`, or how far the `mean` may be off, its standard error s / sqrt(n).

        Raises:
            UsageError: a name that is unknown or taken, or repeats that share no document or grade one unlike.
        """
        if not repeats:
            return self
        stacks, findings = combine_repeats(self.stacks, repeats, spread, is_graded=self.qrels is None)
        noted = (*self.noted, *findings)
        return replace(self, tables=stacks, origins=stacks.origins, noted=noted)

    def rescored(self, scores: Mapping[str, FloatArray]) -> "Runs":
        """Return the same lists under other scores: every reranker → (n_rows,) score of each row."""
        return replace(self, tables=self.stacks.rescored(scores.__getitem__))

    def copies(self, n: int) -> "Runs":
        """Return each reranker `n` times, to be scored at once under other scores: `0 A`, `1 A` ..."""
        return replace(self, tables=self.stacks.copies(n), origins={})

    def judged_by(self, qrels: pa.Table) -> "Runs":
        """Return the same lists under other judgments: query_id, doc_id, relevance, each pair once."""
        return replace(self, tables=self.stacks, qrels=qrels, judged_origin=None, whole=None)

    @cached_property
    def open_documents(self) -> OpenDocuments:
        """What nobody judged, in these runs or in the whole."""
        if self.whole is not None:
            return self.whole
        return find_open_documents(self.matched_stacks.stacks, self.qrels, self.judged_pairs.queries)

    @property
    def rerankers(self) -> list[str]:
        """Names of the rerankers, in the order given."""
        return list(self.tables)

    def pairs(self, reranker: str) -> QueryDocKeys:
        """Return query and document of each row of one reranker."""
        return self.stacks.reranker(reranker).pairs

    @property
    def queries(self) -> Mapping[str, pa.Array]:
        """Reranker → its queries, in order of appearance."""
        return {name: self.pairs(name).queries for name in self.tables}

    @property
    def every_query(self) -> pa.Array:
        """The judged queries, else those of all rerankers, in order of appearance."""
        if self.qrels is not None:
            return self.judged_pairs.queries
        queries = [stack.pairs.queries.cast(pa.string()) for stack in self.stacks.stacks]
        return pc.unique(pa.chunked_array(queries, pa.string()))

    @property
    def has_subtopics(self) -> bool:
        """Whether judgments say which subtopics of a query a document is relevant to."""
        tables = [stack.table for stack in self.stacks.stacks] if self.qrels is None else [self.qrels]
        return any(SUBTOPICS in table.column_names for table in tables)

    @cached_property
    def judged_pairs(self) -> QueryDocKeys:
        """Query and document of each judgment of the qrels."""
        return QueryDocKeys.none() if self.qrels is None else QueryDocKeys.of(self.qrels)

    @cached_property
    def stacks(self) -> Stacks:
        """The rows of all rerankers, those that came together in one table."""
        if isinstance(self.tables, Stacks):
            return self.tables
        return Stacks([RunStack.single(name, table) for name, table in self.tables.items()])

    @cached_property
    def matched_stacks(self) -> Stacks:
        """The same, each row with the place of its judgment where judgments were given apart."""
        return self.stacks if self.qrels is None else self.stacks.matched(self.judged_pairs)

    def judgment_places(self, reranker: str) -> npt.NDArray[np.int32]:
        """Return the (n_rows,) place in the qrels of each row's judgment, -1 where they do not judge it."""
        judgment = self.matched_stacks.reranker(reranker).judgment
        return np.full(len(self.tables[reranker]), -1, np.int32) if judgment is None else judgment

    @cached_property
    def findings(self) -> pd.DataFrame:
        """What is worth knowing of these runs: severity, code, file, line, message, hint, count."""
        from metrics.runs.inspection import inspect  # noqa: PLC0415 only where they are asked for

        listings = [self._listing(name, self._origin(name).ranks()) for name in self._inspected]
        unjudged = [
            make_finding("no-relevance", listing.file, _NO_RELEVANCE)
            for listing in listings
            if listing.grades is None
        ]
        findings = inspect(listings, self._judgment_table())
        return as_frame([*self.noted, *self._many_rerankers, *unjudged, *findings])

    @property
    def left_out(self) -> pd.DataFrame:
        """The findings on what is not scored or was changed while reading: no look at the scores."""
        from metrics.runs.inspection import inspect_coverage  # noqa: PLC0415 likewise

        coverage = inspect_coverage([self._listing(name) for name in self._inspected], self._judgment_table())
        return as_frame([*self.noted, *self._many_rerankers, *coverage])

    @property
    def _inspected(self) -> list[str]:
        """Rerankers that are looked at one by one."""
        from metrics.runs.inspection import MAX_INSPECTED  # noqa: PLC0415 likewise

        return self.rerankers[:MAX_INSPECTED]

    @property
    def _many_rerankers(self) -> list[Finding]:
        from metrics.runs.inspection import many_rerankers  # noqa: PLC0415 likewise

        largest = max(self.stacks.stacks, key=lambda stack: len(stack.names), default=None)
        if largest is None:
            return []
        n_rows = sum(len(stack.table) for stack in self.stacks.stacks)
        return many_rerankers(len(self.tables), n_rows, self._origin(largest.names[0]).file)

    def _origin(self, name: str) -> RowProvenance:
        return self.origins.get(name, RowProvenance.memory(name))

    def _listing(self, name: str, ranks: pa.Array | None = None) -> "Listing":
        from metrics.runs.inspection import Listing  # noqa: PLC0415 only where findings are asked for

        table, origin = self.tables[name], self._origin(name)
        if ranks is not None and "rank" not in table.column_names:
            table = table.append_column("rank", ranks)
        return Listing(name, origin.file, table, self.pairs(name), origin.line_of, self._grades(name))

    def _grades(self, name: str) -> FloatArray | None:
        """Return the (n_rows,) grade of each row, NaN where unjudged; None where nothing is known."""
        table = self.tables[name]
        if self.qrels is None:
            return table["relevance"].to_numpy() if "relevance" in table.column_names else None
        judgment = self.judgment_places(name)
        rows = np.flatnonzero(judgment >= 0)
        grades = np.full(len(table), np.nan)
        grades[rows] = self.qrels["relevance"].to_numpy()[judgment[rows]]
        return grades

    def _judgment_table(self) -> "JudgmentTable | None":
        from metrics.runs.inspection import JudgmentTable  # noqa: PLC0415 likewise

        if self.qrels is None:
            return None
        origin = self.judged_origin or RowProvenance.memory("judgments")
        return JudgmentTable(origin.file, self.qrels, self.judged_pairs, origin.line_of)


_NO_RELEVANCE = "Nothing says which documents are relevant."
