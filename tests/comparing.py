"""Evaluations made of values, for studies that need nothing but scores."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from metrics import Evaluation

VALUES = st.sampled_from([0.0, 0.0, 1 / 3, 0.1 + 0.2, 0.3, 0.5, 11 / 18, 1.0, 1.0])
"""What measures give where lists tie: few values, some equal but for rounding."""


def scored(measure="RR", **ties):
    """An evaluation by one measure: treatment → reranker → values, by query or in their order."""
    columns = {}
    for treatment, rerankers in ties.items():
        for name, values in rerankers.items():
            by_query = values if isinstance(values, dict) else {f"q{at:06}": v for at, v in enumerate(values)}
            columns |= {(name, query, treatment): float(value) for query, value in by_query.items()}
    rows = pd.Series(columns, dtype=float)
    rows.index = pd.MultiIndex.from_tuples(columns, names=["reranker", "query_id", "ties"])
    wide = rows.unstack("ties", sort=False)  # noqa: PD010
    wide.columns = pd.MultiIndex.from_product([[measure], wide.columns], names=["measure", "ties"])
    names = list(next(iter(ties.values())))
    return Evaluation(
        scores=wide,
        lists=pd.DataFrame({"tie_ratio": 0.5}, index=wide.index),
        policies=pd.DataFrame(index=pd.Index(names, name="reranker")),
        measures=(measure,),
        ties=tuple(ties),
    )


def tied_values(seed, n, rerankers=2, shift=0.0):
    """(n, rerankers) values as of tied lists: easy and hard queries, few distinct values."""
    random = np.random.default_rng(seed)
    ease = random.random((n, 1))
    rank = random.geometric(np.clip(0.15 + 0.7 * ease + shift * np.arange(rerankers), 0.05, 0.95))
    share = random.choice([1.0, 0.75, 11 / 18], size=rank.shape)
    return np.where(rank > 5, 0.0, share / rank)
