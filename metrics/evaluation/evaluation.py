"""Floor 4: runs × measures × treatments → one table of values, list by list."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError
from metrics.evaluation.merging import (
    added,
    concat,
    concat_by_reranker,
    index_of_all,
    lists_of,
    refuse_repeated,
    summarised,
)
from metrics.measures import MeasureAt, parse
from metrics.runs import Runs
from metrics.support import html_repr
from metrics.support.arrays import FloatArray
from metrics.support.memory import one_allocator
from metrics.ties import Ranking, TieGroups, Treatment, refine, treatment
from metrics.ties.description import describe

Policy = Literal["zero", "skip"]
DEFAULT_MEASURES = ("RR", "Hits@1", "Hits@3", "Hits@10", "AP", "nDCG@10")
DEFAULT_TIES = ("input", "expected", "optimistic", "pessimistic")
EQUAL = 1e-12
"""Values closer than this differ by rounding."""
UNTOUCHED = treatment("expected")
DRAWS = 300
"""Orderings drawn for a standard deviation that has no closed form."""
OPTIONS = ("measures", "ties", "missing", "empty", "precision", "relevant_from", "tiebreak_by")
"""What evaluations have in common that can be put together."""


@dataclass(frozen=True, eq=False)
class Evaluation:
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
        missing: what was done about queries the run lacks.
        empty: what was done about queries with nothing relevant.
        precision: how scores were rounded before they were compared.
        relevant_from: smallest grade that counted as relevant.
        tiebreak_by: further score columns that split ties first.
        skipped: (reranker, query_id) of the lists that `missing` and `empty` left out.
    """

    scores: pd.DataFrame
    lists: pd.DataFrame
    policies: pd.DataFrame
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    missing: Policy = "zero"
    empty: Policy = "zero"
    precision: str = "float64"
    relevant_from: float = 1
    tiebreak_by: tuple[str, ...] = ()
    skipped: pd.MultiIndex = field(default_factory=lambda: lists_of([], []))

    def __repr__(self) -> str:
        size = f"rerankers={len(self.policies)}, lists={len(self.scores)}"
        return f"Evaluation({size}, measures={self.measures}, ties={self.ties})"

    def _repr_html_(self) -> str:
        return html_repr.evaluation(
            self.scores, self.policies, **{name: getattr(self, name) for name in OPTIONS}
        )

    @classmethod
    def merge(cls, *parts: "Evaluation") -> "Evaluation":
        """The evaluation of a whole from those of its parts, split by query in any way.

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
            refuse_other(part, parts[0])
        refuse_repeated([part.scores.index.append(part.skipped) for part in parts])
        policies = added([part.policies for part in parts])
        return replace(
            parts[0],
            scores=concat_by_reranker([part.scores for part in parts], policies.index),
            lists=concat_by_reranker([part.lists for part in parts], policies.index),
            policies=policies,
            skipped=index_of_all([part.skipped for part in parts]),
        )

    def only(self, rerankers: Sequence[str], queries: Collection[str] | None = None) -> "Evaluation":
        """The same values of some rerankers, in this order, and of some queries; `policies` stay those of all.

        Raises:
            UsageError: no reranker is named, or one that is not there.
        """
        names = list(rerankers)
        if not names or not set(names) <= set(self.policies.index):
            raise UsageError(f"Choose among the rerankers: {', '.join(map(str, self.policies.index))}.")
        owner = self.scores.index.get_level_values("reranker")
        rows = np.concatenate([np.flatnonzero(owner == name) for name in names])
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
        """Mean of one measure over lists: index reranker in the order given, columns treatments."""
        lists = self.scores[measure].groupby(level="reranker", sort=False)
        return lists.mean().reindex(self.policies.index)

    def summary(self) -> pd.DataFrame:
        """Mean, sample standard deviation and number of lists.

        Returns:
            index reranker in the order given, columns (measure, ties, statistic) with statistics
            mean, std (NaN for one list) and n.
        """
        return summarised(self.scores.groupby(level="reranker", sort=False), self.policies.index)


def refuse_other(part: Evaluation, first: Evaluation) -> None:
    """Raise a UsageError where two evaluations are not parts of one whole."""
    for name in OPTIONS:
        if getattr(part, name) != getattr(first, name):
            one, other = getattr(first, name), getattr(part, name)
            raise UsageError(f"Parts were evaluated with different {name}: {one!r} and {other!r}.")
    if part.policies["n_scored"].sum() != len(part.scores):
        raise UsageError("A part has only some of its queries: merge first, then choose.")


@one_allocator
def evaluate(
    runs: Runs,
    measures: Sequence[str] | str = DEFAULT_MEASURES,
    ties: Sequence[str] | str = DEFAULT_TIES,
    *,
    precision: str = "float64",
    missing: Policy = "zero",
    empty: Policy = "zero",
    relevant_from: float = 1,
    tiebreak_by: Sequence[str] = (),
) -> Evaluation:
    """Score every list under every treatment of its ties.

    Args:
        runs: what was ranked.
        measures: names such as `RR`, `Hits@3`, `nDCG@10` (`metrics.MEASURES`).
        ties: names of treatments (`metrics.TREATMENTS`), or `random:SEED`.
        precision: how scores are rounded before they are compared: float64 (as read), float32,
            float16, bfloat16 or decimals:N.
        missing: queries of the qrels that a run lacks count 0, or are left out.
        empty: queries with nothing relevant count 0, or are left out.
        relevant_from: smallest grade that counts as relevant, above 0.
        tiebreak_by: further score columns that split ties first, highest first.

    Raises:
        UsageError: a name that does not exist, or a policy that is neither zero nor skip.
    """
    asked = tuple(dict.fromkeys(parse(str(name)) for name in _each(measures)))
    how = tuple(dict.fromkeys(treatment(str(name)) for name in _each(ties)))
    _check(asked, how, missing, empty)
    parts = []
    for name in runs.tables:
        rankings = Ranking.parts(runs, name, relevant_from, precision, tiebreak_by)
        parts.append(_evaluate_one(name, rankings, asked, how, missing, empty))
    policies = pd.DataFrame([part[2] for part in parts], index=pd.Index(runs.rerankers, name="reranker"))
    return Evaluation(
        scores=concat([part[0] for part in parts]),
        lists=concat([part[1] for part in parts]),
        policies=policies,
        measures=tuple(map(str, asked)),
        ties=tuple(one.name for one in how),
        missing=missing,
        empty=empty,
        precision=precision,
        relevant_from=relevant_from,
        tiebreak_by=tuple(tiebreak_by),
        skipped=index_of_all([part[3] for part in parts]),
    )


def _each(names: Sequence[str] | str) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _check(asked: Sequence[MeasureAt], how: Sequence[Treatment], missing: str, empty: str) -> None:
    if not asked or not how:
        raise UsageError("Name at least one measure and one treatment.")
    for name, policy in (("missing", missing), ("empty", empty)):
        if policy not in ("zero", "skip"):
            raise UsageError(f"{name}={policy!r}: it is 'zero' or 'skip'.")


def _evaluate_one(
    name: str,
    parts: Iterable[Ranking],
    asked: Sequence[MeasureAt],
    how: Sequence[Treatment],
    missing: str,
    empty: str,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int], pd.MultiIndex]:
    """Values and lists of one reranker, a few lists at a time; how many lists are kept and why; the others."""
    cutoffs = sorted({measure.k for measure in asked if measure.k is not None})
    ids, values, described = [], [], []
    for ranking in parts:
        ids.append(ranking.query_ids)
        by_ties = [list(_values(ranking, asked, one)) for one in how]
        values.append(np.stack([found for same in zip(*by_ties, strict=True) for found in same]))
        described.append(describe(ranking, cutoffs))
        del ranking, by_ties  # before the next part is made
    lists = {key: np.concatenate([part[key] for part in described]) for key in described[0]}
    no_rows, nothing = lists["n_docs"] == 0, lists["n_relevant"] == 0
    kept = ~((no_rows & (missing == "skip")) | (nothing & (empty == "skip")))
    queries = pd.Index(pa.chunked_array(ids).to_pandas())
    index = lists_of([name], queries[kept])
    names = pd.MultiIndex.from_product([map(str, asked), [one.name for one in how]], names=["measure", "ties"])
    table = np.concatenate(values, axis=1)
    scores = pd.DataFrame(table.T if kept.all() else table.T[kept], index=index, columns=names, copy=False)
    lists_kept = pd.DataFrame({key: value[kept] for key, value in lists.items()}, index=index)
    counts = {
        "n_queries": len(kept),
        "n_missing": int(no_rows.sum()),
        "n_empty": int(nothing.sum()),
        "n_scored": int(kept.sum()),
    }
    return scores, lists_kept, counts, lists_of([name], queries[~kept])


def _values(ranking: Ranking, asked: Sequence[MeasureAt], how: Treatment) -> Iterator[FloatArray]:
    """(n_lists,) values of each measure under one treatment; one refinement for all that share it."""
    made: dict[tuple[str, str, bool], TieGroups] = {}

    def groups(measure: MeasureAt) -> TieGroups:
        family = measure.measure.family
        used = UNTOUCHED if family.own_rule or how.spread else how
        key = family.counts, used.name, family.targets and used.target_key is not None
        if key not in made:
            made[key] = refine(ranking, used, all_judged=family.counts == "judged", targets=family.targets)
        return made[key]

    for measure in asked:
        if not how.spread:
            yield measure.values(groups(measure))
        elif measure.measure.family.own_rule:
            yield np.zeros(ranking.n_lists)
        else:
            variance = measure.variances(groups(measure))
            yield np.sqrt(sampled_variance(ranking, measure) if variance is None else variance)


def sampled_variance(ranking: Ranking, measure: MeasureAt) -> FloatArray:
    """(n_lists,) variance over `DRAWS` seeded orderings, for measures without a closed form (AP, DR, Div).

    Its square root is within about 4 % of the standard deviation where values are near normal.
    """
    mean, square = np.zeros(ranking.n_lists), np.zeros(ranking.n_lists)
    for seed in range(DRAWS):
        value = measure.values(refine(ranking, treatment(f"random:{seed}")))
        step = value - mean
        mean += step / (seed + 1)
        square += step * (value - mean)
    return square / (DRAWS - 1)
