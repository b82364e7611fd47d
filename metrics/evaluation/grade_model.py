"""Grades of unjudged documents, estimated from judged documents of the same query."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.errors import UsageError, needs
from metrics.evaluation.evaluation import AS_READ, ScoringOptions, list_owners, rankings_of
from metrics.runs import Runs
from metrics.runs.query_doc_keys import Hashes, uniforms
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.ties.judgments import Judgments


@dataclass(frozen=True, eq=False)
class Placements:
    """The ranks of documents in the lists of rerankers.

    Attributes:
        documents: (n_placed,) a document.
        rerankers: (n_placed,) a reranker that lists it.
        places: (n_placed,) its highest rank there over all orders of ties, from 1.
        n_rerankers: number of rerankers.
        queries: (n,) query of each document.
        n_queries: number of queries.
        grades: (n,) grade of each document, 0 where unjudged.
        is_judged: (n,) whether judgments name it.
        unlisted_queries: (n_unlisted,) query of each judged document that no reranker lists.
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
        """(n,) whether each was judged; a grade below 0 marks an unjudged document of the pool."""
        return self.is_judged & (self.grades >= 0)

    @cached_property
    def best(self) -> IntArray:
        """(n,) the highest rank that any reranker allows each document."""
        best = np.full(len(self.queries), np.iinfo(np.int64).max)
        np.minimum.at(best, self.documents, self.places)
        return best

    @cached_property
    def _bands(self) -> IntArray:
        """(n_placed,) band of ranks: 1, 2 to 3, 4 to 7, and so on, numbered from 1."""
        return np.log2(self.places).astype(np.int64) + 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rerankers, and of bands, with band 0 for documents that a reranker lacks."""
        return self.n_rerankers, int(self._bands.max(initial=0)) + 1

    @cached_property
    def cells(self) -> IntArray:
        """(n_placed,) reranker and band of each placement, as one number."""
        return self.rerankers * self.shape[1] + self._bands

    def judged_shares(self, depth: int) -> tuple[FloatArray, float]:
        """Return (n_rerankers,) share judged of each reranker's documents within a depth, and that of the pool.

        The pool's share is the largest, after shrinking each one towards the overall share by its sampling
        error.
        """
        is_near = self.places <= depth
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


def _special() -> Any:  # noqa: ANN401 scipy is untyped
    with needs("stats"):
        from scipy import special  # noqa: PLC0415 only where documents lack judgments

    return special


_STEPS = 50
_PRECISION = 1e-4
_RIDGE = 0.1


@dataclass(frozen=True, eq=False)
class QueryLogit:
    """Logistic regression on one number; intercept and slope differ by query as a normal pair.

    Attributes:
        means: (n_queries, 2) intercept and slope of each query.
        roots: (n_queries, 2, 2) Cholesky factor of their posterior covariance.
    """

    means: FloatArray
    roots: FloatArray

    @classmethod
    def fit(
        cls, is_success: BoolArray, evidence: FloatArray, queries: IntArray, n_queries: int
    ) -> "QueryLogit":
        """Fit by Laplace's approximation: Newton steps for each query, moments for their variance.

        Shapes: `is_success` (n,), `evidence` (n,), `queries` (n,).

        Source: Breslow & Clayton, Approximate inference in generalized linear mixed models, JASA 1993.
        """
        start = np.array([_special().logit((is_success.sum() + 0.5) / (len(is_success) + 1)), 1.0])
        has_case = np.bincount(queries, minlength=n_queries) > 0
        evidence, queries, n_cases, n_successes = _distinct_cases(is_success, evidence, queries)
        common, own, spread = start, np.zeros((n_queries, 2)), np.eye(2)
        for _ in range(_STEPS):
            intercepts, slopes = (common + own)[queries].T
            chances = _special().expit(intercepts + slopes * evidence)
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
        """Return the (n,) chances of further cases.

        Shapes: `evidence` (n,), `queries` (n,), `noise` (n_queries, 2).
        """
        coefficients = self.means if noise is None else self.means + np.einsum("qij,qj->qi", self.roots, noise)
        return np.asarray(_special().expit(coefficients[queries, 0] + coefficients[queries, 1] * evidence))


def _distinct_cases(
    is_success: BoolArray, evidence: FloatArray, queries: IntArray
) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    """Return evidence and query of distinct cases, with their numbers of cases and successes."""
    values, ranks = np.unique(evidence, return_inverse=True)
    keys, cases, n_cases = np.unique(queries * len(values) + ranks, return_inverse=True, return_counts=True)
    n_successes = np.bincount(cases, is_success, minlength=len(keys)).astype(np.float64)
    distinct_queries, distinct_ranks = np.divmod(keys, max(len(values), 1))
    return values[distinct_ranks], distinct_queries, n_cases, n_successes


def _by_query(
    values: FloatArray, evidence: FloatArray, queries: IntArray, n_queries: int, degree: int
) -> FloatArray:
    """Return (n_queries, degree + 1) sums of values times powers of the evidence, by query."""
    columns = [values * evidence**power for power in range(degree + 1)]
    sums = [np.bincount(queries, column, minlength=n_queries) for column in columns]
    return np.stack(sums, axis=1).astype(np.float64)


_PRIOR = 4
"""Documents that are thought to be seen in each band of places, of which as many succeed as of all."""


@dataclass(frozen=True, eq=False)
class GradeModel:
    """Chances of the grades of unjudged documents, and draws from them.

    The chance that a document reaches a grade, given that it reaches the one below, depends on its query and on
    its ranks. The evidence is the mean over rerankers of a log odds: that of the reranker's own judged
    documents in the same band of ranks (1, 2 to 3, 4 to 7, ..., or not listed). Queries differ in intercept and
    slope (`QueryLogit`).

    Documents below a depth were not all meant to be judged. Of those meant to be judged, a share c was: that of
    the reranker with most judged documents within the depth. Where the same kind of evidence predicts that a
    share s is judged, an unjudged document was meant to be judged with chance s(1 - c)/(c(1 - s)). Others are
    not relevant, as in a pool. Documents that no reranker lists lack judgments at the same share.

    Attributes:
        levels: (n_levels,) grades, the lowest first.
        steps: (n_levels - 1) chances to reach a grade, given the one below.
        evidence: (n_levels - 1, n_unjudged) evidence on each unjudged document.
        queries: (n_unjudged,) its query.
        n_queries: number of queries.
        is_meant: (n_unjudged,) chance that it was meant to be judged.
        coverage: share judged of the documents meant to be judged: c.
        unlisted_queries: (n_unlisted,) query of each judged document that no reranker lists.
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
    def fit(cls, placements: Placements, relevant_from: float, depth: int) -> "GradeModel":
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
        coverage = placements.judged_shares(depth)[1]
        return cls(
            levels=levels,
            steps=tuple(steps),
            evidence=np.reshape(evidence, (len(steps), -1)),
            queries=placements.queries[is_open],
            n_queries=placements.n_queries,
            is_meant=_meant(placements, depth, coverage),
            coverage=coverage,
            unlisted_queries=placements.unlisted_queries,
            unlisted_grades=placements.unlisted_grades,
        )

    def chances(self, seed: int | None = None) -> FloatArray:
        """Return the (n_levels, n_unjudged) chances to reach each grade."""
        chances = [np.ones(len(self.queries))]
        for number, step in enumerate(self.steps):
            noise = None if seed is None else _normal_pairs(self.n_queries, seed + number)
            chances.append(chances[-1] * step.chances(self.evidence[number], self.queries, noise))
            chances[-1] *= 1.0 if number else self.is_meant
        return np.stack(chances)

    def draw_unlisted(self, seed: int) -> tuple[IntArray, FloatArray]:
        """Draw query and grade of unjudged documents that no reranker lists, like the judged ones."""
        uniform = uniforms(np.arange(len(self.unlisted_queries), dtype=np.uint64), seed)
        n_copies = np.zeros(len(uniform), np.int64)  # how many misses come before a hit, of a share of hits
        if self.coverage < 1:
            n_copies = np.floor(np.log(uniform) / np.log1p(-self.coverage)).astype(np.int64)
        return np.repeat(self.unlisted_queries, n_copies), np.repeat(self.unlisted_grades, n_copies)


