"""Whether the order of a leaderboard holds when ties are broken another way."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.evaluation import EQUAL, Evaluation
from metrics.studies.mean_distributions import (
    METHODS,
    MeanDistribution,
    RankDistribution,
    equality_margin,
    mean_distributions,
    rank_distribution,
)
from metrics.studies.prose import Prose, Strong, and_more, decimal
from metrics.studies.tie_rules import own_rule_note
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.cached import cached_property
from metrics.support.progress import begin_step
from metrics.support.wording import chance_percent, count_of, part_of, written_p
from metrics.ties import Ranking

_PAIR_COLUMNS = [
    "reranker",
    "other",
    "above",
    "equal",
    "below",
    "method",
    "reversible",
    "standard_error",
]


_FEW_PAIRS = 2**10
"""Pairs up to which each is compared value for value."""
_BINS = 2**12
"""Bins of means in which many pairs are compared at once."""
_ROWS = 2**8
"""Rerankers of which these chances are summed up at once."""
_MAX_UNRESOLVED = 0.002
"""Chance that two means share a bin without being equal, up to which half of it is counted for either order."""
_ROUNDING = 1e-12
"""Chance below which rounding is all there is."""


def mean_bounds(distributions: Mapping[str, MeanDistribution]) -> pd.DataFrame:
    """Return how far ties move each mean of `mean_distributions`, and between which places.

    A place is 1 + the number of rerankers whose mean is strictly above: equal means share the better one.
    Each reranker's ties are broken on their own, so the best place leaves above only those whose worst is
    above its best, and the worst place puts above all whose best is above its worst.

    Returns:
        index reranker, in order; expected, std (of the mean), worst, best, method, place (of the
        expected mean), best_place, worst_place.
    """
    mean, worst, best = _bounds(distributions)
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


def _bounds(distributions: Mapping[str, MeanDistribution]) -> tuple[FloatArray, FloatArray, FloatArray]:
    rows = [(one.mean, one.worst, one.best) for one in distributions.values()]
    mean, worst, best = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return mean, worst, best


def _count_above(values: FloatArray, limits: FloatArray) -> IntArray:
    return np.asarray((values > (limits + equality_margin(limits))[:, None]).sum(axis=1))


def pairwise_order(
    distributions: Mapping[str, MeanDistribution], pairs: Iterable[tuple[str, str]] | None = None
) -> pd.DataFrame:
    """Return how likely each of two rerankers is to come out above the other.

    Exact where both distributions are, and all values together are few, or pairs are. Else values are counted
    in bins, and both orders are equally likely inside a bin; pairs that this could move by more than .001 are
    compared value for value. Where worst and best leave no doubt, exactly 1 by any method.

    Returns:
        a row a pair, of all pairs those of the highest expected means first: reranker, other,
        above, equal, below (chances that `reranker` is above, level with and below `other`; their sum is
        1), method (the coarser of the two; exact where there is no doubt), reversible (whether any
        tie-breaking puts `other` strictly above), standard_error (of above, equal and below, the largest; 0
        unless sampled).
    """
    ordered = sorted(distributions.items(), key=lambda item: -round(item[1].mean, 12))
    names, ordered_distributions = [name for name, _ in ordered], [distribution for _, distribution in ordered]
    _, worst, best = _bounds(dict(ordered))
    coarse = np.array([METHODS.index(one.method) for one in ordered_distributions], dtype=np.int64)
    error = np.array([one.error for one in ordered_distributions])
    i, j = _columns(names, pairs)
    reversible = best[j] > worst[i] + equality_margin(worst[i])
    certain = worst[i] > best[j] + equality_margin(best[j])
    chances, unresolved = np.zeros((len(i), 3)), np.zeros(len(i))
    chances[certain, 0] = 1
    open_pairs = np.flatnonzero(~certain)
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
    certain_below = ~certain & (worst[j] > best[i] + equality_margin(best[i]))
    chances[certain_below] = 0, 0, 1
    coarsest = np.maximum(np.maximum(coarse[i], coarse[j]), unresolved > _ROUNDING)
    method = np.array(METHODS, dtype=object)[np.where(certain | certain_below, 0, coarsest)]
    errors = np.where(certain | certain_below, 0.0, np.hypot(error[i], error[j]))
    labels = np.array(names, dtype=object)
    columns = [labels[i], labels[j], *chances.T, method, reversible, errors]
    return pd.DataFrame(dict(zip(_PAIR_COLUMNS, columns, strict=True)))


def _columns(names: list[str], pairs: Iterable[tuple[str, str]] | None) -> tuple[IntArray, IntArray]:
    if pairs is None:
        return np.triu_indices(len(names), 1)
    column_of = {name: column for column, name in enumerate(names)}
    columns = [(column_of[name], column_of[other]) for name, other in pairs]
    i, j = np.array(columns, dtype=np.int64).reshape(-1, 2).T
    return i, j


def _order_chances(first: MeanDistribution, second: MeanDistribution) -> tuple[float, float, float]:
    if swapped := len(second.means) < len(first.means):
        first, second = second, first
    under, upto = second.below(first.means), second.not_above(first.means)
    higher, lower, equal = first.chances @ under, first.chances @ (1 - upto), first.chances @ (upto - under)
    return (
        (float(lower), float(equal), float(higher)) if swapped else (float(higher), float(equal), float(lower))
    )


def _binned_chances(distributions: Sequence[MeanDistribution]) -> tuple[FloatArray, FloatArray]:
    """Return (n, n) the chance that each is in a bin below the other's, and in the same bin at another value.

    Bins end at quantiles of all means together, and each of these has a bin of its own: where means are few, or
    likely, a bin is one value.
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
    """Return the expected Kendall tau-a between two leaderboards of `pairwise_order`, ties broken at random.

    A pair adds 1 where both order it alike, −1 where they do not, and 0 where one has it level; the two are
    independent, so its expectation is (P(above) − P(below))^2, and tau is the mean over pairs. Pairs that
    are level under every tie-breaking have no order to lose and are left out.

    Returns:
        from 0 to 1; 1 where no tie-breaking moves anything, and where there is no pair.
    """
    ordered = pairs[pairs["equal"] < 1]
    if not len(ordered):
        return 1.0
    return float(((ordered["above"] - ordered["below"]) ** 2).mean())


