"""The grades unjudged documents may have, estimated from judged documents of the same query."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from metrics.errors import needs
from metrics.runs.query_doc_keys import uniforms
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


_STEPS = 50
_PRECISION = 1e-4
_RIDGE = 0.1


@dataclass(frozen=True, eq=False)
class QueryLogit:
    """Logistic regression on one number, whose intercept and slope differ by query as a normal pair.

    Attributes:
        means: (n_queries, 2) intercept and slope of each query.
        roots: (n_queries, 2, 2) Cholesky factor of their covariance, given what was seen.
    """

    means: FloatArray
    roots: FloatArray

    @classmethod
    def fit(
        cls, is_success: BoolArray, evidence: FloatArray, queries: IntArray, n_queries: int
    ) -> "QueryLogit":
        """Fit by Laplace's approximation: Newton steps for each query, the spread of queries by their moments.

        Args:
            is_success: (n,) what came of each case.
            evidence: (n,) what is known of it.
            queries: (n,) its query.
            n_queries: how many there are, those without a case included.

        Source: Breslow & Clayton, Approximate inference in generalized linear mixed models, JASA 1993.

        Returns:
            The fitted model, with the spread of its queries.
        """
        with needs("stats"):
            from scipy.special import expit, logit  # noqa: PLC0415 only where documents lack judgments

        start = np.array([logit((is_success.sum() + 0.5) / (len(is_success) + 1)), 1.0])
        has_case = np.bincount(queries, minlength=n_queries) > 0
        evidence, queries, n_cases, n_successes = _distinct_cases(is_success, evidence, queries)
        common, own, spread = start, np.zeros((n_queries, 2)), np.eye(2)
        for _ in range(_STEPS):
            intercepts, slopes = (common + own)[queries].T
            chances = expit(intercepts + slopes * evidence)
            weights, misses = n_cases * chances * (1 - chances), n_successes - n_cases * chances
            precision = np.linalg.inv(spread)
            curvature = _by_query(weights, evidence, queries, n_queries, 2)[:, [[0, 1], [1, 2]]]
            gradient = _by_query(misses, evidence, queries, n_queries, 1)
            covariance = np.linalg.inv(curvature + precision)
            step = np.einsum("qij,qj->qi", covariance, gradient - own @ precision).clip(-1, 1)
            shift = np.linalg.solve(
                curvature.sum(axis=0) + _RIDGE * np.eye(2), gradient.sum(axis=0) - _RIDGE * (common - start)
            ).clip(-1, 1)
            own, common = own + step, common + shift
            moments = own[:, :, None] * own[:, None, :] + covariance
            spread = (moments[has_case].mean(axis=0) if has_case.any() else np.eye(2)) + _PRECISION * np.eye(2)
            if max(abs(step).max(initial=0), abs(shift).max()) < _PRECISION:
                break
        return cls(common + own, np.asarray(np.linalg.cholesky(covariance), np.float64))

    def chances(self, evidence: FloatArray, queries: IntArray, noise: FloatArray | None = None) -> FloatArray:
        """Return the (n,) chance of each of further cases.

        Args:
            evidence: (n,) what is known of each.
            queries: (n,) its query.
            noise: (n_queries, 2) standard normal numbers, for a draw of the coefficients; None: their means.
        """
        with needs("stats"):
            from scipy.special import expit  # noqa: PLC0415 as above

        coefficients = self.means if noise is None else self.means + np.einsum("qij,qj->qi", self.roots, noise)
        return np.asarray(expit(coefficients[queries, 0] + coefficients[queries, 1] * evidence))


def _distinct_cases(
    is_success: BoolArray, evidence: FloatArray, queries: IntArray
) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    """Return evidence and query of cases that differ in them, how many there are of each, and the successes.

    One reranker says the same of all documents of a band of places: of a million cases, few differ.
    """
    values, ranks = np.unique(evidence, return_inverse=True)
    keys, cases, n_cases = np.unique(queries * len(values) + ranks, return_inverse=True, return_counts=True)
    n_successes = np.bincount(cases, is_success, minlength=len(keys)).astype(np.float64)
    distinct_queries, distinct_ranks = np.divmod(keys, max(len(values), 1))
    return values[distinct_ranks], distinct_queries, n_cases, n_successes


def _by_query(
    values: FloatArray, evidence: FloatArray, queries: IntArray, n_queries: int, degree: int
) -> FloatArray:
    """Return (n_queries, degree + 1) sums of values of each query's cases, times powers of their evidence."""
    columns = [values * evidence**power for power in range(degree + 1)]
    sums = [np.bincount(queries, column, minlength=n_queries) for column in columns]
    return np.stack(sums, axis=1).astype(np.float64)


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
        """Fit to the judged documents."""
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
        """Return the (n_levels, n_unjudged) chances to be no lower than each grade."""
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
    with needs("stats"):
        from scipy.special import ndtri  # noqa: PLC0415 only where documents lack judgments

    return np.asarray(ndtri(uniforms(np.arange(2 * n, dtype=np.uint64), seed)).reshape(n, 2))


def _evidence(
    placements: Placements, is_case: BoolArray, is_success: BoolArray, unlisted: BoolArray
) -> tuple[FloatArray, float]:
    """Return (n,) what rerankers say of each document, or of one that none has; 0 is the mean of all."""
    with needs("stats"):
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
