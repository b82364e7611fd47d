"""Lists scored as they arrive: means so far and of late, and where a mean has changed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from numbers import Real

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation.options import Policy, ScoringOptions
from metrics.evaluation.scoring import names_or_defaults, score_runs
from metrics.measures import parse
from metrics.runs import Runs, Table, read_runs
from metrics.support.arrays import FloatArray
from metrics.ties.judgments import Unjudged
from metrics.ties.treatments import treatment

_TIME = ("at", "")
"""Column of the moments at which lists came, beside those of the measures."""
_FEWEST = 2
"""Lists of which a change is asked for, at least."""


@dataclass(frozen=True)
class Change:
    """Where the mean of a measure has changed most.

    Attributes:
        query_id: the first list after it.
        n_before: lists before it.
        n_after: lists from it on.
        before: tied mean of the lists before.
        after: tied mean of the others.
        p: the chance of as large a sum of deviations where nothing changes, by its limit for many lists.
        before_bounds: worst and best mean of the lists before, over all orders of their ties.
        after_bounds: the same, of the others.
    """

    query_id: str
    n_before: int
    n_after: int
    before: float
    after: float
    p: float
    before_bounds: tuple[float, float]
    after_bounds: tuple[float, float]

    @property
    def is_beyond_ties(self) -> bool:
        """Whether no order of ties makes the two means alike: ties alone cannot explain the change."""
        (low, high), (other_low, other_high) = self.before_bounds, self.after_bounds
        return high < other_low or other_high < low


class Running:
    """Scores lists one by one or in batches, and keeps what each of them scored.

    Values are those of `evaluate` on the same lists; judged queries that a batch lacks are left out, for
    they may come later. A query that comes again counts again.
    """

    def __init__(
        self,
        measures: Sequence[str] | str | None = None,
        traditional: str = "input",
        *,
        precision: str = "float64",
        empty: Policy = "zero",
        relevant_from: float = 1,
        tiebreak_by: Sequence[str] = (),
        criteria: Sequence[str] = (),
        unjudged: Unjudged = "nonrelevant",
    ) -> None:
        """Choose what is measured; the arguments are those of `evaluate`.

        Args:
            measures: names of measures.
            traditional: the treatment taken as the traditional one.
            precision: how scores are compared.
            empty: queries with nothing relevant count 0, or are left out.
            relevant_from: smallest grade that counts as relevant.
            tiebreak_by: further score columns that split ties first.
            criteria: score columns that rank together instead of the score.
            unjudged: documents that nobody judged are not relevant, or left out of their lists.

        Raises:
            UsageError: a name that does not exist, or no measure.
        """
        names, _ = names_or_defaults(measures, None)
        self._measures = list(
            dict.fromkeys(str(parse(name)) for name in ([names] if isinstance(names, str) else names))
        )
        if not self._measures:
            raise UsageError("Name at least one measure.")
        self._treatments = {
            "traditional": treatment(traditional).name,
            "tied": "expected",
            "worst": "pessimistic",
            "best": "optimistic",
        }
        self._options = ScoringOptions(
            precision, "skip", empty, relevant_from, tuple(tiebreak_by), tuple(criteria), unjudged
        )
        self._parts: list[pd.DataFrame] = []
        self._latest = -inf

    def add(self, runs: Runs | pd.DataFrame, qrels: Table | None = None, *, at: float | None = None) -> None:
        """Score lists that have come.

        Args:
            runs: as of `evaluate`: one list, or many.
            qrels: judgments of a data frame that holds none; may be of more queries.
            at: when they came, in seconds since any moment; now where None.

        Raises:
            ReadError: the data frame cannot be read.
            UsageError: judgments for runs that have theirs, or a time before the last, or that is no number.
        """
        moment = time.time() if at is None else at
        if not isfinite(_number(moment)):
            raise UsageError(f"at={at!r}: give a number of seconds.")
        if moment < self._latest:
            raise UsageError(f"at={at}: the lists before came at {self._latest}. Add lists in order of time.")
        if isinstance(runs, pd.DataFrame):
            runs = read_runs(runs, qrels)
        elif qrels is not None:
            raise UsageError("qrels: these runs have their judgments. Give them to read_runs.")
        treatments = list(dict.fromkeys(self._treatments.values()))
        scores = score_runs(runs, self._measures, treatments, self._options).scores
        scores[_TIME] = self._latest = float(moment)
        self._parts.append(scores)

    def means(
        self, *, last: int | None = None, seconds: float | None = None, halflife: float | None = None
    ) -> pd.DataFrame:
        """Return the mean of each measure: of all lists, of a window of them, or weighted by age.

        Args:
            last: so many lists of each reranker, the latest.
            seconds: lists that came at most so long before the latest of all.
            halflife: a list weighs half as much as one that came so many lists after it.

        Returns:
            One row a reranker and measure: reranker, measure, traditional, tied, worst, best, n (lists).

        Raises:
            UsageError: several of the three, or one that is no number above 0, or part of a list.
        """
        windows = [window for window in (last, seconds, halflife) if window is not None]
        if len(windows) > 1 or not all(_number(window) > 0 for window in windows):
            raise UsageError("Choose one of last, seconds and halflife, and a number above 0.")
        if last is not None and not _number(last).is_integer():
            raise UsageError(f"last={last!r}: give a whole number of lists.")
        rows = []
        for reranker, values in self._by_reranker():
            first = 0 if last is None else max(0, len(values) - int(last))
            if seconds is not None:
                first = int(np.searchsorted(values[_TIME], self._latest - seconds))
            window = values.iloc[first:]
            ages = np.arange(len(window) - 1, -1, -1)
            weights = np.ones(len(window)) if halflife is None else 0.5 ** (ages / halflife)
            rows += [
                {"reranker": reranker, "measure": measure, **self._mean(window, measure, weights)}
                for measure in self._measures
            ]
        return pd.DataFrame(rows, columns=["reranker", "measure", *self._treatments, "n"])

    def change(self, reranker: str, measure: str) -> Change | None:
        """Return where the tied mean of a measure has changed most; None where it is the same in all lists.

        With S(k) the sum of the first k deviations from the mean, and s their standard deviation, the change
        is where |S(k)| / (s √n) is largest; for many lists its chance is Kolmogorov's.

        Args:
            reranker: whose lists.
            measure: name of a measure.

        Raises:
            UsageError: a reranker or measure that was not added.
        """
        name, by_reranker = str(parse(measure)), dict(self._by_reranker())
        if reranker not in by_reranker or name not in self._measures:
            raise UsageError(f"There are: {', '.join(by_reranker)}; {', '.join(self._measures)}.")
        values = by_reranker[reranker]
        tied = self._column(values, name, "tied")
        if len(tied) < _FEWEST or np.ptp(tied) == 0:
            return None
        from scipy.special import kolmogorov  # noqa: PLC0415 means need none of it

        sums = np.abs(np.cumsum(tied - tied.mean())[:-1])
        n_before = int(np.argmax(sums)) + 1
        statistic = sums[n_before - 1] / (tied.std() * np.sqrt(len(tied)))
        worst, best = (self._column(values, name, bound) for bound in ("worst", "best"))
        return Change(
            str(values.index.get_level_values("query_id")[n_before]),
            n_before,
            len(tied) - n_before,
            float(tied[:n_before].mean()),
            float(tied[n_before:].mean()),
            float(kolmogorov(statistic)),
            (float(worst[:n_before].mean()), float(best[:n_before].mean())),
            (float(worst[n_before:].mean()), float(best[n_before:].mean())),
        )

    def _by_reranker(self) -> list[tuple[str, pd.DataFrame]]:
        """Return each reranker with the values of its lists in order of arrival, and when they came."""
        if not self._parts:
            return []
        if len(self._parts) > 1:
            self._parts = [pd.concat(self._parts)]
        return [(str(name), lists) for name, lists in self._parts[0].groupby(level="reranker", sort=False)]

    def _mean(self, lists: pd.DataFrame, measure: str, weights: FloatArray) -> dict[str, float]:
        columns = {name: self._column(lists, measure, name) for name in self._treatments}
        means = {
            name: float(np.average(column, weights=weights)) if len(column) else np.nan
            for name, column in columns.items()
        }
        return {**means, "n": len(lists)}

    def _column(self, lists: pd.DataFrame, measure: str, name: str) -> FloatArray:
        """Return the values of lists in a measure, under what stands for a name such as tied."""
        values: FloatArray = lists[measure, self._treatments[name]].to_numpy()
        return values


def _number(value: object) -> float:
    """Return a number as it is, NaN for what is none."""
    return float(value) if isinstance(value, Real) else nan
