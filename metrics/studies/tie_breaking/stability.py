"""Whether the order of a leaderboard holds when ties are broken another way."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtr

from metrics.evaluation import EQUAL
from metrics.studies.prose import Prose, Strong, decimal
from metrics.studies.tie_breaking.mean_distribution import METHODS, MeanDistribution, equality_margin
from metrics.studies.tie_breaking.sampling import BATCHES, batch_error
from metrics.studies.tools.tie_rules import own_rule_note
from metrics.support.arrays import FloatArray, IntArray
from metrics.support.steps import begin_step
from metrics.support.wording import chance_percent, part_of, written_p

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
    """Return (n,) mean, worst and best of each."""
    rows = [(one.mean, one.worst, one.best) for one in distributions.values()]
    mean, worst, best = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return mean, worst, best


def _count_above(values: FloatArray, limits: FloatArray) -> IntArray:
    """Return (n,) how many of some values are above each limit."""
    return np.asarray((values > (limits + equality_margin(limits))[:, None]).sum(axis=1))


def pairwise_order(
    distributions: Mapping[str, MeanDistribution], pairs: Iterable[tuple[str, str]] | None = None
) -> pd.DataFrame:
    """Return how likely each of two rerankers is to come out above the other.

    Exact where both distributions are; where one is normal, as if it had no chance of a draw; where both
    are, Φ of the difference of means over its standard deviation. Where worst and best leave no doubt,
    exactly 1 by any method.

    Args:
        distributions: as `mean_distributions` returns them.
        pairs: reranker and other of each; None for all pairs, the higher expected mean first.

    Returns:
        a row a pair, of all pairs those of the highest expected means first: reranker, other,
        above, equal, below (chances that `reranker` is above, level with and below `other`; their sum is
        1), method (the coarser of the two; exact where there is no doubt), reversible (whether any
        tie-breaking puts `other` strictly above), standard_error (of above, equal and below, the largest; 0
        unless sampled).
    """
    ordered = sorted(distributions.items(), key=lambda item: -round(item[1].mean, 12))
    names = np.array([name for name, _ in ordered], dtype=object)
    ordered_distributions = [distribution for _, distribution in ordered]
    mean, worst, best = _bounds(dict(ordered))
    std = np.array([one.std for one in ordered_distributions])
    coarse = np.array([METHODS.index(one.method) for one in ordered_distributions], dtype=np.int64)
    i, j = _columns(names.tolist(), pairs)
    reversible = best[j] > worst[i] + equality_margin(worst[i])
    normal = (coarse[i] == 1) & (coarse[j] == 1)
    apart = worst[i] > best[j] + equality_margin(best[j])
    certain = apart | (normal & ~reversible)
    normal &= ~certain
    chances = np.zeros((len(i), 4))
    chances[certain, 0] = 1
    lead = mean[i[normal]] - mean[j[normal]]
    chances[normal, 0] = ndtr(lead / np.hypot(std[i[normal]], std[j[normal]]))
    chances[normal, 2] = 1 - chances[normal, 0]
    uncertain = np.flatnonzero(~certain & ~normal).tolist()
    for number, row in enumerate(uncertain):
        begin_step("Comparing pairs", number, len(uncertain))
        chances[row] = _order_chances(ordered_distributions[i[row]], ordered_distributions[j[row]])
    method = np.array(METHODS, dtype=object)[np.where(apart, 0, np.maximum(coarse[i], coarse[j]))]
    columns = [names[i], names[j], *chances[:, :3].T, method, reversible, chances[:, 3]]
    return pd.DataFrame(dict(zip(_PAIR_COLUMNS, columns, strict=True)))


def _columns(names: list[str], pairs: Iterable[tuple[str, str]] | None) -> tuple[IntArray, IntArray]:
    """Return where the rerankers of each pair stand among the names; of all pairs where none are named."""
    if pairs is None:
        return np.triu_indices(len(names), 1)
    column_of = {name: column for column, name in enumerate(names)}
    columns = [(column_of[name], column_of[other]) for name, other in pairs]
    i, j = np.array(columns, dtype=np.int64).reshape(-1, 2).T
    return i, j


def _order_chances(first: MeanDistribution, second: MeanDistribution) -> FloatArray:
    """Return the chance that the first is above, equal and below, and the largest standard error of these."""
    if not (first.batches or second.batches):
        return np.append(_exact_chances(first, second), 0.0)
    each = np.array([_exact_chances(first.batch(number), second.batch(number)) for number in range(BATCHES)])
    return np.append(each.mean(axis=0), batch_error(each).max())


def _exact_chances(first: MeanDistribution, second: MeanDistribution) -> tuple[float, float, float]:
    """Return the chance that the first is above, equal and below, each distribution taken as it is."""
    swapped = first.method == "normal" or (second.method != "normal" and len(second.means) < len(first.means))
    base, against = (second, first) if swapped else (first, second)
    under, upto = against.below(base.means), against.not_above(base.means)
    higher, lower, equal = base.chances @ under, base.chances @ (1 - upto), base.chances @ (upto - under)
    if swapped:
        higher, lower = lower, higher
    return float(higher), float(equal), float(lower)


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


def stability_finding(pairs: pd.DataFrame, bounds: pd.DataFrame, tau: float, measure: str) -> Prose:
    """Say which order depends most on how ties are broken, or that none does.

    Args:
        pairs: as `pairwise_order` returns them.
        bounds: as `mean_bounds` returns them.
        tau: as `expected_tau` returns it.
        measure: how the measure is called, such as `MRR`.
    """
    if not len(pairs):
        return ("There is one reranker, and no order to lose." if len(bounds) else "No list is scored.",)
    if note := own_rule_note(measure):
        return note
    reversible = pairs[pairs["reversible"]]
    if not len(reversible):
        widest = bounds["best"].sub(bounds["worst"]).max()
        amount = f"by more than {decimal(widest, 4)}" if widest > EQUAL else "at all"
        return (Strong("No tie-breaking reverses any order: "), f"ties move no {measure} {amount}.")
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
        f"expected Kendall tau of {tau_text}.",
    )
