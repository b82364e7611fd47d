"""Measures that add up what each document is worth alone, of which expectations over grades are sums, too."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.measures.model import Parameter
from metrics.measures.weights import Weight
from metrics.support.arrays import FloatArray
from metrics.ties import Ranking


class LinearMoments(NamedTuple):
    """What grades that are not known, and ties, leave of the value of each list.

    Attributes:
        mean: (n_lists,) its expectation.
        of_grades: (n_lists,) variance of its tied value over grades.
        of_ties: (n_lists,) mean over grades of its variance over ties.
    """

    mean: FloatArray
    of_grades: FloatArray
    of_ties: FloatArray


@dataclass(frozen=True)
class Linear:
    """A measure that adds up gains by place, times a number that no judgment moves.

    Attributes:
        of_grade: gain of a grade; None: 1 for relevant documents.
        weight: what each place weighs.
        factor: of the parameter: what the sum is multiplied by.
    """

    of_grade: Callable[[FloatArray], FloatArray] | None
    weight: Weight
    factor: Callable[[Parameter], float]

    def gains(self, grades: FloatArray, relevant_from: float) -> FloatArray:
        """Return (n,) what documents of some grades are worth."""
        return (grades >= relevant_from).astype(np.float64) if self.of_grade is None else self.of_grade(grades)

    def moments(
        self, ranking: Ranking, gains: FloatArray, variances: FloatArray, k: Parameter
    ) -> LinearMoments:
        """Return expectation and variances where grades are independent of one another.

        A document of a group of n has each of its places alike, so with W the weights of these the mean is the
        sum of E[g] W/n over documents, and grades move it by the sum of Var[g] (W/n)^2. Ties move it by the sum
        over groups of the spread of the weights times E[sum (g - mean g)^2]/(n - 1), and E[sum (g - mean g)^2]
        = sum (E[g] - mean E[g])^2 + (1 - 1/n) sum Var[g].

        Args:
            ranking: the lists.
            gains: (n_docs,) mean of what each document is worth.
            variances: (n_docs,) its variance.
            k: cut-off, or parameter of the weight.
        """
        limit = self.weight.depth(k)
        size, owner = ranking.sizes, ranking.groups
        top, end = (np.minimum(place, limit) for place in (ranking.above, ranking.above + size))
        share = self.weight.span(top, end, k) / size
        totals, unknown = (np.bincount(owner, values, minlength=len(size)) for values in (gains, variances))
        apart = np.bincount(owner, (gains - (totals / size)[owner]) ** 2, minlength=len(size))
        places = top.astype(np.intp), end.astype(np.intp)
        spread = self.weight.spread(*places, size, k) * (apart + (1 - 1 / size) * unknown)
        factor = self.factor(k)
        sums = (totals * share, unknown * share**2, spread / np.maximum(size - 1, 1))
        mean, of_grades, of_ties = (
            np.bincount(ranking.group_lists, values, minlength=ranking.n_lists).astype(np.float64)
            for values in sums
        )
        return LinearMoments(factor * mean, factor**2 * of_grades, factor**2 * of_ties)
