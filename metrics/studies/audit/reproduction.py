"""Find the convention that a table was made with: compare its figures with those of each convention."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.audit.conventions import Candidates, Convention, Gain, candidate_conventions
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published_table import PublishedTable
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.progress import begin_step, listening
from metrics.ties.precision import rounded

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
"""Most decimals for which truncation differs from float error."""


@dataclass(frozen=True, eq=False)
class PrintedDigits:
    """Figures as printed, (n,) each, in the unit of the measure; a scale is 100 for percents."""

    figures: FloatArray
    decimals: IntArray
    scales: FloatArray

    @property
    def units(self) -> FloatArray:
        """(n,) unit of the last printed digit."""
        return np.asarray(10.0**-self.decimals / self.scales)

    def verdicts(self, computed: FloatArray) -> IntArray:
        """Return (n,) indices in `VERDICTS` for computed figures, NaN without one.

        To the digit: `%.Nf` of the computed figure or of a neighbouring double is the printed one. By rounding:
        the printed figure is within half a unit of its last digit and float error, or its further digits were
        truncated. Truncation counts only if it fits all reproduced figures.
        """
        verdicts = np.full(len(computed), 2)
        is_cut, is_odd = np.zeros((2, len(computed)), dtype=bool)
        for decimals in np.unique(self.decimals):
            rows = np.flatnonzero(self.decimals == decimals)
            values, printed = computed[rows] * self.scales[rows], self.figures[rows] * self.scales[rows]
            is_digit = _prints_as(values, printed, int(decimals))
            unit = 10.0**-decimals
            is_near = np.abs(values - printed) <= unit / 2 + _FLOAT_ERROR * self.scales[rows]
            verdicts[rows[is_near]] = 1
            verdicts[rows[is_digit]] = 0
            if decimals <= _MOST_DECIMALS:
                is_cut[rows] = _is_cut(values, printed, unit)
                is_odd[rows] = is_digit & ~is_cut[rows]
        if not is_odd.any():
            verdicts[is_cut & (verdicts > 0)] = 1
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


def _is_cut(values: FloatArray, printed: FloatArray, unit: float) -> BoolArray:
    error, text = min(_FLOAT_ERROR / unit, 0.01), np.rint(printed / unit)
    below = np.where(values * _DYADIC % 1 != 0, values * (1 - _NEXT_DOUBLES), values)
    return np.asarray((np.floor(values / unit + error) == text) | (np.floor(below / unit) == text))


COUNTS = ("to_the_digit", "by_rounding", "does_not_come_out")
"""Columns with the number of figures per verdict."""


_MEAN, _NOT_JUDGED = -1, -2


class _Scores(NamedTuple):
    """The values of all lists, for conventions that differ in gain and treatment.

    Attributes:
        of_lists: (n_lists, n_columns) values of all measures under all treatments.
        columns: gain and treatment → (n_figures,) column of each figure.
        is_empty: (n_lists,) whether no document is relevant.
    """

    of_lists: FloatArray
    columns: dict[tuple[Gain, str], IntArray]
    is_empty: BoolArray


@dataclass(frozen=True, eq=False)
class ComparedFigures:
    """The published figures of known rerankers and measures, and the lists to compare them with.

    Attributes:
        runs: rerankers with figures.
        table: (n,) figures.
        measures: our measures with figures.
        reranker: (n,) index in `runs`.
        measure: (n,) index in `measures`.
        row: (n,) list in an evaluation of all lists, `_MEAN` or `_NOT_JUDGED`.
        starts: (n_rerankers,) first list of each reranker.
        is_missing: (n_lists,) whether the run lacks the query.
    """

    runs: Runs
    table: pd.DataFrame
    measures: list[str]
    reranker: IntArray
    measure: IntArray
    row: IntArray
    starts: IntArray
    is_missing: BoolArray

    @classmethod
    def of(cls, published: PublishedTable, names: NameMatches, runs: Runs) -> "ComparedFigures":
        """Return the figures of known rerankers and measures; raise UsageError if there are none."""
        figures = published.figures
        tables = {"reranker": names.rerankers, "measure": names.measures}
        matched = pd.DataFrame(
            {name: figures[name].map(table.set_index("published")["matched"]) for name, table in tables.items()}
        )
        is_known = ((matched != "") & matched.notna()).all(axis=1)
        if not is_known.any():
            raise UsageError(
                "No figure in the table has both a known measure and a reranker from the runs. Not matched: "
                f"{names.unmatched}. Name them: --names published=ours."
            )
        table, matched = figures[is_known].reset_index(drop=True), matched[is_known]
        present = set(matched["reranker"])
        own_runs = runs.arranged({name: name for name in runs.rerankers if name in present})
        lists = score_runs(own_runs, ["RR"], ["expected"], Convention().options).lists
        row = _list_rows(lists.index, matched["reranker"], table["query_id"])
        distinct_measures = list(dict.fromkeys(matched["measure"]))
        owner = pd.Index(own_runs.rerankers).get_indexer(lists.index.get_level_values("reranker"))
        return cls(
            runs=own_runs,
            table=table,
            measures=distinct_measures,
            reranker=pd.Index(own_runs.rerankers).get_indexer(matched["reranker"]).astype(np.int64),
            measure=pd.Index(distinct_measures).get_indexer(matched["measure"]).astype(np.int64),
            row=row,
            starts=np.searchsorted(owner, np.arange(len(own_runs.rerankers))),
            is_missing=(lists["n_docs"] == 0).to_numpy(),
        )

    @property
    def printed(self) -> PrintedDigits:
        """The figures as printed."""
        columns = (self.table[name].to_numpy() for name in ("value", "decimals", "scale"))
        return PrintedDigits(*columns)

    def all_computed(self, candidates: Candidates) -> Iterator[tuple[Convention, FloatArray]]:
        """Yield every convention with its (n,) figures."""
        choices = candidates.choices
        by_grades: dict[tuple[str, str], dict[str, FloatArray]] = {}
        evaluations = list(candidates.evaluations())
        for position, shared in enumerate(evaluations):
            begin_step("Trying rules", position, len(evaluations), shared.scoring_label)
            values_so_far = by_grades.setdefault((shared.precision, shared.unjudged), {})
            scored = self._score(shared, choices["gain"], choices["treatment"], values_so_far)
            for missing, empty in product(choices["missing"], choices["empty"]):
                means = self._means(scored, replace(shared, missing=missing, empty=empty))
                for gain, ties in product(choices["gain"], choices["treatment"]):
                    yield (
                        replace(shared, missing=missing, empty=empty, gain=gain, treatment=ties),
                        self._read(scored, means, gain, ties),
                    )

    def compare(self, convention: Convention) -> pd.DataFrame:
        """Return all figures under a convention, as `Reproduction.figures` does."""
        scored = self._score(convention, (convention.gain,), (convention.treatment,), {})
        computed = self._read(scored, self._means(scored, convention), convention.gain, convention.treatment)
        verdicts = np.array(VERDICTS, dtype=object)[self.printed.verdicts(computed)]
        return pd.DataFrame(
            {
                **{name: self.table[name] for name in ("reranker", "measure", "query_id", "text")},
                "published": self.table["value"],
                "computed": computed,
                "difference": computed - self.table["value"],
                "verdict": verdicts,
            }
        )

    def _score(
        self,
        shared: Convention,
        gains: Sequence[Gain],
        treatments: Sequence[str],
        values_so_far: dict[str, FloatArray],
    ) -> _Scores:
        options = replace(shared, missing="zero", empty="zero").options
        names = {
            gain: [replace(shared, gain=gain).measure(measure) for measure in self.measures] for gain in gains
        }
        distinct = list(dict.fromkeys(name for of_gain in names.values() for name in of_gain))
        new = [name for name in distinct if name not in values_so_far]
        with listening(None):  # progress counts the rules tried
            evaluation = score_runs(self.runs, new, treatments, options)
        values = values_so_far | dict(zip(new, np.hsplit(evaluation.scores.to_numpy(), len(new)), strict=True))
        values_so_far |= {name: values[name] for name in new if not parse(name).measure.family.by_relevance}
        columns = {
            gain: pd.Index(distinct).get_indexer(of_gain)[self.measure] for gain, of_gain in names.items()
        }
        return _Scores(
            of_lists=np.hstack([values[name] for name in distinct]),
            columns={
                (gain, ties): of_gain * len(treatments) + position
                for gain, of_gain in columns.items()
                for position, ties in enumerate(treatments)
            },
            is_empty=(evaluation.lists["n_relevant"] == 0).to_numpy(),
        )

    def _means(self, scores: _Scores, convention: Convention) -> FloatArray:
        is_out = (self.is_missing & (convention.missing == "skip")) | (
            scores.is_empty & (convention.empty == "skip")
        )
        sums, counts = (
            np.add.reduceat(values, self.starts)
            for values in (np.where(is_out[:, None], 0, scores.of_lists), (~is_out).astype(np.float64))
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums / counts[:, None])

    def _read(self, scores: _Scores, means: FloatArray, gain: Gain, treatment: str) -> FloatArray:
        columns = scores.columns[gain, treatment]
        of_lists = scores.of_lists[np.maximum(self.row, 0), columns]
        computed = np.where(self.row == _MEAN, means[self.reranker, columns], of_lists)
        return np.where(self.row == _NOT_JUDGED, np.nan, computed)


def _list_rows(lists: pd.MultiIndex, rerankers: pd.Series, queries: pd.Series) -> IntArray:
    rows = lists.get_indexer(pd.MultiIndex.from_arrays([rerankers.to_numpy(), queries.fillna("").to_numpy()]))
    return np.where(queries.isna(), _MEAN, np.where(rows < 0, _NOT_JUDGED, rows)).astype(np.int64)


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
        by_measure: one row per convention and measure, in the same order: convention, measure (as published),
            to_the_digit, by_rounding, does_not_come_out.
        candidates: conventions tried.
        n_by_chance: expected number of groups within one unit of every last digit of an arbitrary table: their
            number · Π min(1, 2 · unit / range of a figure over them).
        compare: convention → its figures.
    """

    conventions: pd.DataFrame
    by_measure: pd.DataFrame
    candidates: Candidates
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
        return int(self._fitting_groups.nunique())

    def depends_on(self, field: str) -> bool:
        """Return whether two of `fitting` that differ only in this field give different figures."""
        usual = Convention()
        without_field = [replace(each, **{field: getattr(usual, field)}) for each in self.fitting]
        return len({*zip(without_field, self._fitting_groups, strict=True)}) > len({*without_field})

    @property
    def _fitting_groups(self) -> "pd.Series[int]":
        return self.conventions["group"].iloc[: len(self.fitting)]

    def figures(self, convention: Convention | None = None) -> pd.DataFrame:
        """Return all figures under a convention, by default the best.

        Returns:
            reranker, measure (both as published), query_id (None for a mean), text (as printed), published,
            computed, difference (computed - published), verdict.
        """
        return self.compare(convention or self.best)


