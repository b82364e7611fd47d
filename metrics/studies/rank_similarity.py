"""Measure the agreement of two rankings: of rerankers under two measures, or of lists of documents."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics.errors import UsageError, needs
from metrics.studies.prose import ONE_RERANKER, Prose, Strong, signed
from metrics.support.arrays import BoolArray, FloatArray, IntArray
from metrics.support.wording import count_of, written_p
from metrics.ties import Ranking

Scores: TypeAlias = Mapping[Any, float] | pd.Series
"""Item → score, the higher the better; items with equal scores are tied."""


@dataclass(frozen=True)
class RankingPair:
    """Two rankings of the items in either.

    Attributes:
        first: (n_items,) score of each item in the first ranking, -inf if not ranked.
        second: (n_items,) score of each item in the second ranking.
    """

    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, first: Scores, second: Scores) -> "RankingPair":
        """Return the rankings of these scores; UsageError if one is empty or a score is not finite."""
        rankings = [_checked(scores) for scores in (first, second)]
        items = rankings[0].index.union(rankings[1].index, sort=False)
        return cls(*(scores.reindex(items, fill_value=-np.inf).to_numpy() for scores in rankings))

    @property
    def depth(self) -> int:
        """Number of items of the shorter ranking."""
        return int(min(np.isfinite(self.first).sum(), np.isfinite(self.second).sum()))

    def broken(self, *, agree: bool) -> "RankingPair":
        """Return the rankings without ties, as alike (`agree`) or as different as possible.

        Items that only one ranking ties follow the other's order or its reverse. Items that both tie get one
        order in both, or opposite orders. This bounds Kendall's τ, τ_AP and rank-biased overlap: exchanging two
        tied neighbours that do not follow the other ranking decreases none of them, and such exchanges lead to
        this order.
        """
        sign, items = 1 if agree else -1, np.arange(len(self.first))
        return RankingPair(
            _untied(self.first, sign * self.second, items),
            _untied(self.second, sign * self.first, sign * items),
        )


def _checked(scores: Scores) -> "pd.Series[float]":
    series = pd.Series(scores, dtype=float)
    if series.empty:
        raise UsageError("A ranking is empty. Give each ranking the scores of its items.")
    if not series.index.is_unique:
        raise UsageError(f"{series.index[series.index.duplicated()][0]!r} is ranked twice. Give it one score.")
    if not np.isfinite(series).all():
        raise UsageError(f"{series.index[~np.isfinite(series)][0]!r} has no finite score. Give it one.")
    return series


def _untied(scores: FloatArray, then: FloatArray, last: IntArray) -> FloatArray:
    """Return scores without ties: by falling score, then falling `then`, then rising `last`; -inf stays."""
    untied = np.empty(len(scores))
    untied[np.lexsort((last, -then, -scores))] = -np.arange(len(scores))
    return np.where(np.isfinite(scores), untied, -np.inf)


def tau_b(pair: RankingPair) -> float:
    """Return Kendall's τ_b: 1 for the same order and ties; NaN if a ranking ties all items.

    Source: Kendall, Biometrika 33, 1945.
    """
    with needs("stats"):
        from scipy.stats import kendalltau  # noqa: PLC0415 takes half a second

    return float(kendalltau(pair.first, pair.second, variant="b").statistic)


def tau(pair: RankingPair) -> float:
    """Return the mean of Kendall's τ over all orders of the ties.

    τ = (C − D) / (n (n − 1) / 2), with C concordant and D discordant pairs. A pair that either ranking ties
    counts 0, as both orders are equally likely. NaN for a single item.

    Source: Kendall, Biometrika 33, 1945 (there τ_a).
    """
    n = len(pair.first)
    first, second = (np.sign(np.subtract.outer(scores, scores)) for scores in (pair.first, pair.second))
    return float((first * second).sum() / (n * (n - 1))) if n > 1 else np.nan


def tau_ap(pair: RankingPair) -> float:
    """Return the mean of the AP correlation of the second ranking with the first over all orders of the ties.

    τ_AP = 2 / (n − 1) · sum over ranks i ≥ 2 of C(i) / (i − 1) − 1, with C(i) the items above rank i of the
    second ranking that the first also ranks above it. An item in a tie of t documents below b others has each
    of its t ranks with equal chance; above it are then j random documents of the tie. A pair that the first
    ranking ties counts one half. NaN for a single item.

    Source: Yilmaz, Aslam & Robertson, SIGIR 2008; ties: Urbano & Marrero, ICTIR 2017.
    """
    n = len(pair.first)
    if n == 1:
        return np.nan
    right = (np.sign(np.subtract.outer(pair.first, pair.first)) + 1) / 2  # [above, item]
    is_above = np.greater.outer(pair.second, pair.second)
    is_tied = np.equal.outer(pair.second, pair.second) & ~np.eye(n, dtype=bool)
    n_above, n_tied = is_above.sum(0), is_tied.sum(0)
    right_above, right_tied = (right * is_above).sum(0), (right * is_tied).sum(0)
    share = np.divide(right_tied, n_tied, out=np.zeros(n), where=n_tied > 0)
    # With m items above, m - b of them tied, the concordant share is (right_above + share (m - b)) / m.
    inverse = np.concatenate([[0, 0], np.cumsum(1 / np.arange(1, n))])  # sums of 1 / m over 0 < m < i
    low, high = n_above, n_above + n_tied + 1
    places = (high - 1) - np.maximum(low - 1, 0)  # the first rank has no items above and does not count
    terms = (right_above - share * n_above) * (inverse[high] - inverse[low]) + share * places
    return float(2 / (n - 1) * (terms / (n_tied + 1)).sum() - 1)


Variant = Literal["w", "a", "b"]


def overlap(pair: RankingPair, persistence: float, variant: Variant) -> float:
    """Return the extrapolated rank-biased overlap, to the depth of the shorter ranking.

    RBO = (1 − p) / p · sum over d ≤ n of A(d) p^d + A(n) p^n, with persistence p and agreement A(d) at depth d.
    Beyond the depth n of the shorter ranking the agreement stays the same. An item that one ranking lacks
    agrees at no depth. A persistence of .9 gives the first ten ranks 86% of the weight if all agree. Variants:

    - `w`: tied items share the first rank of their tie. Prefixes hold every tie that begins within d:
      A = 2 |S ∩ L| / (|S| + |L|).
    - `a`: the order of ties is unknown. An item of a tie of t items, j of whose ranks are within d, is in the
      prefix with chance j / t: A = sum of c_S c_L / d, the mean over all orders of the ties.
    - `b`: tied items are alike, and rankings with the same ties agree: A = sum of c_S c_L / sqrt(sum of c_S² ·
      sum of c_L²), 1 for a ranking and itself.

    Source: Webber, Moffat & Zobel, ACM TOIS 28, 2010; ties: Corsi & Urbano, SIGIR 2024.
    """
    shares = [prefix_shares(*_tie_places(scores), pair.depth, variant) for scores in (pair.first, pair.second)]
    common, sizes = agreement_parts(np.stack(shares), variant)
    depths = np.full(common.shape[1:], pair.depth)
    return float(extrapolated(common / sizes, depths, persistence)[0, 1])


def prefix_shares(above: IntArray, sizes: IntArray, depth: int, variant: Variant) -> FloatArray:
    """Return (depth, n_items) the chance of each item to be within each depth; 0 or 1 for variant `w`.

    `above` is the number of items above the tie of each item, `sizes` the size of its tie, 0 if not ranked.
    """
    within = np.clip(np.arange(1, depth + 1)[:, None] - above, 0, sizes)
    return np.asarray((within > 0).astype(float) if variant == "w" else within / np.maximum(1, sizes))


def agreement_parts(shares: FloatArray, variant: Variant) -> tuple[FloatArray, FloatArray]:
    """Return (depth, k, k) the numerator and the denominator of the agreement of each two of k rankings."""
    by_depth = shares.transpose(1, 0, 2)
    common = by_depth @ by_depth.transpose(0, 2, 1)
    if variant == "a":
        depths = np.arange(1.0, len(common) + 1)[:, None, None]
        return common, np.broadcast_to(depths, common.shape)
    own = np.diagonal(common, axis1=1, axis2=2)
    pairs = own[:, :, None], own[:, None, :]
    return common, (pairs[0] + pairs[1]) / 2 if variant == "w" else np.sqrt(pairs[0] * pairs[1])


def extrapolated(agreement: FloatArray, depths: IntArray, persistence: float) -> FloatArray:
    """Return (k, k) the overlap from (depth, k, k) agreement, constant beyond the (k, k) depths."""
    places = np.arange(len(agreement))[:, None, None]
    weights = np.where(places < depths, (1 - persistence) * persistence**places, 0.0)
    last: FloatArray = np.take_along_axis(agreement, depths[None] - 1, axis=0)[0]
    total: FloatArray = (weights * agreement).sum(axis=0) + last * persistence**depths
    return total


def _tie_places(scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return (n_items,) items above the tie of each item, and the size of its tie; 0 for a score of -inf."""
    ordered = np.sort(-scores)
    above = np.searchsorted(ordered, -scores, "left")
    return above, np.where(np.isfinite(scores), np.searchsorted(ordered, -scores, "right") - above, 0)


