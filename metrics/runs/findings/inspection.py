"""Every check, in the order its findings are told."""

from collections.abc import Callable, Sequence

from metrics.runs.findings.coverage import documents_of_both, queries_differ, queries_of_both, unjudged
from metrics.runs.findings.finding import Finding
from metrics.runs.findings.judgments import all_relevant, negative_grades, none_found, nothing_relevant
from metrics.runs.findings.leaks import order_leaks
from metrics.runs.findings.listing import JudgmentTable, Listing
from metrics.runs.findings.lists import one_document, rank_disagrees, straddles
from metrics.runs.findings.precision import few_decimals, float32_ties, half_precision, near_ties
from metrics.runs.findings.scores import constant_lists, constant_run, graded, infinite, saturated

OF_GRADES: tuple[Callable[[JudgmentTable | Listing], list[Finding]], ...] = (negative_grades, nothing_relevant)
"""Asked of judgments apart, else of the grades inside each table."""

OF_IDS: tuple[Callable[[Listing, JudgmentTable], list[Finding]], ...] = (queries_of_both, documents_of_both)
"""Asked of each reranker beside judgments apart: what one side knows alone."""

OF_BOTH: tuple[Callable[[Listing, JudgmentTable], list[Finding]], ...] = (*OF_IDS, unjudged, none_found)
"""Asked of each reranker beside judgments apart."""

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
"""Asked of each reranker."""


def inspect(listings: Sequence[Listing], judgments: JudgmentTable | None) -> list[Finding]:
    """What is worth knowing of runs before they are scored.

    Args:
        listings: what each reranker gave.
        judgments: judgments given apart; None where relevance stands inside the tables, or nowhere.
    """
    graded_rows = listings if judgments is None else [judgments]
    found = queries_differ(listings) if judgments is None else []
    found += [one for known in graded_rows for check in OF_GRADES for one in check(known)]
    for listing in listings:
        if judgments is not None:
            found += [one for check in OF_BOTH for one in check(listing, judgments)]
        found += [one for check in OF_LISTS for one in check(listing)]
    return found


def left_out(listings: Sequence[Listing], judgments: JudgmentTable | None) -> list[Finding]:
    """What does not go together, and so is not scored or counts as nothing; as `inspect`, and cheap."""
    if judgments is None:
        return queries_differ(listings)
    return [one for listing in listings for check in OF_IDS for one in check(listing, judgments)]
