"""Chances that depend on evidence, with a level and a slope of each query, shrunken towards those of all."""

from dataclasses import dataclass

import numpy as np

from metrics.support.arrays import BoolArray, FloatArray, IntArray

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
