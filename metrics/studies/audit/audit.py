"""Audit: a published table beside the runs and judgments it was made from."""

from dataclasses import dataclass

from metrics.evaluation import Evaluation
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published.table import PublishedTable
from metrics.studies.audit.reproduction import Reproduction


@dataclass(frozen=True, eq=False)
class Audit:
    """What became of a published table.

    Attributes:
        published: the figures as printed.
        names: whose they are.
        reproduction: by which convention they come out.
        evaluation: of the runs by the convention that fits best: ties by it, expected, optimistic and
            pessimistic; its measures are those of `names`, with the gain of the convention.
    """

    published: PublishedTable
    names: NameMatches
    reproduction: Reproduction
    evaluation: Evaluation
