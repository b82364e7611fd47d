"""Rerankers that never were: the notebook's simulators, drawing exactly as it does.

The notebook seeds NumPy's legacy generator once and draws query by query, so the order of draws is
part of the result; keep it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.arrays import BoolArray, FloatArray
from metrics.runs import Runs

NOTEBOOK_SEED = 42
LEFT_ALONE = 0.1
"""Chance that a relevant document is scored like any other."""


@dataclass(frozen=True)
class LlmReranker:
    """How a simulated LLM scores.

    Attributes:
        tie_probability: chance that a document hands its score to another one.
        levels: number of distinct scores it can give, spread evenly over [0, 1].
    """

    tie_probability: float
    levels: int

    def scores(self, relevant: BoolArray, draw: np.random.RandomState) -> FloatArray:
        """(n_docs,) scores: uniform, mostly higher where relevant, rounded to levels, then tied."""
        n = len(relevant)
        scores: FloatArray = draw.uniform(0.1, 0.9, n)
        for document in np.flatnonzero(relevant):
            if draw.random_sample() > LEFT_ALONE:
                scores[document] += draw.uniform(0.1, 0.3)
        levels = np.linspace(0, 1, self.levels)
        scores = levels[np.abs(np.clip(scores, 0, 1)[:, None] - levels).argmin(axis=1)]
        for document in np.arange(n):
            if draw.random_sample() < self.tie_probability and n > 1:
                other = draw.choice(np.delete(np.arange(n), document))
                scores[other] = scores[document]
        return scores


NOTEBOOK_RERANKERS: Mapping[str, LlmReranker] = {
    "GPT-4 (Low Ties)": LlmReranker(0.1, 20),
    "PaLM-2 (Medium Ties)": LlmReranker(0.3, 10),
    "Claude (High Ties)": LlmReranker(0.5, 5),
    "Local LLM (Very High Ties)": LlmReranker(0.7, 3),
}
"""The four rerankers of the notebook; the names are its own, the scores are simulated."""


def notebook_llm_rerankers(n_queries: int = 100) -> Runs:
    """The notebook's four simulated rerankers: 8 to 19 documents a query, 1 to 4 relevant."""
    draw = np.random.RandomState(NOTEBOOK_SEED)
    parts = []
    for query in range(n_queries):
        n = int(draw.randint(8, 20))
        n_relevant = int(draw.randint(1, min(5, n)))
        relevant = np.zeros(n, dtype=bool)
        relevant[draw.choice(n, size=n_relevant, replace=False)] = True
        parts += [
            pd.DataFrame(
                {
                    "reranker": name,
                    "query_id": f"q{query:03d}",
                    "doc_id": [f"doc_{document}" for document in range(n)],
                    "score": reranker.scores(relevant, draw),
                    "relevance": relevant.astype(int),
                }
            )
            for name, reranker in NOTEBOOK_RERANKERS.items()
        ]
    return Runs.from_frame(pd.concat(parts, ignore_index=True))
