"""How alike two rankings are, and between what breaking their ties could make it."""

from collections.abc import Callable
from functools import partial
from math import isnan
from typing import NamedTuple

import pandas as pd

from metrics.errors import UsageError
from metrics.studies.leaderboard.ranks.correlation import tau, tau_ap, tau_b
from metrics.studies.leaderboard.ranks.overlap import Variant, overlap
from metrics.studies.leaderboard.ranks.tie_orders import RankingPair, Scores
from metrics.studies.prose import signed

_Form = Callable[[RankingPair], float]


class Similarity(NamedTuple):
    """How alike two rankings are.

    Attributes:
        value: with the ties as they are.
        expected: mean over all orders that the ties allow, each ranking's alike and independent.
        worst: least over them.
        best: most over them.
    """

    value: float
    expected: float
    worst: float
    best: float


VARIANTS: dict[str, Variant] = {"rbo_a": "a", "rbo_b": "b", "rbo_w": "w"}
"""Measures of overlap → what a tie means in each."""
SIMILARITIES = ("tau_b", "tau_ap", *VARIANTS)
"""Names of the measures."""


def rank_similarity(
    first: Scores, second: Scores, measure: str = "tau_b", *, persistence: float = 0.9
) -> Similarity:
    """Return how alike two rankings are.

    Which question a measure answers: `tau_b`, how many pairs stand in the same order; `tau_ap`, the same with
    most weight at the top of the second, the first taken for the truth; `rbo_a`, how much the tops share, on
    average over what the ties leave open; `rbo_b`, the same where tied items are alike, 1 for a ranking and
    itself; `rbo_w`, the same where tied items share the place of the first.

    Args:
        first: item → score, the higher the better.
        second: the same; rank correlations need the same items.
        measure: one of `SIMILARITIES`.
        persistence: of rank-biased overlap.

    Raises:
        UsageError: no such measure, rankings that cannot be compared, or a persistence out of range.
    """
    if not 0 < persistence < 1:
        raise UsageError(f"persistence={persistence:g}: it is above 0 and below 1, such as 0.9.")
    value, expected = _forms(measure, persistence)
    pair = RankingPair.of(first, second)
    if measure.startswith("tau") and not pair.has_same_items:
        raise UsageError(f"{measure} compares rankings of the same items. Leave out the others, or take rbo_a.")
    worst, best = (value(pair.broken(agree=agree)) for agree in (False, True))
    return Similarity(value(pair), expected(pair), worst, best)


QUESTIONS = {
    "tau_b": "How many pairs stand in the same order?",
    "tau_ap": "The same, with most weight at the top?",
    "rbo_a": "How much do the tops share, whatever order ties take?",
    "rbo_b": "How much do the tops share, level ones being alike?",
    "rbo_w": "How much do the tops share, level ones sharing the first of their places?",
}
"""Measure → the question that it answers."""


def leaderboard_similarity(tied: "pd.Series[float]", published: "pd.Series[float]") -> pd.DataFrame:
    """Return how alike a published leaderboard is to the tied one, by every measure.

    Args:
        tied: index reranker; means, rounding left out; the order that AP correlation takes for the truth.
        published: likewise, as printed; rerankers that one of the two lacks are left out.

    Returns:
        index measure, those of `SIMILARITIES`: question; value, expected, worst, best, as of `Similarity`; no
        row where fewer than two rerankers are in both.
    """
    means = pd.concat([tied, published], axis=1, keys=["tied", "published"], join="inner").dropna().round(12)
    measures = SIMILARITIES if len(means) > 1 else ()
    rows = [rank_similarity(means["tied"], means["published"], measure)._asdict() for measure in measures]
    table = pd.DataFrame(rows, columns=list(Similarity._fields), dtype=float)
    table.insert(0, "question", [QUESTIONS[measure] for measure in measures])
    return table.set_index(pd.Index(measures, name="measure", dtype="str"))


def similarity_words(table: pd.DataFrame) -> str:
    """Return a sentence on a `leaderboard_similarity`; empty where there is nothing to compare."""
    parts = []
    for measure, name in (("tau_b", "Kendall's τ_b"), ("tau_ap", "τ_AP"), ("rbo_a", "rank-biased overlap")):
        if measure in table.index and not isnan(table.loc[measure, "value"]):
            value, worst, best = (
                signed(table.loc[measure, end], plus=False) for end in ("value", "worst", "best")
            )
            span = f" ({worst} to {best})" if worst != best else ""
            parts.append(f"{name} {value}{span}")
    spans = ", in brackets by how level rerankers are ordered" * any("(" in part for part in parts)
    return f"How alike the two orders are, 1 where they are the same{spans}: {'; '.join(parts)}." * bool(parts)


def _forms(measure: str, persistence: float) -> tuple[_Form, _Form]:
    """Return what computes a measure with its ties, and as the mean over all orders of them."""
    match measure:
        case "tau_b":
            return tau_b, tau
        case "tau_ap":
            return tau_ap, tau_ap
        case "rbo_a" | "rbo_b" | "rbo_w":
            value = partial(overlap, persistence=persistence, variant=VARIANTS[measure])
            return value, partial(overlap, persistence=persistence, variant="a")
    raise UsageError(f"There is no similarity {measure!r}. There are: {', '.join(SIMILARITIES)}.")