def reproduce(
    published: PublishedTable, names: NameMatches, runs: Runs, *, relevant_from: float | None = None
) -> Reproduction:
    """Try all conventions that can give different figures on these files."""
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
    """Sums over groups of conventions for the variance of each figure."""

    def __init__(self, near: FloatArray) -> None:
        self._near, self.n = near, 0
        self._sums, self._squares = np.zeros((2, len(near)))

    def add(self, computed: FloatArray) -> None:
        """Add the (n,) figures of a group."""
        self.n += 1
        self._sums += computed - self._near
        self._squares += (computed - self._near) ** 2

    @property
    def widths(self) -> FloatArray:
        """(n,) √12 · σ of each figure, the width of a uniform distribution with this σ, always positive."""
        variances = self._squares / self.n - (self._sums / self.n) ** 2
        return np.asarray(np.sqrt(12 * np.nan_to_num(np.maximum(variances, 0))) + _NO_WIDTH)


def _best_first(table: pd.DataFrame, candidates: Candidates) -> IntArray:
    unusual = [
        tuple(candidates.choices[name].index(getattr(convention, name)) for name in _UNUSUAL_LAST)
        for convention in table["convention"]
    ]
    keys = [*np.transpose(unusual)[::-1], -table["to_the_digit"], table["does_not_come_out"]]
    return np.lexsort(keys)
