"""Whose documents were judged: holes near the top, rerankers outside the pool, judgments of one run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import JudgmentTable, Listing
from metrics.support.arrays import FloatArray, IntArray, places_in
from metrics.support.wording import count_of, part_of, percent

_DEPTH = 10
_WARNING_SHARE = 0.5
"""Share of unjudged documents above which the finding is a warning."""
_MIN_LISTS = 5
"""Lists below which the shares of rerankers are not compared."""
_FURTHER, _TIMES, _MIN_Z = 0.2, 2, 3
"""How far the share of a reranker outside the pool is above that of the others: so much, so many times, and so
many standard errors over its lists."""
_POOLED, _HOLES, _MOST_QUERIES = 0.1, 0.3, 0.95
"""Share of unjudged documents up to which a run may be the one that was judged, and from which others have
large holes; share of queries of which all judged documents must be near its top."""


@dataclass(frozen=True, eq=False)
class TopHoles:
    """Unjudged documents among the first ten of each list of a judged query, ties at the border by their share.

    Attributes:
        unjudged: (n_lists,) how many of each list are expected.
        documents: (n_lists,) documents that are there, 0 where the query is not judged.
        n_judged: (n_groups,) judged documents of each tie group, anywhere in a list.
    """

    unjudged: FloatArray
    documents: IntArray
    n_judged: IntArray

    @classmethod
    def of(cls, listing: Listing, judged: JudgmentTable) -> "TopHoles | None":
        """Return those of a reranker; None where none of its documents is judged."""
        if listing.grades is None or np.isnan(listing.grades).all():
            return None
        unknown = np.add.reduceat(np.isnan(listing.grades[listing.order]), listing.starts, dtype=np.int64)
        within = np.clip(_DEPTH - listing.above, 0, listing.sizes)
        within[~listing.queries_in(judged)[listing.list_queries][listing.group_lists]] = 0
        n_lists = len(listing.list_sizes)
        unjudged, documents = (
            np.bincount(listing.group_lists, numbers, n_lists)
            for numbers in (within * unknown / listing.sizes, within)
        )
        return cls(unjudged.astype(np.float64), documents.astype(np.int64), listing.sizes - unknown)

    @property
    def share(self) -> float:
        """Of all documents."""
        return float(self.unjudged.sum() / max(self.documents.sum(), 1))

    @property
    def n_lists(self) -> int:
        """Lists of judged queries."""
        return int((self.documents > 0).sum())

    @property
    def error(self) -> float:
        """Standard error of the share, over lists."""
        shares = (self.unjudged / np.maximum(self.documents, 1))[self.documents > 0]
        return float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else np.inf


def pool_findings(listings: Sequence[Listing], judged: JudgmentTable) -> list[list[Finding]]:
    """Return what is to be said of the pool, for each reranker."""
    holes = [TopHoles.of(listing, judged) for listing in listings]
    findings = [[] if own is None else _unjudged(of, own) for of, own in zip(listings, holes, strict=True)]
    compared = {index: own for index, own in enumerate(holes) if own is not None and own.n_lists >= _MIN_LISTS}
    shares = np.array([own.share for own in compared.values()])
    peers = {index: np.delete(shares, place) for place, index in enumerate(compared)} if len(shares) > 1 else {}
    sources = {
        index: _source(listings[index], compared[index], judged, shares_of_peers)
        for index, shares_of_peers in peers.items()
    }
    source_findings = [(index, finding) for index, finding in sources.items() if finding is not None]
    if len(source_findings) == 1:
        [(index, finding)] = source_findings
        findings[index].append(finding)
        return findings
    for index, shares_of_peers in peers.items():
        if _is_outside(compared[index], float(np.median(shares_of_peers))):
            findings[index].append(_outside_pool(listings[index], compared[index], shares_of_peers))
    return findings


def _unjudged(listing: Listing, holes: TopHoles) -> list[Finding]:
    """Report how much of the top of the lists is unjudged."""
    expected, n_docs = float(holes.unjudged.sum()), int(holes.documents.sum())
    if not expected:
        return []
    number = f"{expected:,.0f}" if round(expected, 6).is_integer() else f"{expected:,.1f}"
    in_lists = part_of(int((holes.unjudged > 0).sum()), holes.n_lists, "list")
    message = (
        f"{percent(holes.share)} of the documents in the top {_DEPTH} are unjudged, in {in_lists}: {number} of "
        f"{n_docs:,}, ties across the border counted by their expected share."
    )
    return [
        listing.finding(
            "unjudged",
            message,
            count=max(1, round(expected)),
            severity="warning" if holes.share > _WARNING_SHARE else None,
        )
    ]


def _is_outside(holes: TopHoles, usual: float) -> bool:
    """Return whether a reranker has far more unjudged documents than others usually have."""
    above = holes.share - usual
    return above >= _FURTHER and holes.share >= _TIMES * usual and above >= _MIN_Z * holes.error


def _outside_pool(listing: Listing, holes: TopHoles, peers: FloatArray) -> Finding:
    message = (
        f"{percent(holes.share)} of its documents in the top {_DEPTH} are unjudged, {_of_others(peers)}: it "
        "was most likely not in the pool that was judged."
    )
    return listing.finding("outside-pool", message, count=max(1, round(float(holes.unjudged.sum()))))


def _source(listing: Listing, holes: TopHoles, judged: JudgmentTable, peers: FloatArray) -> Finding | None:
    """Return what is to be said where the judgments seem to have been made from one run.

    It has next to no unjudged documents near the top, others usually have many, and all judged documents of
    nearly every query are among its first.

    Args:
        listing: what the reranker gave.
        holes: unjudged documents near its top.
        judged: judgments given apart.
        peers: shares of unjudged documents near the top of the others.
    """
    if holes.share > _POOLED or np.median(peers) < _HOLES:
        return None
    n_judged, n_near = _judged_near_top(listing, holes, judged)
    n_whole = int((n_near == n_judged).sum())
    if n_whole < _MOST_QUERIES * len(n_judged):
        return None
    message = (
        f"All judged documents of {part_of(n_whole, len(n_judged), 'query')} stand among its first, twice as "
        f"many as are judged. {percent(holes.share)} of its documents in the top {_DEPTH} are unjudged, "
        f"{_of_others(peers)}: the judgments were most likely made from it."
    )
    return listing.finding("judged-from-run", message, count=n_whole)


def _judged_near_top(listing: Listing, holes: TopHoles, judged: JudgmentTable) -> tuple[IntArray, IntArray]:
    """Return (n_lists,) judged documents of each query that has any, and how many are near the top of its list.

    Near the top are twice as many places as are judged; what ties across the border stands there, too.
    """
    query = places_in(judged.pairs.queries, listing.pairs.queries)[judged.pairs.query]
    n_judged = np.bincount(query[query >= 0], minlength=len(listing.pairs.queries))[listing.list_queries]
    is_near = listing.above < 2 * n_judged[listing.group_lists]
    n_near = np.bincount(listing.group_lists, holes.n_judged * is_near, len(n_judged)).astype(np.int64)
    return n_judged[n_judged > 0], n_near[n_judged > 0]


def _of_others(peers: FloatArray) -> str:
    """Say what share of the documents of other rerankers is unjudged."""
    low, high = percent(float(peers.min())), percent(float(peers.max()))
    if low == high:
        return f"of those of {count_of(len(peers), 'other reranker')} {low}"
    return f"of those of {count_of(len(peers), 'other reranker')} {low} to {high}"
