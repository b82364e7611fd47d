"""Which orders of a published table stand, whatever the order of the ties and beyond the luck of queries."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metrics.errors import UsageError
from metrics.evaluation import Evaluation
from metrics.studies.leaderboard.leaderboard import places
from metrics.studies.prose import Prose, Strong, significant_part
from metrics.studies.significance.all_pairs import holm_pairs
from metrics.studies.significance.query_values import alpha, values_by_query
from metrics.studies.tie_breaking.mean_distributions import MeanDistribution
from metrics.studies.tie_breaking.stability import pairwise_order
from metrics.support.wording import small_number

SWAPS, CAN_SWAP, WITHIN_LUCK, STANDS = "swaps", "ties can swap", "within luck", "stands"
VERDICTS = {
    SWAPS: "Averaged over the ties, the other one is ahead.",
    CAN_SWAP: "Some order of the ties puts the other one ahead, but their average does not.",
    WITHIN_LUCK: "It holds in every order of the ties, but other queries could turn it.",
    STANDS: "It holds in every order of the ties, by more than the luck of the queries.",
}
"""Verdicts of an order, and what each says."""


def pair_verdicts(
    published: "pd.Series[float]",
    evaluation: Evaluation,
    measure: str,
    distributions: Mapping[str, MeanDistribution],
    *,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return what becomes of each order of a published table: of every two figures that are not equal.

    An order swaps where the tied means, rounding left out, are the other way; the ties can swap it where it
    does not, but some order of them puts b strictly above a; it is within luck where neither is so and the
    tied difference is not significant; else it stands.

    Args:
        published: printed means, index reranker as the evaluation calls it; those without a tied mean are
            left out.
        evaluation: with `measure` under expected.
        measure: name of a measure.
        distributions: of these rerankers, as `mean_distributions` returns them.
        level: a pair is significant where the adjusted p is below 1 - level.

    Returns:
        a row for each order printed, by the places of a, then b: a (published above b), b; a_published,
        b_published, a_tied, b_tied (means); tied_difference (a - b); p (paired t on the tied values of the
        queries both have, as `paired_p` returns it), p_adjusted (Holm's, over all pairs of those published);
        p_above (chance that a comes out above b when every tie is broken at random); is_significant (p_adjusted
        is, and those queries put the same one first as the tied means); verdict.

    Raises:
        UsageError: a reranker twice, or one that was not evaluated; the measure was not evaluated.
    """
    values = values_by_query(evaluation, measure, "expected")
    unknown = published.index.difference(values.columns)
    if len(unknown) or not published.index.is_unique:
        name = unknown[0] if len(unknown) else published.index[published.index.duplicated()][0]
        reason = "was not evaluated" if len(unknown) else "is published twice"
        raise UsageError(f"{name!r} {reason}. Give each reranker of the evaluation one figure.")
    tied = evaluation.means(measure)["expected"].reindex(published.index).dropna()
    figures = published[tied.index].sort_values(ascending=False, kind="stable").dropna()
    names, tied = figures.index.to_numpy(), tied[figures.index]
    printed, means, order = figures.to_numpy(), tied.to_numpy(), places(tied).to_numpy(np.int64)
    first, second = np.nonzero(printed[:, None] > printed)
    rows = pd.DataFrame({"a": names[first], "b": names[second]}, dtype="str")
    for column, sides in (("published", printed), ("tied", means)):
        rows[f"a_{column}"], rows[f"b_{column}"] = sides[first], sides[second]
    rows["tied_difference"] = rows["a_tied"] - rows["b_tied"]
    difference, p, adjusted = (pairs[first, second] for pairs in holm_pairs(values[names].to_numpy()))
    chances = pairwise_order(distributions, zip(rows["a"], rows["b"], strict=True))
    rows["p"], rows["p_adjusted"], rows["p_above"] = p, adjusted, chances["above"].to_numpy()
    lead = order[second] - order[first]
    rows["is_significant"] = (adjusted < alpha(level)) & (np.sign(difference) == np.sign(lead))
    conditions = [lead < 0, chances["reversible"].to_numpy(bool), ~rows["is_significant"]]
    rows["verdict"] = np.select(conditions, [SWAPS, CAN_SWAP, WITHIN_LUCK], STANDS)
    return rows


def standing_finding(verdicts: pd.DataFrame) -> Prose:
    """Say how many printed orders of `pair_verdicts` stand in every order of the ties, and how many swap."""
    if not len(verdicts):
        return ("No order is printed.",)
    counts = verdicts["verdict"].value_counts()
    n_swaps, n_can_swap = int(counts.get(SWAPS, 0)), int(counts.get(CAN_SWAP, 0))
    n, n_firm = len(verdicts), len(verdicts) - n_swaps - n_can_swap
    n_significant = int(((verdicts["verdict"] == SWAPS) & verdicts["is_significant"]).sum())
    significant = significant_part(n_significant, n_swaps, small_number(n_significant))
    swap = f"when ties are averaged, {significant}"
    can_swap = "in some orders of the ties, though not when they are averaged"
    if n == 1:
        ending = "stands in every order of the ties" if n_firm else f"swaps {swap if n_swaps else can_swap}"
        return ("The one order printed ", Strong(ending), ".")
    number = "all" if n_firm == n else small_number(n_firm)
    prose: Prose = (
        f"Of {small_number(n)} orders printed, ",
        Strong(f"{number} stand{'s' * (n_firm <= 1)}"),
        " in every order of the ties",
    )
    for part, manner in ((n_swaps, swap), (n_can_swap, can_swap)):
        if part:
            prose = (*prose, "; ", Strong(f"{small_number(part)} swap{'s' * (part == 1)}"), f" {manner}")
    return (*prose, ".")
