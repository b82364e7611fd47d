"""Time TieScope against pytrec_eval on the same files: python tests/benchmarks/against_pytrec_eval.py.

Prints a table of medians over interleaved repeats, ours, theirs, their ratio, and the target.
`--queries` sets the size (lists of 100 documents), `--repeats` how often.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import files
import numpy as np
import pandas as pd
import pytrec_eval
from pyarrow import csv

import metrics
from metrics.runs import File, read

MEASURES = ["RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10", "P@10", "R@10", "F1@10", "AP", "nDCG@10"]
TIES = ["expected", "input", "optimistic", "pessimistic"]
THEIRS = {"recip_rank", "success_1,3,5,10", "P_10", "recall_10", "map", "ndcg_cut_10"}
OURS_ALONE = "import metrics; metrics.evaluate(metrics.read_runs([{run!r}], {qrels!r}), {measures}, {ties})"
THEIRS_ALONE = (
    "import pytrec_eval; run = pytrec_eval.parse_run(open({run!r})); "
    "qrels = pytrec_eval.parse_qrel(open({qrels!r})); "
    "pytrec_eval.RelevanceEvaluator(qrels, {theirs}).evaluate(run)"
)


def ours_whole(run, qrels):
    return metrics.evaluate(metrics.read_runs([run], qrels), MEASURES, TIES)


def theirs_whole(run, qrels):
    with run.open() as ranked, qrels.open() as judged:
        parsed = pytrec_eval.parse_run(ranked)
        return pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(judged), THEIRS).evaluate(parsed)


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def against(ours, theirs, repeats):
    """Median seconds of both, run in turn after one round of warming up."""
    ours(), theirs()
    rounds = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return tuple(statistics.median(column) for column in zip(*rounds, strict=True))


def alone(code):
    """Wall seconds and peak megabytes of a fresh process, as Linux counts them."""
    start = time.perf_counter()
    peak = "int(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    watch = f"{code}; print({peak} / 1024)"
    out = subprocess.run([sys.executable, "-c", watch], check=True, capture_output=True, text=True)
    return time.perf_counter() - start, float(out.stdout.split()[-1])


def processes(ours, theirs, repeats):
    """Median wall seconds and megabytes of both as processes of their own, run in turn."""
    rounds = [alone(ours) + alone(theirs) for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def reading(run):
    """One run read and checked, against pyarrow parsing the same file into all its columns."""
    parse, names = csv.ParseOptions(delimiter=" "), csv.ReadOptions(autogenerate_column_names=True)
    return lambda: read(File.open(run)), lambda: csv.read_csv(run, names, parse)


def one_tie(n=1_000_000):
    """All measures of one list that is one tie, as `evaluate` takes it, against sorting its scores."""
    frame = pd.DataFrame(
        {"query_id": "q", "doc_id": np.arange(n), "score": 0.5, "relevance": np.arange(n) < 100}
    )
    runs = metrics.Runs.from_frame(frame)
    names = [one.name + ("@10" if one.cutoff == "required" else "") for one in metrics.MEASURES]
    scores = np.random.default_rng(0).random(n)
    return lambda: metrics.evaluate(runs, names, ["expected"]), lambda: np.sort(scores)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--queries", type=int, default=10_000)
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--larger", action="store_true", help="also ten times as many queries")
    arguments = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = files.write(Path(folder), arguments.queries, 100)
        whole_times = against(
            lambda: ours_whole(run, qrels), lambda: theirs_whole(run, qrels), arguments.repeats
        )
        rows.append(("files to values, s", *whole_times, 0.30))
        rows.append(("reading, s (theirs: pyarrow)", *against(*reading(run), arguments.repeats), 1.5))
        runs = metrics.read_runs([run], qrels)
        with run.open() as ranked, qrels.open() as judged:
            parsed, judgments = pytrec_eval.parse_run(ranked), pytrec_eval.parse_qrel(judged)
        evaluator = pytrec_eval.RelevanceEvaluator(judgments, THEIRS)
        alone_ = against(
            lambda: metrics.evaluate(runs, MEASURES, TIES),
            lambda: evaluator.evaluate(parsed),
            arguments.repeats,
        )
        rows.append(("evaluation alone, s", *alone_, 0.20))
        names = {"run": str(run), "qrels": str(qrels), "measures": MEASURES, "ties": TIES, "theirs": THEIRS}
        ours, theirs = OURS_ALONE.format(**names), THEIRS_ALONE.format(**names)
        our_time, our_peak, their_time, their_peak = processes(ours, theirs, max(3, arguments.repeats // 2))
        rows += [("whole process, s", our_time, their_time, 1), ("peak memory, MB", our_peak, their_peak, 0.8)]
        if arguments.larger:
            run10, qrels10 = files.write(Path(folder), arguments.queries * 10, 100)
            ours_whole(run10, qrels10)
            larger = statistics.median(seconds(lambda: ours_whole(run10, qrels10)) for _ in range(3))
            rows.append(("ten times the rows, s a tenth", larger / 10, whole_times[0], 1.2))
    rows.append(("one tie of a million, s", *against(*one_tie(), arguments.repeats), 5))
    imports = [f"import {name}" for name in ("metrics", "pandas, pyarrow")]
    loaded = processes(*imports, arguments.repeats)
    rows.append(("import, s", loaded[0], loaded[2], 1.4))
    print(f"{arguments.queries * 100:,} rows, medians; a ratio at or below its target meets it")
    print(f"{'work':32}{'ours':>10}{'theirs':>10}{'ratio':>8}{'target':>8}")
    for work, ours, theirs, target in rows:
        print(f"{work:32}{ours:10.3f}{theirs:10.3f}{ours / theirs:8.2f}{target:8.2f}")


if __name__ == "__main__":
    main()
