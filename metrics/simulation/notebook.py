"""The notebook's own data, drawn as the notebook draws it.

It seeds NumPy's legacy generator once per experiment and draws query by query, so the order of draws must not
change. Document IDs are the notebook's, query IDs are ours.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from metrics.runs import Runs
from metrics.simulation.drawing import LlmReranker, Segment
from metrics.support.arrays import BoolArray, FloatArray
from metrics.ties.permutations import OrderingCounts

SEED = 42
_List = tuple[list[str], FloatArray, BoolArray]
"""Ids, scores and relevance of one list's documents."""

NOTEBOOK_RERANKERS: Mapping[str, LlmReranker] = {
    "GPT-4 (Low Ties)": LlmReranker(0.1, 20),
    "PaLM-2 (Medium Ties)": LlmReranker(0.3, 10),
    "Claude (High Ties)": LlmReranker(0.5, 5),
    "Local LLM (Very High Ties)": LlmReranker(0.7, 3),
}
"""The notebook's four rerankers, with its names; their scores are simulated."""

NOTEBOOK_SCENARIOS: Mapping[str, tuple[Sequence[float], int]] = {
    "No Ties": ((0.9, 0.8, 0.7, 0.6, 0.5), 2),
    "Simple Tie": ((0.9, 0.8, 0.8, 0.6, 0.5), 2),
    "Complex Tie": ((0.8, 0.8, 0.8, 0.6, 0.5), 2),
    "Multiple Ties": ((0.9, 0.8, 0.8, 0.6, 0.6), 3),
}
"""Its demonstration: scores of five documents, and the number of the relevant one, from 1."""

NOTEBOOK_CASES: Mapping[str, tuple[int, ...]] = {
    "Small ties": (2, 2),
    "Medium ties": (3, 3, 2),
    "Large tie": (5,),
    "Very large tie": (8,),
    "Multiple large ties": (4, 4, 3),
}
"""Tie sizes of the five cases in its complexity analysis."""

_TYPES: Mapping[str, tuple[float, float]] = {
    "Simple factual": (0.2, 0.8),
    "Complex reasoning": (0.4, 0.6),
    "Multi-hop": (0.5, 0.7),
    "Ambiguous": (0.6, 0.5),
}
"""Types of query of its G-RAG evaluation: chance of a tie, chance that a relevant document gains."""

NOTEBOOK_SEGMENTS: Mapping[str, Segment] = {
    name: Segment(performance, ties / _TYPES["Complex reasoning"][0])
    for name, (ties, performance) in _TYPES.items()
}
"""The same types for any reranker: ties as likely as its own for complex reasoning, and in proportion."""

_LEFT_ALONE = 0.1
"""Chance that an LLM scores a relevant document like any other."""
_UNTOUCHED = 0.3
"""Chance that a synthetic list keeps the few scores it draws from."""


def notebook_scenarios() -> Runs:
    """Return the notebook's four demonstrations, one query each."""
    lists = (
        (name, [f"doc{at + 1}" for at in range(len(scores))], np.array(scores), _flags([hit - 1], len(scores)))
        for name, (scores, hit) in NOTEBOOK_SCENARIOS.items()
    )
    return _runs(_rows("Scenarios", *one) for one in lists)


def notebook_synthetic(n: int = 200) -> Runs:
    """Return the lists behind the notebook's six panels: 5 to 14 documents, 1 to 3 relevant, some tied."""
    draw = np.random.RandomState(SEED)
    return _runs(_rows("Synthetic", f"s{at:03d}", *_synthetic(at, draw)) for at in range(n))


def _synthetic(number: int, draw: np.random.RandomState) -> _List:
    n = int(draw.randint(5, 15))
    distinct = int(draw.randint(3, n + 1))
    scores = draw.choice(draw.uniform(0.1, 1.0, distinct), size=n)
    if draw.random_sample() > _UNTOUCHED:
        scores = scores + draw.normal(0, 0.01, n)
    relevant = _relevant(n, int(draw.randint(1, min(4, n + 1))), draw)
    return [f"doc_{number}_{document}" for document in range(n)], scores, _flags(relevant, n)


