"""Audit of a published table: the convention that reproduces it from the runs, in sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod

from metrics.evaluation import Evaluation, score_runs
from metrics.measures import parse
from metrics.runs import Runs, Table, Tables
from metrics.runs.from_paths import as_runs
from metrics.studies.audit.conventions import USUAL, either, written_precisions
from metrics.studies.audit.names import NameMatches, match_names, our_measure
from metrics.studies.audit.published import Files, read_published
from metrics.studies.audit.published_table import PublishedTable
from metrics.studies.audit.reproduction import VERDICTS, Reproduction, reproduce
from metrics.studies.prose import Prose, Strong, and_more, decimal, plain
from metrics.support.wording import count_of, first_names, part_of

_TELLS_APART = {
    "treatment": "ties between relevant and non-relevant documents",
    "precision": "scores that tie only after rounding",
    "relevant_from": "grades that only some of the conventions count as relevant",
    "missing": "runs without some of the judged queries",
    "empty": "queries without relevant documents",
    "gain": "grades above 1",
    "unjudged": "unjudged documents ranked above relevant documents",
}
"""Field of a convention → property of other files that would distinguish its values."""
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
    reproduced = Strong(part_of(n - n_out, n, "figure"))
    outcome = f" {'is' if n - n_out == 1 else 'are'} reproduced{_by_rounding(reproduction, n - n_out)}"
    if n_out:
        nearest = ("No tested convention reproduces the whole table. ", *_nearest(reproduction), ": ")
        return *nearest, reproduced, outcome, *_where_it_fails(reproduction)
    shared, alternatives = _alternatives(reproduction)
    if not shared:
        number = Strong(count_of(len(reproduction.fitting), "convention"))
        why, end = _how_to_distinguish(reproduction)
        choices = Strong("; ".join(alternatives))
        return reproduced, f"{outcome} under ", number, f", which {why}: ", choices, f". {end}"
    label = Strong("; ".join(shared))
    open_words = _what_is_open(reproduction) if alternatives and reproduction.has_every_rule else ""
    if reproduction.n_by_chance >= _HARDLY:
        end = f". With so few digits, this match may be due to chance.{open_words}"
        return reproduced, f"{outcome} under ", label, end
    end = f"{outcome.rstrip(',')}.{open_words}"
    return "The table follows this convention: ", label, ". ", reproduced, end


def uncertainty_notes(reproduction: Reproduction) -> list[str]:
    """Return sentences about parts of the convention that these files cannot show, if every rule was tried."""
    return (
        []
        if not reproduction.has_every_rule
        else [
            f"These files cannot show {_SUBJECTS[field]}: {reason}."
            for field, reason in reproduction.candidates.reasons.items()
        ]
    )


_QUESTIONS = {
    "precision": "whether scores were compared {}",
    "relevant_from": "whether the lowest relevant grade is {}",
    "missing": "whether queries without rows count as 0 or are left out",
    "empty": "whether queries without relevant documents count as 0, count as 1 or are left out",
    "gain": "whether the gain of nDCG is the grade or 2^grade − 1",
    "unjudged": "whether unjudged documents count as not relevant or are left out",
}
"""Field of a convention → open question about it."""
_SUBJECTS = _QUESTIONS | {
    "precision": "in which number format scores were compared",
    "relevant_from": "from which grade documents count as relevant",
    "gain": "which gain nDCG used",
}


def _by_rounding(reproduction: Reproduction, n_out: int) -> str:
    n_rounded = reproduction.conventions["by_rounding"].iloc[: len(reproduction.fitting)]
    of_them = "" if n_out == 1 else f"{n_rounded.max():,} of them "
    if n_rounded.max() > n_rounded.min():  # conventions that fit differ in it
        return f", {f'up to {of_them}' if of_them else 'sometimes '}by rounding,"
    return f", {of_them}by rounding" if n_rounded.max() else ", all to the last digit"


def _nearest(reproduction: Reproduction) -> Prose:
    if len(reproduction.fitting) == 1:
        return "The closest is ", Strong(reproduction.best.label)
    shared, alternatives = _alternatives(reproduction)
    number = Strong(count_of(len(reproduction.fitting), "convention"))
    return "The closest are ", number, " (", "; ".join([*shared, *alternatives]), ")"


def _alternatives(reproduction: Reproduction) -> tuple[list[str], list[str]]:
    """Return what the fitting conventions share, if they share a tie order, and what they differ in."""
    fitting, varied = reproduction.fitting, reproduction.varied
    if prod(map(len, varied.values())) != len(fitting):
        labels = " / ".join(each.label for each in fitting[:_MOST_LABELS])
        return [], [labels + and_more(len(fitting) - _MOST_LABELS)]
    unusual = replace(fitting[0], **{field: getattr(USUAL, field) for field in varied}).label.split("; ")
    alternatives = [
        _shortened_choice(list(dict.fromkeys(each.aspect(field) for each in fitting))) for field in varied
    ]
    return ([], [*alternatives, *unusual[1:]]) if "treatment" in varied else (unusual, alternatives)


def _shortened_choice(phrases: Sequence[str]) -> str:
    words = [phrase.split(" ") for phrase in phrases]
    n_shared = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False)))
    return " or ".join([phrases[0], *(" ".join(each[n_shared:]) for each in words[1:])])


def _what_is_open(reproduction: Reproduction) -> str:
    by_digits: dict[bool, list[str]] = {True: [], False: []}
    for field, values in reproduction.varied.items():
        grades_words = either([f"{value:g}" for value in values]) if field == "relevant_from" else ""
        choice = written_precisions(values) if field == "precision" else grades_words
        by_digits[reproduction.depends_on(field)].append(_QUESTIONS[field].format(choice))
    questions, idle_questions = (", nor ".join(by_digits[depends]) for depends in (True, False))
    if not questions:
        return f" The figures do not show {idle_questions}."
    addition = f" More digits would not show {idle_questions}." if idle_questions else ""
    answered = "this question" if len(by_digits[True]) == 1 else "these questions"
    return f" The figures do not show {questions}. More printed digits would answer {answered}.{addition}"


def _how_to_distinguish(reproduction: Reproduction) -> tuple[str, str]:
    """Return why several conventions fit, and what would distinguish them."""
    n_different = reproduction.n_fitting_alike
    if n_different == 1:
        properties = ", ".join(_TELLS_APART[field] for field in reproduction.varied)
        files = f"Files with these properties would distinguish the conventions: {properties}."
        return "give the same figures on these files", files
    by_digits = "differ only beyond the printed digits"
    if n_different == len(reproduction.fitting):
        return by_digits, "More digits would distinguish the conventions."
    alike = f"give the same figures on these files or {by_digits}"
    return alike, "More digits would distinguish some of the conventions."


def _where_it_fails(reproduction: Reproduction) -> Prose:
    largest = reproduction.conventions["largest_difference"].iloc[0]
    figures = reproduction.figures()
    failed = figures[figures["verdict"] == VERDICTS[2]]
    places = [
        first_names([f"{name} ({count:,})" for name, count in failed[column].value_counts().items()], 5)
        for column in ("reranker", "measure")
    ]
    queries = failed["query_id"].dropna().unique()
    addition = (
        f"; in {count_of(len(queries), 'query')}: {first_names(list(queries), 5)}" if len(queries) else ""
    )
    n_unjudged = int(failed["computed"].isna().sum())
    are_for = "is for a query" if n_unjudged == 1 else "are for queries"
    unjudged = f" {count_of(n_unjudged, 'figure')} {are_for} without judgments." if n_unjudged else ""
    measures = [name for name in reproduction.by_measure if name in set(failed["measure"])]
    others = first_names([f"{name} ({reproduction.by_measure[name].label})" for name in measures], _MOST_LABELS)
    another = f" Another convention reproduces all figures of {others}." if measures else ""
    return (
        f"; the largest difference is {decimal(largest)}." if largest else ".",
        f" Figures that differ, by reranker: {places[0]}; by measure: {places[1]}{addition}.",
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
