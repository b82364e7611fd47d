"""Ranking: the lists of rerankers, sorted by score and cut into tie groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from metrics.errors import UsageError
from metrics.support.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    joined_ranges,
    sort_descending,
    span_lengths,
    span_starts,
)
from metrics.support.cached import cached_property
from metrics.ties.fronts import criterion, front_numbers, highest_first
from metrics.ties.groups import Judgments
from metrics.ties.options import AS_READ, ScoringOptions, compared_scores, rounded

if TYPE_CHECKING:
    import pyarrow as pa

    from metrics.runs.model import Runs
    from metrics.runs.query_doc_keys import QueryDocKeys
    from metrics.runs.stacks import RunStack

PART = 2**17
"""Rows that are ranked together, about."""


@dataclass(frozen=True, eq=False)
class ScoredGroups:
    """The tie groups that hold a contributing document, with all their documents.

    Attributes:
        documents: (n,) documents of these groups.
        contributes: (n,) whether the measure counts each: its grade is above 0, or it is judged.
        owner: (n,) its group, an index into `groups`.
        groups: (n_inside,) the tie groups, numbered as in the ranking.
        size: (n_inside,) documents of each.
        offset: (n_inside,) documents of the list above it, less the index of its first in `documents`.
    """

    documents: IntArray
    contributes: BoolArray
    owner: IntArray
    groups: IntArray
    size: IntArray
    offset: IntArray


@dataclass(frozen=True, eq=False)
class Ranking:
    """Lists of rerankers: documents list by list, by falling score within; the order of ties is undefined.

    Attributes:
        judgments: the judgments; they define which lists exist, with or without documents.
        pairs: query and document of each row of the table the run came from.
        segment_lists: (n_segments,) list of each stretch of documents.
        segment_starts: (n_segments + 1,) first document of each, and the end.
        rows: (n_docs,) row of each document in its table: the input order.
        scores: (n_docs,) its score as compared: rounded, or the highest of its near ties.
        starts: (n_groups,) first document of each tie group.
        grades: (n_docs,) its grade, 0 where unjudged.
        judged: (n_docs,) whether it was judged.
        is_missing: (n_lists,) whether the run has no row for the query of each.
        targets: (n_docs,) the target it satisfies, None where each document is its own target.
        further: (n_docs,) each; the further scores that split its ties, in order, as compared.
        is_by_fronts: true if several criteria rank; scores are then minus the front, the first is -1.
    """

    judgments: Judgments
    pairs: "QueryDocKeys"
    segment_lists: IntArray
    segment_starts: IntArray
    rows: IntArray
    scores: FloatArray
    starts: IntArray
    grades: FloatArray
    judged: BoolArray
    is_missing: BoolArray
    targets: IntArray | None = None
    further: tuple[FloatArray, ...] = ()
    is_by_fronts: bool = False

    @classmethod
    def of(
        cls,
        runs: "Runs",
        reranker: str,
        options: ScoringOptions = AS_READ,
        query_id: str | None = None,
    ) -> "Ranking":
        """Cut the lists of one reranker into tie groups.

        `query_id` names the query whose list is cut alone; none is cut where that query is not judged.
        """
        if reranker not in runs.tables:
            raise UsageError(f"There is no reranker {reranker!r}. Rerankers: {', '.join(runs.tables)}.")
        stack = runs.matched_stacks.reranker(reranker)
        lists = _Lists.of(runs, stack, options)
        span = 0, lists.judgments.n_lists
        if query_id is not None:
            place = lists.judgments.query_ids.index(query_id).as_py()
            span = max(place, 0), place + 1
        return cls._cut(lists, span, options)

    @classmethod
    def parts(cls, runs: "Runs", options: ScoringOptions) -> Iterator["Ranking"]:
        """Yield all lists in parts of about `PART` rows: by reranker, then by judged query."""
        for stack in runs.matched_stacks.batches(PART, len(runs.judged_pairs.queries)):
            lists = _Lists.of(runs, stack, options)
            span_lists, _, lengths = lists.spans
            n_lists = lists.judgments.n_lists
            ends = np.append(0, np.cumsum(np.bincount(span_lists, lengths, minlength=n_lists)))
            splits = np.searchsorted(ends, np.arange(PART, ends[-1], PART)) if n_lists else ends[:0]
            bounds = np.unique(np.concatenate([[0], splits, [n_lists]])).astype(np.int64)
            for span in pairwise(bounds.tolist()) if len(bounds) > 1 else [(0, 0)]:
                yield cls._cut(lists, span, options)

    @classmethod
    def of_lists(
        cls, scores: FloatArray, grades: FloatArray, lengths: IntArray, judgments: Judgments
    ) -> "Ranking":
        """Cut lists of judged documents without IDs, whose ties have no seeded order and none by ID.

        Shapes: `scores` and `grades` (n_docs,) list by list, `lengths` (n_lists,).
        """
        filled = lengths.nonzero()[0]
        segment_starts = np.concatenate([[0], lengths[filled].cumsum()])
        order, (sorted_scores,), starts = sort_descending([scores], segment_starts)
        return cls(
            judgments=judgments,
            pairs=cast("QueryDocKeys", None),
            segment_lists=filled,
            segment_starts=segment_starts,
            rows=np.arange(len(scores))[order],
            scores=sorted_scores,
            starts=starts,
            grades=grades[order],
            judged=np.ones(len(scores), dtype=bool),
            is_missing=lengths == 0,
        )

    @classmethod
    def _cut(cls, lists: "_Lists", span: tuple[int, int], options: ScoringOptions) -> "Ranking":
        rows, segment_lists, segment_starts = lists.rows_of(*span)
        judgments = lists.judgments.part(*span)
        is_missing = np.bincount(segment_lists, minlength=judgments.n_lists) == 0
        if options.unjudged == "leave_out":
            rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
            is_judged = ~np.isnan(lists.grades[rows])
            rows, ends = rows[is_judged], np.append(0, np.cumsum(is_judged))[segment_starts]
            has_rows = np.diff(ends) > 0
            segment_lists, segment_starts = segment_lists[has_rows], np.append(ends[:-1][has_rows], ends[-1])
        n_firsts, precision = max(lists.n_criteria, 1), options.precision
        firsts = [compared_scores(key[rows], segment_starts, precision) for key in lists.keys[:n_firsts]]
        if lists.n_criteria:
            firsts = [np.subtract(-1.0, front_numbers(firsts, segment_starts))]
        keys = [*firsts, *(rounded(key[rows], precision) for key in lists.keys[n_firsts:])]
        order, (scores, *further), starts = sort_descending(keys, segment_starts)
        table_rows = (np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows)[order]
        kept_rows = rows if isinstance(order, slice) else table_rows
        grades = lists.grades[kept_rows]
        judged = ~np.isnan(grades)
        return cls(
            judgments=judgments,
            pairs=lists.pairs,
            segment_lists=segment_lists,
            segment_starts=segment_starts,
            rows=table_rows,
            scores=scores,
            starts=starts,
            grades=np.where(judged, grades, 0.0),
            judged=judged,
            targets=None if lists.targets is None else lists.targets[kept_rows],
            further=tuple(further),
            is_missing=is_missing,
            is_by_fronts=bool(lists.n_criteria),
        )

    def copies(self, lists: IntArray, n: int) -> "Ranking":
        """Return some of the lists, which have documents, `n` times: all of them, then all again.

        Shapes: `lists` (n_chosen,).
        """
        segment = np.empty(self.judgments.n_lists, dtype=np.int64)
        segment[self.segment_lists] = np.arange(len(self.segment_lists))
        first, length = self.segment_starts[segment[lists]], np.diff(self.segment_starts)[segment[lists]]
        documents = np.tile(joined_ranges(first, length), n)
        is_start = np.zeros(len(self.rows), dtype=bool)
        is_start[self.starts] = True
        queries = self.judgments.by_list(np.arange(len(self.judgments.query_ids)))[lists]
        return replace(
            self,
            judgments=self.judgments.with_lists(np.tile(queries, n)),
            segment_lists=np.arange(len(lists) * n),
            segment_starts=np.append(0, np.cumsum(np.tile(length, n))),
            rows=self.rows[documents],
            scores=self.scores[documents],
            starts=np.flatnonzero(is_start[documents]),
            grades=self.grades[documents],
            judged=self.judged[documents],
            targets=None if self.targets is None else self.targets[documents],
            further=tuple(key[documents] for key in self.further),
            is_missing=np.zeros(len(lists) * n, dtype=bool),
        )

    def rescored(self, scores: FloatArray, precision: str) -> "Ranking":
        """Return the same lists, sorted by (n_docs,) other scores."""
        keys = [compared_scores(scores, self.segment_starts, precision), *self.further]
        order, (compared, *further), starts = sort_descending(keys, self.segment_starts)
        return replace(
            self,
            rows=self.rows[order],
            scores=compared,
            starts=starts,
            grades=self.grades[order],
            judged=self.judged[order],
            targets=None if self.targets is None else self.targets[order],
            further=tuple(further),
        )

    @property
    def query_ids(self) -> "pa.Array":
        """(n_lists,) judged query of each."""
        queries, places = self.judgments.query_ids, self.judgments.query_of_list
        return queries if places is None else queries.take(places)

    @cached_property
    def groups(self) -> IntArray:
        """(n_docs,) number of each document's tie group, counted through all lists."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    @cached_property
    def sizes(self) -> IntArray:
        """(n_groups,) documents of each tie group."""
        return span_lengths(self.starts, len(self.rows))

    @cached_property
    def group_lists(self) -> IntArray:
        """(n_groups,) list of each tie group."""
        first = self.starts.searchsorted(self.segment_starts)
        return self.segment_lists.repeat(first[1:] - first[:-1])

    @cached_property
    def above(self) -> IntArray:
        """(n_groups,) documents of the same list strictly above each tie group."""
        return self.starts - (self.n_docs.cumsum() - self.n_docs)[self.group_lists]

    @cached_property
    def n_docs(self) -> IntArray:
        """(n_lists,) documents of each list."""
        lengths = np.zeros(self.judgments.n_lists, dtype=np.int64)
        lengths[self.segment_lists] = self.segment_starts[1:] - self.segment_starts[:-1]
        return lengths

    @cached_property
    def graded_groups(self) -> ScoredGroups:
        """The tie groups that hold a document with a grade above 0."""
        return self.groups_with(self.grades > 0)

    @cached_property
    def judged_groups(self) -> ScoredGroups:
        """The tie groups that hold a judged document."""
        return self.groups_with(self.judged)

    def groups_with(self, contributes: BoolArray) -> ScoredGroups:
        """Return the tie groups that hold one of some (n_docs,) contributing documents."""
        owner = self.starts.searchsorted(contributes.nonzero()[0], side="right") - 1
        groups = owner[span_starts(owner)]
        size = self.sizes[groups]
        documents = joined_ranges(self.starts[groups], size)
        return ScoredGroups(
            documents=documents,
            contributes=contributes[documents],
            owner=np.arange(len(size)).repeat(size),
            groups=groups,
            size=size,
            offset=self.above[groups] - (np.cumsum(size) - size),
        )

    @property
    def relevant(self) -> BoolArray:
        """(n_docs,) whether each document is relevant."""
        return self.grades >= self.judgments.relevant_from

    def ids(self, documents: IntArray | Sequence[int]) -> "pa.Array":
        """Return ids of documents, by their number here."""
        return self.pairs.documents.take(self.rows[np.asarray(documents)])

    def describe(self, cutoffs: Sequence[int]) -> dict[str, npt.NDArray[np.generic]]:
        """Describe the ties of each list; arrays of (n_lists,)."""
        n, docs = self.judgments.n_lists, self.n_docs
        tied = np.flatnonzero(self.sizes > 1)
        owner, size, above = self.group_lists[tied], self.sizes[tied], self.above[tied]
        tied_docs = np.bincount(owner, size, minlength=n).astype(np.int64)
        largest = np.minimum(docs, 1)
        np.maximum.at(largest, owner, size)
        factorials = log10_factorials(int(size.max(initial=0)))
        table: dict[str, npt.NDArray[np.generic]] = {
            "n_docs": docs,
            "n_relevant": self.judgments.n_relevant,
            "n_tie_groups": np.bincount(owner, minlength=n),
            "max_tie_size": largest,
            "tied_docs": tied_docs,
            "tie_ratio": tied_docs / np.maximum(docs, 1),
            "log10_orderings": np.bincount(owner, factorials[size], minlength=n).astype(np.float64),
        }
        near = np.flatnonzero(above < max(cutoffs, default=0))
        owner, above, end = owner[near], above[near], above[near] + size[near]
        for k in cutoffs:
            across = np.zeros(n, dtype=bool)
            across[owner[(above < k) & (end > k)]] = True
            table[f"straddles_{k}"] = across
        return table

    def documents_of(self, query_id: str) -> IntArray:
        """Return documents of one query by falling score, ties in input order; none where the run has none."""
        place = self.query_ids.index(query_id).as_py()
        segment = np.flatnonzero(self.segment_lists == place)
        if place < 0 or not len(segment):
            return np.empty(0, dtype=np.int64)
        documents = np.arange(*self.segment_starts[segment[0] : segment[0] + 2])
        return documents[np.lexsort((self.rows[documents], self.groups[documents]))]


