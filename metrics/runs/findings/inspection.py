"""Every check of scores, lists and judgments, in the order in which its findings are listed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from metrics.runs.findings.coverage import documents_of_both, pool_findings, queries_differ, queries_of_both
from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import RELEVANT_FROM, JudgmentTable, Listing
from metrics.support.arrays import BoolArray, FloatArray, places_in, span_starts
from metrics.support.wording import count_of, describe_part, part_of, percent, quote

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


_DECIMALS = 4
_EXACT = 2**53 / 10**_DECIMALS
"""From here on a score has no fourth decimal."""
_MIN_DISTINCT = 20
"""Distinct scores from which on it is no accident that all fit 16 bits."""
_FEW_DECIMALS = 2
"""Up to so many decimals, scores that fit 16 bits were more likely counted in halves or quarters."""
_MOST_GRADERS = 5
"""Whole-number grades up to so many, of which a score may be the mean."""
_NOISE = 1e-9


def decimals(values: FloatArray) -> int | None:
    """Return the fewest decimals that write every value exactly, 0 for integers; None where 4 are too few."""
    if not len(values) or max(-values[0], values[-1]) >= _EXACT:
        return None
    return next((n for n in range(_DECIMALS + 1) if (np.round(values, n) == values).all()), None)


def half_format(values: FloatArray) -> str | None:
    """Return the 16-bit format that holds all values, if they are many and decimals do not explain it."""
    places = decimals(values)
    if len(values) < _MIN_DISTINCT or (places is not None and places <= _FEW_DECIMALS):
        return None
    with np.errstate(over="ignore"):
        narrow, narrowest = values.astype(np.float32), values.astype(np.float16)
    if (narrow == values).all() and not (narrow.view(np.uint32) & 0xFFFF).any():
        return "bfloat16"
    return "float16" if (narrowest == values).all() else None


def few_decimals(listing: Listing) -> list[Finding]:
    """Report ties among scores of one to four decimals; grades, and halves as Copeland's, were not rounded."""
    values = listing.values
    places = decimals(values)
    if places == 1 and decimals(2 * values) == 0:
        return []
    if not listing.tied or len(values) < 2 or not places or half_format(values):  # noqa: PLR2004 one is constant
        return []
    digits = f"at most {count_of(places, 'decimal')}"
    if _are_grades(listing):
        message = f"Scores are grades, or means of a few, with {digits}; {_tied(listing)}."
        return [listing.finding("graded", message, count=listing.tied)]
    message = f"Scores have {digits} and {_tied(listing)}."
    return [listing.finding("few-decimals", message, count=listing.tied)]


def _are_grades(listing: Listing) -> bool:
    """Return whether scores are whole-number grades, most of them or as means of a few: nothing was rounded."""
    values, scores = listing.values, listing.scores
    if "score_std" in listing.table.column_names:
        return True  # the mean of repeats, which the app made or the file says
    are_means = any(decimals(n * values) == 0 for n in range(2, _MOST_GRADERS + 1))
    are_whole = 2 * np.count_nonzero(scores == np.rint(scores)) > len(scores)
    return bool(values[-1] - values[0] > 1 and (are_means or are_whole))


def half_precision(listing: Listing) -> list[Finding]:
    """Report scores that all fit a 16-bit float."""
    kind = half_format(listing.values)
    if kind is None:
        return []
    message = (
        f"{kind} holds each of the {count_of(len(listing.values), 'distinct score')} exactly; {_tied(listing)}."
    )
    return [listing.finding("half-precision", message, count=len(listing.scores))]


def float32_ties(listing: Listing) -> list[Finding]:
    """Report documents of one list whose scores differ, and are equal as 32-bit floats."""
    with np.errstate(over="ignore"):
        narrow = listing.scores[listing.starts].astype(np.float32)
    verb = "have scores that differ as 64-bit floats and are equal as 32-bit floats"
    return _neighbours(listing, narrow[1:] == narrow[:-1], "float32-ties", verb)


def near_ties(listing: Listing) -> list[Finding]:
    """Report documents whose score differs from the next in the list by rounding noise."""
    score = listing.scores[listing.starts]
    with np.errstate(over="ignore", invalid="ignore"):
        near = score[:-1] - score[1:] < _NOISE * np.maximum(np.abs(score[:-1]), np.abs(score[1:]))
    near &= np.isfinite(score[1:]) & np.isfinite(score[:-1])
    verb = "have a score that differs from a neighbour's by less than a billionth of it"
    return _neighbours(listing, near, "near-ties", verb)


def _neighbours(listing: Listing, alike: BoolArray, code: str, verb: str) -> list[Finding]:
    """Return a finding about tie groups that are like the next one of their list: what their documents do."""
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


def negative_grades(rows: JudgmentTable | Listing) -> list[Finding]:
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


def nothing_relevant(rows: JudgmentTable | Listing) -> list[Finding]:
    """Report queries for which nothing is relevant."""
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


def none_found(listing: Listing, judged: JudgmentTable) -> list[Finding]:
    """Report lists that hold none of the documents that are relevant to their query."""
    if listing.grades is None or np.isnan(listing.grades).all():
        return []
    query = places_in(judged.pairs.queries, listing.pairs.queries)[judged.pairs.query]
    has_relevant = np.zeros(len(listing.pairs.queries), bool)
    has_relevant[query[(judged.grades >= RELEVANT_FROM) & (query >= 0)]] = True
    empty = has_relevant[listing.list_queries] & (listing.list_relevant == 0)
    return listing.list_findings("none-found", empty, "hold none of the relevant documents of the query")


def all_relevant(listing: Listing) -> list[Finding]:
    """Report lists of two documents or more that are all relevant."""
    full = (listing.list_relevant == listing.list_sizes) & (listing.list_sizes > 1)
    return listing.list_findings("all-relevant", full, "hold relevant documents only")


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


OF_GRADES: tuple[Callable[[JudgmentTable | Listing], list[Finding]], ...] = (negative_grades, nothing_relevant)
"""Run on judgments apart, else on the grades inside each table."""

OF_IDS: tuple[Callable[[Listing, JudgmentTable], list[Finding]], ...] = (queries_of_both, documents_of_both)
"""Run on each reranker beside judgments apart: what one side has alone."""

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
"""Run on each reranker."""


def inspect(listings: Sequence[Listing], judgments: JudgmentTable | None) -> list[Finding]:
    """Return what is worth knowing of runs before they are scored; judgments are None if not given apart."""
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


def inspect_coverage(listings: Sequence[Listing], judgments: JudgmentTable | None) -> list[Finding]:
    """Return what one side lacks, and so is not scored or counts as nothing; as `inspect`, and cheap."""
    if judgments is None:
        return queries_differ(listings)
    return [finding for listing in listings for check in OF_IDS for finding in check(listing, judgments)]
