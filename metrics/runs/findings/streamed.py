"""What was left out of runs that are read in blocks: counted as they go by, reported at the end."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from metrics.runs.findings.finding import Finding, make_finding, reranker_prefix
from metrics.runs.query_doc_keys import Hashes
from metrics.support.arrays import BoolArray
from metrics.support.wording import describe_part


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
