"""Whether the order of the file, which decides ties where nothing else does, knows what is relevant."""

from dataclasses import dataclass

import numpy as np

from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import RELEVANT_FROM, Listing
from metrics.support.wording import count_of, percent

_MIN_Z = 4
"""Standard deviations from chance that are reported: chance alone gives them once in 16,000 clean runs."""


@dataclass(frozen=True)
class TiePlaces:
    """Where relevant documents stand in ties that hold others, too; places count from 1 in each tie.

    Attributes:
        n_ties: ties that mix relevant and other documents.
        mean: mean place of their relevant documents.
        expected: the same if every order of a tie were as likely.
        deviation: standard deviation of that mean.
        first: share of these ties that begin with a relevant document.
        expected_first: the same if every order of a tie were as likely.
        row: first row of these ties.
    """

    n_ties: int
    mean: float
    expected: float
    deviation: float
    first: float
    expected_first: float
    row: int

    @property
    def z(self) -> float:
        """How many standard deviations the mean place is from chance."""
        return (self.mean - self.expected) / self.deviation


def tie_places(listing: Listing) -> TiePlaces | None:
    """Return where relevant documents stand in ties, in the order of the file; None where no tie is mixed.

    In a tie of n documents with r relevant, their places sum to r(n+1)/2 on average, with variance
    r(n-r)(n+1)/12: the rank-sum statistic. Ties are independent.
    """
    if listing.grades is None:
        return None
    n, r = listing.sizes, listing.relevant
    mixed = (r > 0) & (r < n)
    if not mixed.any():
        return None
    relevant = listing.grades[listing.order] >= RELEVANT_FROM
    positions = np.flatnonzero(relevant)
    group = np.searchsorted(listing.starts, positions, side="right") - 1
    place = (positions - listing.starts[group] + 1)[mixed[group]]
    starts, n, r = listing.starts[mixed], n[mixed], r[mixed]
    return TiePlaces(
        n_ties=len(n),
        mean=float(place.mean()),
        expected=float((r * (n + 1)).sum() / 2 / r.sum()),
        deviation=float(np.sqrt((r * (n - r) / 12 * (n + 1)).sum()) / r.sum()),
        first=float(relevant[starts].mean()),
        expected_first=float((r / n).mean()),
        row=int(listing.order[starts].min()),
    )


def order_leaks(listing: Listing) -> list[Finding]:
    """Report ties whose order in the file goes with relevance by more than chance."""
    places = tie_places(listing)
    if places is None or abs(places.z) <= _MIN_Z:
        return []
    side, verdict = ("before", "better") if places.z < 0 else ("behind", "worse")
    message = (
        f"In {count_of(places.n_ties, 'tie')} of relevant and other documents, relevant ones are listed {side} "
        f"the others: mean place {places.mean:.2f}, by chance {places.expected:.2f} "
        f"({abs(places.z):.1f} standard deviations). {percent(places.first)} of these ties begin with a "
        f"relevant document, by chance {percent(places.expected_first)}. "
        f"Scored in file order, the run tends to look {verdict} than it is."
    )
    return [listing.finding("order-leaks", message, row=places.row, count=places.n_ties)]
