"""What a report is to tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from metrics.errors import UsageError
from metrics.evaluation import ScoringOptions
from metrics.measures import parse
from metrics.studies.audit.published_table import PublishedTable
from metrics.studies.targets import PRESETS as READY_TARGETS
from metrics.ties import order_of_ties

MEASURES = ("RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10", "nDCG@10")
"""Measures reported unless said otherwise: the notebook's and the usual one for grades."""
PRESETS: Mapping[str, tuple[str, ...]] = {
    "short": ("summary", "swaps", "audit", "targets", "brief"),
    "full": (),
    "paper": ("paper", "brief"),
}
"""Preset → its sections; none for all but the table for a paper.

Targets only where any are set, an audit only where there is a published table.
"""
_SCORING = tuple(option.name for option in fields(ScoringOptions))


@dataclass(frozen=True)
class ReportOptions:
    """What a report is to tell.

    Attributes:
        measures: names; the first is the one tested, drawn and recommended on.
        traditional: the treatment taken as the traditional one.
        baseline: whom the others are compared with; BM25 or the first where empty.
        targets: what is to be reached, such as `MTRR>=0.8`, or the name of ready ones; none unless set.
        targets_for: whose targets are drawn; the leader's by tied value where empty.
        test: name of a test.
        correction: name of a correction.
        title: heading of the report; told by its size where empty.
        rerankers: those reported, in order; all where empty.
        segments: those reported; all where empty.
        preset: which sections: short (a summary), full (the summary and all behind it) or paper (one table).
        sections: names of the sections, in their own order; those of the preset where empty.
        files: name and sha256 of each file the runs came from.
        scoring: how lists are scored.
        published: the table that is audited; none where None.
        published_names: (published, ours) of names in it that do not say whose they are.
    """

    measures: tuple[str, ...] = MEASURES
    traditional: str = "input"
    baseline: str = ""
    targets: tuple[str, ...] = ()
    targets_for: str = ""
    test: str = "t"
    correction: str = "holm"
    title: str = ""
    rerankers: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    preset: str = "short"
    sections: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    published: PublishedTable | None = field(default=None, repr=False)
    published_names: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, **choices: Any) -> "ReportOptions":  # noqa: ANN401 as the fields name and type them
        """Return the record of these choices, those of scoring given one by one."""
        scoring = {name: choices.pop(name) for name in _SCORING if name in choices}
        return cls(**choices | ({"scoring": ScoringOptions(**scoring)} if scoring else {}))

    def __post_init__(self) -> None:
        """Turn lists into tuples, and names into those of the registries; UsageError for an unknown one."""
        for name, value in vars(self).copy().items():
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
        if not self.measures:
            raise UsageError("Name at least one measure.")
        if self.preset not in PRESETS:
            raise UsageError(f"There is no preset {self.preset!r}. Presets: {', '.join(PRESETS)}.")
        targets = [target for name in self.targets for target in READY_TARGETS.get(name, (name,))]
        object.__setattr__(self, "targets", tuple(dict.fromkeys(targets)))
        names = tuple(dict.fromkeys(str(parse(name)) for name in self.measures))
        object.__setattr__(self, "measures", names)
        object.__setattr__(self, "traditional", order_of_ties(self.traditional).name)
