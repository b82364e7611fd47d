"""What comparisons of documents lack, and where they contradict each other."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from metrics.runs.findings import Finding, make_finding
from metrics.runs.formats.answers.comparisons import Comparisons
from metrics.support.arrays import IntArray
from metrics.support.wording import part_of, quote


def preference_findings(
    comparisons: Comparisons, queries: pa.Array, line_of: Callable[[int], int], file: str
) -> list[Finding]:
    """Return what is missing from comparisons, and where they contradict each other: counted.

    Args:
        comparisons: of the documents of a file.
        queries: (n_documents,) query of each document.
        line_of: a document → the line that first names it.
        file: its name.
    """

    def finding(code: str, message: str, lists: IntArray, count: int) -> Finding:
        document = int(np.argmax(comparisons.list_of == lists[0]))
        text = f"{message}, query {quote(queries[document].as_py())} first."
        return make_finding(code, file, text, line=line_of(document), count=count)

    findings, n_lists = [], comparisons.n_lists
    inconsistent = int(comparisons.is_inconsistent.sum())
    if inconsistent:
        lists = np.unique(comparisons.list_of[comparisons.first[comparisons.is_inconsistent]])
        pairs = part_of(inconsistent, len(comparisons.n), "pair")
        message = f"Compared again with another answer: {pairs}, in {part_of(len(lists), n_lists, 'list')}"
        findings.append(finding("preferences-inconsistent", message, lists, inconsistent))
    missing = int(comparisons.n_missing.sum())
    if missing:
        lists = np.flatnonzero(comparisons.n_missing)
        pairs = part_of(missing, missing + len(comparisons.n), "pair")
        message = f"Never compared: {pairs}, in {part_of(len(lists), n_lists, 'list')}"
        findings.append(finding("preferences-missing", message, lists, missing))
    parts = np.unique(np.stack([comparisons.list_of, comparisons.components]), axis=1)[0]
    apart = np.flatnonzero(np.bincount(parts, minlength=n_lists) > 1)
    if len(apart):
        share = part_of(len(apart), n_lists, "list")
        message = f"Documents that no chain of comparisons connects, in {share}"
        findings.append(finding("preferences-apart", message, apart, len(apart)))
    in_cycles = int(comparisons.is_in_cycle.sum())
    if in_cycles:
        lists = np.unique(comparisons.list_of[comparisons.is_in_cycle])
        documents = part_of(in_cycles, len(comparisons.list_of), "document")
        message = f"In a circle of preferences: {documents}, in {part_of(len(lists), n_lists, 'list')}"
        findings.append(finding("preferences-cycles", message, lists, len(lists)))
    return findings
