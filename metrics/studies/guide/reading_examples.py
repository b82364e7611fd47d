"""Lists that show how a value is read: two with one MRR and two MAPs, and one in random order."""

from collections.abc import Mapping, Sequence

import pandas as pd

from metrics.evaluation import evaluate
from metrics.runs import Runs

SCENARIOS: Mapping[str, tuple[int, ...]] = {"A": (1, 4, 5), "B": (1, 2, 3)}
"""Ranks of the relevant documents of two lists."""
LENGTH = 10
"""Documents of each."""
GRADES = (3, 2, 1, 0, 0)
"""Grades of the documents of one more list."""


def scenario_values() -> pd.DataFrame:
    """Score the two scenarios: index scenario, columns RR and AP."""
    lists = {name: [int(rank in ranks) for rank in range(1, LENGTH + 1)] for name, ranks in SCENARIOS.items()}
    return _score(lists, ["RR", "AP"], ties=False)


def random_order_value(measure: str, grades: Sequence[int] = GRADES) -> float:
    """Return what a random order of these grades scores on average: the tied value of one tie of all."""
    return float(_score({"random": grades}, [measure], ties=True).iloc[0, 0])


def _score(lists: Mapping[str, Sequence[int]], measures: Sequence[str], *, ties: bool) -> pd.DataFrame:
    """Score lists of grades, top first; index list, columns measures."""
    rows = [
        (name, str(place), 0 if ties else -place, grade)
        for name, grades in lists.items()
        for place, grade in enumerate(grades)
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"])
    scores = evaluate(Runs.from_frame(frame), measures, "expected").scores
    return scores.droplevel("reranker").droplevel("ties", axis=1)
