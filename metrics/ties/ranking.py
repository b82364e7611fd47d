"""Ranking: the lists of rerankers, sorted by score and cut into tie groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import UsageError
from metrics.runs.model import Runs
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.runs.stacks import RunStack
from metrics.support.arrays import BoolArray, FloatArray, IntArray, joined_ranges, sort_descending
from metrics.support.cached import cached_property
from metrics.ties.judgments import Judgments, Unjudged
from metrics.ties.lists import Lists
from metrics.ties.noise import Noise, Spreads

PART = 2**17
"""Rows of one part."""


@dataclass(frozen=True, eq=False)
class ScoredGroups:
    """The tie groups with contributing documents, and all that stands in them.

    Attributes:
        documents: (n,) documents of these groups.
        all_grades: (n_docs,) grade of every document of the ranking, 0 where unjudged.
        judgment: (n_docs,) place of the judgment of every document, -1 where unjudged.
        levels: the distinct grades above 0, lowest first.
        contributes: (n,) whether each matters to the measure: is graded above 0, or judged.
        owner: (n,) its group, a place in `groups`.
        groups: (n_inside,) the tie groups, numbered as in the ranking.
        size: (n_inside,) documents of each.
        offset: (n_inside,) documents of the list above it, less the place of its first in `documents`.
    """

    documents: IntArray
    all_grades: FloatArray
    judgment: npt.NDArray[np.int32]
    levels: FloatArray
    contributes: BoolArray
    owner: IntArray
    groups: IntArray
    size: IntArray
    offset: IntArray

    @classmethod
    def of(cls, ranking: "Ranking", contributes: BoolArray) -> "ScoredGroups":
        """Return the groups of a ranking that hold a contributing document."""
        owner = np.searchsorted(ranking.starts, np.flatnonzero(contributes), side="right") - 1
        groups = owner[np.diff(owner, prepend=-1) > 0]
        size, above = ranking.sizes[groups], ranking.above[groups]
        place = np.cumsum(size) - size
        documents = joined_ranges(ranking.starts[groups], size)
        return cls(
            documents=documents,
            all_grades=ranking.grades,
            judgment=ranking.judgment,
            levels=ranking.judgments.levels,
            contributes=contributes[documents],
            owner=np.repeat(np.arange(len(size)), size),
            groups=groups,
            size=size,
            offset=above - place,
        )

    @cached_property
    def worth(self) -> IntArray:
        """(n,) 0 where unjudged, 1 where judged and worth nothing, then 2, 3, ... by rising grade."""
        level = (self.judgment[self.documents] >= 0).astype(np.int64)
        grades = self.all_grades[self.documents]
        graded = np.flatnonzero(grades > 0)
        level[graded] = 2 + np.searchsorted(self.levels, grades[graded])
        return level


@dataclass(frozen=True, eq=False)
class Ranking:
    """Lists of rerankers: documents list by list, by falling score within; ties in no order.

    Attributes:
        judgments: what is known of relevance; it says which lists there are, with or without documents.
        pairs: query and document of each row of the table the run came from.
        segment_lists: (n_segments,) list of each stretch of documents.
        segment_starts: (n_segments + 1,) first document of each, and the end.
        rows: (n_docs,) row of each document in its table: the input position.
        scores: (n_docs,) its score as it is compared: rounded, or the highest of its near ties.
        starts: (n_groups,) first document of each tie group.
        grades: (n_docs,) its grade, 0 where unjudged.
        judgment: (n_docs,) place of its judgment, -1 where unjudged.
        targets: (n_docs,) what it satisfies, None where each document is its own target.
        sigmas: (n_rows,) standard deviation of the score of each row of the table, None where it has none.
        further: (n_docs,) each; the further scores that split its ties, in order, as they are compared.
        lists_with_rows: (n_listed,) lists with rows; more than have documents where unjudged ones are left out.
        is_by_fronts: whether several criteria rank; scores are then minus the front, the first is -1.
    """

    judgments: Judgments
    pairs: QueryDocKeys
    segment_lists: IntArray
    segment_starts: IntArray
    rows: IntArray
    scores: FloatArray
    starts: IntArray
    grades: FloatArray
    judgment: npt.NDArray[np.int32]
    targets: IntArray | None = None
    sigmas: FloatArray | None = None
    further: tuple[FloatArray, ...] = ()
    lists_with_rows: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    is_by_fronts: bool = False

    @classmethod
    def of(
        cls,
        runs: Runs,
        reranker: str,
        relevant_from: float = 1,
        precision: str = "float64",
        tiebreak_by: Sequence[str] = (),
        criteria: Sequence[str] = (),
        unjudged: Unjudged = "nonrelevant",
        *,
        query_id: str | None = None,
    ) -> "Ranking":
        """Cut the lists of one reranker.

        Args:
            runs: what was ranked and judged.
            reranker: whose lists.
            relevant_from: smallest grade that counts as relevant.
            precision: how scores are compared: rounded, or near ones tied (`metrics.ties.precision`).
            tiebreak_by: further score columns; each splits what is level in those before it.
            criteria: score columns that rank together, by fronts, instead of the score (`metrics.ties.fronts`).
            unjudged: whether documents that nobody judged are not relevant, or left out.
            query_id: the query whose list is cut alone, none where it is not judged; all lists where None.

        Returns:
            The lists, cut into tie groups.

        Raises:
            UsageError: a reranker, precision or column that does not exist, or a grade of 0 as relevant.
        """
        lists = Lists.of(runs, reranker, relevant_from, tiebreak_by, criteria)
        span = 0, lists.judgments.n_lists
        if query_id is not None:
            place = pc.index(lists.judgments.query_ids, query_id).as_py()
            span = max(place, 0), place + 1
        return cls._cut(lists, precision, span, unjudged)

    @classmethod
    def parts(
        cls,
        runs: Runs,
        stack: RunStack,
        relevant_from: float = 1,
        precision: str = "float64",
        tiebreak_by: Sequence[str] = (),
        criteria: Sequence[str] = (),
        unjudged: Unjudged = "nonrelevant",
    ) -> Iterator["Ranking"]:
        """Yield lists a few at a time: reranker by reranker, in the order of the judged queries.

        Args:
            runs: what was ranked.
            stack: whose lists: some of `runs.matched_stacks`.
            relevant_from: smallest relevant grade.
            precision: how scores are compared.
            tiebreak_by: score columns that split ties first.
            criteria: score columns that rank together instead of the score.
            unjudged: what is done about documents that nobody judged.
        """
        lists = Lists.of_stack(runs, stack, relevant_from, tiebreak_by, criteria)
        for first, end in lists.cuts(PART):
            yield cls._cut(lists, precision, (first, end), unjudged)

    @classmethod
    def of_one(
        cls, scores: FloatArray, grades: FloatArray, unlisted: FloatArray, relevant_from: float
    ) -> "Ranking":
        """Cut one list of documents without ids; arguments as of `Lists.of_one`."""
        return cls._cut(Lists.of_one(scores, grades, unlisted, relevant_from), "float64", (0, 1), "nonrelevant")

    @classmethod
    def _cut(cls, lists: Lists, precision: str, span: tuple[int, int], unjudged: Unjudged) -> "Ranking":
        """Return the lists from the first of a span to before its end, sorted and cut into tie groups."""
        rows, segment_lists, segment_starts = lists.rows_of(*span)
        lists_with_rows = segment_lists
        if unjudged == "leave_out":
            rows, segment_lists, segment_starts = lists.judged_rows_of(*span)
        keys = lists.keys_of(rows, segment_starts, precision)
        has_own_noise = lists.sigmas is not None  # tells apart what is level, whatever lists are sorted with it
        order, (scores, *further), starts = sort_descending(keys, segment_starts, is_stable=has_own_noise)
        table_rows = (np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows)[order]
        judgment = lists.judgment[rows if isinstance(order, slice) else table_rows]
        return cls(
            judgments=lists.judgments.part(*span),
            pairs=lists.pairs,
            segment_lists=segment_lists,
            segment_starts=segment_starts,
            rows=table_rows,
            scores=scores,
            starts=starts,
            grades=lists.grades[judgment],
            judgment=judgment,
            targets=None if lists.targets is None else lists.targets[judgment],
            sigmas=lists.sigmas,
            further=tuple(further),
            lists_with_rows=lists_with_rows,
            is_by_fronts=bool(lists.n_criteria),
        )

    @property
    def query_ids(self) -> pa.Array:
        """(n_lists,) judged query of each."""
        return self.judgments.list_queries

    @property
    def n_lists(self) -> int:
        """Number of lists, empty ones included."""
        return self.judgments.n_lists

    @cached_property
    def groups(self) -> IntArray:
        """(n_docs,) number of each document's tie group, counted through all lists."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    @cached_property
    def sizes(self) -> IntArray:
        """(n_groups,) documents of each tie group."""
        return np.diff(np.append(self.starts, len(self.rows)))

    @cached_property
    def _segments(self) -> IntArray:
        """(n_groups,) segment of each tie group."""
        first = np.searchsorted(self.starts, self.segment_starts)
        return np.repeat(np.arange(len(first) - 1), np.diff(first))

    @cached_property
    def group_lists(self) -> IntArray:
        """(n_groups,) list of each tie group."""
        return self.segment_lists[self._segments]

    @cached_property
    def above(self) -> IntArray:
        """(n_groups,) documents of the same list strictly above each tie group."""
        return self.starts - self.segment_starts[self._segments]

    @cached_property
    def n_docs(self) -> IntArray:
        """(n_lists,) documents of each list."""
        lengths = np.zeros(self.n_lists, dtype=np.int64)
        lengths[self.segment_lists] = np.diff(self.segment_starts)
        return lengths

    @property
    def is_missing(self) -> BoolArray:
        """(n_lists,) whether the run has no row for the query of each."""
        missing = np.ones(self.n_lists, dtype=bool)
        missing[self.lists_with_rows] = False
        return missing

    @cached_property
    def graded_groups(self) -> ScoredGroups:
        """The tie groups that hold a document with a grade above 0."""
        return ScoredGroups.of(self, self.grades > 0)

    @cached_property
    def judged_groups(self) -> ScoredGroups:
        """The tie groups that hold a judged document."""
        return ScoredGroups.of(self, self.judged)

    def spreads(self, noise: Noise) -> Spreads:
        """Return where noise may have put the true scores; UsageError where the table does not tell it."""
        if noise.by_row and self.sigmas is None:
            raise UsageError(
                "noise: there is no column score_std, the standard deviation of each score. Name the column "
                "that holds it (score_std=NAME), or give one for all scores, as in noise:0.05."
            )
        sigmas = None if self.sigmas is None else self.sigmas[self.rows]
        return noise.spreads(self.scores, sigmas, self.segment_starts)

    @property
    def judged(self) -> BoolArray:
        """(n_docs,) whether each document was judged."""
        return self.judgment >= 0

    @property
    def relevant(self) -> BoolArray:
        """(n_docs,) whether each document is relevant."""
        return self.grades >= self.judgments.relevant_from

    def ids(self, documents: IntArray | Sequence[int]) -> pa.Array:
        """Return ids of documents, by their number here."""
        return self.pairs.documents.take(pa.array(self.rows[np.asarray(documents)]))

    def documents_of(self, query_id: str) -> IntArray:
        """Return documents of one query by falling score, ties in input order; none where the run has none."""
        place = pc.index(self.query_ids, query_id).as_py()
        segment = np.flatnonzero(self.segment_lists == place)
        if place < 0 or not len(segment):
            return np.empty(0, dtype=np.int64)
        documents = np.arange(*self.segment_starts[segment[0] : segment[0] + 2])
        return documents[np.lexsort((self.rows[documents], self.groups[documents]))]
