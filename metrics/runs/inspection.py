"""Checks of scores, lists and judgments before scoring."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings import Finding, Severity, make_finding, reranker_prefix
from metrics.runs.query_doc_keys import QueryDocKeys
from metrics.support.arrays import BoolArray, FloatArray, IntArray, span_starts
from metrics.support.cached import cached_property
from metrics.support.columns import places_in
from metrics.support.wording import count_of, describe_part, part_of, percent, quote


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
        relevant_from: smallest relevant grade.
    """

    file: str
    table: pa.Table
    pairs: QueryDocKeys
    line_of: Callable[[int], int]
    name: str | None
    grades: FloatArray | None
    relevant_from: float = 1

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

    @property
    def is_relevant(self) -> BoolArray:
        """(n_rows,) whether each document is relevant; False without relevance."""
        if self.grades is None:
            return np.zeros(len(self.table), bool)
        return self.grades >= self.relevant_from

    @cached_property
    def relevant(self) -> IntArray:
        """(n_groups,) number of relevant documents; 0 without relevance."""
        return np.add.reduceat(self.is_relevant[self.order], self.starts, dtype=np.int64)

    @cached_property
    def list_relevant(self) -> IntArray:
        """(n_lists,) number of relevant documents."""
        counts = np.bincount(self.group_lists, self.relevant, len(self.list_sizes))
        return counts.astype(np.int64)

    @cached_property
    def tied_share(self) -> str:
        """The share of tied documents, as in `2 of 5 documents (40%) are tied`."""
        return f"{self.share_of(self.tied)} are tied"

    def share_of(self, n_docs: int) -> str:
        """Return a number of documents and its share of all."""
        return f"{part_of(n_docs, len(self.scores), 'document')} ({percent(n_docs / len(self.scores))})"

    def first_row(self, groups: IntArray | BoolArray) -> int:
        """Return the first row of some tie groups."""
        return int(self.order[self.starts[groups]].min())

    def query_findings(
        self,
        code: str,
        queries: IntArray,
        number: int,
        noun: str,
        verb: str,
        severity: Severity | None = None,
    ) -> Iterator[Finding]:
        """Report queries, or lists of these queries, if any; `queries` are places in `pairs.queries`."""
        if len(queries):
            first = quote(self.pairs.queries[int(queries[0])].as_py())
            message = f"{describe_part(len(queries), number, noun, verb)}, {first} first."
            row = np.argmax(self.pairs.query == queries[0])
            yield self.finding(code, message, row=row, count=len(queries), severity=severity)

    def list_findings(self, code: str, is_concerned: BoolArray, verb: str) -> Iterator[Finding]:
        """Report some of the (n_lists,) lists, if any."""
        queries = self.list_queries[is_concerned]
        return self.query_findings(code, queries, len(is_concerned), "list", verb)


_MAX_AFFIX = 64
"""Longest common prefix or suffix of IDs."""


_SPELLINGS: tuple[tuple[str, Callable[[pa.Array], pa.Array]], ...] = (
    ("surrounding spaces", pc.utf8_trim_whitespace),
    ("case", pc.utf8_lower),
    ("a trailing .0", lambda ids: pc.replace_substring_regex(ids, r"\.0+$", "")),
    ("leading zeros", lambda ids: pc.replace_substring_regex(ids, "^0+(.)", r"\1")),
)


def cause_of(ours: pa.Array, theirs: pa.Array) -> tuple[str, int, int]:
    """Return the likely reason why the run and the judgments share no ID, and places of an example in both.

    Ignores one difference at a time: spaces, case, a trailing .0, leading zeros, a common prefix or suffix.
    """
    attempts = chain(
        ((change, respelled(ours), respelled(theirs)) for change, respelled in _SPELLINGS),
        ((f"{affix} in the run", ids, theirs) for affix, ids in _without_affixes(ours)),
        ((f"{affix} in the judgments", ours, ids) for affix, ids in _without_affixes(theirs)),
    )
    for difference, own_ids, judged_ids in attempts:
        places = pc.index_in(own_ids, value_set=judged_ids)
        first = pc.index(pc.is_valid(places), value=True).as_py()
        if first >= 0:
            return f"The IDs differ only by {difference}.", first, places[first].as_py()
    return "The judgments seem to belong to another collection.", 0, 0


