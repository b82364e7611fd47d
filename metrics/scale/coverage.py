"""What all parts of a dataset cover: queries and judgments of each reranker, and findings of all parts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from metrics.runs.findings import Finding, make_finding, reranker_prefix
from metrics.runs.query_doc_keys import Hashes
from metrics.support.arrays import BoolArray
from metrics.support.wording import describe_part


@dataclass
class RerankerCoverage:
    """Which queries and judgments a reranker had rows for, in all parts.

    Attributes:
        file: name of its file.
        has_rows: (n_judged_queries,) whether each judged query has rows.
        n_queries: number of queries with rows.
        n_judged_rows: number of judged rows, with separate judgments.
        query_hashes: of its queries, by part, without separate judgments.
    """

    file: str
    has_rows: BoolArray
    n_queries: int = 0
    n_judged_rows: int = 0
    query_hashes: list[Hashes] = field(default_factory=list)

    def unjudged(self, name: str) -> Iterator[Finding]:
        """Report queries without judgments, and judged queries without judged documents."""
        n_judged = int(self.has_rows.sum())
        if self.n_queries and not n_judged and len(self.has_rows):
            yield self._finding(name, "no-overlap", "No query of the run is judged.", self.n_queries)
            return
        if lacking := self.n_queries - n_judged:
            share = describe_part(lacking, self.n_queries, "query", "have no judgments")
            yield self._finding(name, "queries-unjudged", f"{share}.", lacking)
        if n_judged and not self.n_judged_rows:
            message = "The lists of judged queries contain no judged document."
            yield self._finding(name, "documents-no-overlap", message, n_judged)

    def queries_differ(self, name: str, n_queries: int) -> Iterator[Finding]:
        """Report queries of other rerankers for which it has no rows."""
        if lacking := n_queries - self.n_queries:
            share = describe_part(lacking, n_queries, "query", "have no rows")
            yield self._finding(
                name, "queries-differ", f"{share}; other rerankers have rows for them.", lacking
            )

    def _finding(self, name: str, code: str, message: str, count: int) -> Finding:
        return make_finding(code, self.file, reranker_prefix(name, self.file) + message, count=count)


def merged_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding for each kind and file, with the counts of all parts added."""
    by_kind: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault((finding.file, finding.code), []).append(finding)
    return [_merged(group) for group in by_kind.values()]


def _merged(findings: list[Finding]) -> Finding:
    first, count = findings[0], sum(finding.count for finding in findings)
    if len({finding.message for finding in findings}) == 1:
        return replace(first, count=count)
    return replace(first, count=count, message=f"{first.message} Total in the file: {count:,}.")
