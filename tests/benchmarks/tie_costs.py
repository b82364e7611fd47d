"""Seconds that MTRR of one tie takes by every ordering, draws and the closed form.

    python tests/benchmarks/tie_costs.py

The first goes through the orders in Python, as the notebook does; the best of three runs is taken. Then, of
every measure, the seconds that the standard deviation takes beside the mean: 1,000 lists of ten ties of ten.
"""

from functools import partial

import numpy as np
import pandas as pd
from fresh import cpu_seconds

from metrics import MEASURES, Runs, evaluate
from metrics.studies.orderings import list_values, sample_values
from metrics.ties import Orderings, Ranking, count_orderings

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
        "sampling": lambda: sample_values(ranking, "q", "RR", draws, 0).mean(),
        "closed form": lambda: list_values(ranking, "q", ["RR"], ["expected"]),
    }


def seconds(work):
    return min(cpu_seconds(work) for _ in range(REPEATS))


def many_ties(n_lists=1_000, n_docs=100):
    """Lists of ten ties of ten, a tenth of the documents relevant, three or so to a target."""
    draw, n = np.random.default_rng(0), n_lists * n_docs
    rows = {
        "reranker": "ties",
        "query_id": np.repeat(np.arange(n_lists), n_docs),
        "doc_id": np.tile(np.arange(n_docs), n_lists),
        "score": np.tile(np.arange(n_docs) // 10, n_lists),
        "relevance": draw.random(n) < 0.1,
        "target_id": draw.integers(n_docs // 3, size=n),
    }
    return Runs.from_frame(pd.DataFrame(rows))


def print_deviations():
    runs = many_ties()
    for measure in MEASURES:
        name = measure.name + "@10" * (measure.cutoff == "required")
        mean, std = (seconds(partial(evaluate, runs, name, ties)) for ties in ("expected", "std"))
        print(name, f"mean {mean:.2g} s", f"std {std:.2g} s", f"{std / mean:.2f} times", sep="\t")


def main():
    for size in SIZES:
        runs = tie(size)
        draws = count_orderings(Ranking.of(runs, "tie"), "q").draws
        measured = {name: seconds(work) for name, work in methods(runs, draws).items()}
        print(size, *(f"{name} {value:.2g} s" for name, value in measured.items()), sep="\t")
    print_deviations()


if __name__ == "__main__":
    main()
