"""By which convention was a table made: its figures beside what every convention tried makes of them."""

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

Verdict = Literal["to the digit", "by rounding", "does not come out"]
"""Of a figure: as printed; off in the last place by rounding or float error; otherwise off."""
VERDICTS: tuple[Verdict, ...] = ("to the digit", "by rounding", "does not come out")
"""Every verdict; `digit_verdicts` gives its place here."""
_FLOAT_ERROR = 1e-7
"""What single precision can add to a value up to 1, and what summing in another order adds to it."""
_NEXT_DOUBLES = 2.0**-51
"""How far the doubles next to a value are, which operations in another order give, as a share of it."""
_DYADIC = 2.0**20
"""A value that is whole when it is multiplied by this is free of error."""
_MOST_DECIMALS = 12
"""Decimals up to which cutting them off can be told from float error."""


@dataclass(frozen=True, eq=False)
class PrintedDigits:
    """Figures as they were printed.

    Attributes:
        figures: (n,) in the unit of the measure.
        decimals: (n,) of the text.
        scales: (n,) 100 where percents were printed, else 1.
    """

    figures: FloatArray
    decimals: IntArray
    scales: FloatArray

    @property
    def units(self) -> FloatArray:
        """(n,) one of the last place that is printed, in the unit of the measure."""
        return np.asarray(10.0**-self.decimals / self.scales)

    def verdicts(self, computed: FloatArray) -> IntArray:
        """Return the (n,) places in `VERDICTS` of computed figures.

        To the digit: C's and Python's `%.Nf` of the computed figure, or of the next doubles, which the same
        operations in another order give, is what was printed. By rounding: the
        printed figure is within half a unit of its last place and float error, as where a value falls on the
        half; or the digits past the last place were cut off, in which case they must have been in all
        figures that come out.
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
    """Return whether each value, or a double next to it, prints as its figure.

    7/160 is on the half of its fourth decimal, and 7 · (1/160) one double above. Sums of powers of two, such as
    1/32, are exact in any order: of these there is one.
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


COUNTS = tuple(verdict.replace(" ", "_") for verdict in VERDICTS)
"""Columns that count figures by verdict, in the order of `VERDICTS`."""


_MEAN, _NOT_JUDGED = -1, -2


class _Scores(NamedTuple):
    """The values of all lists, for conventions that differ in gain and treatment.

    Attributes:
        of_lists: (n_lists, n_columns) values of every measure under every treatment.
        columns: gain and treatment → (n_figures,) column of each figure.
        is_empty: (n_lists,) whether nothing is relevant.
    """

    of_lists: FloatArray
    columns: dict[tuple[Gain, str], IntArray]
    is_empty: BoolArray


@dataclass(frozen=True, eq=False)
class ComparedFigures:
    """The published figures whose reranker and measure are known, and what they are compared with.

    Attributes:
        runs: the rerankers that have figures.
        table: (n,) figures of the published table.
        measures: ours, that have figures.
        reranker: (n,) of each figure, a place among those of `runs`.
        measure: (n,) of each, a place in `measures`.
        row: (n,) list of each, a place in an evaluation that leaves none out; `_MEAN` or `_NOT_JUDGED`.
        starts: (n_rerankers,) first list of each reranker.
        is_missing: (n_lists,) whether the run lacks the query of each.
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
        """Return the figures whose reranker and measure are known.

        Raises:
            UsageError: there is none.
        """
        rerankers, measures = (
            dict(zip(matches["published"], matches["matched"], strict=True))
            for matches in (names.rerankers, names.measures)
        )
        figures = published.figures
        matched = pd.DataFrame(
            {"reranker": figures["reranker"].map(rerankers), "measure": figures["measure"].map(measures)}
        )
        is_known = ((matched != "") & matched.notna()).all(axis=1)
        if not is_known.any():
            raise UsageError(
                "No figure is of a reranker and a measure that are known. Not matched: "
                f"{names.unmatched}. Name them by hand: --names published=ours."
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
        """The figures as they were printed."""
        columns = (self.table[name].to_numpy() for name in ("value", "decimals", "scale"))
        return PrintedDigits(*columns)

    def all_computed(self, candidates: Candidates) -> Iterator[tuple[Convention, FloatArray]]:
        """Yield every convention with the (n,) figures that it gives; those of one evaluation together."""
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
        """Return every figure under a convention, as `Reproduction.figures`."""
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
        with listening(None):  # who shows progress is told of the rules that are tried
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
        """Return whether two of `fitting` that differ in a field alone give other figures on these files."""
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

    Returns:
        Every convention that was tried, with how many figures it gives, the one that fits best first.
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
    unusual = [
        tuple(candidates.choices[name].index(getattr(convention, name)) for name in _UNUSUAL_LAST)
        for convention in table["convention"]
    ]
    keys = [*np.transpose(unusual)[::-1], -table["to_the_digit"], table["does_not_come_out"]]
    return np.lexsort(keys)
