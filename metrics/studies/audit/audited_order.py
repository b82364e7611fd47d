"""The order of a published table by one measure: pair by pair, and place by place beside the tied order."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation, score_runs
from metrics.runs import Runs
from metrics.studies.audit.audit import Audit
from metrics.studies.audit.finding import convention_finding
from metrics.studies.audit.standing import (
    STANDS,
    SWAPS,
    VERDICTS,
    WITHIN_LUCK,
    pair_verdicts,
    standing_finding,
)
from metrics.studies.leaderboard.leaderboard import leaderboard, mean_std, places
from metrics.studies.leaderboard.ranks.tiers import rank_intervals
from metrics.studies.prose import Prose, Strong
from metrics.studies.tie_breaking.mean_distribution import equality_margin
from metrics.studies.tie_breaking.mean_distributions import SPREADS, mean_distributions
from metrics.support.wording import chance_percent

_NORMAL = 1.959964
"""Standard deviations from the middle within which 95% of a normal distribution lies."""


@dataclass(frozen=True, eq=False)
class AuditedOrder:
    """What becomes of the order that a table prints by one measure.

    Attributes:
        measure: as it is spelled there.
        pairs: as of `pair_verdicts`.
        places: as of `published_places`.
    """

    measure: str
    pairs: pd.DataFrame
    places: pd.DataFrame

    @property
    def n_queries(self) -> int:
        """Queries that the tied means are over."""
        return int(self.places["n"].max()) if len(self.places) else 0


def audited_order(audit: Audit, runs: Runs, measure: str) -> AuditedOrder:
    """Return what becomes of the order that a table prints by a measure.

    Args:
        audit: of the table.
        runs: that it was held against.
        measure: as it is spelled there; where no mean of it is printed, there is no order.
    """
    published = _published_means(audit, measure)
    if not len(published):
        return AuditedOrder(measure, pd.DataFrame(columns=["verdict"]), pd.DataFrame(columns=["tier", "n"]))
    names, options, ours = list(published.index), audit.reproduction.best.options, audit.measure(measure)
    evaluation = score_runs(runs.arranged({name: name for name in names}), ours, SPREADS, options)
    distributions = mean_distributions(evaluation, ours, {name: options.ranking(runs, name) for name in names})
    pairs = pair_verdicts(published, evaluation, ours, distributions)
    return AuditedOrder(measure, pairs, published_places(published, evaluation, ours))


def orders_by_measure(audit: Audit) -> pd.DataFrame:
    """Return what becomes of the printed orders by each measure, as `pair_verdicts` tells them.

    Returns:
        index measure (as published); n_orders (pairs of means that are not equal), hold (in every order of the
        ties), can_swap (in some), swap (when ties are averaged).
    """
    counts = {}
    for measure in audit.measures:
        published = _published_means(audit, measure)
        means = audit.evaluation.means(audit.measure(measure)).reindex(published.index)
        published, means = published[means["expected"].notna()], means[means["expected"].notna()]
        printed, ranks = published.to_numpy(), places(means["expected"]).to_numpy(np.int64)
        worst, best = (means[ties].to_numpy() for ties in ("pessimistic", "optimistic"))
        is_above = printed[:, None] > printed
        swaps = is_above & (ranks[:, None] > ranks)
        can_swap = is_above & ~swaps & (best > (worst + equality_margin(worst))[:, None])
        n_orders, n_swaps, n_can_swap = (int(pairs.sum()) for pairs in (is_above, swaps, can_swap))
        counts[measure] = (n_orders, n_orders - n_swaps - n_can_swap, n_can_swap, n_swaps)
    columns = ["n_orders", "hold", "can_swap", "swap"]
    table = pd.DataFrame.from_dict(counts, orient="index", columns=columns, dtype=np.int64)
    return table.rename_axis("measure")


def _published_means(audit: Audit, measure: str) -> "pd.Series[float]":
    """Return the printed means of a published measure, index reranker as the runs call it."""
    published = audit.published.means(measure).rename(audit.names.reranker)
    return published[(published.index != "") & ~published.index.duplicated()].dropna()


def published_places(published: "pd.Series[float]", evaluation: Evaluation, measure: str) -> pd.DataFrame:
    """Return the published and the tied place of each reranker that has a figure, best tied mean first.

    Ties and queries together: when n queries are drawn and the ties of each list are broken at random, the
    variance of a mean is, by the law of total variance, that of the tied values over n, and the mean variance
    by ties over n.

    Args:
        published: printed means, index reranker as the evaluation calls it.
        evaluation: with the measure under expected, optimistic, pessimistic and std.
        measure: name of a measure.

    Returns:
        index reranker; traditional (the published mean) and traditional_rank (equal ones share one), tied,
        tied_rank, worst, best, gap, tie_ratio, query_low and query_high (95% of ties and queries together, NaN
        of one query), n (queries), tier as of `rank_intervals`.
    """
    table = leaderboard(evaluation, measure, "expected")
    table = table.loc[table["tied"].notna(), ["tied", "worst", "best", "tie_ratio", "standard_error"]]
    table = table.assign(traditional=published.reindex(table.index))
    table["gap"] = table["traditional"] - table["tied"]
    for value in ("traditional", "tied"):
        table[f"{value}_rank"] = places(table[value])
    spread = _NORMAL * np.hypot(table["standard_error"], mean_std(evaluation, measure).reindex(table.index))
    counts = evaluation.scores[measure, "expected"].groupby(level="reranker").count()
    table = table.assign(query_low=table["tied"] - spread, query_high=table["tied"] + spread, n=counts)
    return table.join(rank_intervals(evaluation, measure).set_index("reranker")["tier"])


def audit_finding(audit: Audit, order: AuditedOrder) -> Prose:
    """Say by which rule a table was made, and which of the orders by one of its measures stand."""
    standing, *further_sentences = standing_finding(order.pairs)
    words = standing.text if isinstance(standing, Strong) else standing
    return (
        *convention_finding(audit.reproduction),
        f" By {order.measure}, {words[0].lower()}{words[1:]}",
        *further_sentences,
    )


def widest_first(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of an order: those that swap, the widest first, then the others, the closest first."""
    difference = pairs["tied_difference"].where(pairs["verdict"] == SWAPS, pairs["tied_difference"].abs())
    return pairs.iloc[np.lexsort((difference, pairs["verdict"].map(list(VERDICTS).index)))]


def written_chances(pairs: pd.DataFrame) -> list[str]:
    """Return how likely each printed order of `pair_verdicts` is at random; "every order" if firm."""
    is_firm = pairs["verdict"].isin([WITHIN_LUCK, STANDS])
    return [
        "every order" if firm else chance_percent(chance)
        for firm, chance in zip(is_firm, pairs["p_above"], strict=True)
    ]
