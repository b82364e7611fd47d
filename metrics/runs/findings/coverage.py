"""What is missing: queries or documents of a run without judgments, and judgments without a run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings.finding import Finding, make_finding, reranker_prefix
from metrics.runs.findings.listing import JudgmentTable, Listing
from metrics.runs.query_doc_keys import Hashes
from metrics.support.arrays import BoolArray, FloatArray, IntArray, places_in
from metrics.support.wording import count_of, describe_part, part_of, percent, quote

_MAX_AFFIX = 64
"""Longest common beginning or end that is looked for."""


@dataclass(frozen=True)
class Cause:
    """The likely reason why no id of the run is among those of the judgments, and an example of both.

    Attributes:
        sentence: the likely cause.
        ours: place of an id of the run.
        theirs: place of the id of the judgments that probably means the same.
    """

    sentence: str
    ours: int = 0
    theirs: int = 0


_SPELLINGS: tuple[tuple[str, Callable[[pa.Array], pa.Array]], ...] = (
    ("spaces around them", pc.utf8_trim_whitespace),
    ("upper and lower case", pc.utf8_lower),
    ("a trailing .0", lambda ids: pc.replace_substring_regex(ids, r"\.0+$", "")),
    ("leading zeros", lambda ids: pc.replace_substring_regex(ids, "^0+(.)", r"\1")),
)


def cause_of(ours: pa.Array, theirs: pa.Array) -> Cause:
    """Return why no id of the run is among those of the judgments: the first explanation that fits.

    Ids are compared without one difference in spelling at a time: spaces, upper case, a trailing .0, leading
    zeros, and then what all ids of one side begin or end with.
    """
    for difference, respelled in _SPELLINGS:
        if pair := _first_match(respelled(ours), respelled(theirs)):
            return Cause(f"The ids are alike but for {difference}.", *pair)
    for affix, shortened in _without_affixes(ours):
        if pair := _first_match(shortened, theirs):
            return Cause(f"The ids are alike but for {affix} those of the run.", *pair)
    for affix, shortened in _without_affixes(theirs):
        if pair := _first_match(ours, shortened):
            return Cause(f"The ids are alike but for {affix} those of the judgments.", *pair)
    return Cause("The judgments seem to belong to another collection.")


def _first_match(ours: pa.Array, theirs: pa.Array) -> tuple[int, int] | None:
    """Return the places, on each side, of the first id of ours that is among theirs."""
    places = pc.index_in(ours, value_set=theirs)
    first = pc.index(pc.is_valid(places), value=True).as_py()
    return None if first < 0 else (first, places[first].as_py())


def _without_affixes(ids: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield what all ids begin or end with, in every length, and the ids without it; numbers stay whole."""
    for length, prefix in _prefixes(ids):
        if not prefix[-1].isdigit():
            yield f"{quote(prefix)} before", pc.utf8_slice_codeunits(ids, length)
    for length, reverse in _prefixes(pc.utf8_reverse(ids)):
        if not reverse[-1].isdigit():
            yield f"{quote(reverse[::-1])} behind", pc.utf8_slice_codeunits(ids, 0, -length)


def _prefixes(ids: pa.Array) -> Iterator[tuple[int, str]]:
    """Yield each length of what all ids begin with, and the letters."""
    lowest, highest = pc.min_max(ids).as_py().values()
    for length, (low, high) in enumerate(zip(lowest[:_MAX_AFFIX], highest, strict=False), 1):
        if low != high:
            return
        yield length, lowest[:length]


MAX_INSPECTED = 1_000
"""Rerankers that are looked at one by one."""
_FEW_ROWS = 10
"""Rows of a reranker, on average, below which it may be none."""
_N_COMPARED = 50
"""Queries whose documents are compared to find out why none is judged."""


def many_rerankers(n_rerankers: int, n_rows: int, file: str) -> list[Finding]:
    """Report that there are more rerankers than are looked at one by one, and if they have few rows."""
    if n_rerankers <= MAX_INSPECTED:
        return []
    is_odd = n_rows < _FEW_ROWS * n_rerankers
    question = ": is a column of documents or queries chosen as reranker?" if is_odd else "."
    message = (
        f"{count_of(n_rerankers, 'reranker')} in {count_of(n_rows, 'row')}{question} "
        f"Findings on single rerankers are of the first {MAX_INSPECTED:,}."
    )
    severity: Literal["info"] | None = None if is_odd else "info"
    return [make_finding("many-rerankers", file, message, count=n_rerankers, severity=severity)]


def queries_of_both(listing: Listing, judged: JudgmentTable) -> list[Finding]:
    """Report judged queries without rows, queries without judgments, or that no query has both."""
    ours, theirs = listing.pairs.queries, judged.pairs.queries
    is_judged = listing.queries_in(judged)
    if len(ours) and len(theirs) and not is_judged.any():
        return [_no_overlap(listing, judged)]
    findings = []
    if missing := len(theirs) - int(is_judged.sum()):
        first = quote(theirs[int(np.argmin(judged.queries_in(listing)))].as_py())
        message = f"{describe_part(missing, len(theirs), 'judged query', 'have no rows')}, {first} first."
        findings.append(listing.finding("queries-missing", message, count=missing))
    if unjudged := int((~is_judged).sum()):
        query = int(np.argmin(is_judged))
        first = quote(ours[query].as_py())
        message = f"{describe_part(unjudged, len(ours), 'query', 'have no judgments')}, {first} first."
        row = np.argmax(listing.pairs.query == query)
        findings.append(listing.finding("queries-unjudged", message, row=row, count=unjudged))
    return findings


