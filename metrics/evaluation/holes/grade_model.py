"""What grades unjudged documents may have, as judged documents of the same query and of like places tell."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from metrics.evaluation.holes.placements import Placements
from metrics.evaluation.holes.query_logit import QueryLogit
from metrics.runs.query_doc_keys import uniforms
from metrics.support.arrays import BoolArray, FloatArray, IntArray

_PRIOR = 4
"""Documents that are thought to be seen in each band of places, of which as many succeed as of all."""


@dataclass(frozen=True, eq=False)
class GradeModel:
    """Chances of the grades of unjudged documents, and draws from them.

    A judged document is no lower than a grade with a chance that depends on where each reranker has it and on
    its query, given that it is no lower than the grade before. What a reranker says is the log odds of the
    judged documents of its own that stand as high, by bands of places 1, 2 to 3, 4 to 7, ..., or that it lacks;
    what counts is the mean over rerankers. Queries differ in level and slope (`QueryLogit`), as far as judged
    ones do.

    Documents below a depth were not all meant to be judged. The share of those meant to be that were judged is
    c, that of the reranker with most judged documents within the depth; where the same kind of evidence says
    that a share s of such documents is judged, one that is not was meant to be with chance s(1 - c)/(c(1 - s)).
    Others are not relevant, as in a pool. Documents that no reranker has lack judgments at the same share.

    Attributes:
        levels: (n_levels,) grades, the lowest first.
        steps: (n_levels - 1) chances to be no lower than a grade, given the one before.
        evidence: (n_levels - 1, n_unjudged) what is known of each unjudged document.
        queries: (n_unjudged,) its query.
        n_queries: how many there are.
        is_meant: (n_unjudged,) chance of each to have been meant to be judged.
        coverage: share of the documents that were meant to be judged and were: c.
        unlisted_queries: (n_unlisted,) query of each judged document that no reranker has.
        unlisted_grades: (n_unlisted,) its grade.
    """

    levels: FloatArray
    steps: tuple[QueryLogit, ...]
    evidence: FloatArray
    queries: IntArray
    n_queries: int
    is_meant: FloatArray
    coverage: float
    unlisted_queries: IntArray
    unlisted_grades: FloatArray

    @classmethod
    def fit(cls, placements: Placements, relevant_from: float, depth: int | None) -> "GradeModel":
        """Fit to the judged documents.

        Args:
            placements: where rerankers have which documents, and what is known of these.
            relevant_from: a grade that there is even where no judged document has it.
            depth: place down to which all documents were meant to be judged; None: all were.

        Returns:
            The fitted model.
        """
        grades = np.append(placements.grades[placements.is_graded], placements.unlisted_grades)
        added = [0.0] if (grades >= relevant_from).any() else [0.0, relevant_from]
        levels = np.unique(np.append(grades, added))
        is_open, steps, evidence = ~placements.is_judged, [], []
        for before, level in pairwise(levels):
            is_case = placements.is_graded & (placements.grades >= before)
            unlisted = placements.unlisted_grades[placements.unlisted_grades >= before] >= level
            unlisted_queries = placements.unlisted_queries[placements.unlisted_grades >= before]
            is_success = placements.grades >= level
            of_listed, of_unlisted = _evidence(placements, is_case, is_success, unlisted)
            steps.append(
                QueryLogit.fit(
                    np.append(is_success[is_case], unlisted),
                    np.append(of_listed[is_case], np.full(len(unlisted), of_unlisted)),
                    np.append(placements.queries[is_case], unlisted_queries),
                    placements.n_queries,
                )
            )
            evidence.append(of_listed[is_open])
        coverage = 1.0 if depth is None else placements.judged_shares(depth)[1]
        return cls(
            levels=levels,
            steps=tuple(steps),
            evidence=np.reshape(evidence, (len(steps), -1)),
            queries=placements.queries[is_open],
            n_queries=placements.n_queries,
            is_meant=np.ones(is_open.sum()) if depth is None else _meant(placements, depth, coverage),
            coverage=coverage,
            unlisted_queries=placements.unlisted_queries,
            unlisted_grades=placements.unlisted_grades,
        )

    def chances(self, seed: int | None = None) -> FloatArray:
        """Return the (n_levels, n_unjudged) chances to be no lower than each grade.

        Args:
            seed: of a draw of how queries differ, which is not quite known; None: the likeliest.
        """
        chances = [np.ones(len(self.queries))]
        for number, step in enumerate(self.steps):
            noise = None if seed is None else _normal_pairs(self.n_queries, seed + number)
            chances.append(chances[-1] * step.chances(self.evidence[number], self.queries, noise))
            chances[-1] *= 1.0 if number else self.is_meant
        return np.stack(chances)

    def draw_unlisted(self, seed: int) -> tuple[IntArray, FloatArray]:
        """Draw query and grade of unjudged documents that no reranker has: as judged ones, at their share."""
        uniform = uniforms(np.arange(len(self.unlisted_queries), dtype=np.uint64), seed)
        n_copies = np.zeros(len(uniform), np.int64)  # how many misses come before a hit, of a share of hits
        if self.coverage < 1:
            n_copies = np.floor(np.log(uniform) / np.log1p(-self.coverage)).astype(np.int64)
        return np.repeat(self.unlisted_queries, n_copies), np.repeat(self.unlisted_grades, n_copies)


def _normal_pairs(n: int, seed: int) -> FloatArray:
    """Return (n, 2) standard normal numbers."""
    from scipy.special import ndtri  # noqa: PLC0415 only where documents lack judgments

    return np.asarray(ndtri(uniforms(np.arange(2 * n, dtype=np.uint64), seed)).reshape(n, 2))


def _evidence(
    placements: Placements, is_case: BoolArray, is_success: BoolArray, unlisted: BoolArray
) -> tuple[FloatArray, float]:
    """Return (n,) what rerankers say of each document, and of those that none has; 0 is the mean of the cases.

    Args:
        placements: where rerankers have which documents.
        is_case: (n,) the documents that are learned from.
        is_success: (n,) what came of each.
        unlisted: (n_unlisted,) what came of documents that no reranker has.
    """
    from scipy.special import logit  # noqa: PLC0415 only where documents lack judgments

    n_cases, n_successes = is_case.sum() + len(unlisted), (is_case & is_success).sum() + unlisted.sum()
    is_listed = is_case[placements.documents]
    cells, shape = placements.cells, placements.shape
    n_seen = np.bincount(cells[is_listed], minlength=shape[0] * shape[1]).reshape(shape)
    n_good = np.bincount(cells[is_listed & is_success[placements.documents]], minlength=n_seen.size).reshape(
        shape
    )
    n_seen[:, 0], n_good[:, 0] = n_cases - n_seen.sum(axis=1), n_successes - n_good.sum(axis=1)
    overall = (n_successes + 1) / (n_cases + 2)
    log_odds = logit((n_good + _PRIOR * overall) / (n_seen + _PRIOR))
    lacking = float(log_odds[:, 0].sum())
    gains = (log_odds - log_odds[:, :1]).ravel()[cells]
    sums = lacking + np.bincount(placements.documents, gains, minlength=len(is_case))
    center = (sums[is_case].sum() + lacking * len(unlisted)) / max(n_cases, 1)
    return (sums - center) / shape[0], (lacking - center) / shape[0]


def _meant(placements: Placements, depth: int, coverage: float) -> FloatArray:
    """Return the (n_unjudged,) chance of each unjudged document to have been meant to be judged."""
    all_documents = np.ones(len(placements.queries), dtype=bool)
    evidence, _ = _evidence(placements, all_documents, placements.is_graded, np.zeros(0, dtype=bool))
    fit = QueryLogit.fit(placements.is_graded, evidence, placements.queries, placements.n_queries)
    is_open = ~placements.is_judged
    shares = fit.chances(evidence[is_open], placements.queries[is_open])
    odds = shares * (1 - coverage) / np.maximum(coverage * (1 - shares), 1e-12)
    return np.where(placements.best[is_open] <= depth, 1.0, np.minimum(odds, 1.0))
