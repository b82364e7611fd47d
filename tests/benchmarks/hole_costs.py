"""CPU seconds of `evaluate` alone, with `lowest` and `highest`, and with `joint_bounds` beside it.

    python tests/benchmarks/hole_costs.py [--repeats 5] [--folder FOLDER]

Each figure is of a fresh process that has scored one list before: the usual measures and treatments, medians,
and the ratio to `evaluate` alone run beside it. FOLDER holds run files `*.trec` and `qrels.txt`; boards of
several sizes, a quarter, a half and nine tenths of their documents judged, are made.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from metrics import evaluate, read_runs
from metrics.evaluation.holes import BOUNDS, joint_bounds
from metrics.evaluation.scoring import DEFAULT_MEASURES, DEFAULT_TIES

GOAL = 1.5
BOARDS = ("5x50x100x0.9", "20x500x50x0.9", "20x500x50x0.5", "20x500x50x0.25", "5x40x1000x0.5")
WAYS = ("alone", "with lowest and highest", "joint_bounds after it")


def made_board(name):
    """Rerankers x queries x documents x share judged: scores with ties, grades 0 to 3."""
    *sizes, judged_share = name.split("x")
    n_rerankers, n_queries, n_docs = map(int, sizes)
    draw, n_lists = np.random.default_rng(0), n_rerankers * n_queries
    run = pd.DataFrame(
        {
            "reranker": np.repeat([f"r{number}" for number in range(n_rerankers)], n_queries * n_docs),
            "query_id": np.tile(np.repeat([f"q{number}" for number in range(n_queries)], n_docs), n_rerankers),
            "doc_id": np.concatenate([draw.choice(2 * n_docs, n_docs, replace=False) for _ in range(n_lists)]),
            "score": draw.integers(0, 20, n_lists * n_docs).astype(float),
        }
    )
    pairs = run[["query_id", "doc_id"]].drop_duplicates()
    judged = pairs[draw.random(len(pairs)) < float(judged_share)]
    return read_runs(run, judged.assign(relevance=draw.choice([0.0, 0, 0, 1, 2, 3], len(judged))))


def print_seconds(board, way):
    """Print the CPU seconds of one way on one board: what each process does."""
    folder = Path(board)
    runs = (
        read_runs(sorted(folder.glob("*.trec")), folder / "qrels.txt") if folder.is_dir() else made_board(board)
    )
    ties = [*DEFAULT_TIES, *(BOUNDS if way == WAYS[1] else ())]
    evaluate(
        read_runs(pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": 1.0, "relevance": 1.0})), ties=ties
    )
    start = time.process_time()
    evaluate(runs, ties=ties)
    if way == WAYS[2]:
        joint_bounds(runs, DEFAULT_MEASURES)
    print(time.process_time() - start)


def measured_seconds(board, way):
    command = [sys.executable, __file__, "--board", board, "--way", way]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder")
    parser.add_argument("--board")
    parser.add_argument("--way")
    choices = parser.parse_args()
    if choices.board:
        print_seconds(choices.board, choices.way)
        return
    for board in (*BOARDS, *filter(None, [choices.folder])):
        seconds = {way: [] for way in WAYS}
        for _ in range(choices.repeats):
            for way in WAYS:
                seconds[way].append(measured_seconds(board, way))
        for way in WAYS:
            ratio = median(own / alone for own, alone in zip(seconds[way], seconds[WAYS[0]], strict=True))
            print(
                f"{board:>18}  {way:<24} {median(seconds[way]):8.3f} s  {ratio:5.2f}  (goal {GOAL})", flush=True
            )


if __name__ == "__main__":
    main()
