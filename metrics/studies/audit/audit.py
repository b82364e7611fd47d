"""Audit: a published table beside the runs it was made from, and by which convention, in sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import takewhile
from math import prod
from typing import Any

import pandas as pd

from metrics.evaluation import Evaluation, score_runs
from metrics.measures import parse
from metrics.runs import Runs, Table, Tables
from metrics.runs.from_paths import as_runs
from metrics.studies.audit.conventions import USUAL, Convention
from metrics.studies.audit.names import NameMatches, match_names, our_measure
from metrics.studies.audit.published import Files, read_published
from metrics.studies.audit.published_table import PublishedTable
from metrics.studies.audit.reproduction import COUNTS, Reproduction, reproduce
from metrics.studies.prose import Prose, Strong, and_more, decimal, plain
from metrics.support.wording import count_of, first_names, part_of

_TELLS_APART = {
    "treatment": "ties of relevant documents with others",
    "precision": "scores that only coarser formats tie",
    "relevant_from": "documents of the grades between",
    "missing": "runs that lack queries",
    "empty": "queries with nothing relevant",
    "gain": "grades above 1",
    "unjudged": "unjudged documents above relevant ones",
}
"""Field of a convention → what of other files would tell its values apart."""
_MOST_LABELS = 4
_HARDLY = 0.01
"""Expected number of fits by chance below which a table that comes out was made so."""
_FIELDS = tuple(field.name for field in fields(Convention))


def convention_finding(reproduction: Reproduction) -> Prose:
    """Say by which convention the published figures come out; of several that fit, never one."""
    n, n_out = reproduction.n_figures, int(reproduction.conventions["does_not_come_out"].iloc[0])
    if n_out == n:
        return (
            "No convention that was tried gives any figure of the table. By the usual one, ",
            Strong(reproduction.best.label),
            ", none comes out",
            *_where_it_fails(reproduction),
        )
    come_out = Strong(part_of(n - n_out, n, "figure"))
    outcome = f" {'comes' if n - n_out == 1 else 'come'} out{_by_rounding(reproduction, n - n_out)}"
    if n_out:
        return (
            "No convention that was tried gives the whole table. ",
            *_nearest(reproduction.fitting),
            ": ",
            come_out,
            outcome,
            *_where_it_fails(reproduction),
        )
    shared, either = _alternatives(reproduction.fitting)
    if not shared:
        return (
            come_out,
            f"{outcome} under ",
            Strong(count_of(len(reproduction.fitting), "convention")),
            f", which {_why_alike(reproduction)}: ",
            Strong("; ".join(either)),
            f". {_what_would_tell(reproduction)}",
        )
    label = Strong("; ".join(shared))
    open_words = _what_is_open(reproduction) if either else ""
    if reproduction.n_by_chance >= _HARDLY:
        return come_out, f"{outcome} under ", label, f", which so few digits may do by chance.{open_words}"
    return (
        "The table was made by this convention: ",
        label,
        ": ",
        come_out,
        f"{outcome.rstrip(',')}.{open_words}",
    )


def untold_notes(reproduction: Reproduction) -> list[str]:
    """Return sentences on what of a convention nothing in these files can tell."""
    return [
        f"Not told apart, {_SUBJECTS[field]}: {reason}."
        for field, reason in reproduction.candidates.reasons.items()
    ]


_QUESTIONS = {
    "precision": "whether scores were compared {}",
    "relevant_from": "whether documents are relevant from grade {}",
    "missing": "whether queries without rows count 0 or are left out",
    "empty": "whether queries with nothing relevant count 0 or are left out",
    "gain": "whether the gain of nDCG is the grade or 2^grade − 1",
    "unjudged": "whether unjudged documents are not relevant or left out",
}
"""Field of a convention → what is asked of it, with its values where they are not always the same."""
_SUBJECTS = _QUESTIONS | {
    "precision": "formats of scores",
    "relevant_from": "smallest relevant grades",
    "gain": "gains of nDCG",
}


def _by_rounding(reproduction: Reproduction, n_out: int) -> str:
    n_rounded = reproduction.conventions["by_rounding"].iloc[: len(reproduction.fitting)]
    of_them = "" if n_out == 1 else f"{n_rounded.max():,} of them "
    if n_rounded.max() > n_rounded.min():
        return f", {f'up to {of_them}' if of_them else 'at times '}by rounding,"
    return f", {of_them}by rounding" if n_rounded.max() else ", all to the digit"


def _nearest(fitting: Sequence[Convention]) -> Prose:
    if len(fitting) == 1:
        return "Nearest is ", Strong(fitting[0].label)
    number = Strong(count_of(len(fitting), "convention"))
    shared, either = _alternatives(fitting)
    return "Nearest are ", number, " (", "; ".join([*shared, *either]), ")"


def _alternatives(fitting: Sequence[Convention]) -> tuple[list[str], list[str]]:
    values = _varied(fitting)
    if prod(map(len, values.values())) != len(fitting):
        labels = " / ".join(each.label for each in fitting[:_MOST_LABELS])
        return [], [labels + and_more(len(fitting) - _MOST_LABELS)]
    unusual = replace(fitting[0], **{field: getattr(USUAL, field) for field in values}).label.split("; ")
    either = [_either(list(dict.fromkeys(each.aspect(field) for each in fitting))) for field in values]
    return ([], [*either, *unusual[1:]]) if "treatment" in values else (unusual, either)


def _varied(fitting: Sequence[Convention]) -> dict[str, list[Any]]:
    values = {field: list(dict.fromkeys(getattr(each, field) for each in fitting)) for field in _FIELDS}
    return {field: choices for field, choices in values.items() if len(choices) > 1}


def _either(phrases: Sequence[str]) -> str:
    words = [phrase.split(" ") for phrase in phrases]
    n_shared = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False)))
    return " or ".join([phrases[0], *(" ".join(each[n_shared:]) for each in words[1:])])


def _what_is_open(reproduction: Reproduction) -> str:
    varied = _varied(reproduction.fitting)
    idle = [field for field in varied if not reproduction.depends_on(field)]
    idle_questions, questions = (
        ", nor ".join(
            _QUESTIONS[field].format(_choice(field, values))
            for field, values in varied.items()
            if (field in idle) == is_idle
        )
        for is_idle in (True, False)
    )
    if not questions:
        return f" The figures do not tell {idle_questions}."
    addition = f" No digit would tell {idle_questions}." if idle else ""
    return f" The figures do not tell {questions}; more digits would.{addition}"


def _choice(field: str, values: Sequence[Any]) -> str:
    if field == "relevant_from":
        return _enumerated([f"{value:g}" for value in values])
    if field != "precision":
        return ""
    decimals = [value.removeprefix("decimals:") for value in values if value.startswith("decimals:")]
    number_formats = [value for value in values if not value.startswith("decimals:")]
    formats = ["as read" if value == USUAL.precision else f"as {value}" for value in number_formats]
    return _enumerated([*formats, *([f"to {_enumerated(decimals)} decimals"] if decimals else [])])


def _enumerated(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _why_alike(reproduction: Reproduction) -> str:
    if reproduction.n_fitting_alike == 1:
        return "give the same figures on these files"
    either = "" if _all_differ(reproduction) else "give the same figures on these files or "
    return f"{either}differ past the printed digits alone"


def _what_would_tell(reproduction: Reproduction) -> str:
    if reproduction.n_fitting_alike > 1:
        return f"More digits would tell {'' if _all_differ(reproduction) else 'some of '}them apart."
    varied = _varied(reproduction.fitting)
    return f"What would tell them apart: {', '.join(_TELLS_APART[field] for field in varied)}."


def _all_differ(reproduction: Reproduction) -> bool:
    return reproduction.n_fitting_alike == len(reproduction.fitting)


def _where_it_fails(reproduction: Reproduction) -> Prose:
    largest = reproduction.conventions["largest_difference"].iloc[0]
    figures = reproduction.figures()
    failed = figures[figures["verdict"] == "does not come out"]
    places = [
        first_names([f"{name} ({count:,})" for name, count in failed[column].value_counts().items()], 5)
        for column in ("reranker", "measure")
    ]
    queries = failed["query_id"].dropna().unique()
    addition = (
        f"; in {count_of(len(queries), 'query')}: {first_names(list(queries), 5)}" if len(queries) else ""
    )
    n_unjudged = int(failed["computed"].isna().sum())
    unjudged = f" Nobody judged the queries of {count_of(n_unjudged, 'figure')}." if n_unjudged else ""
    return (
        f"; the largest difference is {decimal(largest)}." if largest else ".",
        f" It fails for {places[0]}; by {places[1]}{addition}.{unjudged}",
        *_by_measure(reproduction, failed),
    )


def _by_measure(reproduction: Reproduction, failed: pd.DataFrame) -> Prose:
    table = reproduction.by_measure
    table = table[table["measure"].isin(failed["measure"]) & (table[COUNTS[2]] == 0)]
    first = table.drop_duplicates("measure")
    if not len(first):
        return ()
    names = [f"{row.measure} ({row.convention.label})" for row in first.itertuples()]
    return (f" Whole by another convention: {first_names(names, _MOST_LABELS)}.",)


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