@lru_cache(maxsize=8)
def log10_factorials(largest: int) -> FloatArray:
    """Return (largest + 1,) log10 of 0!, 1!, 2!, ...: orders of one tie group of each size."""
    return np.cumsum(np.log10(np.maximum(np.arange(largest + 1), 1)))


@dataclass(frozen=True, eq=False)
class _Lists:
    """The rows of each judged query, reranker by reranker, found without sorting the table.

    Attributes:
        judgments: the judgments; they define which lists exist, with or without rows.
        pairs: query and document of each row.
        places: (n_queries,) list of each query of `pairs`, -1 where it is not judged.
        keys: (n_rows,) each, the highest first; the score or the criteria, then columns that split ties.
        grades: (n_rows,) grade of each row, NaN where unjudged.
        targets: (n_rows,) target of each row, -1 where unjudged; None where each document is its own target.
        n_criteria: how many keys are criteria together; 0 where the score alone ranks.
    """

    judgments: Judgments
    pairs: "QueryDocKeys"
    places: IntArray
    keys: Sequence[FloatArray]
    grades: FloatArray
    targets: IntArray | None = None
    n_criteria: int = 0

    @classmethod
    def of(cls, runs: "Runs", stack: "RunStack", options: ScoringOptions) -> "_Lists":
        from metrics.runs.stacks import target_numbers  # noqa: PLC0415 plain lists need numpy alone

        pairs, n_rerankers = stack.pairs, len(stack.names)
        ranked_by = [
            highest_first(stack.score_column(name), highest_best=highest_best)
            for name, highest_best in map(criterion, options.criteria)
        ]
        keys = ranked_by or [stack.table["score"].to_numpy()]
        keys += [stack.score_column(name) for name in options.tiebreak_by]
        grades, table, judged = stack.grades, stack.table, pairs
        if runs.qrels is not None and grades is not None:
            table, judged = runs.qrels, runs.judged_pairs
        is_judged = "relevance" in table.column_names  # else ties are counted, without relevance
        judgments = Judgments(
            judged.queries,
            options.relevant_from,
            judged.query.astype(np.int64),
            table["relevance"].to_numpy() if is_judged else np.zeros(len(table)),
            target_numbers(table),
        )
        if grades is None or judged is pairs:
            own = judgments.grades, judgments.targets
            return cls(judgments, pairs, np.arange(len(pairs.queries)), keys, *own, len(options.criteria))
        places = judged.places_of(pairs.queries)
        if n_rerankers > 1:
            n_queries = len(judgments.query_ids)
            before = np.repeat(np.arange(n_rerankers) * n_queries, np.diff(stack.list_ends))
            places = np.where(places < 0, -1, before + places)
            judgments = judgments.with_lists(np.tile(np.arange(n_queries), n_rerankers))
        return cls(judgments, pairs, places, keys, grades, stack.targets, len(options.criteria))

    @cached_property
    def spans(self) -> tuple[IntArray, IntArray, IntArray]:
        """(n,) list, first row and length of each stretch of rows of a judged query, list by list."""
        starts = self.pairs.query_spans
        lists = self.places[self.pairs.query[starts[:-1]]]
        order = np.argsort(lists, kind="stable")
        order = order[np.searchsorted(lists[order], 0) :]
        return lists[order], starts[order], np.diff(starts)[order]

    def rows_of(self, first: int, end: int) -> tuple[slice | IntArray, IntArray, IntArray]:
        """Return rows of the lists from `first` to before `end`, in the order of the lists, then of the table.

        Returns the rows, (n_segments,) the lists that have any, numbered from `first`, and (n_segments + 1,)
        the first row of each and the end, counted in the returned rows.
        """
        lists, start, length = self.spans
        span = slice(*np.searchsorted(lists, (first, end)))
        lists, start, length = lists[span], start[span], length[span]
        head = span_starts(lists)
        bounds = np.append((np.cumsum(length) - length)[head], length.sum())
        if not len(start) or (start[1:] == start[:-1] + length[:-1]).all():
            begin = int(start[0]) if len(start) else 0
            return slice(begin, begin + int(length.sum())), lists[head] - first, bounds
        return joined_ranges(start, length), lists[head] - first, bounds
