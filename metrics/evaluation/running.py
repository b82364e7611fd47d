"""Lists scored as they arrive: means over all lists or the latest ones."""

from collections.abc import Sequence
from numbers import Real
from typing import Unpack

import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation.evaluation import Means
from metrics.evaluation.scoring import names_or_defaults, score_runs
from metrics.measures import parse
from metrics.runs import Runs, Table
from metrics.runs.formats.frames import Frame
from metrics.runs.from_paths import as_runs
from metrics.ties.options import ScoringKeywords, ScoringOptions
from metrics.ties.treatments import treatment


class Running:
    """Scores lists one by one or in batches, and keeps the values of all or of the latest ones.

    Values are those of `evaluate` on the same lists. Judged queries that a batch lacks are skipped, because
    they may arrive later. A query that arrives again counts again.
    """

    def __init__(
        self,
        measures: Sequence[str] | str | None = None,
        traditional: str = "input",
        *,
        keep: int | None = None,
        **options: Unpack[ScoringKeywords],
    ) -> None:
        """Choose what is measured.

        Args:
            measures: names of measures.
            traditional: the treatment used as the traditional one.
            keep: number of latest lists of each reranker whose values are kept; None: all. Overall means do not
                need them.
            options: how lists are scored, as for `evaluate`, without `missing`.

        Raises:
            UsageError: a name does not exist, no measure is given, or `keep` is below 1.
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
        self._options = ScoringOptions(**options, missing="skip")  # type: ignore[misc] # refuses another
        self._keep = None if keep is None else _list_count("keep", keep)
        self._means = Means()
        self._parts: list[pd.DataFrame] = []
        self._policies: dict[str, pd.Series[int]] = {}

    def add(self, runs: Runs | Frame, qrels: Table | None = None) -> None:
        """Score arriving lists.

        Args:
            runs: one or many lists, as in `evaluate`.
            qrels: judgments for a data frame without relevance; may cover more queries.

        Raises:
            ReadError: the data frame cannot be read.
            UsageError: judgments for runs that hold judgments.
        """
        runs = as_runs(runs, qrels)
        treatments = list(dict.fromkeys(self._treatments.values()))
        evaluation = score_runs(runs, self._measures, treatments, self._options)
        for name, counts in evaluation.policies.iterrows():
            self._policies[str(name)] = counts + self._policies.get(str(name), 0)
        self._means.add(evaluation.scores, evaluation.policies.index.to_list())
        self._parts.append(evaluation.scores)
        if self._keep is not None and sum(map(len, self._parts[1:])) > self._keep:
            self._join_parts()

    @property
    def n_lists(self) -> dict[str, int]:
        """Number of scored lists of each reranker."""
        return self._means.counts

    @property
    def policies(self) -> pd.DataFrame:
        """Index reranker: n_queries, n_missing, n_empty, n_scored of all lists, as in `Evaluation`."""
        return pd.DataFrame(self._policies).T.rename_axis("reranker")

    def means(self, *, last: int | None = None) -> pd.DataFrame:
        """Return the mean of each measure over all lists, or over the `last` lists of each reranker.

        Returns:
            One row per reranker and measure: reranker, measure, traditional, tied, worst, best, n (lists).

        Raises:
            UsageError: `last` is not a whole number above 0, or more lists than are kept.
        """
        means = self._means if last is None else self._latest_means(last)
        table = means.table()
        rows = [
            {"reranker": reranker, "measure": measure}
            | {name: table.loc[reranker, (measure, ties)] for name, ties in self._treatments.items()}
            | {"n": n}
            for reranker, n in means.counts.items()
            for measure in self._measures
        ]
        return pd.DataFrame(rows, columns=["reranker", "measure", *self._treatments, "n"])

    def _latest_means(self, last: int) -> Means:
        last = _list_count("last", last)
        if self._keep is not None and last > self._keep:
            raise UsageError(f"last={last} needs more lists of each reranker than keep={self._keep}.")
        self._join_parts()
        means = Means()
        for lists in self._parts:
            latest = lists.groupby(level="reranker", sort=False).tail(last)
            means.add(latest, list(self.n_lists))
        return means

    def _join_parts(self) -> None:
        """Put the kept lists into one table."""
        if len(self._parts) > 1:
            self._parts = [pd.concat(self._parts)]
        if self._keep is not None and self._parts:
            kept_lists = self._parts[0].groupby(level="reranker", sort=False).tail(self._keep)
            kept_lists.index = kept_lists.index.remove_unused_levels()
            self._parts = [kept_lists]


def _list_count(name: str, value: object) -> int:
    """Return a number of lists; UsageError where it is not a whole number above 0."""
    number = float(value) if isinstance(value, Real) else 0.0
    if not (number >= 1 and number.is_integer()):
        raise UsageError(f"{name}={value!r}: give a whole number of lists, 1 or more.")
    return int(number)
