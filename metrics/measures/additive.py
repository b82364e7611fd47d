"""Measures that add up gains, weighted by rank."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from metrics.errors import UsageError
from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray, IntArray, span_lengths
from metrics.ties.groups import Judgments, TieGroups


@dataclass(frozen=True)
class Weight:
    """Weights of ranks 1, 2, ...

    Attributes:
        each: (ranks, parameter) → weight of each rank.
        span: (tops, ends, parameter) → sum of the weights of ranks top + 1 to end; whole numbers, any shape.
        endless: true if the parameter belongs to the weight; no cut-off applies.
    """

    each: Callable[[FloatArray, Parameter], FloatArray]
    span: Callable[[FloatArray, FloatArray, Parameter], FloatArray]
    endless: bool = False

    def spread(self, top: IntArray, end: IntArray, size: IntArray, k: Parameter) -> FloatArray:
        """Return the (n_groups,) sum of (w - mean w)^2 over the ranks of groups; past `end` they weigh 0."""
        start = np.cumsum(end - top) - (end - top)
        owner = np.repeat(np.arange(len(size)), end - top)
        place = np.arange(len(owner)) - start[owner] + top[owner]
        each = self.each(place + 1.0, k)
        mean_weight = np.bincount(owner, each, minlength=len(size)) / size
        within = np.bincount(owner, (each - mean_weight[owner]) ** 2, minlength=len(size))
        return np.asarray(within + (size - (end - top)) * mean_weight**2)


def _logarithmic_span(tops: FloatArray, ends: FloatArray, _: Parameter) -> FloatArray:
    upto = _discounts(1 << int(ends.max(initial=0)).bit_length())
    return np.asarray(upto.take(ends.astype(np.int64)) - upto.take(tops.astype(np.int64)))


def _persistent(places: FloatArray, p: Parameter) -> FloatArray:
    share = p or 0.0
    return np.asarray((1 - share) * share ** (places - 1))


def _persistent_span(tops: FloatArray, ends: FloatArray, p: Parameter) -> FloatArray:
    share = p or 0.0
    return np.asarray(-(share**tops) * np.expm1((ends - tops) * np.log(share)))


even = Weight(lambda places, _: np.ones(len(places)), lambda tops, ends, _: ends - tops)
"""Every place weighs 1."""
logarithmic = Weight(lambda places, _: 1 / np.log2(places + 1), _logarithmic_span)
"""1 / log2(place + 1)."""
persistent = Weight(_persistent, _persistent_span, endless=True)
"""(1 - p) * p^(place - 1)."""


@lru_cache(maxsize=1)
def _discounts(depth: int) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2.0, depth + 2)))])


Gain = Callable[[TieGroups], FloatArray]
Scale = Callable[[TieGroups, Parameter], FloatArray | float]
"""(tie groups, parameter) → (n_lists,) factor of a sum of gains, or one number."""


def _unscaled(*_: object) -> float:
    return 1.0


def relevant(groups: TieGroups) -> FloatArray:
    """Return 1 for a relevant document."""
    return groups.hits.astype(np.float64)


def judged(groups: TieGroups) -> FloatArray:
    """Return 1 for every contributing document."""
    return np.ones(len(groups.grades))


LARGEST_GRADE = 500
"""Largest grade with its full exponential gain: squares of larger gains overflow."""


def exponential(grades: FloatArray) -> FloatArray:
    """Return 2^grade - 1, 0 below 0; grades above 500 gain the same as 500."""
    return np.exp2(np.clip(grades, 0, LARGEST_GRADE)) - 1


def _scaled_gains(grades: FloatArray, exponents: FloatArray) -> FloatArray:
    """Return (2^grade - 1) / 2^exponent, 0 below 0."""
    return np.exp2(np.maximum(grades, 0) - exponents) - np.exp2(-np.asarray(exponents))


def _excess(judgments: Judgments) -> FloatArray:
    """Return (n_queries,) how far the highest grade of each query exceeds `LARGEST_GRADE`."""
    queries, place, grades = judgments.best_first
    excess = np.zeros(len(judgments.query_ids))
    excess[queries[place == 0]] = np.maximum(grades[place == 0] - LARGEST_GRADE, 0)
    return excess


def _exponential_in_list(groups: TieGroups) -> FloatArray:
    """Return exponential gains; those of lists with grades above 500 are divided by a power of two."""
    if groups.judgments.levels.max(initial=0) <= LARGEST_GRADE:
        return exponential(groups.grades)
    excess = groups.judgments.by_list(_excess(groups.judgments))
    return _scaled_gains(groups.grades, excess[groups.lists][groups.owner])


def linear(grades: FloatArray) -> FloatArray:
    """Return the grade, 0 below 0."""
    return np.maximum(grades, 0.0)


def additive(
    gain: Gain,
    weight: Weight = even,
    scale: Scale = _unscaled,
    *,
    counts_all: bool = False,
    cut: Callable[[TieGroups], FloatArray] | None = None,
) -> Family:
    """Return a measure that is scale * sum over documents of weight(rank) * gain, up to the cut-off.

    E = scale * sum over groups of mean(gain) * (W[b + n] - W[b]), W the prefix sum of the weights, constant
    past the cut-off. Groups are shuffled independently, so

    Var = scale^2 * sum over groups of sum (w - mean w)^2 * sum (g - mean g)^2 / (n - 1).

    Shapes: `gain` (n_contributing,), `scale` (n_lists,), `cut` (n_lists,).

    Source: McSherry & Najork, ECIR 2008.
    """

    def reach(groups: TieGroups, k: Parameter) -> tuple[FloatArray, FloatArray]:
        """Return how many ranks within the cut-off precede the top and the end of each group."""
        limit: FloatArray | float = np.inf if k is None or weight.endless else k
        if cut is not None:
            limit = cut(groups)[groups.lists]
        return np.minimum(groups.above, limit), np.minimum(groups.above + groups.size, limit)

    def mean(groups: TieGroups, k: Parameter) -> FloatArray:
        terms = groups.sum(gain(groups)) / groups.size * weight.span(*reach(groups, k), k)
        return groups.per_list(terms) * scale(groups, k)

    def variance(groups: TieGroups, k: Parameter) -> FloatArray:
        if not len(groups.lists):
            return np.zeros(groups.judgments.n_lists)
        gains = gain(groups)
        average = groups.sum(gains) / groups.size
        n_gaining = span_lengths(groups.first, len(gains))
        gain_spread = groups.sum((gains - average[groups.owner]) ** 2) + (groups.size - n_gaining) * average**2
        open_groups = np.flatnonzero((groups.size > 1) & (gain_spread > 0))
        if not len(open_groups):
            return np.zeros(groups.judgments.n_lists)
        top, end = (bound[open_groups].astype(np.intp) for bound in reach(groups, k))
        size = groups.size[open_groups]
        variances = np.zeros(len(groups.size))
        variances[open_groups] = weight.spread(top, end, size, k) * gain_spread[open_groups] / (size - 1)
        return groups.per_list(variances) * np.square(scale(groups, k))

    counts: Literal["graded", "judged"] = "judged" if counts_all else "graded"
    return Family("additive", mean, variance, counts, by_relevance=gain is relevant)


def of_grades(gain: Callable[[FloatArray], FloatArray], scale: Scale = _unscaled) -> Family:
    """Return the measure of gains of grades, discounted by the logarithm of the rank."""
    return additive(lambda groups: gain(groups.grades), logarithmic, scale)


def per_k(_: TieGroups, k: Parameter) -> float:
    """Return 1 / k."""
    return 1 / (k or 1)


def per_relevant(groups: TieGroups, _: Parameter) -> FloatArray:
    """Return 1 / R, 0 without relevant documents."""
    return _inverse(groups.n_relevant.astype(np.float64))


def per_capped(groups: TieGroups, k: Parameter) -> FloatArray:
    """Return 1 / min(k, R), 0 without relevant documents."""
    return _inverse(np.minimum(groups.n_relevant.astype(np.float64), k or np.inf))


def per_listed(groups: TieGroups, _: Parameter) -> FloatArray:
    """Return 1 / n, n the documents of the list; 0 for an empty list."""
    return _inverse(groups.n_docs.astype(np.float64))


def f1_of_set(groups: TieGroups, _: Parameter) -> FloatArray:
    """Return 2 / (n + R): the harmonic mean of set_P and set_R is 2 * listed relevant documents / (n + R)."""
    return _inverse(np.asarray(groups.n_docs + groups.n_relevant, np.float64) / 2)


def number(count: Callable[[TieGroups], IntArray]) -> Family:
    """Return a number of documents, which no order changes: `count` gives (n_lists,)."""
    return Family(
        "additive",
        lambda groups, _: count(groups).astype(np.float64),
        lambda groups, _: np.zeros(groups.judgments.n_lists),
    )


def unjudged() -> Family:
    """Return (min(k, n) - judged documents in the first k) / k; its variance is that of Judged@k.

    The order with most judged documents first gives the smallest value, so best and worst order change places.
    """
    judged_share = additive(judged, scale=per_k, counts_all=True)

    def mean(groups: TieGroups, k: Parameter) -> FloatArray:
        return np.asarray(np.minimum(groups.n_docs, k or 0) / (k or 1) - judged_share.mean(groups, k))

    return replace(judged_share, mean=mean, falls=True)


def f1(groups: TieGroups, k: Parameter) -> FloatArray:
    """Return 2 / (k + R): the harmonic mean of P@k and R@k is 2 * relevant in the top k / (k + R)."""
    return np.asarray(2 / ((k or 0) + np.maximum(groups.n_relevant, 1).astype(np.float64)))


def normalised_gain() -> Family:
    """Return nDCG with exponential gains; for lists with grades above 500 both sums are divided alike."""
    return additive(_exponential_in_list, logarithmic, per_ideal(exponential, _excess))


def mapped_gain(gains: Mapping[float, float]) -> Family:
    """Return nDCG with a gain for each grade; grades of 0 and below gain nothing.

    Raises:
        UsageError: a gain is negative, falls with the grade, or is above 0 for a grade of 0. When values are
            computed: a grade has no gain.
    """
    grades, values = (np.array(column, np.float64) for column in zip(*sorted(gains.items()), strict=True))
    if (values < 0).any() or (np.diff(values) < 0).any() or (values[grades <= 0] != 0).any():
        raise UsageError("gains: a gain must be 0 for grades up to 0, and not fall with the grade.")

    def gain(levels: FloatArray) -> FloatArray:
        place = np.minimum(np.searchsorted(grades, levels), len(grades) - 1)
        unknown = levels[(grades[place] != levels) & (levels > 0)]
        if len(unknown):
            raise UsageError(f"gains: the grade {unknown[0]:g} has no gain. Add {unknown[0]:g}:GAIN.")
        return np.where(levels > 0, values[place], 0.0)

    return of_grades(gain, per_ideal(gain))


def per_ideal(
    gain: Callable[[FloatArray], FloatArray], excess: Callable[[Judgments], FloatArray] | None = None
) -> Scale:
    """Return 1 / the discounted gain of all judged documents in their best order, within the cut-off."""

    def scale(groups: TieGroups, k: Parameter) -> FloatArray:
        judgments = groups.judgments
        if (gain, k) not in judgments.memo:
            lists, place, grades = judgments.best_first
            within = slice(None) if k is None else place < k
            gains = gain(grades[within])
            if excess is not None and judgments.levels.max(initial=0) > LARGEST_GRADE:
                gains = _scaled_gains(grades[within], excess(judgments)[lists[within]])
            gained = gains / np.log2(place[within] + 2.0)
            ideals = np.bincount(lists[within], gained, minlength=len(judgments.query_ids))
            judgments.memo[gain, k] = _inverse(ideals.astype(np.float64))
        return judgments.by_list(judgments.memo[gain, k])

    return scale


def _inverse(values: FloatArray) -> FloatArray:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
