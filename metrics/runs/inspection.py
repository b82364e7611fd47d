"""Checks of scores, lists and judgments before scoring."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings import Finding, Severity, make_finding, reranker_prefix
from metrics.runs.query_doc_keys import Hashes, QueryDocKeys
from metrics.support.arrays import BoolArray, FloatArray, IntArray, places_in, span_starts
from metrics.support.cached import cached_property
from metrics.support.wording import count_of, describe_part, part_of, percent, quote

RELEVANT_FROM = 1
"""Smallest relevant grade in these checks."""


@dataclass(frozen=True, eq=False)
class Listing:
    """The lists of one reranker, or separate judgments, that findings point at.

    Attributes:
        file: name of the file.
        table: its rows: query_id, doc_id, and score, perhaps rank, or relevance.
        pairs: query and document of each row.
        line_of: row → its line.
        name: the reranker; None for judgments.
        grades: (n_rows,) grades, NaN if unjudged; None without relevance.
    """

    file: str
    table: pa.Table
    pairs: QueryDocKeys
    line_of: Callable[[int], int]
    name: str | None
    grades: FloatArray | None

    def finding(
        self,
        code: str,
        message: str,
        *,
        row: int | np.integer | None = None,
        count: int = 1,
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding about this file, which names the reranker if the file does not."""
        line = None if row is None else self.line_of(int(row))
        prefix = "" if self.name is None else reranker_prefix(self.name, self.file)
        return make_finding(code, self.file, prefix + message, line=line, count=count, severity=severity)

    def queries_in(self, other: "Listing") -> BoolArray:
        """Return (n_queries,) whether the other rows have each query."""
        return np.asarray(pc.is_in(self.pairs.queries, value_set=other.pairs.queries), dtype=bool)

    @cached_property
    def order(self) -> IntArray:
        """(n_rows,) rows by query, falling score and file order: the order of the arrays below."""
        return np.lexsort((-self.table["score"].to_numpy(), self.pairs.query))

    @cached_property
    def scores(self) -> FloatArray:
        """(n_rows,) scores."""
        scores: FloatArray = self.table["score"].to_numpy()
        return scores[self.order]

    @cached_property
    def values(self) -> FloatArray:
        """Distinct finite scores, rising."""
        return np.unique(self.scores[np.isfinite(self.scores)])

    @cached_property
    def list_starts(self) -> IntArray:
        """(n_lists + 1,) start of each list, and the end."""
        return np.append(span_starts(self.pairs.query[self.order]), len(self.order))

    @cached_property
    def list_sizes(self) -> IntArray:
        """(n_lists,) number of documents."""
        return np.diff(self.list_starts)

    @cached_property
    def list_queries(self) -> IntArray:
        """(n_lists,) place of the query in `pairs.queries`."""
        return self.pairs.query[self.order[self.list_starts[:-1]]].astype(np.int64)

    @cached_property
    def starts(self) -> IntArray:
        """(n_groups,) start of each tie group."""
        return span_starts(self.pairs.query[self.order], self.scores)

    @cached_property
    def sizes(self) -> IntArray:
        """(n_groups,) number of documents."""
        return np.diff(self.starts, append=len(self.scores))

    @cached_property
    def group_lists(self) -> IntArray:
        """(n_groups,) list of the tie group."""
        return np.searchsorted(self.list_starts, self.starts, side="right") - 1

    @cached_property
    def above(self) -> IntArray:
        """(n_groups,) number of documents above in the list."""
        return self.starts - self.list_starts[self.group_lists]

    @cached_property
    def tied(self) -> int:
        """Number of documents in tie groups of two or more."""
        return int(self.sizes[self.sizes > 1].sum())

    @cached_property
    def relevant(self) -> IntArray:
        """(n_groups,) number of relevant documents; 0 without relevance."""
        if self.grades is None:
            return np.zeros_like(self.starts)
        return np.add.reduceat(self.grades[self.order] >= RELEVANT_FROM, self.starts, dtype=np.int64)

    @cached_property
    def list_relevant(self) -> IntArray:
        """(n_lists,) number of relevant documents."""
        counts = np.bincount(self.group_lists, self.relevant, len(self.list_sizes))
        return counts.astype(np.int64)

    def list_findings(self, code: str, is_concerned: BoolArray, verb: str) -> list[Finding]:
        """Return a finding about some of the lists, if any; `is_concerned` is (n_lists,)."""
        lists = np.flatnonzero(is_concerned)
        if not len(lists):
            return []
        query = self.list_queries[lists[0]]
        first = quote(self.pairs.queries[int(query)].as_py())
        message = f"{describe_part(len(lists), len(is_concerned), 'list', verb)}, {first} first."
        row = np.argmax(self.pairs.query == query)
        return [self.finding(code, message, row=row, count=len(lists))]


