"""AP and nDCG of one list, worked out rank by rank."""

import numpy as np
import pandas as pd

from metrics.measures.additive import exponential
from metrics.ties import Ranking, refine, treatment


def value_steps(ranking: Ranking, query_id: str, ties: str, k: int) -> pd.DataFrame:
    """Return what each rank adds to AP and to nDCG@k of one list.

    In a tie of n documents, r of them relevant, below b documents, c of them relevant, a relevant document
    stands at rank i with the chance r/n. Precision there is then (c + 1 + (r - 1)(i - b - 1)/(n - 1)) / i on
    average. AP is the sum of chance * precision / R. nDCG@k is the sum of mean gain * discount over the ideal,
    with gain 2^grade - 1 and discount 1/log2(i + 1). A strict order has ties of one document.

    Args:
        ranking: the lists of one reranker.
        query_id: which list.
        ties: name of a treatment: an order of ties, or expected for the mean over all orders.
        k: cut-off of nDCG.

    Returns:
        rank (rising; only those where a document graded above 0 can stand), chance, precision (NaN where no
        document is relevant), ap_term, gain, discount, ndcg_term (0 past the cut-off).
    """
    groups, place = refine(ranking, treatment(ties)), ranking.query_ids.index(query_id).as_py()
    own = np.flatnonzero(groups.lists == place)
    b, n, r, c = (part[own] for part in (groups.above, groups.size, groups.relevant, groups.relevant_above))
    owner = np.repeat(np.arange(len(own)), n)
    offset = np.arange(len(owner)) - (np.cumsum(n) - n)[owner]
    rank = b[owner] + offset + 1
    chance = (r / n)[owner]
    precision = (c[owner] + 1 + (r - 1)[owner] * offset / np.maximum(n - 1, 1)[owner]) / rank
    gain = (groups.sum(exponential(groups.grades))[own] / n)[owner]
    discount = 1 / np.log2(rank + 1)
    queries, ideal_place, grades = groups.judgments.best_first
    is_ideal = (queries == place) & (ideal_place < k)
    ideal = float((exponential(grades[is_ideal]) / np.log2(ideal_place[is_ideal] + 2.0)).sum())
    return pd.DataFrame(
        {
            "rank": rank,
            "chance": chance,
            "precision": np.where(chance > 0, precision, np.nan),
            "ap_term": chance * precision / max(int(groups.n_relevant[place]), 1),
            "gain": gain,
            "discount": discount,
            "ndcg_term": np.where((rank <= k) & (ideal > 0), gain * discount / (ideal or 1.0), 0.0),
        }
    )
