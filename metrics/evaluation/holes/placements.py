"""Where rerankers have which documents, and what judgments say of these."""

from dataclasses import dataclass

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.cached import cached_property


@dataclass(frozen=True, eq=False)
class Placements:
    """The places of documents in the lists of rerankers.

    Attributes:
        documents: (n_placed,) a document.
        rerankers: (n_placed,) who has it.
        places: (n_placed,) highest place that the scores allow it there, from 1.
        n_rerankers: how many there are.
        queries: (n,) query of each document.
        n_queries: how many there are.
        grades: (n,) grade of each document, 0 where unjudged.
        is_judged: (n,) whether judgments name it.
        unlisted_queries: (n_unlisted,) query of each judged document that no reranker has.
        unlisted_grades: (n_unlisted,) its grade.
    """

    documents: IntArray
    rerankers: IntArray
    places: IntArray
    n_rerankers: int
    queries: IntArray
    n_queries: int
    grades: FloatArray
    is_judged: BoolArray
    unlisted_queries: IntArray
    unlisted_grades: FloatArray

    @cached_property
    def is_graded(self) -> BoolArray:
        """(n,) whether somebody judged each: a grade below 0 says that it was in the pool and nobody did."""
        return self.is_judged & (self.grades >= 0)

    @cached_property
    def best(self) -> IntArray:
        """(n,) the highest place that the scores of any reranker allow each document."""
        best = np.full(len(self.queries), np.iinfo(np.int64).max)
        np.minimum.at(best, self.documents, self.places)
        return best

    @cached_property
    def _bands(self) -> IntArray:
        """(n_placed,) band of places: 1, 2 to 3, 4 to 7, and so on, numbered from 1."""
        return np.log2(self.places).astype(np.int64) + 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rerankers, and of bands, with band 0 for the documents that a reranker lacks."""
        return self.n_rerankers, int(self._bands.max(initial=0)) + 1

    @cached_property
    def cells(self) -> IntArray:
        """(n_placed,) reranker and band of each placement, as one number."""
        return self.rerankers * self.shape[1] + self._bands

    def judged_shares(self, depth: int | None) -> tuple[FloatArray, float]:
        """Return (n_rerankers,) share judged of each one's documents within a depth, and that of a pool.

        The pool's is the largest, for what others lack was not pooled; each is first drawn to that of all, as
        far as they differ by luck.
        """
        is_near = self.places <= (depth or np.inf)
        n_near, n_judged = (
            np.bincount(self.rerankers[rows], minlength=self.n_rerankers)
            for rows in (is_near, is_near & self.is_graded[self.documents])
        )
        n_near = np.maximum(n_near, 1)
        shares, overall = n_judged / n_near, n_judged.sum() / n_near.sum()
        luck = overall * (1 - overall) / n_near
        spread = max(float(np.mean((shares - overall) ** 2 - luck)), 0.0)
        shrunken = overall + (shares - overall) * spread / np.maximum(spread + luck, 1e-12)
        return shares, float(max(shrunken.max(), self.is_graded.mean()))
