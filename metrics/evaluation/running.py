"""Lists scored as they arrive: means so far and of late, and where a mean has changed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from numbers import Real

import numpy as np
import pandas as pd

from metrics.errors import UsageError, needs
from metrics.evaluation.evaluation import Means, Policy, ScoringOptions
from metrics.evaluation.scoring import names_or_defaults, score_runs
from metrics.measures import parse
from metrics.runs import Runs, Table
from metrics.runs.formats.frames import Frame
from metrics.runs.from_paths import as_runs
from metrics.support.arrays import FloatArray
from metrics.ties.judgments import Unjudged
from metrics.ties.treatments import asks_for_bounds, treatment

_FEWEST = 2
"""Lists of which a change is asked for, at least."""
_NO_BOUNDS = (-inf, inf)


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
        before_bounds: worst and best mean of the lists before, over all orders of their ties; -inf and inf
            for a measure that settles ties by its own rule, whose value no order of them bounds.
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
        """Whether no order of ties makes the two means alike: ties alone cannot explain the change.

        Never of a measure that settles ties by its own rule, for more ties alone change its value.
        """
        (low, high), (other_low, other_high) = self.before_bounds, self.after_bounds
        return high < other_low or other_high < low


def find_change(
    tied: FloatArray,
    worst: FloatArray,
    best: FloatArray,
    query_ids: pd.Index,
    *,
    has_own_rule: bool = False,
) -> Change | None:
    """Return where the mean of tied values has changed most; None where all are the same.

    With S(k) the sum of the first k deviations from the mean, and s their standard deviation, the change
    is where |S(k)| / (s √n) is largest; for many lists its chance is Kolmogorov's.

    Shapes: `tied` (n_lists,), `worst` (n_lists,), `best` (n_lists,), `query_ids` (n_lists,).
    """
    if len(tied) < _FEWEST or np.ptp(tied) == 0:
        return None
    with needs("stats"):
        from scipy.special import kolmogorov  # noqa: PLC0415 means need none of it

    sums = np.abs(np.cumsum(tied - tied.mean())[:-1])
    n_before = int(np.argmax(sums)) + 1
    statistic = sums[n_before - 1] / (tied.std() * np.sqrt(len(tied)))
    return Change(
        str(query_ids[n_before]),
        n_before,
        len(tied) - n_before,
        float(tied[:n_before].mean()),
        float(tied[n_before:].mean()),
        float(kolmogorov(statistic)),
        _NO_BOUNDS if has_own_rule else (float(worst[:n_before].mean()), float(best[:n_before].mean())),
        _NO_BOUNDS if has_own_rule else (float(worst[n_before:].mean()), float(best[n_before:].mean())),
    )


_TIME = ("at", "")
"""Column of the moments at which lists came, beside those of the measures."""
HALF_LIVES = 53
"""Half-lives after which a list weighs less than the last bit of a number."""


class Running:
    """Scores lists one by one or in batches, and keeps what each of them scored, or the latest.

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
        keep: int | None = None,
    ) -> None:
        """Choose what is measured; the arguments but the last are those of `evaluate`.

        Args:
            measures: names of measures.
            traditional: the treatment taken as the traditional one.
            precision: how scores are compared.
            empty: queries with nothing relevant count 0, or are left out.
            relevant_from: smallest grade that counts as relevant.
            tiebreak_by: further score columns that split ties first.
            criteria: score columns that rank together instead of the score.
            unjudged: documents that nobody judged are not relevant, or left out of their lists.
            keep: of how many lists of each reranker, the latest, values are kept; all where None. Means of all
                lists need none of them; windows and changes are of these.

        Raises:
            UsageError: a name that does not exist, no measure, or fewer than one list to keep.
        """
        names, _ = names_or_defaults(measures, None)
        self._measures = list(
            dict.fromkeys(str(parse(name)) for name in ([names] if isinstance(names, str) else names))
        )
        if not self._measures:
            raise UsageError("Name at least one measure.")
        if asks_for_bounds(traditional):
            raise UsageError(f"{traditional} is over judgments of all runs, and lists come one by one here.")
        self._treatments = {
            "traditional": treatment(traditional).name,
            "tied": "expected",
            "worst": "pessimistic",
            "best": "optimistic",
        }
        self._options = ScoringOptions(
            precision, "skip", empty, relevant_from, tuple(tiebreak_by), tuple(criteria), unjudged
        )
        if keep is not None and not (_number(keep) >= 1 and _number(keep).is_integer()):
            raise UsageError(f"keep={keep!r}: keep a whole number of lists, at least one list.")
        self._keep = keep
        self._means = Means()
        self._parts: list[pd.DataFrame] = []
        self._grouped: dict[str, pd.DataFrame] = {}
        self._policies: dict[str, pd.Series[int]] = {}
        self._latest = -inf

    def add(self, runs: Runs | Frame, qrels: Table | None = None, *, at: float | None = None) -> None:
        """Score lists that have come.

        Args:
            runs: as of `evaluate`: one list, or many.
            qrels: judgments of a data frame that holds none; may be of more queries.
            at: when they came, in seconds since any moment; now where None.

        Raises:
            ReadError: the data frame cannot be read.
            UsageError: judgments for runs that have theirs, or a time before the last, or that is no number.
        """
        moment = max(time.time(), self._latest) if at is None else at
        if not isfinite(_number(moment)):
            raise UsageError(f"at={at!r}: give a number of seconds.")
        if moment < self._latest:
            raise UsageError(f"at={at}: the lists before came at {self._latest}. Add lists in order of time.")
        runs = as_runs(runs, qrels)
        treatments = list(dict.fromkeys(self._treatments.values()))
        evaluation = score_runs(runs, self._measures, treatments, self._options)
        scores, rerankers = evaluation.scores, evaluation.policies.index.to_list()
        for name, counts in evaluation.policies.iterrows():
            self._policies[str(name)] = counts + self._policies.get(str(name), 0)
        self._means.add(scores, rerankers)
        scores[_TIME] = self._latest = float(moment)
        self._parts.append(scores)
        self._grouped = {}
        if self._keep is not None and sum(map(len, self._parts[1:])) > self._keep:
            self._join_parts()

    @property
    def options(self) -> ScoringOptions:
        """How lists are scored."""
        return self._options

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return list(self._measures)

    @property
    def n_lists(self) -> dict[str, int]:
        """How many lists of each reranker were scored."""
        return self._means.counts

    @property
    def policies(self) -> pd.DataFrame:
        """Index reranker: n_queries, n_missing, n_empty, n_scored, as of an `Evaluation`, of all lists."""
        return pd.DataFrame(self._policies).T.rename_axis("reranker")

    def means(
        self, *, last: int | None = None, seconds: float | None = None, halflife: float | None = None
    ) -> pd.DataFrame:
        """Return the mean of each measure: of all lists, of a window of them, or weighted by age.

        Args:
            last: so many lists of each reranker, the latest.
            seconds: lists that came at most so long before the latest of all; of those that are kept.
            halflife: a list weighs half as much as one that came so many lists after it.

        Returns:
            One row a reranker and measure: reranker, measure, traditional, tied, worst, best, n (lists).

        Raises:
            UsageError: several of the three, one that is no number above 0, part of a list, or lists that are
                not kept.
        """
        self._check_window(last, seconds, halflife)
        if last is seconds is halflife is None:
            return self._means_of_all()
        rows = []
        for reranker, values in self._by_reranker().items():
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

    def change(self, reranker: str, measure: str, *, after: int = 0) -> Change | None:
        """Return where the tied mean of a measure has changed most; None where it is the same in all lists.

        Args:
            reranker: whose lists.
            measure: name of a measure.
            after: so many of the reranker's first lists are left out, such as those before a change that is
                known; lists that are not kept are left out, too.

        Raises:
            UsageError: a reranker or measure that was not added.
        """
        name, by_reranker = str(parse(measure)), self._by_reranker()
        if reranker not in by_reranker or name not in self._measures:
            raise UsageError(f"There are: {', '.join(by_reranker)}; {', '.join(self._measures)}.")
        n_forgotten = self.n_lists[reranker] - len(by_reranker[reranker])
        values = by_reranker[reranker].iloc[max(0, after - n_forgotten) :]
        tied, worst, best = (self._column(values, name, bound) for bound in ("tied", "worst", "best"))
        queries, family = values.index.get_level_values("query_id"), parse(name).measure.family
        return find_change(tied, worst, best, queries, has_own_rule=family.own_rule)

    def _check_window(self, last: int | None, seconds: float | None, halflife: float | None) -> None:
        """Refuse a window that is none, or of lists that are not kept; arguments as of `means`."""
        windows = [window for window in (last, seconds, halflife) if window is not None]
        if len(windows) > 1 or not all(_number(window) > 0 for window in windows):
            raise UsageError("Choose one of last, seconds and halflife, and a number above 0.")
        if last is not None and not _number(last).is_integer():
            raise UsageError(f"last={last!r}: give a whole number of lists.")
        needed = last or HALF_LIVES * (halflife or 0)
        if self._keep is not None and needed > self._keep:
            raise UsageError(f"This window needs {needed:,.0f} lists of a reranker; keep={self._keep}.")

    def _means_of_all(self) -> pd.DataFrame:
        """Return the means of all lists, kept or not, as `means` does."""
        table = self._means.table()
        rows = [
            {"reranker": reranker, "measure": measure}
            | {name: table.loc[reranker, (measure, ties)] for name, ties in self._treatments.items()}
            | {"n": n}
            for reranker, n in self.n_lists.items()
            for measure in self._measures
        ]
        return pd.DataFrame(rows, columns=["reranker", "measure", *self._treatments, "n"])

    def _by_reranker(self) -> dict[str, pd.DataFrame]:
        """Return each reranker with the values of its lists in order of arrival, and when they came."""
        if not self._grouped and self._parts:
            self._join_parts()
            groups = self._parts[0].groupby(level="reranker", sort=False)
            self._grouped = {str(name): lists for name, lists in groups}
        return self._grouped

    def _join_parts(self) -> None:
        """Put what came into one table, without lists that are not kept."""
        if len(self._parts) > 1:
            self._parts = [pd.concat(self._parts)]
        if self._keep is not None:
            by_reranker = self._parts[0].groupby(level="reranker", sort=False)
            kept_lists = by_reranker.tail(self._keep)
            kept_lists.index = kept_lists.index.remove_unused_levels()
            self._parts = [kept_lists]

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