class Similarity(NamedTuple):
    """Agreement of two rankings.

    Attributes:
        value: with the ties as they are.
        expected: mean over all orders of the ties, independent and equally likely in each ranking.
        worst: smallest value over the orders.
        best: largest value over the orders.
    """

    value: float
    expected: float
    worst: float
    best: float


VARIANTS: dict[str, Variant] = {"rbo_a": "a", "rbo_b": "b", "rbo_w": "w"}
"""Measures of overlap → variant."""
SIMILARITIES = ("tau_b", "tau_ap", *VARIANTS)
"""Names of the measures."""


def rank_similarity(
    first: Scores, second: Scores, measure: str = "tau_b", *, persistence: float = 0.9
) -> Similarity:
    """Return the agreement of two rankings.

    `tau_b` counts pairs in the same order. `tau_ap` weights the top of the second ranking most and takes the
    first as the truth. `rbo_a` is the overlap of the tops, averaged over the orders of ties. In `rbo_b` tied
    items are alike, which gives 1 for a ranking and itself. In `rbo_w` tied items share the first rank of their
    tie.

    Args:
        first: item → score, the higher the better.
        second: item → score; rank correlations need the same items.
        measure: one of `SIMILARITIES`.
        persistence: of rank-biased overlap.

    Raises:
        UsageError: an unknown measure, rankings that cannot be compared, or a persistence out of range.
    """
    if not 0 < persistence < 1:
        raise UsageError(f"persistence={persistence:g}: choose a number between 0 and 1, such as 0.9.")
    measures: dict[str, tuple[Callable[[RankingPair], float], Callable[[RankingPair], float]]] = {
        "tau_b": (tau_b, tau),
        "tau_ap": (tau_ap, tau_ap),
    }
    overlaps = {
        variant: partial(overlap, persistence=persistence, variant=variant) for variant in LIST_QUESTIONS
    }
    measures |= {name: (overlaps[variant], overlaps["a"]) for name, variant in VARIANTS.items()}
    if measure not in measures:
        raise UsageError(f"{measure!r} is not a similarity. Choose among: {', '.join(SIMILARITIES)}.")
    value, expected = measures[measure]
    pair = RankingPair.of(first, second)
    if measure.startswith("tau") and not np.isfinite([pair.first, pair.second]).all():
        raise UsageError(
            f"{measure} compares rankings of the same items. Remove the other items, or choose rbo_a."
        )
    worst, best = (value(pair.broken(agree=agree)) for agree in (False, True))
    return Similarity(value(pair), expected(pair), worst, best)


