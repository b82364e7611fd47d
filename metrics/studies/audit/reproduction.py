"""By which convention was a table made: every convention tried, and every figure under one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.runs import Runs
from metrics.studies.audit.candidates import Candidates, candidate_conventions
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.digits import VERDICTS
from metrics.studies.audit.figures import COUNTS, ComparedFigures
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published.table import PublishedTable
from metrics.support.arrays import IntArray

_SAME_TO = 10
"""Decimals to which figures are the same."""
_UNUSUAL_LAST = ("unjudged", "precision", "relevant_from", "gain", "missing", "empty", "treatment")
"""Fields of a convention; the first weighs most in what is usual."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What every convention makes of a published table.

    Attributes:
        conventions: a row for each convention, the one that fits best first: convention, label, to_the_digit,
            by_rounding, does_not_come_out (figures), largest_difference (of a figure, absolute), group
            (conventions of one number give the same figures on these files).
        by_measure: a row for each convention and measure, in the same order: convention, measure (as
            published), to_the_digit, by_rounding, does_not_come_out.
        candidates: what was tried, and why no more.
        compare: convention → its figures, as of `figures`.
    """

    conventions: pd.DataFrame
    by_measure: pd.DataFrame
    candidates: Candidates
    compare: Callable[[Convention], pd.DataFrame]

    @property
    def n_figures(self) -> int:
        """Number of figures that are compared."""
        return int(self.conventions.iloc[0][list(COUNTS)].sum())

    @property
    def best(self) -> Convention:
        """The convention that fits best; the most usual of `fitting` where several do."""
        return self.fitting[0]

    @property
    def fitting(self) -> tuple[Convention, ...]:
        """The conventions that fit equally well, the most usual first; several cannot be told apart here."""
        first = self.conventions.iloc[0]
        is_fitting = (self.conventions[list(COUNTS)] == first[list(COUNTS)]).all(axis=1)
        return tuple(self.conventions.loc[is_fitting, "convention"])

    @property
    def are_fitting_alike(self) -> bool:
        """Whether all of `fitting` give the same figures on these files, past the printed digits too."""
        return len(self.conventions["group"].iloc[: len(self.fitting)].unique()) == 1

    def figures(self, convention: Convention | None = None) -> pd.DataFrame:
        """Return every figure under a convention, None for the best.

        Returns:
            reranker, measure (both as published), query_id (None for a mean), text (as printed), published,
            computed, difference (computed - published), verdict.
        """
        return self.compare(convention or self.best)


def reproduce(
    published: PublishedTable, names: NameMatches, runs: Runs, *, relevant_from: float | None = None
) -> Reproduction:
    """Try every convention that can give other figures on these files.

    Conventions that differ in precision, smallest relevant grade or unjudged documents take an evaluation each;
    treatments, gains and policies are read from it.

    Args:
        published: the figures as printed.
        names: whose they are.
        runs: what was ranked.
        relevant_from: smallest relevant grade, where it is known; None to try those that are there.

    Raises:
        UsageError: no figure is of a reranker and a measure that were matched.
    """
    figures = ComparedFigures.of(published, names, runs)
    candidates = candidate_conventions(figures.runs, figures.measures, relevant_from)
    printed = figures.printed
    measure_codes, measures = pd.factorize(figures.table["measure"])
    rows, counts_by_measure, groups = [], [], dict[bytes, int]()
    for convention, computed in figures.all_computed(candidates):
        verdicts = printed.verdicts(computed)
        cells = measure_codes * len(VERDICTS) + verdicts
        counts = np.bincount(cells, minlength=len(measures) * len(VERDICTS)).reshape(-1, len(VERDICTS))
        group = groups.setdefault(np.round(computed, _SAME_TO).tobytes(), len(groups))
        largest = np.nanmax(np.abs(computed - printed.figures), initial=0)
        rows.append((convention, convention.label, *counts.sum(axis=0), largest, group))
        counts_by_measure.append(counts)
    table = pd.DataFrame(rows, columns=["convention", "label", *COUNTS, "largest_difference", "group"])
    order = _best_first(table, candidates)
    by_measure = pd.DataFrame(np.concatenate([counts_by_measure[row] for row in order]), columns=list(COUNTS))
    by_measure.insert(0, "convention", table["convention"].iloc[order.repeat(len(measures))].to_numpy())
    by_measure.insert(1, "measure", np.tile(np.asarray(measures), len(order)))
    return Reproduction(table.iloc[order].reset_index(drop=True), by_measure, candidates, figures.compare)


def _best_first(table: pd.DataFrame, candidates: Candidates) -> IntArray:
    """Return the rows of a table of conventions, those first of which most comes out, then the most usual."""
    unusual = [
        tuple(candidates.choices[name].index(getattr(convention, name)) for name in _UNUSUAL_LAST)
        for convention in table["convention"]
    ]
    keys = [*np.transpose(unusual)[::-1], -table["to_the_digit"], table["does_not_come_out"]]
    return np.lexsort(keys)
