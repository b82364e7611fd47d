"""What the lists show: their length, ties across cut-offs, ranks that disagree."""

import numpy as np
import pyarrow as pa

from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import Listing
from metrics.support.arrays import span_starts
from metrics.support.wording import part_of

CUTOFFS = (1, 3, 5, 10)
"""Cut-offs that ties are held against."""


def one_document(listing: Listing) -> list[Finding]:
    """Report lists of a single document."""
    return listing.list_findings("one-document", listing.list_sizes == 1, "hold a single document")


def straddles(listing: Listing) -> list[Finding]:
    """Report ties of which some documents are within a cut-off and some are not."""
    below = listing.above + listing.sizes
    across = {k: np.flatnonzero((listing.above < k) & (below > k)) for k in CUTOFFS}
    groups = np.unique(np.concatenate(list(across.values())))
    if not len(groups):
        return []
    n_lists = len(np.unique(listing.group_lists[groups]))
    each = ", ".join(f"{len(tied):,} at {k}" for k, tied in across.items() if len(tied))
    message = f"Ties lie across a cut-off in {part_of(n_lists, len(listing.list_sizes), 'list')}: {each}."
    row = listing.order[listing.starts[groups]].min()
    return [listing.finding("straddles", message, row=row, count=n_lists)]


def rank_disagrees(listing: Listing) -> list[Finding]:
    """Report lists in which a document has a better rank than one of higher score, where both are ranked."""
    if "rank" not in listing.table.column_names:
        return []
    ranks = listing.table["rank"].cast(pa.float64()).to_numpy()[listing.order]
    stated = np.flatnonzero(~np.isnan(ranks))
    group = np.searchsorted(listing.starts, stated, side="right") - 1
    first = span_starts(group)
    highest = np.maximum.reduceat(ranks[stated], first) if len(first) else np.empty(0)
    lowest = np.minimum.reduceat(ranks[stated], first) if len(first) else np.empty(0)
    lists = listing.group_lists[group[first]]
    wrong = np.flatnonzero((lists[1:] == lists[:-1]) & (highest[:-1] > lowest[1:])) + 1
    if not len(wrong):
        return []
    is_concerned = np.isin(np.arange(len(listing.list_sizes)), lists[wrong])
    return listing.list_findings("rank-disagrees", is_concerned, "are ordered otherwise by rank than by score")
