"""The values of every list under every treatment, how they were scored, and what can be asked of them."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.runs import Runs
from metrics.runs.stacks import RunStack
from metrics.support.arrays import IntArray, combine_chunks
from metrics.ties import Ranking
from metrics.ties.fronts import criterion
from metrics.ties.judgments import Judgments, Unjudged, check_relevant_from, check_unjudged
from metrics.ties.precision import rounded

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy


Policy = Literal["zero", "skip"]
"""What is done about queries without a value of their own: they count 0, or are left out."""


@dataclass(frozen=True)
class ScoringOptions:
    """How lists are scored, whatever the measures and treatments.

    Attributes:
        precision: how scores are compared: as read (float64), rounded (float32, float16, bfloat16,
            decimals:N), or tied within E of the highest of their group (within:E).
        missing: queries of the qrels that a run lacks count 0, or are left out.
        empty: queries with nothing relevant count 0, or are left out.
        relevant_from: smallest grade that counts as relevant, above 0.
        tiebreak_by: further score columns that split ties first, highest first.
        criteria: score columns that rank together instead of the score, such as `score`, `cost:asc`: documents
            stand by non-dominated fronts, and a front is a tie.
        unjudged: documents that nobody judged are not relevant, or are left out of their lists: nDCG', AP' and
            the like of condensed lists (Sakai, SIGIR 2007); what remains of a tie stays tied.

    Raises:
        UsageError: a precision or policy that does not exist, or a grade of 0 as relevant.
    """

    precision: str = "float64"
    missing: Policy = "zero"
    empty: Policy = "zero"
    relevant_from: float = 1
    tiebreak_by: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    unjudged: Unjudged = "nonrelevant"

    def __post_init__(self) -> None:
        """Check each option."""
        for name, policy in (("missing", self.missing), ("empty", self.empty)):
            if policy not in ("zero", "skip"):
                raise UsageError(f"{name}={policy!r}: it is 'zero' or 'skip'.")
        check_relevant_from(self.relevant_from)
        check_unjudged(self.unjudged)
        rounded(np.empty(0), self.precision)
        object.__setattr__(self, "tiebreak_by", tuple(self.tiebreak_by))
        object.__setattr__(self, "criteria", tuple(self.criteria))

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Score columns that are read besides the score."""
        names = [criterion(text)[0] for text in self.criteria] + list(self.tiebreak_by)
        return tuple(dict.fromkeys(name for name in names if name != "score"))

    @property
    def _cut(self) -> tuple[float, str, tuple[str, ...], tuple[str, ...], Unjudged]:
        return self.relevant_from, self.precision, self.tiebreak_by, self.criteria, self.unjudged

    def ranking(self, runs: Runs, reranker: str, query_id: str | None = None) -> Ranking:
        """Return the lists of one reranker, cut into tie groups.

        Args:
            runs: what was ranked.
            reranker: whose lists.
            query_id: the query whose list is cut alone, none where it is not judged; all lists where None.

        Raises:
            UsageError: a reranker or column that does not exist.
        """
        return Ranking.of(runs, reranker, *self._cut, query_id=query_id)

    def rankings(self, runs: Runs, stack: RunStack) -> Iterator[Ranking]:
        """Yield the lists of some rerankers a few at a time, in the order of the judged queries."""
        return Ranking.parts(runs, stack, *self._cut)


AS_READ = ScoringOptions()
"""The usual: scores as they were read, every judged query counts."""


def refuse_unbounded(runs: Runs, options: ScoringOptions) -> None:
    """Raise a UsageError where nothing bounds what judgments to come may do to a mean.

    Raises:
        UsageError: unjudged documents are left out; or queries with nothing relevant are, and there is one.
    """
    if options.unjudged == "leave_out":
        raise UsageError("unjudged='leave_out': what is left out bounds nothing. Keep unjudged documents.")
    if adds_queries(runs, options):
        raise UsageError(
            "empty='skip': a judged query with nothing relevant is left out, and a judgment to come may add it "
            "to the mean, which no bound or expectation foresees. Let such queries count 0: empty='zero'."
        )


def adds_queries(runs: Runs, options: ScoringOptions) -> bool:
    """Return whether a judgment to come may add a query to the mean: one is left out with nothing relevant."""
    if options.empty == "zero" or runs.qrels is None:
        return False
    judgments = Judgments.of(runs.qrels, runs.judged_pairs, options.relevant_from)
    return not judgments.n_relevant.all()


