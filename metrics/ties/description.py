"""What the ties of each list look like, before anything is measured."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metrics.ties.permutations import log10_factorials
from metrics.ties.ranking import Ranking


def describe(ranking: Ranking, cutoffs: Sequence[int]) -> dict[str, npt.NDArray[np.generic]]:
    """Return what the ties of each list look like; arrays of (n_lists,)."""
    n, docs = ranking.n_lists, ranking.n_docs
    tied = np.flatnonzero(ranking.sizes > 1)
    owner, size, above = ranking.group_lists[tied], ranking.sizes[tied], ranking.above[tied]
    tied_docs = np.bincount(owner, size, minlength=n).astype(np.int64)
    largest = np.minimum(docs, 1)
    np.maximum.at(largest, owner, size)
    factorials = log10_factorials(int(size.max(initial=0)))
    table: dict[str, npt.NDArray[np.generic]] = {
        "n_docs": docs,
        "n_relevant": ranking.judgments.n_relevant,
        "n_tie_groups": np.bincount(owner, minlength=n),
        "max_tie_size": largest,
        "tied_docs": tied_docs,
        "tie_ratio": tied_docs / np.maximum(docs, 1),
        "log10_orderings": np.bincount(owner, factorials[size], minlength=n).astype(np.float64),
    }
    near = np.flatnonzero(above < max(cutoffs, default=0))
    owner, above, end = owner[near], above[near], above[near] + size[near]
    for k in cutoffs:
        across = np.zeros(n, dtype=bool)
        across[owner[(above < k) & (end > k)]] = True
        table[f"straddles_{k}"] = across
    return table
