"""Every check, in the order in which its findings are listed."""

from collections.abc import Callable, Sequence

from metrics.runs.findings.coverage.both_sides import documents_of_both, queries_differ, queries_of_both
from metrics.runs.findings.coverage.pool import pool_findings
from metrics.runs.findings.finding import Finding
from metrics.runs.findings.judgments import all_relevant, negative_grades, none_found, nothing_relevant
from metrics.runs.findings.leaks import order_leaks
from metrics.runs.findings.listing import JudgmentTable, Listing
from metrics.runs.findings.lists import one_document, rank_disagrees, straddles
from metrics.runs.findings.precision import few_decimals, float32_ties, half_precision, near_ties
from metrics.runs.findings.scores import constant_lists, constant_run, graded, infinite, saturated

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
