"""The rows of rerankers beside what is known of them, found list by list without sorting the table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from metrics.errors import UsageError
from metrics.runs.columns import BY_NAME
from metrics.runs.model import Runs
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.stacks import RunStack
from metrics.support.arrays import FloatArray, IntArray, joined_ranges, span_starts
from metrics.support.cached import cached_property
from metrics.ties.fronts import criterion, front_numbers, highest_first
from metrics.ties.judgments import Judgments, check_relevant_from
from metrics.ties.precision import compared_scores, rounded


@dataclass(frozen=True, eq=False)
class Lists:
    """What rerankers gave for each judged query: reranker by reranker, in the order of the judgments.

    Attributes:
        judgments: what is known of relevance; it says which lists there are, with or without rows.
        pairs: query and document of each row.
        places: (n_queries,) list of each query of `pairs`, -1 where it is not judged.
        keys: (n_rows,) each, the highest first; the score or the criteria, then columns that split ties.
        n_criteria: how many keys are criteria together; 0 where the score alone ranks.
        judgment: (n_rows,) place of each row's judgment, -1 where unjudged; half the size of other places.
        sigmas: (n_rows,) standard deviation of each row's score, None where the table has none.
    """

    judgments: Judgments
    pairs: QueryDocKeys
    places: IntArray
    keys: Sequence[FloatArray]
    judgment: npt.NDArray[np.int32]
    n_criteria: int = 0
    sigmas: FloatArray | None = None

    @classmethod
    def of(
        cls,
        runs: Runs,
        reranker: str,
        relevant_from: float,
        tiebreak_by: Sequence[str],
        criteria: Sequence[str] = (),
    ) -> "Lists":
        """Return the lists of one reranker; arguments as of `of_stack`.

        Raises:
            UsageError: a reranker or column that does not exist, or a grade of 0 as relevant.
        """
        if reranker not in runs.tables:
            raise UsageError(f"There is no reranker {reranker!r}. Rerankers: {', '.join(runs.tables)}.")
        stack = runs.matched_stacks.reranker(reranker)
        return cls.of_stack(runs, stack, relevant_from, tiebreak_by, criteria)

    @classmethod
    def of_stack(
        cls,
        runs: Runs,
        stack: RunStack,
        relevant_from: float,
        tiebreak_by: Sequence[str],
        criteria: Sequence[str] = (),
    ) -> "Lists":
        """Return the lists of rerankers.

        Raises:
            UsageError: a column that does not exist, or a grade of 0 as relevant.
        """
        check_relevant_from(relevant_from)
        table, pairs, n_rerankers = stack.table, stack.pairs, len(stack.names)
        keys = [*_criteria(table, criteria), *(score_column(table, name) for name in tiebreak_by)]
        n_criteria = len(criteria)
        sigmas = table["score_std"].to_numpy() if "score_std" in table.column_names else None
        if runs.qrels is None or stack.judgment is None:
            judgments = Judgments.of(table, pairs, relevant_from)
            every_list = np.arange(len(pairs.queries))
            every_row = np.arange(len(table), dtype=np.int32)
            return cls(judgments, pairs, every_list, keys, every_row, n_criteria, sigmas)
        judgments = Judgments.of(runs.qrels, runs.judged_pairs, relevant_from)
        places = judgments.places(pairs)
        if n_rerankers > 1:
            n_queries = len(judgments.query_ids)
            before = np.repeat(np.arange(n_rerankers) * n_queries, np.diff(stack.list_ends))
            places = np.where(places < 0, -1, before + places)
            judgments = judgments.asked_for(np.tile(np.arange(n_queries), n_rerankers))
        return cls(judgments, pairs, places, keys, stack.judgment, n_criteria, sigmas)

    @classmethod
    def of_one(
        cls, scores: FloatArray, grades: FloatArray, unlisted: FloatArray, relevant_from: float
    ) -> "Lists":
        """Return one list of documents without ids, called by their places from 0.

        Shapes: `scores` (n_docs,), `grades` (n_docs,), `unlisted` (n_unlisted,).
        """
        check_relevant_from(relevant_from)
        all_grades, query = np.concatenate([grades, unlisted]), pa.array(["1"])
        documents = pa.array(np.arange(len(scores))).cast(pa.string())
        judgments = Judgments(query, relevant_from, np.zeros(len(all_grades), np.int64), all_grades)
        pairs = QueryDocKeys(query, np.zeros(len(scores), np.int32), documents)
        return cls(judgments, pairs, np.zeros(1, np.int64), [scores], np.arange(len(scores), dtype=np.int32))

    def keys_of(self, rows: slice | IntArray, starts: IntArray, precision: str) -> list[FloatArray]:
        """Return what some rows are ranked by, the highest first, as it is compared.

        Shapes: `starts` (n_segments + 1,).

        Returns (n_rows,) each: the score, or minus the front of several criteria, from 1; then further scores.
        """
        n_firsts = max(self.n_criteria, 1)
        firsts = [compared_scores(key[rows], starts, precision) for key in self.keys[:n_firsts]]
        further = [rounded(key[rows], precision) for key in self.keys[n_firsts:]]
        return [*([-1.0 - front_numbers(firsts, starts)] if self.n_criteria else firsts), *further]

    @cached_property
    def grades(self) -> FloatArray:
        """(n_judgments + 1,) grade of each judgment, and of none: 0."""
        return np.append(self.judgments.grades, 0.0)

    @cached_property
    def targets(self) -> IntArray | None:
        """(n_judgments + 1,) what each satisfies, and none: -1; None where each document is its own target."""
        return None if self.judgments.targets is None else np.append(self.judgments.targets, -1)

    @cached_property
    def _query_spans(self) -> tuple[IntArray, IntArray, IntArray]:
        """(n,) list, first row and length of each stretch of rows of a judged query, list by list."""
        starts = self.pairs.query_spans
        lists = self.places[self.pairs.query[starts[:-1]]]
        order = np.argsort(lists, kind="stable")
        order = order[np.searchsorted(lists[order], 0) :]
        return lists[order], starts[order], np.diff(starts)[order]

    @cached_property
    def _ends(self) -> IntArray:
        """(n_lists + 1,) rows of all lists before each, and of all."""
        lists, _, length = self._query_spans
        return np.concatenate([[0], np.cumsum(np.bincount(lists, length, minlength=self.judgments.n_lists))])

    def cuts(self, rows: int) -> Iterator[tuple[int, int]]:
        """Yield first list and end of parts of about so many rows each, at least one list."""
        ends = self._ends
        splits = np.searchsorted(ends, np.arange(rows, ends[-1], rows)) if len(ends) > 1 else ends[:0]
        bounds = np.unique(np.concatenate([[0], splits, [self.judgments.n_lists]]).astype(np.int64))
        yield from pairwise(bounds.tolist()) if len(bounds) > 1 else [(0, 0)]

    def rows_of(self, first: int, end: int) -> tuple[slice | IntArray, IntArray, IntArray]:
        """Return rows of the lists from `first` to before `end`, in the order of the lists, then of the table.

        Returns the rows, (n_segments,) the lists that have any, numbered from `first`, and (n_segments + 1,)
        the first row of each and the end, counted in what is returned.
        """
        lists, start, length = self._query_spans
        span = slice(*np.searchsorted(lists, (first, end)))
        lists, start, length = lists[span], start[span], length[span]
        head = span_starts(lists)
        bounds = np.append((np.cumsum(length) - length)[head], length.sum())
        if not len(start) or (start[1:] == start[:-1] + length[:-1]).all():
            begin = int(start[0]) if len(start) else 0
            return slice(begin, begin + int(length.sum())), lists[head] - first, bounds
        return joined_ranges(start, length), lists[head] - first, bounds

    def judged_rows_of(self, first: int, end: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return what `rows_of` does, of the rows that somebody judged; a list without any has none."""
        rows, lists, bounds = self.rows_of(first, end)
        all_rows = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        is_judged = self.judgment[all_rows] >= 0
        bounds = np.append(0, np.cumsum(is_judged))[bounds]
        has_rows = np.diff(bounds) > 0
        return all_rows[is_judged], lists[has_rows], np.append(bounds[:-1][has_rows], bounds[-1])


def further_scores(runs: Runs) -> list[str]:
    """Return the further score columns that every reranker has: ties can be split by them."""
    columns = [_further_scores(stack.table) for stack in runs.stacks.stacks]
    return [name for name in columns[0] if all(name in names for names in columns)] if columns else []


def _further_scores(table: pa.Table) -> list[str]:
    fields = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    return [name for name in fields if name not in BY_NAME]


def _criteria(table: pa.Table, criteria: Sequence[str]) -> list[FloatArray]:
    """Return (n_rows,) each: the score, or what ranks in its place, the highest best."""
    if not criteria:
        return [table["score"].to_numpy()]
    return [
        highest_first(score_column(table, name), highest_best=highest_best)
        for name, highest_best in map(criterion, criteria)
    ]


def score_column(table: pa.Table, name: str) -> FloatArray:
    """Return the (n_rows,) numbers of a score column; UsageError where there is none, or it holds none."""
    if name not in table.column_names or not pa.types.is_floating(table[name].type):
        available = ", ".join(_further_scores(table)) or "none"
        raise UsageError(
            f"There is no score column {name!r} to rank by. There are: {available}. "
            "The findings of the files (tiescope check) say why a column is not read."
        )
    return np.asarray(table[name].to_numpy())