_MAX_AFFIX = 64
"""Longest common prefix or suffix of IDs."""


@dataclass(frozen=True)
class Cause:
    """The likely reason why the run and the judgments share no ID.

    Attributes:
        sentence: the reason.
        ours: place of an example in the run.
        theirs: place of its likely match in the judgments.
    """

    sentence: str
    ours: int = 0
    theirs: int = 0


_SPELLINGS: tuple[tuple[str, Callable[[pa.Array], pa.Array]], ...] = (
    ("surrounding spaces", pc.utf8_trim_whitespace),
    ("case", pc.utf8_lower),
    ("a trailing .0", lambda ids: pc.replace_substring_regex(ids, r"\.0+$", "")),
    ("leading zeros", lambda ids: pc.replace_substring_regex(ids, "^0+(.)", r"\1")),
)


def cause_of(ours: pa.Array, theirs: pa.Array) -> Cause:
    """Return the first explanation that fits why the run and the judgments share no ID.

    Ignores one difference at a time: spaces, case, a trailing .0, leading zeros, a common prefix or suffix.
    """
    for difference, respelled in _SPELLINGS:
        if pair := _first_match(respelled(ours), respelled(theirs)):
            return Cause(f"The IDs differ only by {difference}.", *pair)
    for affix, shortened in _without_affixes(ours):
        if pair := _first_match(shortened, theirs):
            return Cause(f"The IDs differ only by {affix} in the run.", *pair)
    for affix, shortened in _without_affixes(theirs):
        if pair := _first_match(ours, shortened):
            return Cause(f"The IDs differ only by {affix} in the judgments.", *pair)
    return Cause("The judgments seem to belong to another collection.")


def _first_match(ours: pa.Array, theirs: pa.Array) -> tuple[int, int] | None:
    places = pc.index_in(ours, value_set=theirs)
    first = pc.index(pc.is_valid(places), value=True).as_py()
    return None if first < 0 else (first, places[first].as_py())


