"""Time TieScope beside pytrec_eval, pyarrow and bare imports: python tests/benchmarks/against_pytrec_eval.py.

Prints rows of work, figure and goal: medians over interleaved repeats, ours, theirs, their ratio and the most
it should be. Seconds are those of CPU, which a busy machine leaves as they are, but for rows that say "clock".
"First" is the first thing a process does once its modules are imported, "warm" a repeat. `--queries` sets the
size (lists of 100 documents), `--repeats` how often.
"""

import argparse
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import files
import numpy as np
import pandas as pd
import pytrec_eval
from fresh import cpu_seconds, first_call, medians, whole_process
from pyarrow import csv

import metrics
from metrics.runs import File, read

MEASURES = ["RR", "Hits@1", "Hits@3", "Hits@5", "Hits@10", "P@10", "R@10", "F1@10", "AP", "nDCG@10"]
TIES = ["expected", "input", "optimistic", "pessimistic"]
THEIRS = {"recip_rank", "success_1,3,5,10", "P_10", "recall_10", "map", "ndcg_cut_10"}
OURS = "import metrics; from metrics import evaluate, read_runs"
"""Loads what reading and scoring need, as pytrec_eval loads it with its name."""
OURS_READ = "runs = metrics.read_runs([{run!r}], {qrels!r})"
OURS_SCORED = f"metrics.evaluate(runs, {MEASURES}, {TIES})"
THEIRS_READ = (
    "run = pytrec_eval.parse_run(open({run!r})); qrels = pytrec_eval.parse_qrel(open({qrels!r})); "
    f"evaluator = pytrec_eval.RelevanceEvaluator(qrels, set({sorted(THEIRS)}))"
)
THEIRS_SCORED = "evaluator.evaluate(run)"
TIESCOPE = "from dashboard.cli import main; main()"
TABLES = "import pandas, pyarrow"


