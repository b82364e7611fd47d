"""Seconds that values under noise take beside tied ones: lists of 100 documents, RR, nDCG@10 and AP together.

    python tests/benchmarks/noise.py [LISTS]

10,000 lists if not said. Scores even on 0 to 1 with a standard deviation of 0.05, and five grades with half the
distance of two grades. Seconds are of the processor, medians of three alternations; the goal is
60 times those of `expected`.
"""

import statistics
import sys
from functools import partial

import numpy as np
import pandas as pd
from fresh import cpu_seconds

from metrics import Runs, evaluate

MEASURES = ["RR", "nDCG@10", "AP"]
N_DOCS, GOAL, N_ALTERNATIONS = 100, 60, 3


def main(n_lists=10_000):
    rng = np.random.default_rng(0)
    scores = rng.random(n_lists * N_DOCS)
    table = pd.DataFrame(
        {
            "query_id": np.repeat(np.arange(n_lists).astype(str), N_DOCS),
            "doc_id": np.tile(np.arange(N_DOCS).astype(str), n_lists),
            "relevance": rng.choice([0.0] * 9 + [1, 2], len(scores)),
        }
    )
    for name, given, ties in (
        ("even scores", scores, "noise:0.05"),
        ("five grades", np.floor(5 * scores) / 5, "noise:0.1"),
    ):
        runs = Runs.from_frame(table.assign(score=given))
        works = [partial(evaluate, runs, MEASURES, way) for way in ("expected", ties)]
        pairs = [tuple(map(cpu_seconds, works)) for _ in range(N_ALTERNATIONS)]
        tied, noisy = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"{name}, {ties}: {noisy:.2f} s, {noisy / tied:.0f} times {tied:.3f} s (goal: {GOAL})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
