"""What unjudged documents leave open of the difference of two lists, which share their grades."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metrics.measures.holes.model import Holes
from metrics.measures.holes.weighted import Total, weights_of_judged
from metrics.measures.weights import Weight
from metrics.runs.query_doc_keys import Hashes
from metrics.support.arrays import FloatArray, IntArray

Parameter = float | None


@dataclass(frozen=True, eq=False)
class Shares:
    """What documents add to the values of the lists of a reranker, before they are divided by what is ideal.

    Attributes:
        best: (n_lists,) gain of judged documents, ties in their best order.
        worst: (n_lists,) the same, in their worst order.
        lists: (n_members,) list of each unjudged document that may weigh something.
        hashes: (n_members,) a number of each pair of query and document.
        top_shares: (n_members, n_levels) what each adds at most as its grade rises to a level.
        bottom_shares: (n_members, n_levels) what it adds at least.
        ideal: (2, n_lists) smallest and largest divisor over all judgments.
    """

    best: FloatArray
    worst: FloatArray
    lists: IntArray
    hashes: Hashes
    top_shares: FloatArray
    bottom_shares: FloatArray
    ideal: FloatArray

    def most_above(self, other: "Shares") -> FloatArray:
        """Return (n_lists,) what each list is above that of another reranker at most; infinite if unknown.

        An unjudged document adds at most its share here, and takes away at least its share there, each as if no
        other one were relevant; it has the grade for which the two differ most. The divisor is the same for
        both lists: the smallest where the list may be above, the largest where it is below for certain.
        """
        order = np.argsort(other.hashes, kind="stable")
        place = np.minimum(np.searchsorted(other.hashes, self.hashes, sorter=order), len(order) - 1)
        opposed = np.zeros_like(self.top_shares)
        if len(order):
            row = order[place]
            is_shared = other.hashes[row] == self.hashes
            opposed[is_shared] = other.bottom_shares[row[is_shared]]
        gains = np.cumsum(self.top_shares - opposed, axis=1).max(axis=1, initial=0.0)
        above = self.best - other.worst + np.bincount(self.lists, gains, minlength=len(self.best))
        smallest, largest = self.ideal
        divisor = np.where(above > 0, smallest, largest)
        unknown = np.where(above > 0, np.inf, 0.0)
        return np.asarray(np.divide(above, divisor, out=unknown, where=divisor > 0))


def shares_of(
    weight: Weight, of_grade: Callable[[FloatArray], FloatArray] | None, total: Total | None
) -> Callable[[Holes, Parameter], Shares]:
    """Return what documents add to a measure of gains weighted by place.

    Args:
        weight: what each place weighs, less the lower it is.
        of_grade: gain of a grade; None: 1 for relevant documents.
        total: what the gain of a level is divided by, which grows with its documents; None: nothing.
    """

    def shares(holes: Holes, k: Parameter) -> Shares:
        levels = holes.relevant_level if of_grade is None else slice(None)
        steps = np.ones(1) if of_grade is None else np.diff(of_grade(np.append(0.0, holes.grades)))
        worst, best = (gains.T.copy() @ steps for gains in weights_of_judged(holes, weight, k, levels))
        limit = weight.depth(k)
        ranking = holes.ranking
        members = np.flatnonzero(~ranking.judged & (holes.above[ranking.groups] < limit))
        group = ranking.groups[members]
        counts = holes.counts[levels][:, group].T
        first, last = holes.above[group, None] + counts, holes.end[group, None] - counts - 1
        top_shares, bottom_shares = (
            weight.span(np.minimum(top, limit), np.minimum(top + 1, limit), k) * steps for top in (first, last)
        )
        ideal = np.ones((2, holes.n_lists))
        if total is not None:
            judged = holes.judged[levels].T.astype(np.float64, order="C")
            fullest = judged + np.reshape(holes.n_open, (-1, 1))
            ideal = np.stack([(total(documents, k) * steps).sum(axis=1) for documents in (judged, fullest)])
        hashes = ranking.pairs.hashes[ranking.rows[members]]
        return Shares(best, worst, holes.lists[group], hashes, top_shares, bottom_shares, ideal)

    return shares
