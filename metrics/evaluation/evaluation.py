"""The values of every list under every treatment, and what can be asked of them."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation.merging import (
    concat_by_reranker,
    flat_means,
    merge_indexes,
    no_lists,
    refuse_repeated,
    sum_counts,
    summarise,
)
from metrics.evaluation.options import HasScoringOptions, ScoringOptions


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