def _no_overlap(listing: Listing, judged: JudgmentTable) -> Finding:
    ours, theirs = listing.pairs.queries, judged.pairs.queries
    cause = cause_of(ours, theirs)
    message = f"No query of the run is judged: it asks {_examples(ours, theirs, cause)}"
    row = np.argmax(listing.pairs.query == cause.ours)
    return listing.finding("no-overlap", message, row=row, count=len(ours))


def documents_of_both(listing: Listing, judged: JudgmentTable) -> list[Finding]:
    """Report that queries are judged, and not one document listed for them is."""
    is_judged = listing.queries_in(judged)
    if listing.grades is None or not is_judged.any() or not np.isnan(listing.grades).all():
        return []
    compared = np.flatnonzero(is_judged)[:_N_COMPARED]
    rows = np.flatnonzero(np.isin(listing.pairs.query, compared))
    codes = pc.index_in(listing.pairs.queries.take(pa.array(compared)), value_set=judged.pairs.queries)
    judgments = np.flatnonzero(np.isin(judged.pairs.query, codes.to_numpy()))
    ours = listing.pairs.documents.take(pa.array(rows))
    theirs = judged.pairs.documents.take(pa.array(judgments))
    if pc.any(pc.is_in(ours, value_set=judged.pairs.documents)).as_py():
        cause = Cause("Some are judged for other queries: the query ids may be those of another collection.")
    else:
        cause = cause_of(ours, theirs)
    n_rows = int(is_judged[listing.pairs.query].sum())
    message = (
        f"Of {count_of(n_rows, 'document')} listed for {count_of(int(is_judged.sum()), 'judged query')} "
        f"none is judged: the run lists {_examples(ours, theirs, cause)}"
    )
    return [listing.finding("documents-no-overlap", message, row=rows[cause.ours], count=n_rows)]


def _examples(ours: pa.Array, theirs: pa.Array, cause: Cause) -> str:
    """Return an example of each side, and the cause."""
    own, judged = quote(ours[cause.ours].as_py()), quote(theirs[cause.theirs].as_py())
    return f"{own}, the judgments know {judged}. {cause.sentence}"


def queries_differ(listings: Sequence[Listing]) -> list[Finding]:
    """Report rerankers that lack queries which others have."""
    queries = pc.unique(pa.chunked_array([listing.pairs.queries for listing in listings], pa.string()))
    findings = []
    for listing in listings:
        if lacking := len(queries) - len(listing.pairs.queries):
            first = pc.index(pc.is_in(queries, value_set=listing.pairs.queries), value=False).as_py()
            share = describe_part(lacking, len(queries), "query", "have no rows")
            message = f"{share}, {quote(queries[first].as_py())} first; other rerankers have them."
            findings.append(listing.finding("queries-differ", message, count=lacking))
    return findings


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


@dataclass
class RerankerCoverage:
    """Which queries and judgments the scored lists of a reranker met.

    Attributes:
        file: name of its file.
        has_rows: (n_judged_queries,) whether each judged query had rows.
        n_queries: queries that had rows.
        n_judged_rows: rows that were judged; of judgments apart.
        query_hashes: of its queries, block by block; without judgments apart.
    """

    file: str
    has_rows: BoolArray
    n_queries: int = 0
    n_judged_rows: int = 0
    query_hashes: list[Hashes] = field(default_factory=list)

    def unjudged(self, name: str) -> list[Finding]:
        """Report that queries, or all documents of those that are judged, have no judgments."""
        n_known = int(self.has_rows.sum())
        if self.n_queries and not n_known and len(self.has_rows):
            message = f"{reranker_prefix(name, self.file)}No query of the run is judged."
            return [make_finding("no-overlap", self.file, message, count=self.n_queries)]
        findings = []
        if lacking := self.n_queries - n_known:
            unjudged = describe_part(lacking, self.n_queries, "query", "have no judgments")
            message = f"{reranker_prefix(name, self.file)}{unjudged}."
            findings.append(make_finding("queries-unjudged", self.file, message, count=lacking))
        if n_known and not self.n_judged_rows:
            message = f"{reranker_prefix(name, self.file)}No document listed for a judged query is judged."
            findings.append(make_finding("documents-no-overlap", self.file, message, count=n_known))
        return findings

    def queries_differ(self, name: str, n_queries: int) -> list[Finding]:
        """Report that it lacks queries which other rerankers have."""
        lacking = n_queries - self.n_queries
        if not lacking:
            return []
        share = describe_part(lacking, n_queries, "query", "have no rows")
        message = f"{reranker_prefix(name, self.file)}{share}; other rerankers have them."
        return [make_finding("queries-differ", self.file, message, count=lacking)]


class MergedFindings:
    """Findings of blocks, those of one kind and file merged into one that says how many there are in all."""

    def __init__(self) -> None:
        self._findings: dict[tuple[str, str], Finding] = {}
        self._messages: dict[tuple[str, str], set[str]] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        """Add the findings of another block."""
        for finding in findings:
            key = finding.file, finding.code
            merged = self._findings.get(key, replace(finding, count=0))
            self._findings[key] = replace(merged, count=merged.count + finding.count)
            self._messages.setdefault(key, set()).add(finding.message)

    @property
    def findings(self) -> list[Finding]:
        """One of each kind and file."""
        return [
            finding
            if len(self._messages[key]) == 1
            else replace(finding, message=f"{finding.message} In the whole file: {finding.count:,}.")
            for key, finding in self._findings.items()
        ]
