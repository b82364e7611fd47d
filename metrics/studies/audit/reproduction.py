"""Find the convention that a table was made with: compare its figures with those of each convention."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.audit.conventions import Convention, candidate_conventions
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published_table import PublishedTable
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.progress import begin_step, listening
from metrics.ties.options import rounded

Verdict = Literal["to the digit", "by rounding", "is not reproduced"]
"""As printed; off in the last digit by rounding or float error; otherwise off."""
VERDICTS: tuple[Verdict, ...] = ("to the digit", "by rounding", "is not reproduced")
_FLOAT_ERROR = 1e-7
"""Error of single precision, or of another order of summation, for values up to 1."""
_NEXT_DOUBLES = 2.0**-51
"""Relative distance of neighbouring doubles, which another order of operations can give."""
_DYADIC = 2.0**20
"""A value is free of error if its product with this is whole."""
_MOST_DECIMALS = 12
"""Most decimals that neighbouring doubles can change."""


@dataclass(frozen=True, eq=False)
class PrintedDigits:
    """Figures as printed, (n,) each, in the unit of the measure; a scale is 100 for percents."""

    figures: FloatArray
    decimals: IntArray
    scales: FloatArray

    def verdicts(self, computed: FloatArray) -> IntArray:
        """Return (n,) indices in `VERDICTS` for computed figures, NaN without one.

        To the digit: `%.Nf` of the computed figure or of a neighbouring double is the printed one. By rounding:
        the printed figure is within half a unit of its last digit and float error.
        """
        verdicts = np.full(len(computed), 2)
        for decimals in np.unique(self.decimals):
            rows = np.flatnonzero(self.decimals == decimals)
            values, printed = computed[rows] * self.scales[rows], self.figures[rows] * self.scales[rows]
            is_digit = _prints_as(values, printed, int(decimals))
            is_near = np.abs(values - printed) <= 10.0**-decimals / 2 + _FLOAT_ERROR * self.scales[rows]
            verdicts[rows] = np.select([is_digit, is_near], [0, 1], 2)
        return verdicts


def _prints_as(values: FloatArray, printed: FloatArray, decimals: int) -> BoolArray:
    """Return whether each value, or a neighbouring double, prints as its figure.

    7/160 is on the half of its fourth decimal, and 7 · (1/160) one double above. Sums of powers of two, such
    as 1/32, are exact in any order and have no such neighbours.
    """
    precision = f"decimals:{decimals}"
    text = rounded(printed, precision)
    is_digit = rounded(values, precision) == text
    if decimals > _MOST_DECIMALS:
        return np.asarray(is_digit)
    inexact = np.flatnonzero(~is_digit & (values * _DYADIC % 1 != 0))
    for neighbour in (1 - _NEXT_DOUBLES, 1 + _NEXT_DOUBLES):
        is_digit[inexact] |= rounded(values[inexact] * neighbour, precision) == text[inexact]
    return np.asarray(is_digit)


COUNTS = ("to_the_digit", "by_rounding", "does_not_come_out")
"""Columns with the number of figures per verdict."""


class ComparedFigures:
    """The published figures of known rerankers and measures, and what conventions give for them.

    Attributes:
        runs: rerankers with figures.
        table: (n,) figures.
        measures: our measures with figures.
        printed: the figures as printed.
    """

    def __init__(self, published: PublishedTable, names: NameMatches, runs: Runs) -> None:
        """Select the figures of known rerankers and measures; raise UsageError if there are none."""
        figures = published.figures
        matched = pd.DataFrame(
            {
                name: figures[name].map(table.set_index("published")["matched"]).fillna("")
                for name, table in (("reranker", names.rerankers), ("measure", names.measures))
            }
        )
        is_known = (matched != "").all(axis=1)
        if not is_known.any():
            raise UsageError(
                "No figure in the table has both a known measure and a reranker from the runs. Not matched: "
                f"{names.unmatched}. Match names by hand: --names PUBLISHED=NAME."
            )
        self.table, matched = figures[is_known].reset_index(drop=True), matched[is_known]
        self.printed = PrintedDigits(*(self.table[name].to_numpy() for name in ("value", "decimals", "scale")))
        present = set(matched["reranker"])
        self.runs = runs.arranged({name: name for name in runs.rerankers if name in present})
        lists = score_runs(self.runs, ["RR"], ["expected"], Convention().options).lists
        self._is_missing = (lists["n_docs"] == 0).to_numpy()
        rerankers, queries = pd.Index(self.runs.rerankers), self.table["query_id"]
        owner = rerankers.get_indexer(lists.index.get_level_values("reranker"))
        self._starts = np.searchsorted(owner, np.arange(len(rerankers)))  # first list of each reranker
        keys = [matched["reranker"].to_numpy(), queries.fillna("").to_numpy()]
        of_list = lists.index.get_indexer(pd.MultiIndex.from_arrays(keys))
        of_query = np.where(of_list < 0, -1, of_list + len(rerankers))
        # row of each figure among the means, the values of lists, and a last row for unjudged queries
        self._row = np.where(queries.isna(), rerankers.get_indexer(matched["reranker"]), of_query)
        self._measure, measures = pd.factorize(matched["measure"])
        self.measures = list(measures)

    def computed(self, choices: Mapping[str, Sequence[Any]]) -> Iterator[list[tuple[Convention, FloatArray]]]:
        """Yield the conventions with their (n,) figures: those that share lists together, the usual first."""
        evaluations = [
            Convention(precision=precision, unjudged=unjudged, relevant_from=grade)
            for precision, unjudged, grade in product(
                *(choices[name] for name in ("precision", "unjudged", "relevant_from"))
            )
        ]
        by_scores: dict[tuple[str, str], dict[str, FloatArray]] = {}
        for position, shared in enumerate(evaluations):
            label = "; ".join(map(shared.aspect, ("precision", "relevant_from", "unjudged")))
            begin_step("Trying rules", position, len(evaluations), label)
            graded = by_scores.setdefault((shared.precision, shared.unjudged), {})
            yield list(self._computed(shared, choices, graded))

    def compare(self, convention: Convention) -> pd.DataFrame:
        """Return all figures under a convention, as `Reproduction.figures` does."""
        [(_, computed)] = self._computed(
            convention, {name: [value] for name, value in vars(convention).items()}, {}
        )
        return pd.DataFrame(
            {
                **{name: self.table[name] for name in ("reranker", "measure", "query_id", "text")},
                "published": self.table["value"],
                "computed": computed,
                "difference": computed - self.table["value"],
                "verdict": np.array(VERDICTS, dtype=object)[self.printed.verdicts(computed)],
            }
        )

    def _computed(
        self, shared: Convention, choices: Mapping[str, Sequence[Any]], graded: dict[str, FloatArray]
    ) -> Iterator[tuple[Convention, FloatArray]]:
        """Yield the conventions with the lists of `shared`, and their (n,) figures.

        `graded` has the (n_lists, n_treatments) values of measures that no smallest relevant grade changes.
        """
        names = {
            gain: [replace(shared, gain=gain).measure(measure) for measure in self.measures]
            for gain in choices["gain"]
        }
        distinct = list(dict.fromkeys(name for of_gain in names.values() for name in of_gain))
        new, ties = [name for name in distinct if name not in graded], choices["treatment"]
        with listening(None):  # progress counts the rules tried
            evaluation = score_runs(self.runs, new, ties, replace(shared, missing="zero", empty="zero").options)
        scored = dict(zip(new, np.hsplit(evaluation.scores.to_numpy(), len(new)), strict=True))
        values = np.hstack([(graded | scored)[name] for name in distinct])
        graded |= {name: scored[name] for name in new if not parse(name).measure.family.by_relevance}
        columns = {
            gain: pd.Index(distinct).get_indexer(of_gain)[self._measure] * len(ties)
            for gain, of_gain in names.items()
        }
        is_empty, n_means = (evaluation.lists["n_relevant"] == 0).to_numpy(), len(self._starts)
        has_best = np.repeat([parse(name).measure.is_share_of_best for name in distinct], len(ties))
        table = np.pad(values, [(n_means, 1), (0, 0)], constant_values=np.nan)
        for missing, empty in product(choices["missing"], choices["empty"]):
            is_out = (self._is_missing & (missing == "skip")) | (is_empty & (empty == "skip"))
            table[n_means:-1] = np.where(is_empty[:, None] & has_best & (empty == "one"), 1, values)
            sums = np.add.reduceat(np.where(is_out[:, None], 0, table[n_means:-1]), self._starts)
            counts = np.add.reduceat((~is_out).astype(np.float64), self._starts)
            with np.errstate(invalid="ignore", divide="ignore"):
                table[:n_means] = sums / counts[:, None]
            for gain, (place, treatment) in product(choices["gain"], enumerate(ties)):
                convention = replace(shared, missing=missing, empty=empty, gain=gain, treatment=treatment)
                yield convention, table[self._row, columns[gain] + place]


_SAME_TO = 10
"""Decimals for comparing figures of two conventions."""
_NO_WIDTH = 1e-12
_UNUSUAL_LAST = ("unjudged", "precision", "relevant_from", "gain", "missing", "empty", "treatment")
"""Fields of a convention, the most important for being usual first."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The figures of a published table under all conventions tried.

    Attributes:
        conventions: one row per convention, the best first: convention, label, to_the_digit, by_rounding,
            does_not_come_out (numbers of figures), largest_difference (absolute), group (conventions of a group
            give the same figures on these files).
        by_measure: measure (as published) → the best convention that reproduces all its figures, if any does.
        reasons: field of a convention → reason why other values of it were not tried.
        has_every_rule: whether all conventions that can give different figures were tried.
        n_by_chance: expected number of groups within one unit of every last digit of an arbitrary table: their
            number · Π min(1, 2 · unit / range of a figure over them).
        compare: convention → its figures.
    """

    conventions: pd.DataFrame
    by_measure: Mapping[str, Convention]
    reasons: Mapping[str, str]
    has_every_rule: bool
    n_by_chance: float
    compare: Callable[[Convention], pd.DataFrame]

    @property
    def n_figures(self) -> int:
        """Number of compared figures."""
        return int(self.conventions.iloc[0][list(COUNTS)].sum())

    @property
    def best(self) -> Convention:
        """The best convention; of several, the most usual."""
        return self.fitting[0]

    @property
    def fitting(self) -> tuple[Convention, ...]:
        """The conventions that reproduce all figures, or as many as the best one if none does.

        Those with more figures to the digit come first, then the more usual ones. Figures reproduced by
        rounding count, as tools round differently.
        """
        first = self.conventions.iloc[0]
        alike = [COUNTS[2]] if first[COUNTS[2]] == 0 else list(COUNTS)
        is_fitting = (self.conventions[alike] == first[alike]).all(axis=1)
        return tuple(self.conventions.loc[is_fitting, "convention"])

    @property
    def n_fitting_alike(self) -> int:
        """Number of different sets of unrounded figures that `fitting` give."""
        return int(self.conventions["group"].iloc[: len(self.fitting)].nunique())

    @property
    def varied(self) -> dict[str, list[Any]]:
        """Fields in which `fitting` differ, with their values."""
        values = {name: [*{getattr(each, name): None for each in self.fitting}] for name in vars(self.best)}
        return {name: choices for name, choices in values.items() if len(choices) > 1}

    def figures(self, convention: Convention | None = None) -> pd.DataFrame:
        """Return all figures under a convention, by default the best.

        Returns:
            reranker, measure (both as published), query_id (None for a mean), text (as printed), published,
            computed, difference (computed - published), verdict.
        """
        return self.compare(convention or self.best)


def reproduce(
    published: PublishedTable,
    names: NameMatches,
    runs: Runs,
    *,
    relevant_from: float | None = None,
    every_rule: bool = False,
) -> Reproduction:
    """Try the conventions that can give different figures on these files, until one reproduces all figures.

    The most usual precision, grades and judgments come first, each with all tie orders, policies and gains.
    `every_rule` tries the others too.
    """
    figures = ComparedFigures(published, names, runs)
    choices, reasons = candidate_conventions(figures.runs, figures.measures, relevant_from)
    printed = figures.printed
    measure_codes, measures = pd.factorize(figures.table["measure"])
    rows, n_off, groups = [], [], dict[bytes, int]()
    sums, squares = np.zeros((2, len(printed.figures)))  # over groups, for the variance of each figure
    for block in figures.computed(choices):
        for convention, computed in block:
            verdicts, differences = printed.verdicts(computed), computed - printed.figures
            n_groups = len(groups)
            group = groups.setdefault(np.round(computed, _SAME_TO).tobytes(), n_groups)
            if group == n_groups:
                sums += differences
                squares += differences**2
            counts = np.bincount(verdicts, minlength=len(VERDICTS))
            largest = np.nanmax(np.abs(differences), initial=0)
            rows.append((convention, convention.label, *counts, largest, group))
            n_off.append(np.bincount(measure_codes[verdicts == len(VERDICTS) - 1], minlength=len(measures)))
        if not every_rule and not all(off.any() for off in n_off[-len(block) :]):
            break
    table = pd.DataFrame(rows, columns=["convention", "label", *COUNTS, "largest_difference", "group"])
    order = _best_first(table, choices)
    table = table.iloc[order].reset_index(drop=True)
    is_complete = np.array(n_off)[order] == 0
    best = is_complete.argmax(axis=0)
    by_measure = {
        str(measures[measure]): table["convention"].iloc[best[measure]]
        for measure in np.argsort(best, kind="stable")
        if is_complete[best[measure], measure]
    }
    variances = np.maximum(squares / len(groups) - (sums / len(groups)) ** 2, 0)
    # √12 · σ is the width of a uniform distribution with standard deviation σ
    widths = np.sqrt(12 * np.nan_to_num(variances)) + _NO_WIDTH
    units = 10.0**-printed.decimals / printed.scales
    n_by_chance = float(len(groups) * np.prod(np.minimum(2 * units / widths, 1)))
    has_every_rule = len(table) == prod(map(len, choices.values()))
    return Reproduction(table, by_measure, reasons, has_every_rule, n_by_chance, figures.compare)


def _best_first(table: pd.DataFrame, choices: Mapping[str, Sequence[Any]]) -> IntArray:
    unusual = [
        tuple(choices[name].index(getattr(convention, name)) for name in _UNUSUAL_LAST)
        for convention in table["convention"]
    ]
    keys = [*np.transpose(unusual)[::-1], -table["to_the_digit"], table["does_not_come_out"]]
    return np.lexsort(keys)
