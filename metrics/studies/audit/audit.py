"""Audit: a published table beside the runs and judgments it was made from."""

from collections.abc import Mapping
from dataclasses import dataclass

from metrics.evaluation import Evaluation, score_runs
from metrics.measures import parse
from metrics.runs import Runs, Table, Tables
from metrics.runs.from_paths import as_runs
from metrics.studies.audit.finding import convention_finding
from metrics.studies.audit.names import NameMatches, match_names, our_measure
from metrics.studies.audit.published.reading import Files, read_published
from metrics.studies.audit.published.table import PublishedTable
from metrics.studies.audit.reproduction import Reproduction, reproduce
from metrics.studies.prose import plain

TIED = ("expected", "optimistic", "pessimistic")
"""Treatments that stand beside that of the convention."""


@dataclass(frozen=True, eq=False)
class Audit:
    """What became of a published table.

    Attributes:
        published: the figures as printed.
        names: whose they are.
        reproduction: by which convention they come out.
        evaluation: of the rerankers that have figures, by the convention that fits best: ties by it, expected,
            optimistic and pessimistic; its measures are those of `names`, with the gain of the convention.
    """

    published: PublishedTable
    names: NameMatches
    reproduction: Reproduction
    evaluation: Evaluation

    @property
    def measures(self) -> list[str]:
        """Published measures by which two rerankers or more have a mean, in the order printed."""
        return [name for name in self.published.measures if len(self.order(name)) > 1]

    @property
    def first_measure(self) -> str:
        """The published measure whose order is judged first: by RR, else nDCG, else the first of `measures`.

        Empty where no two rerankers have a mean by one measure.
        """
        ours = {name: parse(self.names.measure(name)) for name in self.measures}
        for family in ("RR", "nDCG"):
            of_family = [name for name, measure in ours.items() if measure.measure.name == family]
            if of_family:
                return min(of_family, key=lambda name: ours[name].k not in (None, 10))
        return next(iter(ours), "")

    def published_measure(self, name: str) -> str:
        """Return the published measure of a name, theirs or ours; empty where there is no order by it."""
        if name in self.measures:
            return name
        ours = our_measure(name)
        return next((each for each in self.measures if ours and self.names.measure(each) == ours), "")

    def order(self, measure: str) -> list[str]:
        """Return the rerankers of the runs by their printed means of a published measure, the highest first."""
        if not self.names.measure(measure):
            return []
        return [name for printed in self.published.order(measure) if (name := self.names.reranker(printed))]

    def measure(self, published: str) -> str:
        """Return the measure of `evaluation` that a published one is."""
        return self.reproduction.best.measure(self.names.measure(published))

    def __str__(self) -> str:
        """Say by which convention the table was made."""
        return plain(convention_finding(self.reproduction))


def audit(
    runs: Runs | Tables,
    published: PublishedTable | Files,
    *,
    qrels: Table | None = None,
    names: Mapping[str, str] | None = None,
    relevant_from: float | None = None,
) -> Audit:
    """Hold a published table against the runs and judgments it was made from.

    Every convention is tried that can give other figures on these files: the order of ties, the precision of
    scores, the smallest relevant grade, what is done about queries without rows or with nothing relevant and
    about unjudged documents, and the gain of nDCG.

    Args:
        runs: what was ranked, read or to be read as `read_runs` does.
        published: outputs of trec_eval, CSV, Markdown or LaTeX tables, JSON of BEIR or MTEB: a path, several,
            or name → bytes.
        qrels: judgments, where `runs` hold none.
        names: published → ours, of rerankers and measures whose names do not say it; → "" leaves one out.
        relevant_from: smallest relevant grade, where it is known.

    Returns:
        The names matched, the convention found, and the runs scored by it.

    Raises:
        ReadError: a file cannot be read; names file and line.
        UsageError: no figure is of a known reranker and measure, or a name is on neither side.
    """
    runs = as_runs(runs, qrels)
    if not isinstance(published, PublishedTable):
        published = read_published(published)
    matches = match_names(published, runs, names)
    reproduction = reproduce(published, matches, runs, relevant_from=relevant_from)
    best = reproduction.best
    measures = [best.measure(name) for name in dict.fromkeys(matches.measures["matched"]) if name]
    present = set(matches.rerankers["matched"])
    own_runs = runs.arranged({name: name for name in runs.rerankers if name in present})
    treatments = list(dict.fromkeys((best.treatment, *TIED)))
    return Audit(published, matches, reproduction, score_runs(own_runs, measures, treatments, best.options))
