"""Published figures beside the lists they are of, and what a convention makes of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import score_runs
from metrics.measures import parse
from metrics.runs import Runs
from metrics.studies.audit.candidates import Candidates
from metrics.studies.audit.conventions import Convention, Gain
from metrics.studies.audit.digits import VERDICTS, PrintedDigits
from metrics.studies.audit.names import NameMatches
from metrics.studies.audit.published.table import PublishedTable
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.steps import begin_step, listening

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

        Args:
            published: the figures as printed.
            names: whose they are.
            runs: what was ranked.

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
        """Score all lists once, none left out, for all conventions that differ in gain and treatment alone.

        Args:
            shared: what they share.
            gains: of nDCG.
            treatments: of ties.
            values_so_far: measure → (n_lists, n_treatments) values of those that grades alone tell, whatever
                grade is relevant from; what is computed is added.
        """
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
        """Return the (n_rerankers, n_columns) means over the lists that a convention counts, NaN over none."""
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
        """Return (n,) computed figures, NaN where the query is not judged."""
        columns = scores.columns[gain, treatment]
        of_lists = scores.of_lists[np.maximum(self.row, 0), columns]
        computed = np.where(self.row == _MEAN, means[self.reranker, columns], of_lists)
        return np.where(self.row == _NOT_JUDGED, np.nan, computed)


def _list_rows(lists: pd.MultiIndex, rerankers: pd.Series, queries: pd.Series) -> IntArray:
    """Return the (n,) list of each figure, `_MEAN` where it is a mean, `_NOT_JUDGED` where there is none."""
    rows = lists.get_indexer(pd.MultiIndex.from_arrays([rerankers.to_numpy(), queries.fillna("").to_numpy()]))
    return np.where(queries.isna(), _MEAN, np.where(rows < 0, _NOT_JUDGED, rows)).astype(np.int64)
