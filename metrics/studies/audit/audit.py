"""Audit of a published table: the convention that reproduces it from the runs, in sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from metrics.evaluation import Evaluation, score_runs
from metrics.measures import parse
from metrics.runs import Runs, Table, Tables
from metrics.runs.from_paths import as_runs
from metrics.studies.audit.conventions import USUAL
from metrics.studies.audit.names import NameMatches, match_names, our_measure
from metrics.studies.audit.published import Files, read_published
from metrics.studies.audit.published_table import PublishedTable
from metrics.studies.audit.reproduction import VERDICTS, Reproduction, reproduce
from metrics.studies.prose import Prose, Strong, and_more, decimal, plain
from metrics.support.wording import count_of, first_names, part_of

_SUBJECTS = {
    "precision": "in which number format scores were compared",
    "relevant_from": "from which grade documents count as relevant",
    "missing": "how queries without rows count",
    "empty": "how queries without relevant documents count",
    "gain": "which gain nDCG used",
    "unjudged": "how unjudged documents count",
}
"""Field of a convention → what the figures leave open."""
_MOST_LABELS = 4
_HARDLY = 0.01
"""Expected number of fits by chance below which a fitting convention is the one used."""


def convention_finding(reproduction: Reproduction) -> Prose:
    """Say which convention reproduces the published figures; if several do, none is chosen."""
    n, n_out = reproduction.n_figures, int(reproduction.conventions["does_not_come_out"].iloc[0])
    if n_out == n:
        return (
            "No tested convention reproduces any figure of the table. With the most common convention, ",
            Strong(reproduction.best.label),
            ", no figure matches",
            *_where_it_fails(reproduction),
        )
    fitting, reproduced = reproduction.fitting, Strong(part_of(n - n_out, n, "figure"))
    n_rounded = int(reproduction.conventions["by_rounding"].iloc[: len(fitting)].max())
    digits = "all " * (n - n_out > 1) + "to the last digit"
    if n_rounded:
        digits = f"up to {n_rounded:,} by rounding"
    outcome = f" {'is' if n - n_out == 1 else 'are'} reproduced, {digits}"
    shared, alternatives = _alternatives(reproduction)
    if n_out:
        nearest = Strong("; ".join([*shared, *alternatives]))
        start = "No tested convention reproduces the whole table. Closest: "
        return start, nearest, ". ", reproduced, outcome, *_where_it_fails(reproduction)
    if not shared:
        why = ", which give the same figures on these files: "
        if reproduction.n_fitting_alike > 1:
            why = ", which more printed digits would distinguish at least in part: "
        number = Strong(count_of(len(fitting), "convention"))
        return reproduced, f"{outcome}, under ", number, why, Strong("; ".join(alternatives)), "."
    label, open_subjects = Strong("; ".join(shared)), [_SUBJECTS[field] for field in reproduction.varied]
    is_complete = bool(open_subjects) and reproduction.has_every_rule
    uncertain = f" The figures do not show {', nor '.join(open_subjects)}." if is_complete else ""
    if reproduction.n_by_chance >= _HARDLY:
        end = f". With so few digits, this match may be due to chance.{uncertain}"
        return reproduced, f"{outcome}, under ", label, end
    return "The table follows this convention: ", label, ". ", reproduced, f"{outcome}.{uncertain}"


def uncertainty_notes(reproduction: Reproduction) -> list[str]:
    """Return sentences about parts of the convention that these files cannot show, if every rule was tried."""
    if not reproduction.has_every_rule:
        return []
    return [
        f"These files cannot show {_SUBJECTS[field]}: {reason}."
        for field, reason in reproduction.reasons.items()
    ]


def _alternatives(reproduction: Reproduction) -> tuple[list[str], list[str]]:
    """Return what the fitting conventions share, if they share a tie order, and what they differ in."""
    fitting, varied = reproduction.fitting, reproduction.varied
    if prod(map(len, varied.values())) != len(fitting):
        labels = " / ".join(each.label for each in fitting[:_MOST_LABELS])
        return [], [labels + and_more(len(fitting) - _MOST_LABELS)]
    unusual = replace(fitting[0], **{field: getattr(USUAL, field) for field in varied}).label.split("; ")
    alternatives = [" or ".join(dict.fromkeys(each.aspect(field) for each in fitting)) for field in varied]
    return ([], [*alternatives, *unusual[1:]]) if "treatment" in varied else (unusual, alternatives)


def _where_it_fails(reproduction: Reproduction) -> Prose:
    largest = reproduction.conventions["largest_difference"].iloc[0]
    figures = reproduction.figures()
    failed = figures[figures["verdict"] == VERDICTS[2]]
    places = [
        first_names([f"{name} ({count:,})" for name, count in failed[column].value_counts().items()], 5)
        for column in ("reranker", "measure")
    ]
    n_unjudged = int(failed["computed"].isna().sum())
    are_for = "is for a query" if n_unjudged == 1 else "are for queries"
    unjudged = f" {count_of(n_unjudged, 'figure')} {are_for} without judgments." if n_unjudged else ""
    measures = [name for name in reproduction.by_measure if name in set(failed["measure"])]
    others = first_names([f"{name} ({reproduction.by_measure[name].label})" for name in measures], _MOST_LABELS)
    another = f" Another convention reproduces all figures of {others}." if measures else ""
    return (
        f"; the largest difference is {decimal(largest)}." if largest else ".",
        f" Figures that differ, by reranker: {places[0]}; by measure: {places[1]}.",
        f"{unjudged}{another}",
    )


TIED = ("expected", "optimistic", "pessimistic")
"""Treatments scored in addition to that of the convention."""


@dataclass(frozen=True, eq=False)
class Audit:
    """The audit of a published table.

    Attributes:
        published: figures as printed.
        names: matches of published names and ours.
        reproduction: conventions tried, the best first.
        evaluation: evaluation of the rerankers with figures by the best convention, with its treatment and
            expected, optimistic and pessimistic.
    """

    published: PublishedTable
    names: NameMatches
    reproduction: Reproduction
    evaluation: Evaluation

    @property
    def measures(self) -> list[str]:
        """Published measures with means of two or more rerankers, in printed order."""
        return [name for name in self.published.measures if len(self.order(name)) > 1]

    @property
    def first_measure(self) -> str:
        """The published measure to audit first: RR, else nDCG, else the first of `measures`, or ""."""
        ours = {name: parse(self.names.measure(name)) for name in self.measures}
        for family in ("RR", "nDCG"):
            of_family = [name for name, measure in ours.items() if measure.measure.name == family]
            if of_family:
                return min(of_family, key=lambda name: ours[name].k not in (None, 10))
        return next(iter(ours), "")

    def published_measure(self, name: str) -> str:
        """Return the published measure of a name, theirs or ours; empty if it gives no order."""
        if name in self.measures:
            return name
        ours = our_measure(name)
        return next((each for each in self.measures if ours and self.names.measure(each) == ours), "")

    def order(self, measure: str) -> list[str]:
        """Return the rerankers by their printed means of a published measure, the highest first."""
        if not self.names.measure(measure):
            return []
        return [name for printed in self.published.order(measure) if (name := self.names.reranker(printed))]

    def measure(self, published: str) -> str:
        """Return the measure of `evaluation` for a published one."""
        return self.reproduction.best.measure(self.names.measure(published))

    def __str__(self) -> str:
        """Say which convention the table was made with."""
        return plain(convention_finding(self.reproduction))


def audit(
    runs: Runs | Tables,
    published: PublishedTable | Files,
    *,
    qrels: Table | None = None,
    names: Mapping[str, str] | None = None,
    relevant_from: float | None = None,
    every_rule: bool = False,
) -> Audit:
    """Reproduce a published table from the runs and judgments it was made from.

    Conventions that can give different figures on these files are tried, the usual ones first, until one
    reproduces all figures: tie order, precision of scores, smallest relevant grade, policies for missing and
    empty queries and for unjudged documents, gain of nDCG.

    Args:
        runs: the rankings, in any form that `read_runs` reads.
        published: outputs of trec_eval, CSV, Markdown or LaTeX tables, JSON of BEIR or MTEB: a path, several,
            or name → bytes.
        qrels: judgments, if `runs` have none.
        names: published → ours, for names of rerankers and measures that do not match; "" leaves one out.
        relevant_from: smallest relevant grade, if known.
        every_rule: try all conventions, to see what else gives these figures and what they cannot show.

    Returns:
        The matched names, the convention, and the runs scored with it.

    Raises:
        ReadError: a file cannot be read; names file and line.
        UsageError: no figure belongs to a known reranker and measure, or a name does not exist.
    """
    runs = as_runs(runs, qrels)
    if not isinstance(published, PublishedTable):
        published = read_published(published)
    matches = match_names(published, runs, names)
    reproduction = reproduce(published, matches, runs, relevant_from=relevant_from, every_rule=every_rule)
    best = reproduction.best
    measures = [best.measure(name) for name in dict.fromkeys(matches.measures["matched"]) if name]
    present = set(matches.rerankers["matched"])
    own_runs = runs.arranged({name: name for name in runs.rerankers if name in present})
    treatments = list(dict.fromkeys((best.treatment, *TIED)))
    return Audit(published, matches, reproduction, score_runs(own_runs, measures, treatments, best.options))