QUESTIONS = {
    "tau_b": "How many pairs have the same order?",
    "tau_ap": "How many pairs have the same order, weighted by rank?",
    "rbo_a": "How much do the top ranks overlap, on average over tie orders?",
    "rbo_b": "How much do the top ranks overlap if tied items count as equal?",
    "rbo_w": "How much do the top ranks overlap if tied items share the first rank of their tie?",
}
"""Measure → the question that it answers."""


def leaderboard_similarity(tied: "pd.Series[float]", published: "pd.Series[float]") -> pd.DataFrame:
    """Compare a published leaderboard with the tied one by every measure.

    `tied` is the truth of the AP correlation. Rerankers that one side lacks are left out.

    Returns:
        index measure, those of `SIMILARITIES`: question; value, expected, worst, best, as in `Similarity`; no
        rows with fewer than two common rerankers.
    """
    means = pd.concat([tied, published], axis=1, keys=["tied", "published"], join="inner").dropna().round(12)
    measures = SIMILARITIES if len(means) > 1 else ()
    rows = [rank_similarity(means["tied"], means["published"], measure)._asdict() for measure in measures]
    table = pd.DataFrame(rows, columns=list(Similarity._fields), dtype=float)
    table.insert(0, "question", [QUESTIONS[measure] for measure in measures])
    return table.set_index(pd.Index(measures, name="measure", dtype="str"))


