"""Binary preference: relevant documents, discounted by the judged irrelevant documents above them."""

import numpy as np

from metrics.measures.model import Family, Parameter
from metrics.support.arrays import FloatArray
from metrics.ties.groups import TieGroups


def _mean(groups: TieGroups, _: Parameter) -> FloatArray:
    """Return expected binary preference.

    A relevant document is worth f(x) = max(0, 1 - x/D) with x judged irrelevant documents above it, D the
    smaller of N and R. With a of these above its tie and s inside, a + J are above it, J uniform on 0 to s:

    E = 1/R * sum over groups of r/(s + 1) * sum over j = 0..s of f(a + j).

    A list whose query has no relevant document scores 0. Unjudged documents, and those with a grade below 0, do
    not count.

    Source: Buckley & Voorhees, SIGIR 2004, as m_bpref.c of trec_eval 9 has it.
    """
    first, n_worthy, depth = _worths(groups)
    sums = n_worthy * (first - (n_worthy - 1) / (2 * depth))
    terms = groups.relevant * sums / (groups.nonrelevant + 1)
    return groups.per_list(terms) / np.maximum(groups.n_relevant, 1)


def _variance(groups: TieGroups, _: Parameter) -> FloatArray:
    """Return the variance of binary preference.

    Two relevant documents of a tie have i and j of its s irrelevant ones above them with chance
    (1 + [i = j]) / ((s + 1)(s + 2)). So their worths have covariance v/(s + 2), v the variance of one:

    Var = 1/R^2 * sum over groups of r * (s + r + 1)/(s + 2) * v.

    Of the s + 1 worths, t fall in steps of 1/D and the others are 0, so (s + 1) * v is
    t(t^2 - 1)/(12 D^2) + t(s + 1 - t)/(s + 1) * w^2, w the mean of the t.
    """
    first, n_worthy, depth = _worths(groups)
    n_worths, r = groups.nonrelevant + 1, groups.relevant
    mean_worth = first - (n_worthy - 1) / (2 * depth)
    squares = n_worthy * (n_worthy**2 - 1) / (12 * depth**2)
    squares = squares + n_worthy * ((n_worths - n_worthy) / n_worths) * mean_worth**2
    terms = r * ((n_worths + r) / (n_worths + 1)) * squares / n_worths
    return groups.per_list(terms) / np.square(np.maximum(groups.n_relevant, 1.0))


def _worths(groups: TieGroups) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (n_groups,) the first worth of each tie, how many of its worths are above 0, and D."""
    depth = np.maximum(np.minimum(groups.n_nonrelevant, groups.n_relevant), 1).astype(np.float64)[groups.lists]
    n_in_reach = np.maximum(depth - groups.above_in_list(groups.nonrelevant), 0)
    return n_in_reach / depth, np.minimum(n_in_reach, groups.nonrelevant + 1.0), depth


bpref = Family("bpref", _mean, _variance, "judged")
