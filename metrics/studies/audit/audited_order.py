"""The orders of a published table: which ones hold, pair by pair, by rank and by measure."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.evaluation import Evaluation, score_runs
from metrics.runs import Runs
from metrics.studies.audit.audit import Audit, convention_finding
from metrics.studies.draws import Draws, affordable_draws, draws, equality_margin
from metrics.studies.leaderboard import leaderboard, mean_intervals, places
from metrics.studies.pairs import compare, find_pairs, rank_intervals, significant_signs, with_rank_intervals
from metrics.studies.prose import Prose, Strong, significant_part
from metrics.support.wording import chance_percent, small_number

SWAPS, CAN_SWAP, WITHIN_LUCK, STANDS = "swaps", "ties can swap", "within luck", "stands"
VERDICTS = {
    SWAPS: "With ties averaged, the other reranker is ahead.",
    CAN_SWAP: "Some tie orders put the other reranker ahead, but the average over all tie orders does not.",
    WITHIN_LUCK: "The published order holds in every tie order, but the difference is not significant.",
    STANDS: "The published order holds in every tie order, and the difference is significant.",
}
"""Verdict of a printed order → its meaning."""


def printed_orders(published: "pd.Series[float]", evaluation: Evaluation, measure: str) -> pd.DataFrame:
    """Return each printed order of two rerankers with different figures, and what ties do to it.

    An order swaps if the rounded tied means are the other way round. Ties can swap it if some tie order puts b
    strictly above a. Rerankers without a tied mean are left out.

    Returns:
        one row per printed order, by the ranks of a, then b: a (published above b), b; a_published,
        b_published, a_tied, b_tied (means); tied_difference (a - b); sign (of a - b by rounded tied means);
        verdict (`SWAPS`, `CAN_SWAP`, or `STANDS` for an order that holds in every tie order).
    """
    figures = published.sort_values(ascending=False, kind="stable")
    means = evaluation.means(measure).reindex(figures.index).dropna(subset="expected")
    names, printed = means.index.to_numpy(), figures[means.index].to_numpy()
    first, second = np.nonzero(printed[:, None] > printed)
    rows = pd.DataFrame({"a": names[first], "b": names[second]}, dtype="str")
    tied, worst, best = (means[ties].to_numpy() for ties in ("expected", "pessimistic", "optimistic"))
    for column, sides in (("published", printed), ("tied", tied)):
        rows[f"a_{column}"], rows[f"b_{column}"] = sides[first], sides[second]
    rows["tied_difference"] = rows["a_tied"] - rows["b_tied"]
    order = places(means["expected"]).to_numpy(np.int64)
    rows["sign"] = np.sign(order[second] - order[first])
    can_swap = best[second] > (worst + equality_margin(worst))[first]
    rows["verdict"] = np.select([rows["sign"] < 0, can_swap], [SWAPS, CAN_SWAP], STANDS)
    return rows


def pair_verdicts(published: "pd.Series[float]", tie_draws: Draws, compared: pd.DataFrame) -> pd.DataFrame:
    """Return the `printed_orders`, the chance of each, and whether its difference is significant at 0.05.

    An order that holds in every tie order is within luck if its tied difference is not significant.

    Returns:
        the columns of `printed_orders`; p and p_adjusted (of `compared`, the table of all pairs); p_above
        (chance that a is above b when ties are broken at random); is_significant (p_adjusted is, and the
        shared queries rank the pair like the tied means).
    """
    rows = printed_orders(published, tie_draws.evaluation, tie_draws.measure)
    tests = find_pairs(compared, rows["a"], rows["b"])
    rows[["p", "p_adjusted"]] = tests[["p", "p_adjusted"]]
    rows["p_above"] = tie_draws.chances(rows["a"], rows["b"])["above"].to_numpy()
    signs = significant_signs(tests)
    rows["is_significant"] = (signs != 0) & (signs == rows["sign"])
    rows.loc[(rows["verdict"] == STANDS) & ~rows["is_significant"], "verdict"] = WITHIN_LUCK
    return rows


def standing_finding(verdicts: pd.DataFrame) -> Prose:
    """Say how many printed orders hold in every tie order, and how many swap."""
    if not len(verdicts):
        return ("The table ranks no reranker above another.",)
    counts = verdicts["verdict"].value_counts()
    n_swaps, n_can_swap = int(counts.get(SWAPS, 0)), int(counts.get(CAN_SWAP, 0))
    n, n_firm = len(verdicts), len(verdicts) - n_swaps - n_can_swap
    n_significant = int(((verdicts["verdict"] == SWAPS) & verdicts["is_significant"]).sum())
    swap = f"with ties averaged, {significant_part(n_significant, n_swaps, small_number(n_significant))}"
    can_swap = "in some tie orders, but not with ties averaged"
    if n == 1:
        ending = (
            "is ranked the same way in every tie order" if n_firm else f"swaps {swap if n_swaps else can_swap}"
        )
        return ("The only pair with different published means ", Strong(ending), ".")
    number = "all" if n_firm == n else small_number(n_firm)
    prose: Prose = (
        f"Of {small_number(n)} pairs with different published means, ",
        Strong(f"{number} {'keeps its' if n_firm == 1 else 'keep their'} order"),
        " in every tie order",
    )
    for part, manner in ((n_swaps, swap), (n_can_swap, can_swap)):
        if part:
            prose = (*prose, "; ", Strong(f"{small_number(part)} swap{'s' * (part == 1)}"), f" {manner}")
    return (*prose, ".")


@dataclass(frozen=True, eq=False)
class AuditedOrder:
    """The audit of the order that a table prints by one measure."""

    measure: str  # name in the table
    pairs: pd.DataFrame  # of `pair_verdicts`
    places: pd.DataFrame  # of `published_places`


def audited_order(audit: Audit, runs: Runs, measure: str) -> AuditedOrder:
    """Audit the order that a table prints by a measure; its pairs are corrected for all pairs of the runs."""
    published = _published_means(audit, measure)
    if not len(published):
        return AuditedOrder(measure, pd.DataFrame(columns=["verdict"]), pd.DataFrame(columns=["n"]))
    names, options, ours = list(published.index), audit.reproduction.best.options, audit.measure(measure)
    published_runs = runs.arranged({name: name for name in names})
    tie_draws = draws(published_runs, ours, options, affordable_draws(published_runs))
    every_pair = compare(score_runs(runs, ours, "expected", options), ours)
    compared = every_pair[every_pair[["baseline", "reranker"]].isin(names).all(axis=1)]
    pairs = pair_verdicts(published, tie_draws, compared)
    return AuditedOrder(measure, pairs, published_places(published, tie_draws.evaluation, ours, compared))


def orders_by_measure(audit: Audit) -> pd.DataFrame:
    """Count the verdicts of the printed orders by each measure.

    Returns:
        index measure (as published); n_orders (pairs of different means), hold (in every tie order), can_swap
        (in some), swap (with ties averaged).
    """
    columns = {STANDS: "hold", CAN_SWAP: "can_swap", SWAPS: "swap"}
    table = pd.DataFrame(0, pd.Index(audit.measures, name="measure"), ["n_orders", *columns.values()])
    for measure in audit.measures:
        rows = printed_orders(_published_means(audit, measure), audit.evaluation, audit.measure(measure))
        table.loc[measure] = rows["verdict"].map(columns).value_counts().reindex(table.columns, fill_value=0)
    return table.assign(n_orders=table.sum(axis=1))


def _published_means(audit: Audit, measure: str) -> "pd.Series[float]":
    published = audit.published.means(measure).rename(audit.names.reranker)
    return published[(published.index != "") & ~published.index.duplicated()].dropna()


def published_places(
    published: "pd.Series[float]", evaluation: Evaluation, measure: str, compared: pd.DataFrame
) -> pd.DataFrame:
    """Return the published and the tied rank of each reranker with a figure, best tied mean first.

    Returns:
        index reranker; traditional (published mean), traditional_rank (shared by equal means), tied, tied_rank,
        worst, best, gap, tie_ratio, query_low and query_high (`mean_intervals`), n (queries), rank_low and
        rank_high (`rank_intervals` from `compared`, the table of all pairs).
    """
    table = leaderboard(evaluation, measure, "expected")
    table = table.loc[table["tied"].notna(), ["tied", "worst", "best", "tie_ratio"]]
    table = table.assign(traditional=published.reindex(table.index))
    table["gap"] = table["traditional"] - table["tied"]
    for value in ("traditional", "tied"):
        table[f"{value}_rank"] = places(table[value])
    table = with_rank_intervals(table, rank_intervals(evaluation, measure, pairs=compared))
    return table.join(mean_intervals(evaluation, measure))


def audit_finding(audit: Audit, order: AuditedOrder) -> Prose:
    """Say which convention a table was made with, and which of its orders by one measure hold."""
    standing, *further_sentences = standing_finding(order.pairs)
    words = standing.text if isinstance(standing, Strong) else standing
    return (
        *convention_finding(audit.reproduction),
        f" By {order.measure}, {words[0].lower()}{words[1:]}",
        *further_sentences,
    )


def widest_first(pairs: pd.DataFrame) -> pd.DataFrame:
    """Sort the pairs of an order: those that swap, the widest first, then the others, the closest first."""
    difference = pairs["tied_difference"].where(pairs["verdict"] == SWAPS, pairs["tied_difference"].abs())
    return pairs.iloc[np.lexsort((difference, pairs["verdict"].map(list(VERDICTS).index)))]


def written_chances(pairs: pd.DataFrame) -> list[str]:
    """Return the chance of each printed order when ties are broken at random, or "every order"."""
    is_firm = pairs["verdict"].isin([WITHIN_LUCK, STANDS])
    return list(pairs["p_above"].map(chance_percent).mask(is_firm, "every order"))