class HasScoringOptions:
    """What was scored by `options`, each of which can be read from it directly."""

    options: ScoringOptions

    @property
    def precision(self) -> str:
        """How scores were rounded before they were compared."""
        return self.options.precision

    @property
    def missing(self) -> Policy:
        """What was done about queries the run lacks."""
        return self.options.missing

    @property
    def empty(self) -> Policy:
        """What was done about queries with nothing relevant."""
        return self.options.empty

    @property
    def relevant_from(self) -> float:
        """Smallest grade that counted as relevant."""
        return self.options.relevant_from

    @property
    def tiebreak_by(self) -> tuple[str, ...]:
        """Further score columns that split ties first."""
        return self.options.tiebreak_by

    @property
    def criteria(self) -> tuple[str, ...]:
        """Score columns that ranked together instead of the score."""
        return self.options.criteria

    @property
    def unjudged(self) -> Unjudged:
        """What was done about documents that nobody judged."""
        return self.options.unjudged


def concat(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables, one table after the other."""
    return tables[0] if len(tables) == 1 else pd.concat(tables)


def list_index(rerankers: Sequence[str], owner: IntArray, queries: pa.ChunkedArray) -> pd.MultiIndex:
    """Return (reranker, query_id) of lists.

    Shapes: `owner` (n_lists,), `queries` (n_lists,).
    """
    codes: npt.NDArray[np.integer] = np.arange(len(queries))
    if len(rerankers) > 1:
        distinct = combine_chunks(queries.dictionary_encode())
        codes, queries = distinct.indices.to_numpy(), distinct.dictionary
    return pd.MultiIndex(
        levels=[rerankers, pd.Index(queries.to_pandas())],
        codes=[owner, codes],
        names=["reranker", "query_id"],
        verify_integrity=False,
    )


def no_lists() -> pd.MultiIndex:
    """Return (reranker, query_id) of no list."""
    return list_index([], np.empty(0, np.int64), pa.chunked_array([], pa.string()))


def merge_indexes(lists: Sequence[pd.MultiIndex]) -> pd.MultiIndex:
    """Return the (reranker, query_id) of one evaluation after the other."""
    return lists[0].append(list(lists[1:]))


def concat_by_reranker(tables: Sequence[pd.DataFrame], rerankers: pd.Index) -> pd.DataFrame:
    """Return the rows of all tables, indexed (reranker, query_id); rerankers as given, else as they come."""
    table = concat(tables)
    owner = rerankers.get_indexer(table.index.get_level_values("reranker"))
    return table if (owner[1:] >= owner[:-1]).all() else table.iloc[np.argsort(owner, kind="stable")]


def sum_counts(policies: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Sum counts by reranker; rerankers in order of first appearance."""
    return pd.concat(policies).groupby(level="reranker", sort=False).sum()


def refuse_repeated(lists: Sequence[pd.MultiIndex]) -> None:
    """Raise a UsageError where a reranker has a query in two parts, lists left out included."""
    index = merge_indexes(lists)
    repeated = index[index.duplicated()]
    if len(repeated):
        reranker, query = repeated[0]
        raise UsageError(
            f"Query {query!r} of {reranker!r} is in two parts. Split by query, the judgments as well."
        )


def summarise(groups: "DataFrameGroupBy[Any]", rerankers: pd.Index) -> pd.DataFrame:
    """Return the mean, std and n of each column (measure, ties) by reranker; see `Evaluation.summary`."""
    statistics = {
        "mean": groups.mean().reindex(rerankers),
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
    """Means over lists that are not kept; the sums are exact, so the same however lists are cut into parts."""

    def __init__(self) -> None:
        self._sums: dict[str, list[list[float]]] = {}
        self._counts: Counter[str] = Counter()
        self._columns = pd.Index([])

    def add(self, scores: pd.DataFrame, rerankers: Sequence[str]) -> None:
        """Take in the lists of a part, and the names of all its rerankers, with or without lists."""
        self._columns = scores.columns
        owner, values = scores.index.get_level_values("reranker"), scores.to_numpy()
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
        """Reranker → its lists, in order of first appearance."""
        return {name: self._counts[name] for name in self._sums}

    def table(self) -> pd.DataFrame:
        """Index reranker in order of first appearance, columns as the scores; NaN where there is no list."""
        names = pd.Index(list(self._sums), name="reranker")
        means = [
            [math.fsum(kept) / n if (n := self._counts[name]) else math.nan for kept in sums]
            for name, sums in self._sums.items()
        ]
        return pd.DataFrame(means, index=names, columns=self._columns)


def _exact(values: list[float]) -> list[float]:
    """Return two or three numbers whose sum is exactly that of values: it rounded, then what that lacks."""
    terms: list[float] = []
    while remainder := math.fsum(chain(values, (-one for one in terms))):
        terms.append(remainder)
        if not math.isfinite(remainder):
            break
    return terms


@dataclass(frozen=True, eq=False)
class Evaluation(HasScoringOptions):
    """What every list scored, under every treatment.

    Attributes:
        scores: index (reranker, query_id), columns (measure, ties); values in [0, 1] but for
            DCG and Div@k, which have no upper bound.
        lists: same index; n_docs, n_relevant, n_tie_groups (of two or more), max_tie_size,
            tied_docs, tie_ratio, log10_orderings, and straddles_k for each cut-off k asked for:
            whether a tie reaches across it.
        policies: per reranker, n_queries judged, of them n_missing from the run, n_empty with nothing
            relevant, and n_scored.
        measures: names of the measures, as in `scores`.
        ties: names of the treatments, as in `scores`.
        options: how the lists were scored; `precision`, `missing`, `empty`, `relevant_from`,
            `tiebreak_by`, `criteria` and `unjudged` can be read from the evaluation, too.
        skipped: (reranker, query_id) of the lists that `missing` and `empty` left out.
    """

    scores: pd.DataFrame
    lists: pd.DataFrame
    policies: pd.DataFrame
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    options: ScoringOptions = field(default_factory=ScoringOptions)
    skipped: pd.MultiIndex = field(default_factory=no_lists)

    def __repr__(self) -> str:
        size = f"rerankers={len(self.policies)}, lists={len(self.scores)}"
        return f"Evaluation({size}, measures={self.measures}, ties={self.ties})"

    def _repr_html_(self) -> str:
        from metrics.support import html_repr  # noqa: PLC0415 only where it is shown

        return html_repr.evaluation(
            self.scores, self.policies, self.measures, self.ties, **asdict(self.options)
        )

    @classmethod
    def merge(cls, *parts: "Evaluation") -> "Evaluation":
        """Return the evaluation of a whole from those of its parts, split by query in any way.

        Every list is scored by itself: values, and with them means, deviations and counts, are those
        of the whole. A part holds the rows and the judgments of its queries, for all rerankers: one
        that has no rows there still misses those queries. Rerankers and queries come in order of
        first appearance.

        Args:
            parts: as `evaluate` gives them, with the same measures, ties, policies and options.

        Raises:
            UsageError: no part, parts evaluated differently or reduced by `only` to some queries, or a
                query twice in a reranker.
        """
        if not parts:
            raise UsageError("Give at least one evaluation to merge.")
        for part in parts:
            part.refuse_other(parts[0])
        refuse_repeated([part.scores.index.append(part.skipped) for part in parts])
        policies = sum_counts([part.policies for part in parts])
        return replace(
            parts[0],
            scores=concat_by_reranker([part.scores for part in parts], policies.index),
            lists=concat_by_reranker([part.lists for part in parts], policies.index),
            policies=policies,
            skipped=merge_indexes([part.skipped for part in parts]),
        )

    def refuse_other(self, first: "Evaluation") -> None:
        """Raise a UsageError where this evaluation and another cannot be parts of one whole."""
        for name, value in self.design().items():
            expected = first.design()[name]
            if value != expected:
                raise UsageError(f"Parts were evaluated with different {name}: {expected!r} and {value!r}.")
        if self.policies["n_scored"].sum() != len(self.scores):
            raise UsageError("A part has only some of its queries: merge first, then choose.")

    def design(self) -> dict[str, object]:
        """Return what evaluations have in common that can be put together: measures, ties and each option."""
        return {"measures": self.measures, "ties": self.ties, **asdict(self.options)}

    def only(self, rerankers: Sequence[str], queries: Collection[str] | None = None) -> "Evaluation":
        """Return the values of some rerankers, in this order, and of some queries; `policies` count all.

        Raises:
            UsageError: no reranker is named, or one that is not there.
        """
        names = list(dict.fromkeys(rerankers))
        if not names or not set(names) <= set(self.policies.index):
            raise UsageError(f"Choose among the rerankers: {', '.join(map(str, self.policies.index))}.")
        owner = pd.Index(names).get_indexer(self.scores.index.get_level_values("reranker"))
        if queries is None and names == [*self.policies.index] and (np.diff(owner) >= 0).all():
            frames = {name: getattr(self, name).copy(deep=False) for name in ("scores", "lists", "policies")}
            return replace(self, **frames)  # all there is, as it stands
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
        """Return the mean of one measure over lists: index reranker in the order given, columns treatments."""
        lists = self.scores[measure].groupby(level="reranker", sort=False)
        return lists.mean().reindex(self.policies.index)

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
            flat: whether to return the means alone, a row for each reranker and measure, to be read or plotted.

        Returns:
            index reranker in the order given, columns (measure, ties, statistic) with statistics
            mean, std (NaN for one list) and n. Flat: columns reranker, measure, n and the mean under each
            treatment, `expected` (the tied value) first.
        """
        table = summarise(self.scores.groupby(level="reranker", sort=False), self.policies.index)
        return flat_means(table) if flat else table
