"""Seconds that MTRR of one tie takes by every ordering, every relevance pattern, draws and the closed form.

    python tests/benchmarks/tie_costs.py

The first two go through their orders in Python, as the notebook does; the best of three runs is taken.
"""

import time

import pandas as pd

from metrics import Runs
from metrics.studies.gaps.complexity import tie_costs
from metrics.studies.one_list.ordering_samples import sample_values
from metrics.studies.one_list.orderings import list_values
from metrics.ties import Orderings, Patterns, Ranking

SIZES = (2, 5, 8, 10)
REPEATS = 3


def tie(size):
    """One list whose documents are all tied, the last one relevant."""
    rows = {"doc_id": [f"d{place}" for place in range(size)], "score": 1.0, "relevance": 0}
    table = pd.DataFrame(rows | {"reranker": "tie", "query_id": "q"})
    table.loc[size - 1, "relevance"] = 1
    return Runs.from_frame(table)


def mean(values):
    total = n = 0
    for value in values:
        total, n = total + value, n + 1
    return total / n


def methods(runs, draws):
    """Name → what computes MTRR by that method."""
    ranking = Ranking.of(runs, "tie")
    grades = ranking.grades.tolist()
    return {
        "enumeration": lambda: mean(
            1 / (1 + next(place for place, document in enumerate(order) if grades[document]))
            for order in Orderings.of(ranking, "q")
        ),
        "patterns": lambda: mean(1 / (1 + pattern.index(1.0)) for pattern in Patterns.of(ranking, "q")),
        "sampling": lambda: sample_values(ranking, "q", "RR", draws, 0).mean(),
        "closed form": lambda: list_values(ranking, "q", ["RR"], ["expected"]),
    }


def seconds(work):
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    costs = tie_costs(1, SIZES).set_index("size")
    for size in SIZES:
        runs = tie(size)
        measured = {name: seconds(work) for name, work in methods(runs, int(costs.loc[size, "draws"])).items()}
        print(size, *(f"{name} {value:.2g} s" for name, value in measured.items()), sep="\t")


if __name__ == "__main__":
    main()