def similarity_words(table: pd.DataFrame) -> str:
    """Write a `leaderboard_similarity` in a sentence; empty without rows."""
    parts = []
    for measure, name in (("tau_b", "Kendall's τ_b"), ("tau_ap", "τ_AP"), ("rbo_a", "rank-biased overlap")):
        if measure in table.index and not isnan(table.loc[measure, "value"]):
            value, worst, best = (
                signed(table.loc[measure, end], plus=False) for end in ("value", "worst", "best")
            )
            span = f" ({worst} to {best})" if worst != best else ""
            parts.append(f"{name} {value}{span}")
    spans = ", range over tie orders in brackets" * any("(" in part for part in parts)
    return f"Agreement of the two orders (1 if equal{spans}): {'; '.join(parts)}." * bool(parts)


DEPTH = 50
"""Ranks of a list that are compared; at a persistence of .9 lower ranks have 0.5% of the weight."""
LIST_QUESTIONS: Mapping[Variant, str] = {
    "b": "Tied documents count as equal, so a list and its copy have an overlap of 1.",
    "a": (
        "Mean overlap over all orders of tied documents. Each list breaks its ties separately, so the "
        "overlap of a list with its own copy is below 1 if documents tie."
    ),
    "w": "Tied documents share the first rank of their tie.",
}
"""Variant of rank-biased overlap → meaning of a tie; the first variant finds copies."""


def list_similarity(
    rankings: Mapping[str, Ranking],
    variant: Variant = "b",
    *,
    persistence: float = 0.9,
    queries: Collection[str] | None = None,
) -> pd.DataFrame:
    """Return the mean rank-biased overlap of the lists of each two rerankers over common queries.

    The overlap is that of `metrics.rank_similarity` with the ties of each list, to a depth of `DEPTH`.

    Returns:
        a row a pair, the highest first: reranker, other (in the order of the rankings), similarity (NaN
        without a common query), n (common queries), identical (queries with the same documents and ties).

    Raises:
        UsageError: an unknown variant, or a persistence out of range.
    """
    _check_overlap(variant, persistence)
    k = len(rankings)
    sums, n, identical = np.zeros((k, k)), np.zeros((k, k), np.int64), np.zeros((k, k), np.int64)
    for rows in _rows_by_query(rankings, queries) if rankings else ():
        lengths = np.bincount(rows["reranker"], minlength=k)
        is_common = (lengths[:, None] > 0) & (lengths > 0)
        n += is_common
        identical += is_common & _is_same(rows, k)
        sums[is_common] += _overlaps(rows, lengths, variant, persistence)[is_common]
    first, second = np.triu_indices(k, 1)
    names = np.array(list(rankings), dtype=object)
    table = pd.DataFrame(
        {
            "reranker": pd.array(names[first], dtype="str"),
            "other": pd.array(names[second], dtype="str"),
            "similarity": sums[first, second] / np.where(n > 0, n, np.nan)[first, second],
            "n": n[first, second],
            "identical": identical[first, second],
        }
    )
    return table.sort_values("similarity", ascending=False, kind="stable", ignore_index=True)


