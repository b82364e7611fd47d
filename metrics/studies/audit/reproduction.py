"""By which convention was a table made: every convention tried, and every figure under one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metrics.runs import Runs
from metrics.studies.audit.candidates import Candidates, candidate_conventions
from metrics.studies.audit.conventions import Convention
from metrics.studies.audit.digits import VERDICTS
from metrics.studies.audit.figures import COUNTS, ComparedFigures
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published.table import PublishedTable
from metrics.support.arrays import FloatArray, IntArray

_SAME_TO = 10
"""Decimals to which figures are the same."""
_NO_WIDTH = 1e-12
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
        n_by_chance: groups of conventions that are expected to be within a unit of every last digit, above or
            below, of a table that none made: their number · Π min(1, 2 · unit / width of a figure over them).
        compare: convention → its figures, as of `figures`.
    """

    conventions: pd.DataFrame
    by_measure: pd.DataFrame
    candidates: Candidates
    n_by_chance: float
    compare: Callable[[Convention], pd.DataFrame]

    @property
    def n_figures(self) -> int:
        """Number of figures that are compared."""
        return int(self.conventions.iloc[0][list(COUNTS)].sum())

    @property
    def best(self) -> Convention:
        """The convention that fits best; the most usual of those where several do."""
        return self.fitting[0]

    @property
    def fitting(self) -> tuple[Convention, ...]:
        """The conventions that fit, those first by which most is to the digit, then the most usual.

        These are all by which everything comes out, to the digit or by rounding, as nobody knows how a
        tool rounds; where there is none, those of which as much comes out as of the best.
        """
        first = self.conventions.iloc[0]
        alike = [COUNTS[2]] if first[COUNTS[2]] == 0 else list(COUNTS)
        is_fitting = (self.conventions[alike] == first[alike]).all(axis=1)
        return tuple(self.conventions.loc[is_fitting, "convention"])

    @property
    def n_fitting_alike(self) -> int:
        """Number of sets of figures that `fitting` give on these files, past the printed digits too."""
        return int(self._fitting_groups.nunique())

    def depends_on(self, field: str) -> bool:
        """Return whether two of `fitting` that differ in a field alone give other figures on these files.

        Args:
            field: of a convention.
        """
        usual = Convention()
        others = [replace(each, **{field: getattr(usual, field)}) for each in self.fitting]
        return len({*zip(others, self._fitting_groups, strict=True)}) > len({*others})

    @property
    def _fitting_groups(self) -> "pd.Series[int]":
        return self.conventions["group"].iloc[: len(self.fitting)]

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

    Returns:
        Every convention that was tried, with how many figures it gives, the one that fits best first.

    Raises:
        UsageError: no figure is of a reranker and a measure that were matched.
    """
    figures = ComparedFigures.of(published, names, runs)
    candidates = candidate_conventions(figures.runs, figures.measures, relevant_from)
    printed = figures.printed
    measure_codes, measures = pd.factorize(figures.table["measure"])
    rows, counts_by_measure, groups, spread = [], [], dict[bytes, int](), _Spread(printed.figures)
    for convention, computed in figures.all_computed(candidates):
        verdicts = printed.verdicts(computed)
        cells = measure_codes * len(VERDICTS) + verdicts
        counts = np.bincount(cells, minlength=len(measures) * len(VERDICTS)).reshape(-1, len(VERDICTS))
        group = groups.setdefault(np.round(computed, _SAME_TO).tobytes(), len(groups))
        if group == spread.n:
            spread.add(computed)
        largest = np.nanmax(np.abs(computed - printed.figures), initial=0)
        rows.append((convention, convention.label, *counts.sum(axis=0), largest, group))
        counts_by_measure.append(counts)
    table = pd.DataFrame(rows, columns=["convention", "label", *COUNTS, "largest_difference", "group"])
    order = _best_first(table, candidates)
    by_measure = pd.DataFrame(np.concatenate([counts_by_measure[row] for row in order]), columns=list(COUNTS))
    by_measure.insert(0, "convention", table["convention"].iloc[order.repeat(len(measures))].to_numpy())
    by_measure.insert(1, "measure", np.tile(np.asarray(measures), len(order)))
    within_units = np.minimum(2 * printed.units / spread.widths, 1)
    n_by_chance = float(len(groups) * np.prod(within_units))
    return Reproduction(
        table.iloc[order].reset_index(drop=True), by_measure, candidates, n_by_chance, figures.compare
    )


class _Spread:
    """How far apart the figures are that distinct groups of conventions give.

    Attributes:
        n: number of groups added.
    """

    def __init__(self, near: FloatArray) -> None:
        """Begin with none, for (n,) figures that are near to values near."""
        self._near, self.n = near, 0
        self._sums, self._squares = np.zeros((2, len(near)))

    def add(self, computed: FloatArray) -> None:
        """Add the (n,) figures of a group."""
        self.n += 1
        self._sums += computed - self._near
        self._squares += (computed - self._near) ** 2

    @property
    def widths(self) -> FloatArray:
        """(n,) √12 · σ of each figure: the width of a uniform distribution of this σ; above 0 where it is 0."""
        variances = self._squares / self.n - (self._sums / self.n) ** 2
        return np.asarray(np.sqrt(12 * np.nan_to_num(np.maximum(variances, 0))) + _NO_WIDTH)


def _best_first(table: pd.DataFrame, candidates: Candidates) -> IntArray:
    """Return the rows of a table of conventions, those first of which most comes out, then the most usual."""
    unusual = [
        tuple(candidates.choices[name].index(getattr(convention, name)) for name in _UNUSUAL_LAST)
        for convention in table["convention"]
    ]
    keys = [*np.transpose(unusual)[::-1], -table["to_the_digit"], table["does_not_come_out"]]
    return np.lexsort(keys)