def clock_seconds(work):
    """Seconds of the clock that a piece of work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def against(ours, theirs, repeats, seconds=cpu_seconds):
    """Median seconds of both, in turn."""
    return medians([partial(seconds, ours), partial(seconds, theirs)], repeats)


def first_calls(run, qrels, repeats):
    """Rows of what a process does first."""
    names = {"run": str(run), "qrels": str(qrels)}
    ours_read, theirs_read = OURS_READ.format(**names), THEIRS_READ.format(**names)
    table = f"{str(run)!r}, csv.ReadOptions(autogenerate_column_names=True), csv.ParseOptions(delimiter=' ')"
    whole, their_whole, scored, their_scored, reading, their_reading = medians(
        [
            partial(first_call, OURS, f"{ours_read}; {OURS_SCORED}"),
            partial(first_call, "import pytrec_eval", f"{theirs_read}; {THEIRS_SCORED}"),
            partial(first_call, f"{OURS}; {ours_read}", OURS_SCORED),
            partial(first_call, f"import pytrec_eval; {theirs_read}", THEIRS_SCORED),
            partial(first_call, "from metrics.runs import File, read", f"read(File.open({str(run)!r}))"),
            partial(first_call, "from pyarrow import csv", f"csv.read_csv({table})"),
        ],
        repeats,
    )
    yield "files to values, first", whole.cpu, their_whole.cpu, 0.30
    yield "evaluation alone, first", scored.cpu, their_scored.cpu, 0.20
    yield "reading, first (pyarrow)", reading.cpu, their_reading.cpu, 1.6
    yield "reading, first, clock (pyarrow)", reading.wall, their_reading.wall, 1.6
    yield "peak memory, MB", whole.megabytes, their_whole.megabytes, 0.75


def warm_calls(run, qrels, repeats):
    """Rows of what a process does again."""

    def ours():
        return metrics.evaluate(metrics.read_runs([run], qrels), MEASURES, TIES)

    def parsed():
        with run.open() as ranked, qrels.open() as judged:
            return pytrec_eval.parse_run(ranked), pytrec_eval.parse_qrel(judged)

    def theirs():
        ranked, judged = parsed()
        return pytrec_eval.RelevanceEvaluator(judged, THEIRS).evaluate(ranked)

    yield "files to values, warm", *against(ours, theirs, repeats), 0.30
    runs, (ranked, judged) = metrics.read_runs([run], qrels), parsed()
    evaluator = pytrec_eval.RelevanceEvaluator(judged, THEIRS)
    scoring = lambda: metrics.evaluate(runs, MEASURES, TIES), lambda: evaluator.evaluate(ranked)
    yield "evaluation alone, warm", *against(*scoring, repeats), 0.20
    names, parse = csv.ReadOptions(autogenerate_column_names=True), csv.ParseOptions(delimiter=" ")
    reading = lambda: read(File.open(run)), lambda: csv.read_csv(run, names, parse)
    yield "reading, warm (pyarrow)", *against(*reading, repeats), 1.6
    yield "reading, warm, clock (pyarrow)", *against(*reading, repeats, clock_seconds), 1.6


def imports_and_commands(run, qrels, repeats):
    """Rows of whole processes that do little or nothing but import."""
    package, function, help_, evaluate, tables, typer = medians(
        [
            partial(whole_process, "import metrics"),
            partial(whole_process, "from metrics import evaluate"),
            partial(whole_process, TIESCOPE, "--help"),
            partial(whole_process, TIESCOPE, "evaluate", run, "--qrels", qrels),
            partial(whole_process, TABLES),
            partial(whole_process, "import typer"),
        ],
        repeats,
    )
    yield "import metrics (pandas, pyarrow)", package, tables, 1.05
    yield "from metrics import evaluate (pandas, pyarrow)", function, tables, 1.05
    yield "tiescope --help (import typer)", help_, typer, 1.5
    yield "tiescope evaluate, 43 queries (pandas, pyarrow)", evaluate, tables, 1.2


def ten_times(folder, n_queries, run, qrels):
    """The row of ten times as many rows, a tenth of its seconds."""

    def scored(pair):
        return metrics.evaluate(metrics.read_runs([pair[0]], pair[1]), MEASURES, TIES)

    pairs = (run, qrels), files.write(folder, n_queries * 10, 100)
    once, ten = medians([partial(cpu_seconds, partial(scored, pair)) for pair in pairs], 3)
    return "ten times the rows, a tenth (once)", ten / 10, once, 1.2


def one_tie(n=1_000_000):
    """All measures of one list that is one tie, but for those that refuse it, against sorting its scores."""
    frame = pd.DataFrame(
        {"query_id": "q", "doc_id": np.arange(n), "score": 0.5, "relevance": np.arange(n) < 100}
    )
    runs = metrics.Runs.from_frame(frame)
    names = []
    for measure in metrics.MEASURES:
        name = measure.name + "@10" * (measure.cutoff == "required")
        with suppress(metrics.UsageError):
            metrics.evaluate(runs, [name], ["expected"])
            names.append(name)
    scores = np.random.default_rng(0).random(n)
    return lambda: metrics.evaluate(runs, names, ["expected"]), lambda: np.sort(scores)


def measured(folder, arguments):
    """Rows of the table: work, ours, theirs, goal."""
    run, qrels = files.write(folder, arguments.queries, 100)
    yield from first_calls(run, qrels, arguments.repeats)
    yield from warm_calls(run, qrels, arguments.repeats)
    yield from imports_and_commands(*files.write(folder, 43, 100), arguments.repeats)
    yield "one tie of a million, warm (sorting)", *against(*one_tie(), arguments.repeats), 5
    if arguments.larger:
        yield ten_times(folder, arguments.queries, run, qrels)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--queries", type=int, default=10_000)
    options.add_argument("--repeats", type=int, default=7)
    options.add_argument("--larger", action="store_true", help="also ten times as many queries")
    arguments = options.parse_args()
    print(f"{arguments.queries * 100:,} rows; theirs is pytrec_eval's where nobody is named")
    print(f"{'work':52}{'ours':>9}{'theirs':>9}{'figure':>8}{'goal':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for work, ours, theirs, goal in measured(Path(folder), arguments):
            print(f"{work:52}{ours:9.3f}{theirs:9.3f}{ours / theirs:8.2f}{goal:7.2f}", flush=True)


if __name__ == "__main__":
    main()