def copies_text(copies: Sequence[Sequence[str]]) -> str:
    """Say which rerankers are the same run: the first two of the first group, and how many more there are."""
    if not copies:
        return ""
    first, second, *others = copies[0]
    copies_note = (
        f" {count_of(len(copies) - 1, 'other run')} also came twice or more." if len(copies) > 1 else ""
    )
    return (
        f" {first}, {second}{and_more(len(others))} are the same run.{copies_note}"
        if others
        else (f" {first} and {second} are the same run.{copies_note}")
    )


def stability_finding(
    pairs: pd.DataFrame,
    bounds: pd.DataFrame,
    tau: float,
    measure: str,
    copies: Sequence[Sequence[str]] = (),
) -> Prose:
    """Say which order depends most on how ties are broken, or that none does."""
    if not len(pairs):
        return ("There is one reranker, and no order to lose." if len(bounds) else "No list is scored.",)
    if note := own_rule_note(measure):
        return note
    copied = copies_text(copies).strip()
    group = {name: number for number, names in enumerate(copies) for name in names}
    is_copy = pairs["reranker"].map(group) == pairs["other"].map(group)
    if is_copy.all():
        return Strong(copied), " Tie-breaking decides nothing between them."
    pairs = pairs[~is_copy]
    reversible = pairs[pairs["reversible"]]
    if not len(reversible):
        widest = bounds["best"].sub(bounds["worst"]).max()
        amount = f"by more than {decimal(widest, 4)}" if widest > EQUAL else "at all"
        unmoved = f"ties move no {measure} {amount}."
        return Strong("No tie-breaking reverses any order: "), f"{unmoved} {copied}".strip()
    row = reversible.loc[reversible["above"].sub(reversible["below"]).abs().idxmin()]
    first, second = ("reranker", "other") if row["above"] >= row["below"] else ("other", "reranker")
    chance = max(row["above"], row["below"])
    text = chance_percent(chance)
    chance_text = text if row["method"] == "exact" or text[0].isalpha() else f"about {text}"
    tau_text = written_p(tau).replace(">", "over ").replace("<", "under ") if 0 < tau < 1 else f"{tau:.3f}"
    level_too = f", and they are level in {chance_percent(row['equal'])}" if row["equal"] > 0 else ""
    return (
        Strong(str(row[first])),
        f" has a higher {measure} than ",
        Strong(str(row[second])),
        " in ",
        Strong(chance_text),
        f" of all tie-breakings{level_too}: no order is less certain. Tie-breaking can reverse "
        f"{part_of(len(reversible), len(pairs), 'pair')}; two leaderboards with ties broken at random have an "
        f"expected Kendall tau of {tau_text}.{f' {copied}' if copied else ''}",
    )


@dataclass(frozen=True, eq=False)
class OrderStability:
    """The means, pairs and ranks of a leaderboard whose ties are all broken at random.

    Attributes:
        distributions: of each mean, as `mean_distributions` returns them.
    """

    distributions: Mapping[str, MeanDistribution]

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """How far ties move each mean, as `mean_bounds` returns it."""
        return mean_bounds(self.distributions)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The chances of each order of two, as `pairwise_order` returns them."""
        return pairwise_order(self.distributions)

    @cached_property
    def places(self) -> RankDistribution:
        """The chances of each place, as `rank_distribution` returns them."""
        return rank_distribution(self.distributions)

    @property
    def tau(self) -> float:
        """The expected Kendall tau of two leaderboards with ties broken at random, as `expected_tau`."""
        return expected_tau(self.pairs)

    @property
    def ranks(self) -> pd.DataFrame:
        """The chance of each place: index reranker, columns 1, 2, ... n."""
        return self.places.chances

    @classmethod
    def of(
        cls, evaluation: Evaluation, measure: str, rankings: Mapping[str, Ranking], *, seed: int = 0
    ) -> "OrderStability":
        """Study every reranker of an evaluation.

        Returns:
            The means, pairs and places of its leaderboard.
        """
        return cls(mean_distributions(evaluation, measure, rankings, seed=seed))