def _without_affixes(ids: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield common prefixes and suffixes that do not split numbers, and the IDs without them."""
    for length, prefix in _prefixes(ids):
        if not prefix[-1].isdigit():
            yield f"the prefix {quote(prefix)}", pc.utf8_slice_codeunits(ids, length)
    for length, reverse in _prefixes(pc.utf8_reverse(ids)):
        if not reverse[-1].isdigit():
            yield f"the suffix {quote(reverse[::-1])}", pc.utf8_slice_codeunits(ids, 0, -length)


def _prefixes(ids: pa.Array) -> Iterator[tuple[int, str]]:
    """Yield each common prefix with its length."""
    lowest, highest = pc.min_max(ids).as_py().values()
    for length, (low, high) in enumerate(zip(lowest[:_MAX_AFFIX], highest, strict=False), 1):
        if low != high:
            return
        yield length, lowest[:length]


MAX_INSPECTED = 1_000
"""Most rerankers that are checked one by one."""
_FEW_ROWS = 10
"""Mean rows per reranker below which the reranker column is probably wrong."""
_N_COMPARED = 50
"""Queries whose documents are compared to explain why none is judged."""


def many_rerankers(n_rerankers: int, n_rows: int, file: str) -> list[Finding]:
    """Report more rerankers than are checked one by one, and whether they have few rows."""
    if n_rerankers <= MAX_INSPECTED:
        return []
    is_odd = n_rows < _FEW_ROWS * n_rerankers
    question = " Does the reranker column hold documents or queries?" if is_odd else ""
    message = (
        f"{count_of(n_rerankers, 'reranker')} in {count_of(n_rows, 'row')}.{question} "
        f"Only the first {MAX_INSPECTED:,} rerankers are checked."
    )
    severity: Literal["info"] | None = None if is_odd else "info"
    return [make_finding("many-rerankers", file, message, count=n_rerankers, severity=severity)]


def queries_of_both(listing: Listing, judged: Listing) -> list[Finding]:
    """Report judged queries without rows and queries without judgments."""
    ours, theirs = listing.pairs.queries, judged.pairs.queries
    is_judged = listing.queries_in(judged)
    if len(ours) and len(theirs) and not is_judged.any():
        cause = cause_of(ours, theirs)
        message = f"No query of the run is judged: it has {_examples(ours, theirs, cause)}"
        row = np.argmax(listing.pairs.query == cause.ours)
        return [listing.finding("no-overlap", message, row=row, count=len(ours))]
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


def documents_of_both(listing: Listing, judged: Listing) -> list[Finding]:
    """Report that no document listed for judged queries is judged."""
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
        cause = Cause(
            "Some listed documents are judged for other queries, so the query IDs may belong to "
            "another collection."
        )
    else:
        cause = cause_of(ours, theirs)
    n_rows = int(is_judged[listing.pairs.query].sum())
    message = (
        f"Of {count_of(n_rows, 'document')} listed for {count_of(int(is_judged.sum()), 'judged query')}, "
        f"none is judged: the run has {_examples(ours, theirs, cause)}"
    )
    return [listing.finding("documents-no-overlap", message, row=rows[cause.ours], count=n_rows)]


def _examples(ours: pa.Array, theirs: pa.Array, cause: Cause) -> str:
    own, judged = quote(ours[cause.ours].as_py()), quote(theirs[cause.theirs].as_py())
    return f"{own}, the judgments have {judged}. {cause.sentence}"


def queries_differ(listings: Sequence[Listing]) -> list[Finding]:
    """Report rerankers without rows for queries of others."""
    queries = pc.unique(pa.chunked_array([listing.pairs.queries for listing in listings], pa.string()))
    findings = []
    for listing in listings:
        if lacking := len(queries) - len(listing.pairs.queries):
            first = pc.index(pc.is_in(queries, value_set=listing.pairs.queries), value=False).as_py()
            share = describe_part(lacking, len(queries), "query", "have no rows")
            message = f"{share}, {quote(queries[first].as_py())} first; other rerankers have rows for them."
            findings.append(listing.finding("queries-differ", message, count=lacking))
    return findings


_DEPTH = 10
_WARNING_SHARE = 0.5
"""Share of unjudged documents from which the finding is a warning."""
_MIN_LISTS = 5
"""Fewest lists of a reranker whose share is compared."""
_FURTHER, _TIMES, _MIN_Z = 0.2, 2, 3
"""A reranker outside the pool exceeds the median share by this much, factor and number of standard errors."""
_POOLED, _HOLES, _MOST_QUERIES = 0.1, 0.3, 0.95
"""If judgments were made from one run: its largest share of unjudged documents, the smallest median share of
the others, and the smallest share of queries with all judged documents near its top."""


@dataclass(frozen=True, eq=False)
class TopHoles:
    """Unjudged documents among the first ten of each list.

    Attributes:
        unjudged: (n_lists,) expected number over the orders of ties across the cut-off.
        documents: (n_lists,) number of documents, 0 if the query is not judged.
        n_judged: (n_groups,) judged documents of each tie group.
    """

    unjudged: FloatArray
    documents: IntArray
    n_judged: IntArray

    @classmethod
    def of(cls, listing: Listing, judged: Listing) -> "TopHoles | None":
        """Count them for a reranker; None if no document is judged."""
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
        """Share of unjudged documents."""
        return float(self.unjudged.sum() / max(self.documents.sum(), 1))

    @property
    def n_lists(self) -> int:
        """Number of lists of judged queries."""
        return int((self.documents > 0).sum())

    @property
    def error(self) -> float:
        """Standard error of the share over lists."""
        shares = (self.unjudged / np.maximum(self.documents, 1))[self.documents > 0]
        return float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else np.inf


def pool_findings(listings: Sequence[Listing], judged: Listing) -> list[list[Finding]]:
    """Return findings on the pool for each reranker."""
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
    expected, n_docs = float(holes.unjudged.sum()), int(holes.documents.sum())
    if not expected:
        return []
    number = f"{expected:,.0f}" if round(expected, 6).is_integer() else f"{expected:,.1f}"
    in_lists = part_of(int((holes.unjudged > 0).sum()), holes.n_lists, "list")
    message = (
        f"{percent(holes.share)} of the documents in the top {_DEPTH} are unjudged, in {in_lists}: {number} of "
        f"{n_docs:,}. A tie across the cut-off adds the expected number of its unjudged documents in "
        f"the top {_DEPTH}."
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
    above = holes.share - usual
    return above >= _FURTHER and holes.share >= _TIMES * usual and above >= _MIN_Z * holes.error


def _outside_pool(listing: Listing, holes: TopHoles, peers: FloatArray) -> Finding:
    message = (
        f"{percent(holes.share)} of this reranker's documents in the top {_DEPTH} are unjudged, against "
        f"{_of_others(peers)}. This reranker was probably not in the judged pool."
    )
    return listing.finding("outside-pool", message, count=max(1, round(float(holes.unjudged.sum()))))


def _source(listing: Listing, holes: TopHoles, judged: Listing, peers: FloatArray) -> Finding | None:
    """Report a run from which the judgments were probably made.

    It has almost no unjudged documents near the top, the others have many, and nearly all queries have all
    judged documents near its top.
    """
    if holes.share > _POOLED or np.median(peers) < _HOLES:
        return None
    n_judged, n_near = _judged_near_top(listing, holes, judged)
    n_whole = int((n_near == n_judged).sum())
    if n_whole < _MOST_QUERIES * len(n_judged):
        return None
    message = (
        f"For {part_of(n_whole, len(n_judged), 'query')}, all judged documents are near the top of this run "
        f"(for n judged documents, the top 2n). {percent(holes.share)} of this run's documents in the top "
        f"{_DEPTH} are unjudged, against {_of_others(peers)}. The judgments were probably made from this run."
    )
    return listing.finding("judged-from-run", message, count=n_whole)


def _judged_near_top(listing: Listing, holes: TopHoles, judged: Listing) -> tuple[IntArray, IntArray]:
    """Return (n_lists,) judged documents of each judged query, and how many are near the top of its list.

    The top has twice as many ranks as there are judgments; ties across its end count as inside.
    """
    query = places_in(judged.pairs.queries, listing.pairs.queries)[judged.pairs.query]
    n_judged = np.bincount(query[query >= 0], minlength=len(listing.pairs.queries))[listing.list_queries]
    is_near = listing.above < 2 * n_judged[listing.group_lists]
    n_near = np.bincount(listing.group_lists, holes.n_judged * is_near, len(n_judged)).astype(np.int64)
    return n_judged[n_judged > 0], n_near[n_judged > 0]


def _of_others(peers: FloatArray) -> str:
    low, high = percent(float(peers.min())), percent(float(peers.max()))
    return f"{low if low == high else f'{low} to {high}'} for {count_of(len(peers), 'other reranker')}"


@dataclass
class RerankerCoverage:
    """Which queries and judgments a reranker had rows for, in block mode.

    Attributes:
        file: name of its file.
        has_rows: (n_judged_queries,) whether each judged query has rows.
        n_queries: number of queries with rows.
        n_judged_rows: number of judged rows, with separate judgments.
        query_hashes: of its queries, by block, without separate judgments.
    """

    file: str
    has_rows: BoolArray
    n_queries: int = 0
    n_judged_rows: int = 0
    query_hashes: list[Hashes] = field(default_factory=list)

    def unjudged(self, name: str) -> list[Finding]:
        """Report queries without judgments, and judged queries without judged documents."""
        n_judged, prefix = int(self.has_rows.sum()), reranker_prefix(name, self.file)
        if self.n_queries and not n_judged and len(self.has_rows):
            message = f"{prefix}No query of the run is judged."
            return [make_finding("no-overlap", self.file, message, count=self.n_queries)]
        findings = []
        if lacking := self.n_queries - n_judged:
            unjudged = describe_part(lacking, self.n_queries, "query", "have no judgments")
            message = f"{prefix}{unjudged}."
            findings.append(make_finding("queries-unjudged", self.file, message, count=lacking))
        if n_judged and not self.n_judged_rows:
            message = f"{prefix}No document listed for a judged query is judged."
            findings.append(make_finding("documents-no-overlap", self.file, message, count=n_judged))
        return findings

    def queries_differ(self, name: str, n_queries: int) -> list[Finding]:
        """Report queries of other rerankers for which it has no rows."""
        lacking = n_queries - self.n_queries
        if not lacking:
            return []
        share = describe_part(lacking, n_queries, "query", "have no rows")
        message = f"{reranker_prefix(name, self.file)}{share}; other rerankers have rows for them."
        return [make_finding("queries-differ", self.file, message, count=lacking)]


class MergedFindings:
    """Findings of blocks, merged by kind and file."""

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
        """One finding for each kind and file."""
        return [
            finding
            if len(self._messages[key]) == 1
            else replace(finding, message=f"{finding.message} Total in the file: {finding.count:,}.")
            for key, finding in self._findings.items()
        ]


_MIN_VALUES = 3
_MIN_SHARE = 0.1
_CROWDED = 2
"""Ratio of documents at an end to those at a value between the ends, from which scores are saturated."""
_MAX_GRADES = 21


def _has_one_score(listing: Listing) -> bool:
    return listing.tied > 0 and bool((listing.scores == listing.scores[0]).all())


def constant_run(listing: Listing) -> list[Finding]:
    """Report a run with a single score."""
    if not _has_one_score(listing):
        return []
    n_docs, score = len(listing.scores), float(listing.scores[0])
    message = f"All {count_of(n_docs, 'document')} of the run have the score {score!r}."
    return [listing.finding("constant-run", message, row=0, count=n_docs)]


def constant_lists(listing: Listing) -> list[Finding]:
    """Report lists of two or more documents with a single score."""
    level = np.bincount(listing.group_lists, minlength=len(listing.list_sizes)) == 1
    level &= listing.list_sizes > 1
    if _has_one_score(listing):
        return []
    return listing.list_findings("constant-lists", level, "give one score to all documents")


def saturated(listing: Listing) -> list[Finding]:
    """Report many ties at exactly 0 or 1 if other scores lie between.

    An end must hold many more documents than a value between the ends: a scale of few levels always has ties.
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
    """Report ties of scores that are a few whole numbers."""
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


_DECIMALS = 4
_EXACT = 2**53 / 10**_DECIMALS
"""Larger floats have no fourth decimal."""
_MIN_DISTINCT = 20
"""Fewest distinct scores of which 16 bits do not hold all by accident."""
_FEW_DECIMALS = 2
"""Scores of at most so many decimals that fit 16 bits are probably halves or quarters."""
_MOST_GRADERS = 5
"""Most whole-number grades whose mean a score may be."""
_NOISE = 1e-9


def decimals(values: FloatArray) -> int | None:
    """Return the fewest decimals that write every value exactly; None if 4 are too few."""
    if not len(values) or max(-values[0], values[-1]) >= _EXACT:
        return None
    return next((n for n in range(_DECIMALS + 1) if (np.round(values, n) == values).all()), None)


def half_format(values: FloatArray) -> str | None:
    """Return the 16-bit format that holds all values, unless they are few or have few decimals."""
    places = decimals(values)
    if len(values) < _MIN_DISTINCT or (places is not None and places <= _FEW_DECIMALS):
        return None
    with np.errstate(over="ignore"):
        narrow, narrowest = values.astype(np.float32), values.astype(np.float16)
    if (narrow == values).all() and not (narrow.view(np.uint32) & 0xFFFF).any():
        return "bfloat16"
    return "float16" if (narrowest == values).all() else None


def few_decimals(listing: Listing) -> list[Finding]:
    """Report ties of scores with one to four decimals, unless they are halves, as Copeland scores are."""
    values = listing.values
    places = decimals(values)
    if places == 1 and decimals(2 * values) == 0:
        return []
    if not listing.tied or len(values) < 2 or not places or half_format(values):  # noqa: PLR2004 one is constant
        return []
    digits = f"at most {count_of(places, 'decimal')}"
    if _are_grades(listing):
        message = f"Scores are grades or means of a few grades, with {digits}; {_tied(listing)}."
        return [listing.finding("graded", message, count=listing.tied)]
    message = f"Scores have {digits} and {_tied(listing)}."
    return [listing.finding("few-decimals", message, count=listing.tied)]


def _are_grades(listing: Listing) -> bool:
    """Return whether scores are grades or means of a few grades, so that nothing was rounded."""
    values, scores = listing.values, listing.scores
    if "score_std" in listing.table.column_names:
        return True  # the mean of repeats
    are_means = any(decimals(n * values) == 0 for n in range(2, _MOST_GRADERS + 1))
    are_whole = 2 * np.count_nonzero(scores == np.rint(scores)) > len(scores)
    return bool(values[-1] - values[0] > 1 and (are_means or are_whole))


def half_precision(listing: Listing) -> list[Finding]:
    """Report scores that all fit 16-bit floats."""
    kind = half_format(listing.values)
    if kind is None:
        return []
    message = (
        f"{kind} holds each of the {count_of(len(listing.values), 'distinct score')} exactly; {_tied(listing)}."
    )
    return [listing.finding("half-precision", message, count=len(listing.scores))]


def float32_ties(listing: Listing) -> list[Finding]:
    """Report different scores in a list that are equal as 32-bit floats."""
    with np.errstate(over="ignore"):
        narrow = listing.scores[listing.starts].astype(np.float32)
    verb = "have scores that differ as 64-bit floats and are equal as 32-bit floats"
    return _neighbours(listing, narrow[1:] == narrow[:-1], "float32-ties", verb)


def near_ties(listing: Listing) -> list[Finding]:
    """Report neighbours whose scores differ only by rounding noise."""
    score = listing.scores[listing.starts]
    with np.errstate(over="ignore", invalid="ignore"):
        near = score[:-1] - score[1:] < _NOISE * np.maximum(np.abs(score[:-1]), np.abs(score[1:]))
    near &= np.isfinite(score[1:]) & np.isfinite(score[:-1])
    verb = "have a score that differs from a neighbour's by less than one part in a billion"
    return _neighbours(listing, near, "near-ties", verb)


def _neighbours(listing: Listing, alike: BoolArray, code: str, verb: str) -> list[Finding]:
    """Return a finding about tie groups that resemble the next one of their list."""
    alike = alike & (listing.group_lists[1:] == listing.group_lists[:-1])
    if not alike.any():
        return []
    either = np.append(alike, False) | np.append(False, alike)
    n_docs, n_lists = int(listing.sizes[either].sum()), len(np.unique(listing.group_lists[either]))
    lists = f"in {part_of(n_lists, len(listing.list_sizes), 'list')}"
    row = listing.order[listing.starts[either]].min()
    return [listing.finding(code, f"{count_of(n_docs, 'document')} {lists} {verb}.", row=row, count=n_docs)]


def _tied(listing: Listing) -> str:
    n_docs = len(listing.scores)
    return f"{part_of(listing.tied, n_docs, 'document')} ({percent(listing.tied / n_docs)}) are tied"


CUTOFFS = (1, 3, 5, 10)
"""Cut-offs that are checked for ties."""


def one_document(listing: Listing) -> list[Finding]:
    """Report lists of a single document."""
    return listing.list_findings("one-document", listing.list_sizes == 1, "hold a single document")


def straddles(listing: Listing) -> list[Finding]:
    """Report ties across a cut-off."""
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
    """Report lists in which ranks contradict scores."""
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
    return listing.list_findings("rank-disagrees", is_concerned, "have ranks that contradict the scores")


def negative_grades(rows: Listing) -> list[Finding]:
    """Report grades below 0."""
    if rows.grades is None:
        return []
    negative = np.flatnonzero(rows.grades < 0)
    if not len(negative):
        return []
    lowest = f"{rows.grades[negative].min():g}"
    message = (
        f"{describe_part(len(negative), len(rows.grades), 'grade', 'are below 0')}, the lowest is {lowest}."
    )
    return [rows.finding("negative-grades", message, row=negative[0], count=len(negative))]


def nothing_relevant(rows: Listing) -> list[Finding]:
    """Report queries without relevant documents."""
    if rows.grades is None:
        return []
    queries, query = rows.pairs.queries, rows.pairs.query
    relevant = np.bincount(query[rows.grades >= RELEVANT_FROM], minlength=len(queries))
    without = np.flatnonzero(relevant == 0)
    if not len(without):
        return []
    first = quote(queries[int(without[0])].as_py())
    verb = f"have no document of grade {RELEVANT_FROM} or more"
    message = f"{describe_part(len(without), len(queries), 'query', verb)}, {first} first."
    row = np.argmax(query == without[0])
    return [rows.finding("nothing-relevant", message, row=row, count=len(without))]


def none_found(listing: Listing, judged: Listing) -> list[Finding]:
    """Report lists without any of the relevant documents of their query."""
    if listing.grades is None or judged.grades is None or np.isnan(listing.grades).all():
        return []
    query = places_in(judged.pairs.queries, listing.pairs.queries)[judged.pairs.query]
    has_relevant = np.zeros(len(listing.pairs.queries), bool)
    has_relevant[query[(judged.grades >= RELEVANT_FROM) & (query >= 0)]] = True
    empty = has_relevant[listing.list_queries] & (listing.list_relevant == 0)
    return listing.list_findings("none-found", empty, "hold none of the relevant documents of the query")


def all_relevant(listing: Listing) -> list[Finding]:
    """Report lists of two or more documents that are all relevant."""
    full = (listing.list_relevant == listing.list_sizes) & (listing.list_sizes > 1)
    return listing.list_findings("all-relevant", full, "hold relevant documents only")


_MIN_Z = 4
"""Standard deviations from which order is reported; chance exceeds them in one of 16,000 runs."""


@dataclass(frozen=True)
class TiePlaces:
    """Ranks of relevant documents within ties that mix relevant and other documents.

    Attributes:
        n_ties: number of these ties.
        mean: mean rank, from 1 in each tie.
        expected: mean rank if all orders are equally likely.
        deviation: standard deviation of the mean rank.
        first: share of ties that begin with a relevant document.
        expected_first: this share if all orders are equally likely.
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
        """Difference of the mean rank from chance in standard deviations."""
        return (self.mean - self.expected) / self.deviation


def tie_places(listing: Listing) -> TiePlaces | None:
    """Return the ranks of relevant documents within ties in file order; None without mixed ties.

    In a tie of n documents with r relevant, their ranks sum to r(n+1)/2 on average, with variance
    r(n-r)(n+1)/12, the rank-sum statistic. Ties are independent.
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
    """Report ties whose file order depends on relevance."""
    places = tie_places(listing)
    if places is None or abs(places.z) <= _MIN_Z:
        return []
    side, verdict = ("before", "better") if places.z < 0 else ("after", "worse")
    message = (
        f"In {count_of(places.n_ties, 'tie')} of relevant and other documents, relevant ones tend to come "
        f"{side} the others: their mean rank is {places.mean:.2f}, and the expected rank in random order is "
        f"{places.expected:.2f} ({abs(places.z):.1f} standard deviations apart). {percent(places.first)} of "
        f"these ties begin with a relevant document; {percent(places.expected_first)} would in random order. "
        f"File order tends to make the run look {verdict} than it is."
    )
    return [listing.finding("order-leaks", message, row=places.row, count=places.n_ties)]


OF_GRADES: tuple[Callable[[Listing], list[Finding]], ...] = (negative_grades, nothing_relevant)
"""Checks of separate judgments, or of the grades inside each table."""

OF_IDS: tuple[Callable[[Listing, Listing], list[Finding]], ...] = (queries_of_both, documents_of_both)
"""Checks of each reranker against separate judgments."""

OF_LISTS: tuple[Callable[[Listing], list[Finding]], ...] = (
    all_relevant,
    order_leaks,
    rank_disagrees,
    constant_run,
    constant_lists,
    saturated,
    few_decimals,
    half_precision,
    graded,
    float32_ties,
    near_ties,
    infinite,
    straddles,
    one_document,
)
"""Checks of each reranker."""


def inspect(listings: Sequence[Listing], judgments: Listing | None) -> list[Finding]:
    """Return all findings on runs; `judgments` are None if the tables hold relevance."""
    graded_rows = listings if judgments is None else [judgments]
    findings = queries_differ(listings) if judgments is None else []
    findings += [finding for rows in graded_rows for check in OF_GRADES for finding in check(rows)]
    of_pool = [] if judgments is None else pool_findings(listings, judgments)
    for place, listing in enumerate(listings):
        if judgments is not None:
            findings += [finding for check in OF_IDS for finding in check(listing, judgments)]
            findings += [*of_pool[place], *none_found(listing, judgments)]
        findings += [finding for check in OF_LISTS for finding in check(listing)]
    return findings


def inspect_coverage(listings: Sequence[Listing], judgments: Listing | None) -> list[Finding]:
    """Return the findings on queries and documents that only one side has."""
    if judgments is None:
        return queries_differ(listings)
    return [finding for listing in listings for check in OF_IDS for finding in check(listing, judgments)]
