"""What the grades of documents show: of judgments apart, or of those inside a table."""

import numpy as np

from metrics.runs.findings.finding import Finding
from metrics.runs.findings.listing import RELEVANT_FROM, JudgmentTable, Listing
from metrics.support.arrays import places_in
from metrics.support.wording import describe_part, quote


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