def _normal_pairs(n: int, seed: int) -> FloatArray:
    return np.asarray(_special().ndtri(uniforms(np.arange(2 * n, dtype=np.uint64), seed)).reshape(n, 2))


def _evidence(
    placements: Placements, is_case: BoolArray, is_success: BoolArray, unlisted: BoolArray
) -> tuple[FloatArray, float]:
    """Return the (n,) evidence on each document, and that on an unlisted one, both centred."""
    n_cases, n_successes = is_case.sum() + len(unlisted), (is_case & is_success).sum() + unlisted.sum()
    is_listed = is_case[placements.documents]
    cells, shape = placements.cells, placements.shape
    n_seen = np.bincount(cells[is_listed], minlength=shape[0] * shape[1]).reshape(shape)
    n_good = np.bincount(cells[is_listed & is_success[placements.documents]], minlength=n_seen.size).reshape(
        shape
    )
    n_seen[:, 0], n_good[:, 0] = n_cases - n_seen.sum(axis=1), n_successes - n_good.sum(axis=1)
    overall = (n_successes + 1) / (n_cases + 2)
    log_odds = _special().logit((n_good + _PRIOR * overall) / (n_seen + _PRIOR))
    lacking = float(log_odds[:, 0].sum())
    gains = (log_odds - log_odds[:, :1]).ravel()[cells]
    sums = lacking + np.bincount(placements.documents, gains, minlength=len(is_case))
    center = (sums[is_case].sum() + lacking * len(unlisted)) / max(n_cases, 1)
    return (sums - center) / shape[0], (lacking - center) / shape[0]


