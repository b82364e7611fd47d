"""Floor 4: runs × measures × treatments → one table of values, list by list."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from metrics.errors import UsageError
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.ties import Ranking, Treatment, log10_factorials, refine, treatment

Policy = Literal["zero", "skip"]


@dataclass(frozen=True)
class Evaluation:
    """What every list scored, under every treatment.

    Attributes:
        scores: index (reranker, query_id), columns (measure, ties), values in [0, 1].
        lists: same index; n_docs, n_relevant, n_tie_groups (of two or more), max_tie_size,
            tied_docs, tie_ratio, log10_orderings, and straddles_k for each cut-off k asked for:
            whether a tie reaches across it.
        policies: per reranker, the queries judged, missing from the run, and with nothing relevant.
        measures: names of the measures, as in `scores`.
        ties: names of the treatments, as in `scores`.
        missing: what was done about queries the run lacks.
        empty: what was done about queries with nothing relevant.
    """

    scores: pd.DataFrame
    lists: pd.DataFrame
    policies: pd.DataFrame
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    missing: Policy = field(default="zero")
    empty: Policy = field(default="zero")

    def only(self, rerankers: Sequence[str]) -> "Evaluation":
        """The same values of some rerankers, in this order."""
        names = list(rerankers)
        owner = self.scores.index.get_level_values("reranker")
        rows = np.concatenate([np.flatnonzero(owner == name) for name in names])
        return replace(
            self,
            scores=self.scores.iloc[rows],
            lists=self.lists.iloc[rows],
            policies=self.policies.loc[names],
        )

    def summary(self) -> pd.DataFrame:
        """Mean, sample standard deviation and number of lists.

        Returns:
            index reranker in the order given, columns (measure, ties, statistic) with statistics
            mean, std (NaN for one list) and n.
        """
        order = self.policies.index
        table = self.scores.groupby(level="reranker", sort=False).agg(["mean", "std", "count"])
        table = table.rename(columns={"count": "n"}, level=2).reindex(order)
        counts = {column: 0 for column in table.columns if column[2] == "n"}
        return table.fillna(counts).astype(dict.fromkeys(counts, np.int64))


def evaluate(
    runs: Runs,
    measures: Sequence[str] = ("RR", "Hits@1", "Hits@3", "Hits@10"),
    ties: Sequence[str] = ("input", "expected", "optimistic", "pessimistic"),
    *,
    missing: Policy = "zero",
    empty: Policy = "zero",
    relevant_from: float = 1,
) -> Evaluation:
    """Score every list under every treatment of its ties.

    Args:
        runs: what was ranked.
        measures: names such as `RR`, `RR@10`, `Hits@3` (`metrics.MEASURES`).
        ties: names of treatments (`metrics.TREATMENTS`).
        missing: queries of the qrels that a run lacks count 0, or are left out.
        empty: queries with nothing relevant count 0, or are left out.
        relevant_from: smallest grade that counts as relevant, above 0.

    Raises:
        UsageError: a name that does not exist, or a policy that is neither zero nor skip.
    """
    asked = tuple(dict.fromkeys(map(parse, measures)))
    how = tuple(dict.fromkeys(map(treatment, ties)))
    _check(asked, how, missing, empty, relevant_from)
    parts = [
        _evaluate_one(name, Ranking.of(table, runs.qrels, relevant_from), asked, how, missing, empty)
        for name, table in runs.tables.items()
    ]
    policies = pd.DataFrame([part[2] for part in parts], index=pd.Index(runs.rerankers, name="reranker"))
    return Evaluation(
        scores=pd.concat([part[0] for part in parts]),
        lists=pd.concat([part[1] for part in parts]),
        policies=policies,
        measures=tuple(map(str, asked)),
        ties=tuple(one.name for one in how),
        missing=missing,
        empty=empty,
    )


def _check(
    asked: Sequence[MeasureAt], how: Sequence[Treatment], missing: str, empty: str, relevant_from: float
) -> None:
    if not asked or not how:
        raise UsageError("Name at least one measure and one treatment.")
    for name, policy in (("missing", missing), ("empty", empty)):
        if policy not in ("zero", "skip"):
            raise UsageError(f"{name}={policy!r}: it is 'zero' or 'skip'.")
    if not relevant_from > 0:
        raise UsageError(f"relevant_from={relevant_from}: unjudged documents have grade 0, so it is above 0.")


def _evaluate_one(
    name: str,
    ranking: Ranking,
    asked: Sequence[MeasureAt],
    how: Sequence[Treatment],
    missing: str,
    empty: str,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int]]:
    columns = {}
    for one in how:
        groups = refine(ranking, one)
        for measure in asked:
            columns[str(measure), one.name] = measure.values(groups)
    lists = _describe(ranking, sorted({m.k for m in asked if m.k is not None}))
    no_rows, nothing = lists["n_docs"] == 0, ranking.n_relevant == 0
    kept = ~((no_rows & (missing == "skip")) | (nothing & (empty == "skip")))
    index = pd.MultiIndex.from_product([[name], ranking.query_ids.to_pylist()], names=["reranker", "query_id"])[
        kept
    ]
    scores = pd.DataFrame({key: value[kept] for key, value in columns.items()}, index=index)
    scores = scores.reindex(
        columns=pd.MultiIndex.from_product(
            [map(str, asked), [one.name for one in how]], names=["measure", "ties"]
        )
    )
    table = pd.DataFrame({key: value[kept] for key, value in lists.items()}, index=index)
    counts = {
        "n_queries": ranking.n_lists,
        "n_missing": int(no_rows.sum()),
        "n_empty": int(nothing.sum()),
        "n_scored": int(kept.sum()),
    }
    return scores, table, counts


def _describe(ranking: Ranking, cutoffs: Sequence[int]) -> dict[str, npt.NDArray[np.generic]]:
    """What the ties of each list look like; arrays of (n_lists,)."""
    n, owner, sizes = ranking.n_lists, ranking.group_lists, ranking.sizes
    tied = sizes > 1
    docs = np.bincount(ranking.lists, minlength=n)
    tied_docs = np.bincount(owner, sizes * tied, minlength=n).astype(np.int64)
    largest = np.zeros(n, dtype=np.int64)
    np.maximum.at(largest, owner, sizes)
    factorials = log10_factorials(int(sizes.max(initial=0)))
    table: dict[str, npt.NDArray[np.generic]] = {
        "n_docs": docs,
        "n_relevant": ranking.n_relevant,
        "n_tie_groups": np.bincount(owner, tied, minlength=n).astype(np.int64),
        "max_tie_size": largest,
        "tied_docs": tied_docs,
        "tie_ratio": tied_docs / np.maximum(docs, 1),
        "log10_orderings": np.bincount(owner, factorials[sizes], minlength=n),
    }
    for k in cutoffs:
        across = (ranking.above < k) & (ranking.above + sizes > k)
        table[f"straddles_{k}"] = np.bincount(owner, across, minlength=n) > 0
    return table
