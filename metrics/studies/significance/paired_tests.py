"""The paired tests of significance: what each says of two rerankers on the same queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import NamedTuple

import numpy as np
from scipy import stats

from metrics.evaluation import EQUAL
from metrics.studies.significance.resampling import (
    CELLS,
    DRAWS,
    EXACT,
    MANY_COMPARISONS,
    MANY_DRAWS,
    MANY_QUERIES,
    every_flip,
    flipped_sums,
    percentile_interval,
    resampled_means,
    settled,
    share_as_far,
)
from metrics.support.arrays import FloatArray

Pair = tuple[int, int]
"""Columns of a baseline and of a reranker."""


class TestResult(NamedTuple):
    """What a test says of a pair: p, the interval of the difference of means, and what to know of it."""

    p: float
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Who is compared with whom, on which values.

    Attributes:
        scores: (n_queries, n_rerankers); NaN where a reranker has no value, which paired tests never get.
        pairs: who is compared with whom; differences are the second's minus the first's.
        level: of the intervals, such as 0.95.
        seed: of what is drawn.
        comparisons: how many are corrected for, these among them.
    """

    scores: FloatArray
    pairs: Sequence[Pair]
    level: float = 0.95
    seed: int = 0
    comparisons: int = 1

    def differences(self, pair: Pair) -> FloatArray:
        """(n_queries,) differences, exactly 0 where they are rounding."""
        return settled(self.scores[:, pair[1]] - self.scores[:, pair[0]])


Ask = Callable[[Comparison], list[TestResult]]


def constant(values: FloatArray) -> bool:
    """Whether values differ by rounding only."""
    return bool(np.ptp(values) <= 2 * EQUAL)


def stated(differences: FloatArray) -> TestResult | None:
    """The answer where a test has none of its own: too few queries, or differences that do not vary."""
    n = len(differences)
    if n > 1 and not constant(differences):
        return None
    return unvarying(n, float(differences.mean()) if n else 0.0)


def unvarying(n: int, difference: float) -> TestResult:
    """The answer where n queries differ by the same.

    Other than 0, that gives a t without bound, which would make two queries proof. Signs can still be
    flipped: all n agree by chance in 2 of 2^n cases.
    """
    if n < 2:  # noqa: PLR2004 a spread needs two
        return TestResult(
            1.0, difference, difference, f"{('no', 'one')[n]} query in common: nothing can be tested"
        )
    if abs(difference) <= EQUAL:
        return TestResult(1.0, 0.0, 0.0, "no query differs")
    note = "every query differs by the same: p is that of all signs agreeing by chance, dz has no bound"
    return TestResult(2.0 ** (1 - n), difference, difference, note)


def _varying(ask: Ask) -> Ask:
    """The same test, asked only where differences vary."""

    @wraps(ask)
    def asked(question: Comparison) -> list[TestResult]:
        known = [stated(question.differences(pair)) for pair in question.pairs]
        open_pairs = [pair for pair, answer in zip(question.pairs, known, strict=True) if answer is None]
        found = iter(ask(replace(question, pairs=open_pairs)) if open_pairs else ())
        return [next(found) if answer is None else answer for answer in known]

    return asked


@_varying
def t_test(question: Comparison) -> list[TestResult]:
    """T = mean / (sd / sqrt(n)) of the differences, n - 1 degrees of freedom; the interval is that of t."""
    answers = []
    size = max(1, CELLS // len(question.scores))
    for start in range(0, len(question.pairs), size):
        pairs = question.pairs[start : start + size]
        found = stats.ttest_1samp(np.column_stack([question.differences(pair) for pair in pairs]), 0, axis=0)
        low, high = found.confidence_interval(question.level)
        answers += [
            TestResult(float(p), float(a), float(b)) for p, a, b in zip(found.pvalue, low, high, strict=True)
        ]
    return answers


@_varying
def wilcoxon(question: Comparison) -> list[TestResult]:
    """Rank sum of the positive among the differences that are not 0; interval by bootstrap.

    Exact with up to 13 such differences, or up to 50 without ties among them; else normal, its variance
    corrected for ties. Zeros go first: of five differences and forty zeros, the normal approximation finds
    a p below any that five signs can give.
    """
    return [
        answer._replace(p=_signed_rank(question.differences(pair)), note="")
        for pair, answer in zip(question.pairs, _resampled(question), strict=True)
    ]


def _signed_rank(differences: FloatArray) -> float:
    left = differences[differences != 0]
    if len(left) > EXACT:
        return float(stats.wilcoxon(left).pvalue)
    return every_flip(np.sign(left) * stats.rankdata(np.abs(left)))


@_varying
def randomisation(question: Comparison) -> list[TestResult]:
    """Chance of a mean as far from 0 if each query could as well have gone to the other reranker.

    Exact with up to 13 differences that are not 0, else from random flips. The interval is by bootstrap.
    """
    few = len(question.scores) > MANY_QUERIES and question.comparisons <= MANY_COMPARISONS
    draws = DRAWS if few else MANY_DRAWS
    differences = {pair: question.differences(pair) for pair in question.pairs}
    exact = {pair for pair, values in differences.items() if np.count_nonzero(values) <= EXACT}
    drawn = len(exact) < len(differences)
    sums = flipped_sums(question.scores, draws, question.seed) if drawn else np.empty((0, 0))
    answers = []
    for (pair, values), answer in zip(differences.items(), _resampled(question), strict=True):
        p, hits = (
            (every_flip(values), 1)
            if pair in exact
            else share_as_far(sums[:, pair[1]] - sums[:, pair[0]], values)
        )
        answers.append(answer._replace(p=p, note=_coarse(hits, p, question)))
    return answers


@_varying
def bootstrap(question: Comparison) -> list[TestResult]:
    """Percentile interval of the mean difference, widened for few queries; p is where it leaves 0 out.

    Of few queries that differ, resamples that hold none of them are too rare: five of 43 on one side give
    p = 0.01, though five signs agree by chance in one of 16 cases. That is noted.
    """
    answers = []
    for pair, answer in zip(question.pairs, _resampled(question), strict=True):
        differing = np.count_nonzero(question.differences(pair))
        said = f"only {differing} queries differ: the randomisation test is exact there, this one too sure"
        answers.append(answer._replace(note=said) if differing <= EXACT else answer)
    return answers


def _resampled(question: Comparison) -> list[TestResult]:
    means = resampled_means(question.scores, question.seed)
    answers = []
    for baseline, reranker in question.pairs:
        resampled = means[:, reranker] - means[:, baseline]
        p, low, high, rarer = percentile_interval(resampled, len(question.scores), question.level)
        answers.append(TestResult(p, low, high, _coarse(rarer, p, question)))
    return answers


def _coarse(hits: int, p: float, question: Comparison) -> str:
    """What to say where no draw reached a value, and corrected for all comparisons that proves nothing."""
    if hits or p * question.comparisons < 1 - question.level:
        return ""
    return f"no draw reaches it, so p is at most this: too coarse for {question.comparisons:,} comparisons"