def _meant(placements: Placements, depth: int, coverage: float) -> FloatArray:
    """Return the (n_unjudged,) chance that each unjudged document was meant to be judged."""
    all_documents = np.ones(len(placements.queries), dtype=bool)
    evidence, _ = _evidence(placements, all_documents, placements.is_graded, np.zeros(0, dtype=bool))
    fit = QueryLogit.fit(placements.is_graded, evidence, placements.queries, placements.n_queries)
    is_open = ~placements.is_judged
    shares = fit.chances(evidence[is_open], placements.queries[is_open])
    odds = shares * (1 - coverage) / np.maximum(coverage * (1 - shares), 1e-12)
    return np.where(placements.best[is_open] <= depth, 1.0, np.minimum(odds, 1.0))


_LEAST_COVERAGE = 0.45
_LEAST_SHARE = 0.7


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """The distinct documents that rerankers list for judged queries.

    Attributes:
        query_ids: (n,) query of each.
        doc_ids: (n,) its ID.
        hashes: (n,) hash of its query and document.
        placements: its ranks and grades.
        relevant_from: smallest relevant grade.
    """

    query_ids: pa.Array
    doc_ids: pa.Array
    hashes: Hashes
    placements: Placements
    relevant_from: float

    @classmethod
    def of(cls, runs: Runs, options: ScoringOptions = AS_READ) -> "RankedDocuments":
        """Return the documents of all rerankers, and their ranks."""
        n_queries = 0 if runs.qrels is None else len(runs.judged_pairs.queries)
        parts, owners = [], list_owners(runs)
        for ranking, numbers in rankings_of(runs, options):
            lists = ranking.group_lists[ranking.groups]
            parts.append(
                (
                    ranking.query_ids.take(pa.array(lists)).cast(pa.string()),
                    ranking.ids(np.arange(len(ranking.rows))).cast(pa.string()),
                    ranking.pairs.hashes[ranking.rows],
                    numbers[lists],
                    (ranking.above + 1)[ranking.groups],
                    ranking.grades,
                    ranking.judged,
                )
            )
        queries, ids, *columns = zip(*parts, strict=True)
        hashes, lists, places, grades, is_judged = map(np.concatenate, columns)
        distinct, first_rows, documents = np.unique(hashes, return_index=True, return_inverse=True)
        unlisted_queries, unlisted_grades = _unlisted(runs)
        placements = Placements(
            documents=documents,
            rerankers=owners[lists],
            places=places,
            n_rerankers=len(runs.rerankers),
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
        """(n,) the highest rank that any reranker allows each, from 1."""
        return self.placements.best

    @property
    def is_judged(self) -> BoolArray:
        """(n,) whether each is judged."""
        return self.placements.is_judged

    def grade_model(self, depth: int) -> GradeModel:
        """Return the grade model; all documents down to rank `depth` were meant to be judged."""
        if not self.placements.is_graded.any():
            raise UsageError(
                "No ranked document is judged, so relevance cannot be estimated. Judge some of them, or give "
                "the command judge-next the share of unjudged documents that are relevant "
                "(--rate; in Python, rate)."
            )
        return GradeModel.fit(self.placements, self.relevant_from, depth)

    def pooled_rerankers(self, depth: int) -> BoolArray:
        """Return (n_rerankers,) whether judged documents are representative of each reranker's others.

        They are where judgments are missing at random. They are not for documents that only one reranker lists,
        where few of the documents meant to be judged were, or where all judged documents are relevant.
        """
        is_relevant = self.placements.grades[self.placements.is_graded] >= self.relevant_from
        shares, coverage = self.placements.judged_shares(depth)
        is_told = coverage >= _LEAST_COVERAGE and not is_relevant.all()
        return np.asarray(((shares >= _LEAST_SHARE * coverage) & is_told) | (shares == 1))

    def unjudged_rates(self, rate: float | None, depth: int) -> FloatArray:
        """Return the (n_unjudged,) chance that each unjudged document is relevant.

        A given rate applies down to rank `depth`. Without a rate the grade model decides.
        """
        if rate is None:
            model = self.grade_model(depth)
            return np.asarray(model.chances()[np.searchsorted(model.levels, self.relevant_from)])
        if not 0 <= rate <= 1:
            raise UsageError(f"rate={rate!r} is not between 0 and 1.")
        return np.where(self.places[~self.is_judged] <= depth, rate, 0.0)

    def _grade_chances(self, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return grades, and (n_grades, n_unjudged) chances to reach them, at given rates of relevance.

        Relevant and irrelevant documents have the grades of judged ones.
        """
        judged = self.placements.grades[self.placements.is_graded]
        relevant, irrelevant = (judged[judged >= self.relevant_from], judged[judged < self.relevant_from])
        relevant = relevant if len(relevant) else np.array([self.relevant_from])
        irrelevant = irrelevant if len(irrelevant) else np.zeros(1)
        levels = np.unique(np.concatenate([relevant, irrelevant]))
        shares = [(levels[:, None] <= grades).mean(axis=1)[:, None] for grades in (relevant, irrelevant)]
        return levels, rates * shares[0] + (1 - rates) * shares[1]

    def draw(self, levels: FloatArray, chances: FloatArray, seed: int) -> FloatArray:
        """Draw (n_unjudged,) grades, the same for all rerankers, whatever other documents there are.

        Shapes: `levels` (n_levels,) grades, `chances` (n_levels, n_unjudged) to reach each.
        """
        is_reached = uniforms(self.hashes[~self.is_judged], seed) < chances[1:]
        return np.asarray(levels[is_reached.sum(axis=0)])

    def grade_draws(self, rate: float | None, depth: int) -> Callable[[int], FloatArray]:
        """Return a function that draws (n_unjudged,) grades by seed, at a rate or from the grade model."""
        if rate is not None:
            return partial(self.draw, *self._grade_chances(self.unjudged_rates(rate, depth)))
        model = self.grade_model(depth)
        return lambda seed: self.draw(model.levels, model.chances(seed), seed)


def _unlisted(runs: Runs) -> tuple[IntArray, FloatArray]:
    """Return query and grade of each judged document that no reranker lists."""
    if runs.qrels is None:
        return np.zeros(0, np.int64), np.zeros(0)
    is_unlisted = runs.qrels["relevance"].to_numpy() >= 0
    for stack in runs.matched_stacks.stacks:
        if stack.judgment is not None:
            is_unlisted[stack.judgment[stack.judgment >= 0]] = False
    judgments = Judgments.of(runs.qrels, runs.judged_pairs)
    return judgments.lists[is_unlisted], judgments.grades[is_unlisted]