def _rows_by_query(
    rankings: Mapping[str, Ranking], queries: Collection[str] | None
) -> Iterator[dict[str, IntArray]]:
    """Yield the documents of each query as codes: reranker, document, and above and size of the tie."""
    parts = []
    for number, ranking in enumerate(rankings.values()):
        columns = {
            "query": ranking.query_ids.take(pa.array(ranking.group_lists[ranking.groups])).to_pandas(),
            "document": ranking.ids(np.arange(len(ranking.rows))).to_pandas(),
            "reranker": number,
            "above": ranking.above[ranking.groups],
            "size": ranking.sizes[ranking.groups],
        }
        parts.append(pd.DataFrame(columns))
    table = pd.concat(parts, ignore_index=True)
    if queries is not None:
        table = table[table["query"].isin(list(queries))]
    table = table.iloc[np.argsort(pd.factorize(table["query"])[0], kind="stable")]
    table = table.assign(document=pd.factorize(table["document"])[0])
    for _, rows in table.groupby("query", sort=False):
        yield {name: rows[name].to_numpy() for name in ("reranker", "above", "size", "document")}


def _is_same(rows: Mapping[str, IntArray], k: int) -> BoolArray:
    """Return (k, k) whether two lists have the same documents and ties, by sums of hashes."""
    keys = pd.util.hash_array(rows["document"] * (1 + int(rows["above"].max())) + rows["above"])
    sums = np.zeros(k, np.uint64)
    np.add.at(sums, rows["reranker"], keys)
    lengths = np.bincount(rows["reranker"], minlength=k)
    return np.asarray((sums[:, None] == sums) & (lengths[:, None] == lengths))


def _overlaps(
    rows: Mapping[str, IntArray], lengths: IntArray, variant: Variant, persistence: float
) -> FloatArray:
    """Return (k, k) the overlap of each two lists of a query; 0 for a missing list."""
    depth = int(min(DEPTH, lengths.max()))
    is_near = rows["above"] < depth
    reranker, above, size = (rows[name][is_near] for name in ("reranker", "above", "size"))
    documents, place = np.unique(rows["document"][is_near], return_inverse=True)
    shares = np.zeros((len(lengths), depth, len(documents)))
    shares[reranker, :, place] = prefix_shares(above, size, depth, variant).T
    common, sizes = agreement_parts(shares, variant)
    agreement = np.divide(common, sizes, out=np.zeros_like(common), where=sizes > 0)
    depths = np.clip(np.minimum(lengths[:, None], lengths), 1, depth)
    return extrapolated(agreement, depths, persistence)


def similarity_finding(pairs: pd.DataFrame) -> Prose:
    """State which rerankers have the same lists, or the highest overlap, in `list_similarity`."""
    if not len(pairs):
        return ONE_RERANKER
    common = pairs[pairs["n"] > 0]
    if not len(common):
        return ("No two rerankers have lists for the same query.",)
    copies = common[common["identical"] == common["n"]]
    row = (copies if len(copies) else common).iloc[0]
    names = Strong(str(row["reranker"])), " and ", Strong(str(row["other"]))
    if len(copies):
        verb = "has" if len(copies) == 2 else "have"  # noqa: PLR2004 this pair and one other
        others = f" {count_of(len(copies) - 1, 'other pair')} of rerankers {verb} identical lists."
        more = others if len(copies) > 1 else ""
        lists = "in their one common query" if row["n"] == 1 else f"in all {row['n']:,} common queries"
        return (*names, f" have the same documents and ties {lists}: one is a copy of the other.{more}")
    equal_in = f"{row['identical']:,} of {count_of(int(row['n']), 'query')}" if row["identical"] else "no query"
    verb = "have the highest mean overlap," if len(common) > 1 else "have a mean overlap of"
    overlap = written_p(row["similarity"]).replace(">", "over ").replace("<", "under ")
    return (*names, f" {verb} {overlap}, and the same list in {equal_in}.")


