"""Queries and documents that only one side knows, and why nothing is shared where nothing is."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.runs.findings.coverage.causes import Cause, cause_of
from metrics.runs.findings.finding import Finding, make_finding
from metrics.runs.findings.listing import JudgmentTable, Listing
from metrics.support.wording import count_of, describe_part, quote

MAX_INSPECTED = 1_000
"""Rerankers that are looked at one by one."""
_FEW_ROWS = 10
"""Rows of a reranker, on average, below which it may be none."""
_N_COMPARED = 50
"""Queries whose documents are compared to find out why none is judged."""


def many_rerankers(n_rerankers: int, n_rows: int, file: str) -> list[Finding]:
    """Report that there are more rerankers than are looked at one by one, and if they have few rows.

    Args:
        n_rerankers: how many there are.
        n_rows: rows of all of them.
        file: the file that most of them are in.

    Returns:
        One finding, of more rerankers than are looked at; a warning where they have few rows.
    """
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
