"""What was left out of runs that are read in blocks: counted as they go by, reported at the end."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from metrics.runs.findings.finding import Finding, make_finding
from metrics.runs.findings.wording import describe_part
from metrics.runs.query_doc_keys import Hashes
from metrics.runs.reading.files import File
from metrics.support.arrays import BoolArray


@dataclass
class RerankerCoverage:
    """What is kept of a reranker whose lists were scored.

    Attributes:
        file: name of its file.
        seen: (n_judged_queries,) whether each judged query had rows.
        n_queries: queries that had rows.
        n_judged_rows: rows that were judged; of judgments apart.
        asked: prints of the queries; without judgments apart.
    """

    file: str
    seen: BoolArray
    n_queries: int = 0
    n_judged_rows: int = 0
    asked: list[Hashes] = field(default_factory=list)

    def message_prefix(self, name: str) -> str:
        """Begins a message where the name of the file does not say which reranker it is about."""
        return "" if File(self.file, b"").stem == name else f"{name}: "

    def unjudged(self, name: str) -> list[Finding]:
        """That queries, or all documents of those that are judged, have no judgments."""
        n_known = int(self.seen.sum())
        if self.n_queries and not n_known and len(self.seen):
            message = f"{self.message_prefix(name)}No query of the run is judged."
            return [make_finding("no-overlap", self.file, message, count=self.n_queries)]
        findings = []
        if lacking := self.n_queries - n_known:
            unjudged = describe_part(lacking, self.n_queries, "query", "have no judgments")
            message = f"{self.message_prefix(name)}{unjudged}."
            findings.append(make_finding("queries-unjudged", self.file, message, count=lacking))
        if n_known and not self.n_judged_rows:
            message = f"{self.message_prefix(name)}No document listed for a judged query is judged."
            findings.append(make_finding("documents-no-overlap", self.file, message, count=n_known))
        return findings

    def queries_differ(self, name: str, n_asked: int) -> list[Finding]:
        """That it lacks queries which other rerankers have."""
        lacking = n_asked - self.n_queries
        if not lacking:
            return []
        what = describe_part(lacking, n_asked, "query", "have no rows")
        message = f"{self.message_prefix(name)}{what}; other rerankers have them."
        return [make_finding("queries-differ", self.file, message, count=lacking)]


class MergedFindings:
    """Findings of blocks: those of one kind of one file as one, which says how many there are in all."""

    def __init__(self) -> None:
        self._findings: dict[tuple[str, str], Finding] = {}
        self._messages: dict[tuple[str, str], set[str]] = {}

    def add(self, noted: Iterable[Finding]) -> None:
        """Findings of another block."""
        for one in noted:
            key = one.file, one.code
            before = self._findings.get(key, replace(one, count=0))
            self._findings[key] = replace(before, count=before.count + one.count)
            self._messages.setdefault(key, set()).add(one.message)

    @property
    def findings(self) -> list[Finding]:
        """One of each kind and file."""
        return [
            one
            if len(self._messages[key]) == 1
            else replace(one, message=f"{one.message} In the whole file: {one.count:,}.")
            for key, one in self._findings.items()
        ]