class Overlap(NamedTuple):
    """Rank-biased overlap of two rankings of which only the first items are known.

    Attributes:
        ext: extrapolated: unknown items agree as the known ones do.
        min: smallest value for any unknown items, none of them tied.
        max: largest value for any unknown items.
        residual: max − min.
    """

    ext: float
    min: float
    max: float
    residual: float


def rank_overlap(first: Scores, second: Scores, variant: Variant = "a", *, persistence: float = 0.9) -> Overlap:
    """Return the rank-biased overlap of rankings of any lengths: RBO_ext, RBO_min, RBO_max and their residual.

    RBO = (1 − p) / p · sum over d ≥ 1 of A(d) p^d, with s and l the lengths of the shorter and the longer
    ranking, and unknown items untied. Down to depth s, A(d) is that of `rank_similarity`. From s to l, d − s
    items of the shorter ranking are unknown. For min, the longer ranking has none of them. For max, they are
    the first items that the shorter one lacks. For ext, a share A(s) of them are in the longer ranking, each
    with the mean chance of the items there that the shorter one lacks. Below l, A(d) stays the same for ext;
    for min there are no more common items; for max each depth adds two common items until all are common. For
    equal lengths, ext is the value of `rank_similarity`.

    Args:
        first: item → score, the higher the better; items with equal scores are tied.
        second: item → score; it may rank other items, and more or fewer of them.
        variant: meaning of a tie: `w` (tied items share the first rank of their tie), `a` (their order is
            unknown) or `b` (they are alike).
        persistence: chance to go on to the next rank, above 0 and below 1.

    Raises:
        UsageError: an unknown variant, an empty ranking, or a persistence out of range.

    Source: Webber, Moffat & Zobel, ACM TOIS 28, 2010; ties: Corsi & Urbano, SIGIR 2024.
    """
    _check_overlap(variant, persistence)
    pair = RankingPair.of(first, second)
    short, long = sorted((pair.first, pair.second), key=lambda scores: np.isfinite(scores).sum())
    s, n = (int(np.isfinite(scores).sum()) for scores in (short, long))
    depths = np.arange(1, n + 1)
    given = np.stack([prefix_shares(*_tie_places(scores), n, variant) for scores in (short, long)])
    unknown = np.stack([depths[:, None] > np.arange(s, n), np.zeros((n, n - s))])  # untied, of the shorter
    common, sizes = (
        part[:, 0, 1] for part in agreement_parts(np.concatenate([given, unknown], axis=2), variant)
    )
    lacking = -np.sort(-given[1][:, ~np.isfinite(short)], axis=1)  # by the shorter ranking
    n_unknown = np.maximum(depths - s, 0)
    mean_share = lacking.sum(axis=1) / np.maximum(1, (lacking > 0).sum(axis=1))
    most = (lacking * (np.arange(lacking.shape[1]) < n_unknown[:, None])).sum(axis=1)
    ext = (common + n_unknown * mean_share * common[s - 1] / sizes[s - 1]) / sizes
    full = 2 * n - round(common[-1] + most[-1])  # beyond this depth all can be common
    deeper = np.arange(n + 1, full + 1)
    weights = (1 - persistence) * persistence ** (np.arange(1, full + 1) - 1)
    # The sum of p^d / d over d > n is that over all d, which is -log(1 - p), without the first n.
    below = max(0.0, -np.log1p(-persistence) - (persistence**depths / depths).sum())
    least = weights[:n] @ (common / sizes) + common[-1] * below * (1 - persistence) / persistence
    extrapolation = weights[:n] @ ext + ext[-1] * persistence**n
    largest = weights[:n] @ ((common + most) / sizes) + weights[n:] @ ((2 * deeper - full) / deeper)
    largest += persistence**full
    return Overlap(float(extrapolation), float(least), float(largest), float(largest - least))


def _check_overlap(variant: Variant, persistence: float) -> None:
    if variant not in LIST_QUESTIONS or not 0 < persistence < 1:
        variants = ", ".join(LIST_QUESTIONS)
        raise UsageError(f"Choose a variant among {variants}, and a persistence between 0 and 1.")
