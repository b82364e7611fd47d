"""Whether the order of the file, which decides ties where nothing else does, knows what is relevant."""

from dataclasses import dataclass

import numpy as np

from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import RELEVANT_FROM, Listing
from metrics.runs.findings.wording import count_of, format_percent

_UNLIKELY = 4
"""Standard deviations from chance that are told: once in 16,000 clean runs."""


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


def places(listing: Listing) -> TiePlaces | None:
    """TiePlaces of relevant documents inside ties in the order of the file; None where no tie is mixed.

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
    at = np.flatnonzero(relevant)
    group = np.searchsorted(listing.starts, at, side="right") - 1
    place = (at - listing.starts[group] + 1)[mixed[group]]
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
    """Ties whose order in the file goes with relevance by more than chance."""
    found = places(listing)
    if found is None or abs(found.z) <= _UNLIKELY:
        return []
    where, how = ("before", "better") if found.z < 0 else ("behind", "worse")
    message = (
        f"In {count_of(found.n_ties, 'tie')} of relevant and other documents, relevant ones are listed {where} "
        f"the others: mean place {found.mean:.2f}, by chance {found.expected:.2f} "
        f"({abs(found.z):.1f} standard deviations). {format_percent(found.first)} of these ties begin with a "
        f"relevant document, by chance {format_percent(found.expected_first)}. "
        f"Scored in file order, the run tends to look {how} than it is."
    )
    return [listing.finding("order-leaks", message, row=found.row, count=found.n_ties)]
