"""How likely unjudged documents are to be relevant, and grades drawn for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.holes.grade_model import GradeModel, Placements
from metrics.evaluation.options import AS_READ, ScoringOptions
from metrics.runs import Runs
from metrics.runs.query_doc_keys import Hashes, uniforms
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.ties.judgments import Judgments
from metrics.ties.ranking import PART

_LEAST_COVERAGE = 0.45
_LEAST_SHARE = 0.7
Rate = float | Sequence[float] | None
"""Chance that an unjudged document is relevant: of all, by place from 1 on (the last one also beyond), or None:
as judged documents of the same query and of like places tell (`GradeModel`)."""


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """The documents that rerankers have for judged queries, each once.

    Attributes:
        query_ids: (n,) query of each.
        doc_ids: (n,) its id.
        hashes: (n,) a number of each pair of query and document.
        placements: where rerankers have them, and what judgments say of them.
        relevant_from: smallest relevant grade.
    """

    query_ids: pa.Array
    doc_ids: pa.Array
    hashes: Hashes
    placements: Placements
    relevant_from: float

    @classmethod
    def of(cls, runs: Runs, options: ScoringOptions = AS_READ) -> "RankedDocuments":
        """Return the documents of all rerankers, and where each has them."""
        n_queries = 0 if runs.qrels is None else len(runs.judged_pairs.queries)
        parts, n_rerankers = [], 0
        for stack in runs.matched_stacks.batches(PART, n_queries):
            first = n_rerankers * n_queries
            for ranking in options.rankings(runs, stack):
                lists = ranking.group_lists[ranking.groups]
                parts.append(
                    (
                        ranking.query_ids.take(pa.array(lists)).cast(pa.string()),
                        ranking.ids(np.arange(len(ranking.rows))).cast(pa.string()),
                        ranking.pairs.hashes[ranking.rows],
                        first + lists,
                        (ranking.above + 1)[ranking.groups],
                        ranking.grades,
                        ranking.judged,
                    )
                )
                first += ranking.n_lists
            n_rerankers += len(stack.names)
        queries, ids, *columns = zip(*parts, strict=True)
        hashes, lists, places, grades, is_judged = map(np.concatenate, columns)
        distinct, first_rows, documents = np.unique(hashes, return_index=True, return_inverse=True)
        unlisted_queries, unlisted_grades = _unlisted(runs)
        placements = Placements(
            documents=documents,
            rerankers=lists // max(n_queries, 1),
            places=places,
            n_rerankers=n_rerankers,
            queries=lists[first_rows] % max(n_queries, 1),
            n_queries=n_queries,
            grades=grades[first_rows],
            is_judged=is_judged[first_rows],
            unlisted_queries=unlisted_queries,
            unlisted_grades=unlisted_grades,
        )
        rows = pa.array(first_rows)
        query_ids, doc_ids = (pa.chunked_array(column).take(rows).combine_chunks() for column in (queries, ids))
        return cls(query_ids, doc_ids, distinct, placements, options.relevant_from)

    @property
    def places(self) -> IntArray:
        """(n,) the highest place that the scores of any reranker allow each, from 1."""
        return self.placements.best

    @property
    def is_judged(self) -> BoolArray:
        """(n,) whether somebody judged each."""
        return self.placements.is_judged

    def grade_model(self, depth: int | None) -> GradeModel:
        """Return what judged documents tell of the others.

        Args:
            depth: place down to which all documents were meant to be judged; None: all were.

        Raises:
            UsageError: nobody judged a document that is ranked.
        """
        if not self.placements.is_graded.any():
            raise UsageError(
                "No ranked document is judged, so nothing says how many are relevant. Give a rate."
            )
        return GradeModel.fit(self.placements, self.relevant_from, depth)

    def pooled_rerankers(self, depth: int | None) -> BoolArray:
        """Return (n_rerankers,) whether judged documents tell of the others of each reranker, too.

        They do where judgments are missing at random, but not for documents that nobody else has, which nobody
        judged for that; nor where little of what was meant to be judged was, or all of it is relevant.

        Args:
            depth: place down to which documents were meant to be judged; None: all were.
        """
        is_relevant = self.placements.grades[self.placements.is_graded] >= self.relevant_from
        shares, coverage = self.placements.judged_shares(depth)
        is_told = coverage >= _LEAST_COVERAGE and not is_relevant.all()
        return np.asarray(((shares >= _LEAST_SHARE * coverage) & is_told) | (shares == 1))

    def unjudged_rates(self, rate: Rate, depth: int | None) -> FloatArray:
        """Return the (n_unjudged,) chance of each unjudged document to be relevant.

        Args:
            rate: of all, by place, or None: as judged documents tell.
            depth: place below which documents are not relevant at a given rate, and were not all meant to be
                judged where judged ones tell.

        Raises:
            UsageError: a chance below 0 or above 1, or none where nobody judged a document that is ranked.
        """
        if rate is None:
            model = self.grade_model(depth)
            return np.asarray(model.chances()[np.searchsorted(model.levels, self.relevant_from)])
        places, chances = self.places[~self.is_judged], _checked_chances(rate)
        return np.where(places <= (depth or np.inf), chances[np.minimum(places, len(chances)) - 1], 0.0)

    def grade_chances(self, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return grades, and (n_grades, n_unjudged) chances of no less, at given rates of relevant documents.

        The grades of relevant and of other documents fall as those of judged ones do.
        """
        judged = self.placements.grades[self.placements.is_graded]
        relevant, irrelevant = (judged[judged >= self.relevant_from], judged[judged < self.relevant_from])
        relevant = relevant if len(relevant) else np.array([self.relevant_from])
        irrelevant = irrelevant if len(irrelevant) else np.zeros(1)
        levels = np.unique(np.concatenate([relevant, irrelevant]))
        shares = [(levels[:, None] <= grades).mean(axis=1)[:, None] for grades in (relevant, irrelevant)]
        return levels, rates * shares[0] + (1 - rates) * shares[1]

    def unjudged_places(self, hashes: Hashes) -> IntArray:
        """Return the (n,) place of unjudged documents among those."""
        return np.searchsorted(self.hashes[~self.is_judged], hashes)

    def draw(self, levels: FloatArray, chances: FloatArray, seed: int) -> FloatArray:
        """Draw (n_unjudged,) grades, alike in the lists of all rerankers, whatever other documents there are.

        Args:
            levels: (n_levels,) grades.
            chances: (n_levels, n_unjudged) to be no lower than each.
            seed: of the draw.

        Returns:
            (n_unjudged,) grades; the same seed gives the same ones.
        """
        is_reached = uniforms(self.hashes[~self.is_judged], seed) < chances[1:]
        return np.asarray(levels[is_reached.sum(axis=0)])

    def grade_draws(self, rate: Rate, depth: int | None) -> Callable[[int], FloatArray]:
        """Return what draws (n_unjudged,) grades with a seed, at a rate or as judged documents tell."""
        if rate is not None:
            return partial(self.draw_grades, self.unjudged_rates(rate, depth))
        model = self.grade_model(depth)
        return lambda seed: self.draw(model.levels, model.chances(seed), seed)

    def draw_grades(self, rates: FloatArray, seed: int) -> FloatArray:
        """Draw (n_unjudged,) grades: relevant as often as rates say, then as those of judged documents fall."""
        return self.draw(*self.grade_chances(rates), seed)


def _unlisted(runs: Runs) -> tuple[IntArray, FloatArray]:
    """Return query and grade of each judged document that no reranker has, but grades below 0."""
    if runs.qrels is None:
        return np.zeros(0, np.int64), np.zeros(0)
    is_unlisted = runs.qrels["relevance"].to_numpy() >= 0
    for stack in runs.matched_stacks.stacks:
        if stack.judgment is not None:
            is_unlisted[stack.judgment[stack.judgment >= 0]] = False
    judgments = Judgments.of(runs.qrels, runs.judged_pairs)
    return judgments.lists[is_unlisted], judgments.grades[is_unlisted]


def _checked_chances(rate: Rate) -> FloatArray:
    """Return the (n,) chances by place, the last of them for all further places."""
    try:
        chances = np.atleast_1d(np.asarray(rate, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise UsageError(f"rate={rate!r}: give chances from 0 to 1.") from error
    if not len(chances) or not ((chances >= 0) & (chances <= 1)).all():
        raise UsageError(f"rate={rate!r}: give chances from 0 to 1.")
    return chances
