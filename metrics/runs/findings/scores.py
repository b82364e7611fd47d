"""What the scores show: one value, the ends of a scale, infinities, a few grades."""

import numpy as np

from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import Listing
from metrics.support.wording import count_of, describe_part, part_of, percent

_MIN_VALUES = 3
_MIN_SHARE = 0.1
_CROWDED = 2
"""How many times what a value between 0 and 1 holds."""
_MAX_GRADES = 21


def _has_one_score(listing: Listing) -> bool:
    return listing.tied > 0 and bool((listing.scores == listing.scores[0]).all())


def constant_run(listing: Listing) -> list[Finding]:
    """Report one score for all documents of the run."""
    if not _has_one_score(listing):
        return []
    n_docs, score = len(listing.scores), float(listing.scores[0])
    message = f"All of its {count_of(n_docs, 'document')} have the score {score!r}."
    return [listing.finding("constant-run", message, row=0, count=n_docs)]


def constant_lists(listing: Listing) -> list[Finding]:
    """Report lists of two documents or more with one score."""
    level = np.bincount(listing.group_lists, minlength=len(listing.list_sizes)) == 1
    level &= listing.list_sizes > 1
    if _has_one_score(listing):
        return []
    return listing.list_findings("constant-lists", level, "give one score to all documents")


def saturated(listing: Listing) -> list[Finding]:
    """Report ties at exactly 0 and exactly 1, where scores lie between them.

    A scale of a few levels has ties between its ends, too. It is saturated where an end holds far more
    documents than a value between the ends.
    """
    values, n_docs = listing.values, len(listing.scores)
    if len(values) < _MIN_VALUES or values[0] < 0 or values[-1] > 1 or np.isinf(listing.scores).any():
        return []
    at_end = {end: (listing.scores[listing.starts] == end) & (listing.sizes > 1) for end in (0, 1)}
    tied = {end: int(listing.sizes[groups].sum()) for end, groups in at_end.items()}
    n_tied = sum(tied.values())
    between = (values > 0) & (values < 1)
    usual = ((listing.scores > 0) & (listing.scores < 1)).sum() / between.sum()
    if n_tied < _MIN_SHARE * n_docs or max(tied.values()) < _CROWDED * usual:
        return []
    message = (
        f"{_share(n_tied, n_docs)} are tied at an end of the scale: {tied[0]:,} at exactly 0, "
        f"{tied[1]:,} at exactly 1."
    )
    row = listing.order[listing.starts[at_end[0] | at_end[1]]].min()
    return [listing.finding("saturated", message, row=row, count=n_tied)]


def infinite(listing: Listing) -> list[Finding]:
    """Report infinite scores."""
    above, below = (np.flatnonzero(listing.scores == end) for end in (np.inf, -np.inf))
    n_docs = len(above) + len(below)
    if not n_docs:
        return []
    infinities = describe_part(n_docs, len(listing.scores), "score", "are infinite")
    message = f"{infinities}: {len(above):,} inf, {len(below):,} -inf."
    row = listing.order[np.concatenate([above, below])].min()
    return [listing.finding("infinite", message, row=row, count=n_docs)]


def graded(listing: Listing) -> list[Finding]:
    """Report ties among a few whole numbers."""
    values = listing.values
    if not listing.tied or not 1 < len(values) <= _MAX_GRADES or (values != np.rint(values)).any():
        return []
    message = (
        f"Scores are {len(values)} different whole numbers from {values[0]:g} to {values[-1]:g}; "
        f"{_share(listing.tied, len(listing.scores))} are tied."
    )
    return [listing.finding("graded", message, count=listing.tied)]


def _share(part: int, n_docs: int) -> str:
    return f"{part_of(part, n_docs, 'document')} ({percent(part / n_docs)})"
