"""Seconds of a thousand draws of a leaderboard: 16,000 rows with ties, without and with noise.

    python tests/benchmarks/draws.py [DRAWS]

Seconds are of the processor, medians of three; the goal is 3 s.
"""

import statistics
import sys
from functools import partial

import numpy as np
import pandas as pd
from fresh import cpu_seconds

from metrics import Runs, draws

GOAL, N_REPEATS = 3, 3
BOARDS = {
    "8 rerankers, 100 lists of 20, 4 scores": (8, 100, 20, 4),
    "4 rerankers, 40 lists of 100, 10 scores": (4, 40, 100, 10),
    "4 rerankers, 4 lists of 1,000 that tie": (4, 4, 1000, 1),
}


def board(rerankers, queries, size, levels):
    rng = np.random.default_rng(1)
    lists = pd.MultiIndex.from_product(
        [
            [f"r{n}" for n in range(rerankers)],
            [f"q{n}" for n in range(queries)],
            [f"d{n}" for n in range(size)],
        ],
        names=["reranker", "query_id", "doc_id"],
    )
    grades = np.tile(rng.choice([0.0, 0.0, 0.0, 1.0, 2.0], queries * size), rerankers)
    scores = rng.integers(0, levels, len(lists)).astype(float)
    return Runs.from_frame(lists.to_frame(index=False).assign(score=scores, relevance=grades))


def main(n_draws=1000):
    for name, shape in BOARDS.items():
        runs = board(*shape)
        for noise in (0, 0.5):
            for measure in ("nDCG@10", "AP"):
                work = partial(draws, runs, measure, n=n_draws, noise=noise)
                seconds = statistics.median(cpu_seconds(work) for _ in range(N_REPEATS))
                print(f"{name}, {measure}, noise {noise}: {seconds:.2f} s (goal: {GOAL})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