def notebook_llm_rerankers(n_queries: int = 100) -> Runs:
    """Return its four simulated rerankers on the same queries: 8 to 19 documents, 1 to 4 relevant."""
    draw = np.random.RandomState(SEED)
    parts = []
    for query in range(n_queries):
        n = int(draw.randint(8, 20))
        relevant = _flags(_relevant(n, int(draw.randint(1, min(5, n))), draw), n)
        ids = [f"doc_{document}" for document in range(n)]
        parts += [
            _rows(name, f"q{query:03d}", ids, llm_scores(reranker, relevant, draw), relevant)
            for name, reranker in NOTEBOOK_RERANKERS.items()
        ]
    return _runs(parts)


def llm_scores(reranker: LlmReranker, relevant: BoolArray, draw: np.random.RandomState) -> FloatArray:
    """Draw (n_docs,) scores: uniform, usually higher where relevant, rounded to levels, then tied.

    The draws follow the notebook's order.
    """
    n = len(relevant)
    scores: FloatArray = draw.uniform(0.1, 0.9, n)
    for document in np.flatnonzero(relevant):
        if draw.random_sample() > _LEFT_ALONE:
            scores[document] += draw.uniform(0.1, 0.3)
    scores = np.clip(scores, 0, 1)
    if reranker.levels:
        levels = np.linspace(0, 1, reranker.levels)
        scores = levels[np.abs(scores[:, None] - levels).argmin(axis=1)]
    for document in np.arange(n):
        if draw.random_sample() < reranker.tie_probability and n > 1:
            other = draw.choice(np.delete(np.arange(n), document))
            scores[other] = scores[document]
    return scores


def notebook_grag(per_type: int = 25) -> Runs:
    """Return the notebook's G-RAG evaluation: queries of four types, in the column `segment`."""
    draw = np.random.RandomState(SEED)
    types = [name for name in _TYPES for _ in range(per_type)]
    return _runs(
        _rows("G-RAG", f"g{at:03d}", *_grag(*_TYPES[name], draw)).assign(segment=name)
        for at, name in enumerate(types)
    )


def _grag(ties: float, performance: float, draw: np.random.RandomState) -> _List:
    n = int(draw.randint(10, 20))
    n_relevant = int(draw.randint(1, 4))
    scores = draw.uniform(0.1, 1.0, n)
    relevant = _relevant(n, n_relevant, draw)
    for document in relevant:
        if draw.random_sample() < performance:
            scores[document] += draw.uniform(0.2, 0.4)
    if draw.random_sample() < ties:
        shared = draw.choice(scores)
        tied = int(draw.randint(2, min(5, n)))
        scores[draw.choice(n, size=tied, replace=False)] = shared
    return [f"doc_{document}" for document in range(n)], np.clip(scores, 0, 1), _flags(relevant, n)


def _relevant(n: int, n_relevant: int, draw: np.random.RandomState) -> Sequence[int]:
    positions: Sequence[int] = draw.choice(n, size=n_relevant, replace=False).tolist()
    return positions


def _flags(relevant: Sequence[int], n: int) -> BoolArray:
    flags = np.zeros(n, dtype=bool)
    flags[relevant] = True
    return flags


def _rows(
    reranker: str, query: str, ids: Sequence[str], scores: FloatArray, relevant: BoolArray
) -> pd.DataFrame:
    columns = {"doc_id": ids, "score": scores, "relevance": relevant.astype(int)}
    return pd.DataFrame({"reranker": reranker, "query_id": query} | columns)


def _runs(parts: Iterable[pd.DataFrame]) -> Runs:
    return Runs.from_frame(pd.concat(parts, ignore_index=True))


def notebook_cases() -> pd.DataFrame:
    """Return the notebook's five cases of its complexity analysis.

    Returns:
        case, tie_sizes, orderings, n_tie_groups, max_tie_size, tractable, draws (recommended if intractable,
        else NA).
    """
    counts = [
        OrderingCounts.of(np.repeat(np.arange(len(sizes)), sizes), np.zeros(sum(sizes)))
        for sizes in NOTEBOOK_CASES.values()
    ]
    table = pd.DataFrame(
        {
            "case": list(NOTEBOOK_CASES),
            "tie_sizes": [list(count.tie_sizes) for count in counts],
            "orderings": [count.orderings for count in counts],
            "n_tie_groups": [len(count.tie_sizes) for count in counts],
            "max_tie_size": [max(count.tie_sizes) for count in counts],
            "tractable": [count.tractable for count in counts],
            "draws": [pd.NA if count.tractable else count.draws for count in counts],
        }
    )
    return table.astype({"draws": "Int64"})
