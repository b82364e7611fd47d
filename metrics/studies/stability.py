"""Stability of a leaderboard when its ties are broken at random."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.runs import Runs
from metrics.studies.mean_distributions import (
    METHODS,
    MeanDistribution,
    RankDistribution,
    equality_margin,
    exact_columns,
    mean_distributions,
    rank_distribution,
)
from metrics.studies.prose import Prose, Strong, and_more, decimal
from metrics.studies.query_values import values_by_query
from metrics.studies.tie_rules import own_rule_note
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.support.progress import begin_step
from metrics.support.wording import chance_percent, count_of, part_of, written_p
from metrics.ties import Ranking

_FEW_PAIRS = 2**10
"""Most pairs that are all compared value by value."""
_BINS = 2**12
"""Bins of means for more pairs."""
_ROWS = 2**8
"""Rerankers per block of chances."""
_MAX_UNRESOLVED = 0.002
"""Largest chance of two unequal means in one bin that is split evenly between both orders."""
_ROUNDING = 1e-12
"""Smallest chance that is not rounding."""


def mean_bounds(distributions: Mapping[str, MeanDistribution]) -> pd.DataFrame:
    """Return the bounds of each mean over tie orders, and of its rank.

    A rank is 1 + the number of rerankers with a strictly higher mean. Ties of each reranker are broken
    independently: for the best rank only rerankers whose worst case is above its best case count, for the
    worst rank all whose best case is above its worst case.

    Returns:
        index reranker, in order; expected, std (of the mean over tie orders), worst, best, method, place (rank
        by the expected mean), best_place, worst_place.
    """
    mean, worst, best = exact_columns(distributions.values())
    table = pd.DataFrame(
        {
            "expected": mean,
            "std": [one.std for one in distributions.values()],
            "worst": worst,
            "best": best,
            "method": [one.method for one in distributions.values()],
            "place": 1 + _count_above(mean, mean),
            "best_place": 1 + _count_above(worst, best),
            "worst_place": 1 + _count_above(best, worst),
        },
        index=pd.Index(list(distributions), name="reranker", dtype="str"),
    )
    itself = (best > worst + equality_margin(worst)).astype(np.int64)
    return table.assign(worst_place=table["worst_place"] - itself)


def _count_above(values: FloatArray, limits: FloatArray) -> IntArray:
    return np.asarray((values > (limits + equality_margin(limits))[:, None]).sum(axis=1))


def pairwise_order(
    distributions: Mapping[str, MeanDistribution], pairs: Iterable[tuple[str, str]] | None = None
) -> pd.DataFrame:
    """Return the chance that each of two rerankers has the higher mean when ties are broken at random.

    `pairs` are (reranker, other); None for all pairs, the higher expected mean first. Chances are exact if
    both distributions are and there are few values or pairs. Otherwise values are counted in bins, with both
    orders equally likely within a bin; pairs that this could move by more than .001 are compared value by
    value.

    Returns:
        one row per pair: reranker, other, above, equal, below (chances that `reranker` is above, level with and
        below `other`, which sum to 1), method (the less exact of the two), reversible (whether some tie order
        puts `other` strictly above), standard_error (of these chances; 0 unless sampled).
    """
    ordered = sorted(distributions.items(), key=lambda item: -round(item[1].mean, 12))
    names, ordered_distributions = [name for name, _ in ordered], [distribution for _, distribution in ordered]
    _, worst, best = exact_columns(ordered_distributions)
    coarse = np.array([METHODS.index(one.method) for one in ordered_distributions], dtype=np.int64)
    error = np.array([one.error for one in ordered_distributions])
    i, j = np.triu_indices(len(names), 1)
    if pairs is not None:
        columns = [(names.index(name), names.index(other)) for name, other in pairs]
        i, j = np.array(columns, dtype=np.int64).reshape(-1, 2).T
    reversible = best[j] > worst[i] + equality_margin(worst[i])
    is_above = worst[i] > best[j] + equality_margin(best[j])
    is_below = worst[j] > best[i] + equality_margin(best[i])
    is_certain, unresolved = is_above | is_below, np.zeros(len(i))
    chances = np.column_stack([is_above, unresolved, is_below])
    open_pairs = np.flatnonzero(~is_certain)
    if len(open_pairs) > _FEW_PAIRS:
        below, shared = _binned_chances(ordered_distributions)
        chances[open_pairs, 0] = below[j, i][open_pairs]
        chances[open_pairs, 2] = below[i, j][open_pairs]
        unresolved[open_pairs] = shared[i, j][open_pairs]
        chances[:, [0, 2]] += unresolved[:, None] / 2
        chances[:, 1] = 1 - chances[:, 0] - chances[:, 2]
        chances[chances < _ROUNDING] = 0
        open_pairs = np.flatnonzero(unresolved > _MAX_UNRESOLVED)
    for number, row in enumerate(open_pairs.tolist()):
        begin_step("Comparing pairs", number, len(open_pairs))
        chances[row] = _order_chances(ordered_distributions[i[row]], ordered_distributions[j[row]])
        unresolved[row] = 0
    coarsest = np.maximum(np.maximum(coarse[i], coarse[j]), unresolved > _ROUNDING)
    method = np.array(METHODS, dtype=object)[np.where(is_certain, 0, coarsest)]
    errors = np.where(is_certain, 0.0, np.hypot(error[i], error[j]))
    labels = np.array(names, dtype=object)
    order_chances = dict(zip(("above", "equal", "below"), chances.clip(0, 1).T, strict=True))
    table = pd.DataFrame({"reranker": labels[i], "other": labels[j], **order_chances, "method": method})
    return table.assign(reversible=reversible, standard_error=errors)


def _order_chances(first: MeanDistribution, second: MeanDistribution) -> tuple[float, float, float]:
    if swapped := len(second.means) < len(first.means):
        first, second = second, first
    under, upto = second.below(first.means), second.not_above(first.means)
    higher, lower, equal = (float(first.chances @ share) for share in (under, 1 - upto, upto - under))
    return (lower, equal, higher) if swapped else (higher, equal, lower)


def _binned_chances(distributions: Sequence[MeanDistribution]) -> tuple[FloatArray, FloatArray]:
    """Return (n, n) chances of a lower bin, and of the same bin with another value.

    Bins end at quantiles of all means, which have bins of their own. A frequent mean is alone in its bin.
    """
    n = len(distributions)
    owner = np.repeat(np.arange(n), [len(one.means) for one in distributions])
    means = np.concatenate([one.means for one in distributions])
    chances = np.concatenate([one.chances / one.chances.sum() for one in distributions])
    order = np.argsort(means, kind="stable")
    owner, means, chances = owner[order], means[order], chances[order]
    number = np.cumsum(np.diff(means, prepend=means[0]) > equality_margin(means))
    quantiles = np.searchsorted(np.cumsum(chances), np.arange(_BINS // 2) * (n / (_BINS // 2)))
    last = number[np.minimum(quantiles, len(number) - 1)]
    ends = np.unique([last, last - 1]) if number[-1] >= _BINS else np.arange(number[-1] + 1)
    bins = np.searchsorted(ends, number)
    n_bins = len(ends) + 1
    table = np.bincount(owner * n_bins + bins, chances, minlength=n * n_bins).reshape(n, n_bins)
    is_shared = np.bincount(bins, np.diff(number, prepend=-1) > 0, minlength=n_bins) > 1
    shared = table[:, is_shared].astype(np.float32)
    below = np.empty((n, n))
    for start in range(0, n, _ROWS):
        begin_step("Comparing pairs", start, n)
        rows = table[start : start + _ROWS]
        below[start : start + _ROWS] = (np.cumsum(rows, axis=1) - rows) @ table.T
    return below, np.asarray(shared @ shared.T, dtype=np.float64)


def expected_tau(pairs: pd.DataFrame) -> float:
    """Return the expected Kendall tau-a of two leaderboards whose ties are broken at random.

    A pair counts 1 if both leaderboards agree on it, −1 if they disagree and 0 if it is level in one. As both
    are independent, its expectation is (P(above) − P(below))^2; tau is the mean over pairs. Pairs that are
    always level do not count. Without pairs tau is 1.
    """
    ordered = pairs[pairs["equal"] < 1]
    if not len(ordered):
        return 1.0
    return float(((ordered["above"] - ordered["below"]) ** 2).mean())


def same_runs(runs: Runs, evaluation: Evaluation, measure: str) -> list[list[str]]:
    """Return groups of rerankers with the same tie groups in the same order."""
    by_value, by_ranking = defaultdict[bytes, list[str]](list), defaultdict[int, list[str]](list)
    for name, values in values_by_query(evaluation, measure, "expected").round(12).items():
        by_value[values.to_numpy().tobytes()].append(str(name))
    for name in chain.from_iterable(names for names in by_value.values() if len(names) > 1):
        ranking = evaluation.options.ranking(runs, name)
        lists, above = (of_group[ranking.groups] for of_group in (ranking.group_lists, ranking.above))
        documents = ranking.ids(np.arange(len(ranking.rows))).to_pandas()
        rows = pd.DataFrame({"list": lists, "document": documents, "above": above})
        by_ranking[int(pd.util.hash_pandas_object(rows, index=False).sum())].append(name)
    return [names for checksum, names in by_ranking.items() if checksum and len(names) > 1]


def copies_text(copies: Sequence[Sequence[str]]) -> str:
    """Say which rerankers have the same ranking, ties included."""
    if not copies:
        return ""
    first, second, *others = copies[0]
    names = f"{first}, {second}{and_more(len(others))}" if others else f"{first} and {second}"
    n_more = len(copies) - 1
    more = f" {count_of(n_more, 'other ranking')} also appear{'s' * (n_more == 1)} more than once."
    return f" {names} have the same ranking.{more * bool(n_more)}"


def stability_finding(
    pairs: pd.DataFrame,
    bounds: pd.DataFrame,
    tau: float,
    measure: str,
    copies: Sequence[Sequence[str]] = (),
) -> Prose:
    """Say which pair depends most on tie order, or that none does; pairs of the same ranking do not count."""
    if not len(pairs):
        return ("There is one reranker, so no order can change." if len(bounds) else "No list is scored.",)
    if note := own_rule_note(measure):
        return note
    copied = copies_text(copies).strip()
    group = {name: number for number, names in enumerate(copies) for name in names}
    is_copy = pairs["reranker"].map(group) == pairs["other"].map(group)
    if is_copy.all():
        cause = "No tie order" if pairs["equal"].min() > 1 - EQUAL else "Only independent tie breaking"
        return Strong(copied), f" {cause} separates them."
    among = " with different rankings" * bool(is_copy.any())
    pairs = pairs[~is_copy]
    reversible = pairs[pairs["reversible"]]
    if not len(reversible):
        widest = bounds["best"].sub(bounds["worst"]).max()
        amount = f" by more than {decimal(widest, 4)}" if widest > EQUAL else ""
        unmoved = f"ties do not change any {measure}{amount}. {copied}"
        return Strong(f"No tie order reverses any pair{among}: "), unmoved.strip()
    row = reversible.loc[reversible["above"].sub(reversible["below"]).abs().idxmin()]
    first, second = ("reranker", "other") if row["above"] >= row["below"] else ("other", "reranker")
    text = chance_percent(max(row["above"], row["below"]))
    chance_text = text if row["method"] == "exact" or text[0].isalpha() else f"about {text}"
    tau_text = written_p(tau).replace(">", "over ").replace("<", "under ") if 0 < tau < 1 else f"{tau:.3f}"
    is_level = f" and the same {measure} in {chance_percent(row['equal'])}" if row["equal"] > 0 else ""
    return (
        *(Strong(str(row[first])), f" has a higher {measure} than ", Strong(str(row[second])), " in "),
        Strong(chance_text),
        f" of all tie orders{is_level}. No pair{among} has a less certain order. Tie order can reverse "
        f"{part_of(len(reversible), len(pairs), 'pair')}{among}. Two leaderboards with ties broken at "
        f"random have an expected Kendall tau of {tau_text}. {copied}".rstrip(),
    )


@dataclass(frozen=True, eq=False)
class OrderStability:
    """The means, pairs and ranks of a leaderboard whose ties are all broken at random."""

    distributions: Mapping[str, MeanDistribution]

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """Table of `mean_bounds`."""
        return mean_bounds(self.distributions)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Table of `pairwise_order`."""
        return pairwise_order(self.distributions)

    @cached_property
    def places(self) -> RankDistribution:
        """The chance of each rank, with its error."""
        return rank_distribution(self.distributions)

    @property
    def tau(self) -> float:
        """The `expected_tau` of the pairs."""
        return expected_tau(self.pairs)

    @property
    def ranks(self) -> pd.DataFrame:
        """The chance of each rank: index reranker, columns 1, 2, ... n."""
        return self.places.chances

    @classmethod
    def of(
        cls, evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking], *, seed: int = 0
    ) -> "OrderStability":
        """Study the rerankers of an evaluation; arguments are those of `mean_distributions`."""
        return cls(mean_distributions(evaluation, measure, rankings, seed=seed))
