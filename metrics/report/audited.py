"""The published table of a report, and what becomes of it."""

from dataclasses import dataclass

from metrics.errors import UsageError
from metrics.report.options import ReportOptions
from metrics.runs import Runs
from metrics.studies.audit.audit import Audit, audit
from metrics.studies.audit.audited_order import AuditedOrder, audited_order


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """What becomes of a published table.

    Attributes:
        audit: of all its figures.
        order: that it prints by the report's first measure, or else by the first that it has.
    """

    audit: Audit
    order: AuditedOrder

    @classmethod
    def of(cls, runs: Runs, options: ReportOptions) -> "AuditedTable":
        """Hold the published table of a report against runs; UsageError where it has no figure of theirs."""
        if options.published is None:
            raise UsageError("There is no published table to audit.")
        result = audit(runs, options.published, names=dict(options.published_names))
        ours = {name: result.names.measure(name) for name in result.published.measures}
        first = [name for name, measure in ours.items() if measure == options.measures[0]]
        matched = [name for name, measure in ours.items() if measure]
        return cls(result, audited_order(result, runs, [*first, *result.measures, *matched][0]))