def _without_affixes(ids: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield common prefixes and suffixes that do not split numbers, and the IDs without them."""
    for name, texts in (("prefix", ids), ("suffix", pc.utf8_reverse(ids))):
        letters = zip(*pc.min_max(texts).as_py().values(), strict=False)
        common = [low for low, _ in takewhile(lambda pair: pair[0] == pair[1], letters)]
        for length in range(1, min(len(common), _MAX_AFFIX) + 1):
            if not common[length - 1].isdigit():
                shortened = pc.utf8_slice_codeunits(texts, length)
                is_prefix = name == "prefix"
                affix = "".join(common[:length] if is_prefix else common[length - 1 :: -1])
                yield f"the {name} {quote(affix)}", shortened if is_prefix else pc.utf8_reverse(shortened)


_N_COMPARED = 50
"""Queries whose documents are compared to explain why none is judged."""


def queries_of_both(listing: Listing, judged: Listing) -> Iterator[Finding]:
    """Report judged queries without rows and queries without judgments."""
    ours, theirs = listing.pairs.queries, judged.pairs.queries
    is_judged = listing.queries_in(judged)
    if len(ours) and len(theirs) and not is_judged.any():
        cause = cause_of(ours, theirs)
        message = f"No query of the run is judged: it has {_examples(ours, theirs, cause)}"
        row = np.argmax(listing.pairs.query == cause[1])
        yield listing.finding("no-overlap", message, row=row, count=len(ours))
        return
    if missing := len(theirs) - int(is_judged.sum()):
        first = quote(theirs[int(np.argmin(judged.queries_in(listing)))].as_py())
        message = f"{describe_part(missing, len(theirs), 'judged query', 'have no rows')}, {first} first."
        yield listing.finding("queries-missing", message, count=missing)
    unjudged = np.flatnonzero(~is_judged)
    yield from listing.query_findings("queries-unjudged", unjudged, len(ours), "query", "have no judgments")


def documents_of_both(listing: Listing, judged: Listing) -> Iterator[Finding]:
    """Report that no document listed for judged queries is judged."""
    is_judged = listing.queries_in(judged)
    if listing.grades is None or not is_judged.any() or not np.isnan(listing.grades).all():
        return
    compared = np.flatnonzero(is_judged)[:_N_COMPARED]
    rows = np.flatnonzero(np.isin(listing.pairs.query, compared))
    codes = pc.index_in(listing.pairs.queries.take(pa.array(compared)), value_set=judged.pairs.queries)
    judgments = np.flatnonzero(np.isin(judged.pairs.query, codes.to_numpy()))
    ours = listing.pairs.documents.take(pa.array(rows))
    theirs = judged.pairs.documents.take(pa.array(judgments))
    if pc.any(pc.is_in(ours, value_set=judged.pairs.documents)).as_py():
        sentence = (
            "Some listed documents are judged for other queries, so the query IDs may belong to another "
            "collection."
        )
        cause = sentence, 0, 0
    else:
        cause = cause_of(ours, theirs)
    n_rows = int(is_judged[listing.pairs.query].sum())
    message = (
        f"Of {count_of(n_rows, 'document')} listed for {count_of(int(is_judged.sum()), 'judged query')}, "
        f"none is judged: the run has {_examples(ours, theirs, cause)}"
    )
    yield listing.finding("documents-no-overlap", message, row=rows[cause[1]], count=n_rows)


def _examples(ours: pa.Array, theirs: pa.Array, cause: tuple[str, int, int]) -> str:
    sentence, own, judged = cause
    return f"{quote(ours[own].as_py())}, the judgments have {quote(theirs[judged].as_py())}. {sentence}"


def queries_differ(listings: Sequence[Listing]) -> Iterator[Finding]:
    """Report rerankers without rows for queries of others."""
    queries = pc.unique(pa.chunked_array([listing.pairs.queries for listing in listings], pa.string()))
    for listing in listings:
        if lacking := len(queries) - len(listing.pairs.queries):
            first = pc.index(pc.is_in(queries, value_set=listing.pairs.queries), value=False).as_py()
            share = describe_part(lacking, len(queries), "query", "have no rows")
            message = f"{share}, {quote(queries[first].as_py())} first; other rerankers have rows for them."
            yield listing.finding("queries-differ", message, count=lacking)


_DEPTH = 10
_WARNING_SHARE = 0.5
"""Share of unjudged documents, or of queries without relevant ones, from which the finding is a warning."""
_MIN_LISTS = 5
"""Fewest lists of a reranker whose share is compared."""
_FURTHER, _TIMES, _MIN_STANDARD_ERRORS = 0.2, 2, 3
"""A reranker outside the pool exceeds the median share by this much, factor and number of standard errors."""
_POOLED, _UNJUDGED_OTHERS = 0.1, 0.5
"""If judgments were made from one run: its largest share of unjudged documents, the lowest median of others."""


class TopJudgments(NamedTuple):
    """Unjudged documents among the first ten of each list whose query is judged.

    Attributes:
        expected: number of these documents, expected over the orders of ties across the cut-off.
        share: the expected number as a share of the documents among the first ten.
        error: standard error of the share over lists.
        n_lists: number of lists.
        finding: the finding on these documents.
    """

    expected: float
    share: float
    error: float
    n_lists: int
    finding: Finding

    @classmethod
    def of(cls, listing: Listing, judged: Listing) -> "TopJudgments | None":
        """Count them for a reranker; None if no document is judged."""
        if listing.grades is None or np.isnan(listing.grades).all():
            return None
        unknown = np.add.reduceat(np.isnan(listing.grades[listing.order]), listing.starts, dtype=np.int64)
        within = np.clip(_DEPTH - listing.above, 0, listing.sizes)
        within[~listing.queries_in(judged)[listing.list_queries][listing.group_lists]] = 0
        documents = np.bincount(listing.group_lists, within, len(listing.list_sizes))
        unjudged = np.bincount(listing.group_lists, within * unknown / listing.sizes, len(listing.list_sizes))
        shares = (unjudged / np.maximum(documents, 1))[documents > 0]
        expected, n_docs = float(unjudged.sum()), int(documents.sum())
        share = expected / max(n_docs, 1)
        number = f"{expected:,.0f}" if round(expected, 6).is_integer() else f"{expected:,.1f}"
        in_lists = part_of(int((unjudged > 0).sum()), len(shares), "list")
        message = (
            f"{percent(share)} of the documents in the top {_DEPTH} are unjudged, in {in_lists}: {number} of "
            f"{n_docs:,}. For a tie across the cut-off, the expected number of its unjudged documents in the "
            f"top {_DEPTH} is counted."
        )
        severity: Severity | None = "warning" if share > _WARNING_SHARE else None
        return cls(
            expected,
            share,
            float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else np.inf,
            len(shares),
            listing.finding("unjudged", message, count=max(1, round(expected)), severity=severity),
        )


def pool_findings(listings: Sequence[Listing], judged: Listing) -> Iterator[Finding]:
    """Report the unjudged documents of each reranker, and how their share differs from that of others.

    If a single run has almost no unjudged documents near the top and the others have many, the judgments were
    probably made from it. Otherwise, rerankers with far more unjudged documents than the others were probably
    not in the judged pool.
    """
    top = [TopJudgments.of(listing, judged) for listing in listings]
    yield from (own.finding for own in top if own is not None and own.expected)
    compared = {place: own for place, own in enumerate(top) if own is not None and own.n_lists >= _MIN_LISTS}
    if len(compared) < 2:  # noqa: PLR2004 there are no others
        return
    shares = np.array([own.share for own in compared.values()])
    sources, outsiders = list[Finding](), list[Finding]()
    for position, (place, own) in enumerate(compared.items()):
        listing, peers = listings[place], np.delete(shares, position)
        usual, lowest, highest = np.median(peers), percent(peers.min()), percent(peers.max())
        message = (
            f"{percent(own.share)} of this reranker's documents in the top {_DEPTH} are unjudged, against "
            f"{lowest if lowest == highest else f'{lowest} to {highest}'} for "
            f"{count_of(len(peers), 'other reranker')}."
        )
        above, count = own.share - usual, max(1, round(own.expected))
        if above >= _FURTHER and own.share >= _TIMES * usual and above >= _MIN_STANDARD_ERRORS * own.error:
            message += " This reranker was probably not in the judged pool."
            outsiders.append(listing.finding("outside-pool", message, count=count))
        elif own.share <= _POOLED and usual >= _UNJUDGED_OTHERS:
            message += " The judgments were probably made from this run, or from runs like it."
            sources.append(listing.finding("judged-from-run", message, count=own.n_lists))
    yield from sources if len(sources) == 1 else outsiders


_MIN_VALUES = 3
_MIN_SHARE = 0.1
_CROWDED = 2
"""Ratio of documents at an end to those at a value between the ends, from which scores are saturated."""
_MAX_GRADES = 21


def constant_scores(listing: Listing) -> Iterator[Finding]:
    """Report a run with a single score, or else its lists of two or more documents with a single score."""
    n_docs, scores = len(listing.scores), listing.scores
    if listing.tied and (scores == scores[0]).all():
        message = f"All {count_of(n_docs, 'document')} of the run have the score {float(scores[0])!r}."
        yield listing.finding("constant-run", message, row=0, count=n_docs)
        return
    is_level = np.bincount(listing.group_lists, minlength=len(listing.list_sizes)) == 1
    is_level &= listing.list_sizes > 1
    yield from listing.list_findings("constant-lists", is_level, "give one score to all documents")


def saturated(listing: Listing) -> Iterator[Finding]:
    """Report many ties at exactly 0 or 1 if other scores lie between.

    An end must hold many more documents than a value between the ends: a scale of few levels always has ties.
    """
    values, scores, n_docs = listing.values, listing.scores, len(listing.scores)
    if len(values) < _MIN_VALUES or values[0] < 0 or values[-1] > 1 or np.isinf(scores).any():
        return
    at_ends = [(scores[listing.starts] == end) & (listing.sizes > 1) for end in (0, 1)]
    n_zeros, n_ones = (int(listing.sizes[groups].sum()) for groups in at_ends)
    usual = ((scores > 0) & (scores < 1)).sum() / ((values > 0) & (values < 1)).sum()
    if n_zeros + n_ones >= _MIN_SHARE * n_docs and max(n_zeros, n_ones) >= _CROWDED * usual:
        message = (
            f"{listing.share_of(n_zeros + n_ones)} are tied at an end of the scale: {n_zeros:,} at exactly 0, "
            f"{n_ones:,} at exactly 1."
        )
        row = listing.first_row(at_ends[0] | at_ends[1])
        yield listing.finding("saturated", message, row=row, count=n_zeros + n_ones)


def infinite(listing: Listing) -> Iterator[Finding]:
    """Report infinite scores."""
    is_infinite = np.isinf(listing.scores)
    if n_docs := int(is_infinite.sum()):
        n_above = int((listing.scores == np.inf).sum())
        infinities = describe_part(n_docs, len(listing.scores), "score", "are infinite")
        message = f"{infinities}: {n_above:,} inf, {n_docs - n_above:,} -inf."
        yield listing.finding("infinite", message, row=listing.order[is_infinite].min(), count=n_docs)


_DECIMALS = 4
_EXACT = 2**53 / 10**_DECIMALS
"""Larger floats have no fourth decimal."""
_MIN_DISTINCT = 20
"""Fewest distinct scores of which 16 bits do not hold all by accident."""
_FEW_DECIMALS = 2
"""Scores of at most so many decimals that fit 16 bits are probably halves or quarters."""
_MOST_GRADERS = 5
"""Most whole-number grades whose mean a score may be."""


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


def coarse_scores(listing: Listing) -> Iterator[Finding]:
    """Report scores that fit 16-bit floats, and ties of grades or of scores with one to four decimals.

    Halves are not reported, because Copeland scores are halves.
    """
    values, n_docs = listing.values, len(listing.scores)
    if kind := half_format(values):
        distinct = count_of(len(values), "distinct score")
        message = f"{kind} holds each of the {distinct} exactly; {listing.tied_share}."
        yield listing.finding("half-precision", message, count=n_docs)
        return
    places = decimals(values)
    if not listing.tied or places is None or len(values) < 2:  # noqa: PLR2004 one score is reported elsewhere
        return
    if places == 0:
        if len(values) <= _MAX_GRADES:
            grades = f"{len(values)} different whole numbers from {values[0]:g} to {values[-1]:g}"
            yield listing.finding("graded", f"Scores are {grades}; {listing.tied_share}.", count=listing.tied)
        return
    if places == 1 and decimals(2 * values) == 0:
        return
    digits, code = f"at most {count_of(places, 'decimal')}", "few-decimals"
    message = f"Scores have {digits} and {listing.tied_share}."
    if _are_grades(listing):
        code = "graded"
        message = f"Scores are grades or means of a few grades, with {digits}; {listing.tied_share}."
    yield listing.finding(code, message, count=listing.tied)


def _are_grades(listing: Listing) -> bool:
    """Return whether scores are grades or means of a few grades, so that nothing was rounded."""
    values, scores = listing.values, listing.scores
    if "score_std" in listing.table.column_names:
        return True  # the mean of grades
    are_means = any(decimals(n * values) == 0 for n in range(2, _MOST_GRADERS + 1))
    are_whole = 2 * np.count_nonzero(scores == np.rint(scores)) > len(scores)
    return bool(values[-1] - values[0] > 1 and (are_means or are_whole))


def float32_ties(listing: Listing) -> Iterator[Finding]:
    """Report different scores in a list that are equal as 32-bit floats."""
    with np.errstate(over="ignore"):
        narrow = listing.scores[listing.starts].astype(np.float32)
    alike = (narrow[1:] == narrow[:-1]) & (listing.group_lists[1:] == listing.group_lists[:-1])
    if alike.any():
        either = np.append(alike, False) | np.append(False, alike)
        n_docs, n_lists = int(listing.sizes[either].sum()), len(np.unique(listing.group_lists[either]))
        message = (
            f"{count_of(n_docs, 'document')} in {part_of(n_lists, len(listing.list_sizes), 'list')} have "
            "scores that differ as 64-bit floats and are equal as 32-bit floats."
        )
        yield listing.finding("float32-ties", message, row=listing.first_row(either), count=n_docs)


CUTOFFS = (1, 3, 5, 10)
"""Cut-offs that are checked for ties."""


def one_document(listing: Listing) -> Iterator[Finding]:
    """Report lists of a single document."""
    return listing.list_findings("one-document", listing.list_sizes == 1, "hold a single document")


def own_query(listing: Listing) -> Iterator[Finding]:
    """Report lists whose query is one of their documents."""
    texts = listing.pairs.queries.cast(pa.string()).take(pa.array(listing.pairs.query))
    is_own = np.asarray(pc.equal(texts, listing.table["doc_id"]), dtype=bool)
    queries = np.unique(listing.pairs.query[is_own]).astype(np.int64)
    yield from listing.query_findings(
        "own-query", queries, len(listing.pairs.queries), "list", "hold the query itself as a document"
    )


def straddles(listing: Listing) -> Iterator[Finding]:
    """Report ties across a cut-off."""
    below = listing.above + listing.sizes
    across = np.array([(listing.above < k) & (below > k) for k in CUTOFFS])
    if across.any():
        groups = np.flatnonzero(across.any(axis=0))
        n_lists = len(np.unique(listing.group_lists[groups]))
        counts = zip(CUTOFFS, across.sum(axis=1).tolist(), strict=True)
        each = ", ".join(f"{n_tied:,} at k = {k}" for k, n_tied in counts if n_tied)
        message = f"Ties lie across a cut-off in {part_of(n_lists, len(listing.list_sizes), 'list')}: {each}."
        yield listing.finding("straddles", message, row=listing.first_row(groups), count=n_lists)


def rank_disagrees(listing: Listing) -> Iterator[Finding]:
    """Report lists in which ranks contradict scores."""
    if "rank" not in listing.table.column_names:
        return
    ranks = listing.table["rank"].cast(pa.float64()).to_numpy()[listing.order]
    stated = np.flatnonzero(~np.isnan(ranks))
    if not len(stated):
        return
    group = np.searchsorted(listing.starts, stated, side="right") - 1
    first = span_starts(group)
    highest = np.maximum.reduceat(ranks[stated], first)
    lowest = np.minimum.reduceat(ranks[stated], first)
    lists = listing.group_lists[group[first]]
    is_wrong = (lists[1:] == lists[:-1]) & (highest[:-1] > lowest[1:])
    is_concerned = np.isin(np.arange(len(listing.list_sizes)), lists[1:][is_wrong])
    yield from listing.list_findings("rank-disagrees", is_concerned, "have ranks that contradict the scores")


def negative_grades(rows: Listing) -> Iterator[Finding]:
    """Report grades below 0."""
    if rows.grades is not None and len(negative := np.flatnonzero(rows.grades < 0)):
        share = describe_part(len(negative), len(rows.grades), "grade", "are below 0")
        message = f"{share}, the lowest is {rows.grades[negative].min():g}."
        yield rows.finding("negative-grades", message, row=negative[0], count=len(negative))


def nothing_relevant(rows: Listing) -> Iterator[Finding]:
    """Report queries without relevant documents."""
    if rows.grades is not None:
        n_queries = len(rows.pairs.queries)
        relevant = np.bincount(rows.pairs.query[rows.is_relevant], minlength=n_queries)
        verb = f"have no document of grade {rows.relevant_from:g} or more"
        without = np.flatnonzero(relevant == 0)
        severity: Severity | None = "warning" if len(without) >= _WARNING_SHARE * n_queries else None
        yield from rows.query_findings("nothing-relevant", without, n_queries, "query", verb, severity)


def none_found(listing: Listing, judged: Listing) -> Iterator[Finding]:
    """Report lists without any of the relevant documents of their query."""
    if listing.grades is None or judged.grades is None or np.isnan(listing.grades).all():
        return
    query = places_in(judged.pairs.queries, listing.pairs.queries)[judged.pairs.query]
    has_relevant = np.zeros(len(listing.pairs.queries), bool)
    has_relevant[query[judged.is_relevant & (query >= 0)]] = True
    empty = has_relevant[listing.list_queries] & (listing.list_relevant == 0)
    yield from listing.list_findings("none-found", empty, "hold none of the relevant documents of the query")


_MIN_Z = 4
"""Standard deviations from which order is reported; chance exceeds them in one of 16,000 runs."""


def order_leaks(listing: Listing) -> Iterator[Finding]:
    """Report ties whose file order depends on relevance.

    In a tie of n documents with r relevant, their ranks sum to r(n+1)/2 on average, with variance
    r(n-r)(n+1)/12, the rank-sum statistic. Ties are independent.
    """
    mixed = (listing.relevant > 0) & (listing.relevant < listing.sizes)
    if not mixed.any():
        return
    relevant = listing.is_relevant[listing.order]
    positions = np.flatnonzero(relevant)
    group = np.searchsorted(listing.starts, positions, side="right") - 1
    mean = (positions - listing.starts[group] + 1)[mixed[group]].mean()
    starts, n, r = listing.starts[mixed], listing.sizes[mixed], listing.relevant[mixed]
    expected = (r * (n + 1)).sum() / 2 / r.sum()
    z = (mean - expected) / (np.sqrt((r * (n - r) / 12 * (n + 1)).sum()) / r.sum())
    if abs(z) > _MIN_Z:
        side, verdict = ("before", "better") if z < 0 else ("after", "worse")
        message = (
            f"In {count_of(len(n), 'tie')} with both relevant and non-relevant documents, the relevant "
            f"documents tend to come {side} the others: their mean rank is {mean:.2f}, and the expected "
            f"rank in random order is {expected:.2f} ({abs(z):.1f} standard deviations apart). "
            f"{percent(relevant[starts].mean())} of these ties begin with a relevant document; "
            f"{percent((r / n).mean())} would in random order. "
            f"File order tends to make the run look {verdict} than it is."
        )
        yield listing.finding("order-leaks", message, row=listing.first_row(mixed), count=len(n))


Check = Callable[[Listing], Iterator[Finding]]
OF_LISTS: tuple[Check, ...] = (
    order_leaks,
    rank_disagrees,
    constant_scores,
    saturated,
    coarse_scores,
    float32_ties,
    infinite,
    straddles,
    one_document,
)
"""Checks of each reranker."""


def inspect(listings: Sequence[Listing], judgments: Listing | None) -> Iterator[Finding]:
    """Yield all findings on runs; `judgments` are None if the tables hold relevance."""
    yield from inspect_coverage(listings, judgments)
    for rows in listings if judgments is None else [judgments]:
        yield from negative_grades(rows)
        yield from nothing_relevant(rows)
    if judgments is not None:
        yield from pool_findings(listings, judgments)
        for listing in listings:
            yield from none_found(listing, judgments)
    for check in OF_LISTS:
        for listing in listings:
            yield from check(listing)


def inspect_coverage(listings: Sequence[Listing], judgments: Listing | None) -> Iterator[Finding]:
    """Yield the findings on queries and documents that only one side has."""
    if judgments is None:
        yield from queries_differ(listings)
    for listing in listings:
        yield from own_query(listing)
        if judgments is None:
            continue
        yield from queries_of_both(listing, judgments)
        yield from documents_of_both(listing, judgments)
