"""The values of every list under every treatment."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.measures import MEASURES
from metrics.measures.model import GEOMETRIC_FLOOR
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.support.columns import combine_chunks
from metrics.ties.options import ScoringOptions

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy


def concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables, one table after the other."""
    return tables[0] if len(tables) == 1 else pd.concat(tables)


def concat_by_reranker(tables: Sequence[pd.DataFrame], rerankers: pd.Index) -> pd.DataFrame:
    """Return the rows of all tables, indexed (reranker, query_id); rerankers as given, else as they come."""
    table = concat(tables)
    owner = rerankers.get_indexer(table.index.get_level_values("reranker"))
    return table if (owner[1:] >= owner[:-1]).all() else table.iloc[np.argsort(owner, kind="stable")]


def sum_counts(policies: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Sum counts by reranker; rerankers in order of first appearance."""
    return pd.concat(policies).groupby(level="reranker", sort=False).sum()


def _is_geometric(columns: pd.Index) -> BoolArray:
    """Return which columns (measure, ties) have geometric means."""
    names = [measure.name for measure in MEASURES if measure.geometric]
    is_geometric: BoolArray = columns.get_level_values(0).isin(names)
    return is_geometric


def _in_logs(values: FloatArray, columns: pd.Index) -> FloatArray:
    """Return values with the columns of geometric means in logarithms."""
    is_geometric = _is_geometric(columns)
    if not is_geometric.any():
        return values
    return np.where(is_geometric, _logs(values), values)


def _logs(values: FloatArray) -> FloatArray:
    logs: FloatArray = np.log(np.maximum(values, GEOMETRIC_FLOOR))
    return logs


def _from_logs(means: pd.DataFrame) -> pd.DataFrame:
    """Return means of which those of geometric measures are logarithms."""
    is_geometric = _is_geometric(means.columns)
    if not is_geometric.any():
        return means
    return pd.DataFrame(np.where(is_geometric, np.exp(means), means), means.index, means.columns)


def mean_scores(scores: pd.DataFrame, rerankers: pd.Index) -> pd.DataFrame:
    """Return the mean of each column (measure, ties) by reranker, geometric for measures that say so."""
    return _means_of(scores.groupby(level="reranker", sort=False)).reindex(rerankers)


def _means_of(groups: "DataFrameGroupBy[Any]") -> pd.DataFrame:
    means = groups.mean()
    for column in means.columns[_is_geometric(means.columns)]:
        means[column] = groups[[column]].agg(lambda values: np.exp(_logs(values).mean()))[column]
    return means


def summarise(groups: "DataFrameGroupBy[Any]", rerankers: pd.Index) -> pd.DataFrame:
    """Return the mean, std and n of each column (measure, ties) by reranker; see `Evaluation.summary`."""
    statistics = {
        "mean": _means_of(groups).reindex(rerankers),
        "std": groups.std().reindex(rerankers),
        "n": groups.count().reindex(rerankers, fill_value=0).astype(np.int64),
    }
    table = pd.concat(statistics, axis=1).reorder_levels([1, 2, 0], axis=1)
    return table.iloc[:, np.arange(table.shape[1]).reshape(len(statistics), -1).T.ravel()]


def flat_means(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each reranker and measure: reranker, measure, n, and the mean under each treatment."""
    means = summary.xs("mean", axis=1, level=2)
    measures, ties = (list(dict.fromkeys(means.columns.get_level_values(level))) for level in (0, 1))
    counts = summary.xs("n", axis=1, level=2)[measures[0], ties[0]]
    rows = [(reranker, measure) for reranker in summary.index for measure in measures]
    table = pd.DataFrame(rows, columns=["reranker", "measure"])
    table["n"] = np.repeat(counts.to_numpy(), len(measures))
    for name in sorted(ties, key=lambda name: name != "expected"):
        table[name] = means.xs(name, axis=1, level=1)[measures].to_numpy().ravel()
    return table


class Means:
    """Exact means over lists that are not kept: how lists are split into parts does not change a digit."""

    def __init__(self) -> None:
        self._sums: dict[str, list[list[float]]] = {}
        self._counts: Counter[str] = Counter()
        self._columns = pd.Index([])

    def add(self, scores: pd.DataFrame, rerankers: Sequence[str]) -> None:
        """Add the lists of a part; `rerankers` names all its rerankers, with or without lists."""
        self._columns = scores.columns
        owner = scores.index.get_level_values("reranker")
        values = _in_logs(scores.to_numpy(), scores.columns)
        place = pd.Index(rerankers).get_indexer(owner)
        order = np.argsort(place, kind="stable")
        ends = np.searchsorted(place[order], np.arange(len(rerankers) + 1))
        for name, rows in zip(rerankers, pairwise(ends), strict=True):
            own = values[order[slice(*rows)]]
            sums = self._sums.get(name, [[]] * own.shape[1])
            columns = own.T.tolist()
            self._sums[name] = [_exact([*kept, *more]) for kept, more in zip(sums, columns, strict=True)]
            self._counts[name] += len(own)

    @property
    def counts(self) -> dict[str, int]:
        """Number of lists of each reranker, in order of first appearance."""
        return {name: self._counts[name] for name in self._sums}

    def table(self) -> pd.DataFrame:
        """Index reranker in order of first appearance, columns as the scores; NaN where there is no list."""
        names = pd.Index(list(self._sums), name="reranker")
        means = [
            [math.fsum(kept) / n if (n := self._counts[name]) else math.nan for kept in sums]
            for name, sums in self._sums.items()
        ]
        table = pd.DataFrame(means, index=names, columns=self._columns)
        return _from_logs(table) if len(self._columns) else table


def _exact(values: list[float]) -> list[float]:
    """Return a few numbers with exactly the sum of the values: the rounded sum, then what it lacks."""
    terms: list[float] = []
    while remainder := math.fsum(chain(values, (-one for one in terms))):
        terms.append(remainder)
        if not math.isfinite(remainder):
            break
    return terms


def _columns(measures: Sequence[str], ties: Sequence[str]) -> pd.MultiIndex:
    """Return (measure, ties) of each pair: `MultiIndex.from_product` of distinct names, without its checks."""
    levels = [sorted(measures), sorted(ties)]
    places = [
        np.array([*map(level.index, names)]) for level, names in zip(levels, (measures, ties), strict=True)
    ]
    codes = [places[0].repeat(len(ties)), np.tile(places[1], len(measures))]
    return pd.MultiIndex(levels, codes, names=["measure", "ties"], verify_integrity=False)


@dataclass(frozen=True, eq=False)
class ScoredLists:
    """The values of lists as arrays, from which tables are made.

    Attributes:
        rerankers: (n_rerankers,) their names.
        owner: (n_lists,) reranker of each list, an index into `rerankers`.
        queries: (n_lists,) query of each list.
        measures: names of the measures.
        ties: names of the treatments.
        values: (n_measures * n_ties, n_lists) values, measure by measure.
        descriptions: the columns of `Evaluation.lists`, (n_lists,) each.
        kinds: the columns of `Evaluation.policies`: (n_lists,) whether each list is counted there.
    """

    rerankers: Sequence[str]
    owner: IntArray
    queries: pa.ChunkedArray
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    values: FloatArray
    descriptions: Mapping[str, npt.NDArray[np.generic]]
    kinds: Mapping[str, BoolArray]

    @property
    def scores(self) -> pd.DataFrame:
        """As in `Evaluation`."""
        columns = _columns(self.measures, self.ties)
        is_scored = self.kinds["n_scored"]
        values = self.values.T if is_scored.all() else self.values.T[is_scored]
        return pd.DataFrame(values, index=self.index, columns=columns, copy=False)

    @property
    def lists(self) -> pd.DataFrame:
        """As in `Evaluation`."""
        columns = {name: column[self.kinds["n_scored"]] for name, column in self.descriptions.items()}
        return pd.DataFrame(columns, index=self.index)

    @property
    def policies(self) -> pd.DataFrame:
        """As in `Evaluation`."""
        n_rerankers = len(self.rerankers)
        counts = {
            name: np.bincount(self.owner[rows], minlength=n_rerankers) for name, rows in self.kinds.items()
        }
        return pd.DataFrame(counts, index=pd.Index(self.rerankers, name="reranker"))

    @property
    def skipped(self) -> pd.MultiIndex:
        """As in `Evaluation`."""
        return self._index_of(~self.kinds["n_scored"])

    @cached_property
    def index(self) -> pd.MultiIndex:
        """(reranker, query_id) of the lists that are scored."""
        return self._index_of(self.kinds["n_scored"])

    def _index_of(self, rows: BoolArray) -> pd.MultiIndex:
        queries = self.queries.filter(pa.array(rows))
        codes: npt.NDArray[np.integer] = np.arange(len(queries))
        if len(self.rerankers) > 1:
            distinct = combine_chunks(queries.dictionary_encode())
            codes, queries = distinct.indices.to_numpy(), distinct.dictionary
        return pd.MultiIndex(
            levels=[self.rerankers, pd.Index(queries.to_pandas())],
            codes=[self.owner[rows], codes],
            names=["reranker", "query_id"],
            verify_integrity=False,
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The value of every list under every treatment.

    Attributes:
        scores: index (reranker, query_id), columns (measure, ties); values in [0, 1] except for
            DCG and Div@k, which have no upper bound.
        lists: same index; n_docs, n_relevant, n_tie_groups (of two or more), max_tie_size,
            tied_docs, tie_ratio, log10_orderings, and straddles_k for each cut-off k of the measures:
            whether a tie crosses it.
        policies: per reranker, n_queries judged, n_missing from the run, n_empty without relevant documents,
            and n_scored.
        measures: names of the measures, as in `scores`.
        ties: names of the treatments, as in `scores`.
        options: how the lists were scored.
        skipped: (reranker, query_id) of the lists that `missing` and `empty` left out.
    """

    scores: pd.DataFrame
    lists: pd.DataFrame
    policies: pd.DataFrame
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    options: ScoringOptions = field(default_factory=ScoringOptions)
    skipped: pd.MultiIndex = field(
        default_factory=lambda: pd.MultiIndex.from_arrays([[], []], names=["reranker", "query_id"])
    )

    @classmethod
    def of(cls, scored: ScoredLists, options: ScoringOptions) -> "Evaluation":
        """Return an evaluation whose tables are made when they are first asked for."""
        evaluation = object.__new__(cls)
        vars(evaluation).update(scored=scored, measures=scored.measures, ties=scored.ties, options=options)
        return evaluation

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> pd.DataFrame | pd.MultiIndex:
            """Make a table of `of` the first time, and return it."""
            if name not in ("scores", "lists", "policies", "skipped"):
                raise AttributeError(f"'Evaluation' has no attribute {name!r}")
            table = vars(self)[name] = getattr(vars(self)["scored"], name)
            return table

    def __repr__(self) -> str:
        size = f"rerankers={len(self.policies)}, lists={len(self.scores)}"
        return f"Evaluation({size}, measures={self.measures}, ties={self.ties})"

    def _repr_html_(self) -> str:
        from metrics.support import html_repr  # noqa: PLC0415 only where it is shown

        return html_repr.evaluation(self.scores, self.policies, self.measures, self.ties, asdict(self.options))

    @classmethod
    def merge(cls, *parts: "Evaluation") -> "Evaluation":
        """Merge the evaluations of parts that were split by query in any way.

        The result is the evaluation of the whole, because every list is scored by itself. Each part must hold
        the rows and judgments of its queries for all rerankers. Rerankers and queries keep the order of their
        first appearance.

        Args:
            parts: results of `evaluate` with the same measures, ties and options.

        Raises:
            UsageError: there is no part, parts were evaluated differently or reduced by `only`, or a reranker
                has a query twice.
        """
        if not parts:
            raise UsageError("Give at least one evaluation to merge.")
        for part in parts:
            part.refuse_other(parts[0])
        lists, *further = [part.scores.index.append(part.skipped) for part in parts]
        all_lists = lists.append(further)
        repeated = all_lists[all_lists.duplicated()]
        if len(repeated):
            reranker, query = repeated[0]
            raise UsageError(
                f"Two parts contain query {query!r} of reranker {reranker!r}. Split runs and judgments "
                "by query."
            )
        policies = sum_counts([part.policies for part in parts])
        return replace(
            parts[0],
            scores=concat_by_reranker([part.scores for part in parts], policies.index),
            lists=concat_by_reranker([part.lists for part in parts], policies.index),
            policies=policies,
            skipped=parts[0].skipped.append([part.skipped for part in parts[1:]]),
        )

    def refuse_other(self, first: "Evaluation") -> None:
        """Raise a UsageError where this evaluation and `first` cannot be merged."""
        for name, value in self.design().items():
            expected = first.design()[name]
            if value != expected:
                raise UsageError(f"Parts were evaluated with different {name}: {expected!r} and {value!r}.")
        if self.policies["n_scored"].sum() != len(self.scores):
            raise UsageError(
                "A part lacks some of its queries. Merge the complete parts first, then call only()."
            )

    def design(self) -> dict[str, object]:
        """Return what evaluations must share to be merged: measures, ties and each option."""
        return {"measures": self.measures, "ties": self.ties, **asdict(self.options)}

    def only(self, rerankers: Sequence[str], queries: Collection[str] | None = None) -> "Evaluation":
        """Return the values of some rerankers, in this order, and of some queries; `policies` stay whole.

        Raises:
            UsageError: no reranker is named, or one does not exist.
        """
        names = list(dict.fromkeys(rerankers))
        if not names or not set(names) <= set(self.policies.index):
            raise UsageError(
                f"Name one or more of these rerankers: {', '.join(map(str, self.policies.index))}."
            )
        owner = pd.Index(names).get_indexer(self.scores.index.get_level_values("reranker"))
        rows = np.flatnonzero(owner >= 0)
        rows = rows[np.argsort(owner[rows], kind="stable")]
        if queries is not None:
            rows = rows[self.scores.index.get_level_values("query_id")[rows].isin(list(queries))]
        return replace(
            self,
            scores=self.scores.iloc[rows],
            lists=self.lists.iloc[rows],
            policies=self.policies.loc[names],
            skipped=self.skipped[self.skipped.get_level_values("reranker").isin(names)],
        )

    def means(self, measure: str) -> pd.DataFrame:
        """Return the means of one measure: index reranker, columns treatments."""
        return mean_scores(self.scores[[measure]], self.policies.index)[measure]

    @property
    def tie_ratios(self) -> "pd.Series[float]":
        """Mean tie ratio of each reranker's lists."""
        lists = self.lists["tie_ratio"].groupby(level="reranker", sort=False)
        return lists.mean().reindex(self.policies.index)

    def standard_errors(self, measure: str) -> "pd.Series[float]":
        """Return the standard error over lists of each reranker's tied mean; NaN for one list."""
        lists = self.scores[measure, "expected"].groupby(level="reranker", sort=False)
        return lists.sem().reindex(self.policies.index)

    def summary(self, *, flat: bool = False) -> pd.DataFrame:
        """Return mean, sample standard deviation and number of lists.

        Args:
            flat: whether to return only the means, one row per reranker and measure.

        Returns:
            index reranker, columns (measure, ties, statistic) with statistics mean, std (NaN for one list) and
            n. Flat: columns reranker, measure, n and the mean under each treatment, `expected` (the tied value)
            first.
        """
        table = summarise(self.scores.groupby(level="reranker", sort=False), self.policies.index)
        return flat_means(table) if flat else table
