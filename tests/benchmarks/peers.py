"""Run what others use on the same work, and print Markdown: python tests/benchmarks/peers.py

The first table is the CPU of pieces of work, ours and of a tool that does the same: medians of fresh processes
in turn, from values in memory to the value of every list. The second is the CPU of a first call, imports
included, and of a second, of all tools on the same dictionaries, and the peak memory. The third holds values of
short lists against all orderings of their ties, in exact fractions: on how many lists a value is not their
mean, and how far off it is at most. Tools that are not installed are left out with a sentence:
pip install pytrec-eval-terrier ir-measures ranx scikit-learn tie-aware-retrieval-metrics torch torchmetrics
(torch: the CPU build)
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import numpy as np

MEASURES = ("RR", "P@10", "R@10", "AP", "nDCG@10")
SHORT_MEASURES = ("RR", "P@3", "R@3", "AP", "nDCG@3")
NAMES = {"RR": "mrr", "AP": "map", "P": "precision", "R": "recall", "nDCG": "ndcg"}
"""What ranx and tie-aware-retrieval-metrics call the measures."""
PATHS = [str(Path(__file__).parents[up]) for up in range(3)]
"""The benchmarks, the tests with their enumeration, and the packages."""
LEVELS = 11
"""Scores that documents can have, as of a model asked for a grade from 0 to 10."""
EQUAL = 1e-9
Table = Mapping[str, Mapping[str, float]]


class Peer(NamedTuple):
    """A tool: its distribution, what it does about ties, and the values of every list by measure."""

    package: str
    ties: str
    values: Callable[[Table, Table, tuple[str, ...]], Mapping[str, Mapping[str, float]]]


def tiescope(run, qrels, measures):
    import metrics

    scores = metrics.evaluate(run, measures, "expected", qrels=qrels).scores
    queries = scores.index.get_level_values("query_id")
    return {name: dict(zip(queries, scores[name, "expected"], strict=True)) for name in measures}


def pytrec_eval(run, qrels, measures):
    import pytrec_eval as tool

    spelled = {name: _trec_name(name) for name in measures}
    by_query = tool.RelevanceEvaluator(qrels, set(spelled.values())).evaluate(run)
    return {name: {query: row[theirs] for query, row in by_query.items()} for name, theirs in spelled.items()}


def _trec_name(measure):
    name, _, k = measure.partition("@")
    return {"RR": "recip_rank", "AP": "map", "P": f"P_{k}", "R": f"recall_{k}", "nDCG": f"ndcg_cut_{k}"}[name]


def ir_measures(run, qrels, measures):
    import ir_measures as tool

    spelled = {tool.parse_measure(name): name for name in measures}
    values = {name: {} for name in measures}
    for metric in tool.iter_calc(list(spelled), qrels, run):
        values[spelled[metric.measure]][metric.query_id] = metric.value
    return values


def ranx(run, qrels, measures):
    from ranx import Qrels, Run, evaluate

    spelled = {name: _ranx_name(name) for name in measures}
    scored = Run({query: dict(docs) for query, docs in run.items()})
    evaluate(Qrels({query: dict(docs) for query, docs in qrels.items()}), scored, list(spelled.values()))
    return {name: dict(scored.scores[theirs]) for name, theirs in spelled.items()}


def _ranx_name(measure):
    name, sign, k = measure.partition("@")
    return NAMES[name] + sign + k


def scikit_learn(run, qrels, measures):
    from sklearn.metrics import average_precision_score, ndcg_score

    values = {name: {} for name in measures if name[0] in "An"}
    for query, docs in run.items():
        grades, scores = [qrels[query][document] for document in docs], list(docs.values())
        for name, by_query in values.items():
            if name == "AP":
                by_query[query] = average_precision_score(grades, scores)
            else:
                by_query[query] = ndcg_score([grades], [scores], k=int(name.partition("@")[2]))
    return values


def trm(run, qrels, measures):
    from trm import evaluate

    scores = [list(docs.values()) for docs in run.values()]
    relevant = [[bool(qrels[query][document]) for document in docs] for query, docs in run.items()]
    values, longest = {}, max(map(len, scores))
    for measure in measures:
        name, _, k = measure.partition("@")
        theirs = NAMES[name]
        depth = int(k or longest)
        results = evaluate(scores, relevant, [theirs], [depth]).per_query[theirs][depth]
        values[measure] = {query: result.expected for query, result in zip(run, results, strict=True)}
    return values


PEERS = {
    "TieScope": Peer("tiescope", "mean over all orders", tiescope),
    "pytrec_eval": Peer("pytrec-eval-terrier", "document ID, descending", pytrec_eval),
    "ir_measures": Peer("ir-measures", "same as the tool it calls", ir_measures),
    "ranx": Peer("ranx", "one order, by its sort", ranx),
    "scikit-learn": Peer("scikit-learn", "nDCG: mean; AP: one step per tie", scikit_learn),
    "tie-aware-retrieval-metrics": Peer("tie-aware-retrieval-metrics", "mean over all orders", trm),
}


def judged_runs(n_queries, n_documents, seed=7):
    """A run whose scores have few levels, and judgments of every document, at least one of a list relevant."""
    generator = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(n_documents)]
    run, qrels = {}, {}
    for query in range(n_queries):
        scores = generator.integers(0, min(LEVELS, max(n_documents // 2, 2)), n_documents) / 10
        grades = (generator.random(n_documents) < 0.1 + 0.2 * scores).astype(int)
        grades[generator.integers(n_documents)] = 1
        order = generator.permutation(n_documents)
        run[f"q{query}"] = {names[place]: float(scores[place]) for place in order}
        qrels[f"q{query}"] = {names[place]: int(grades[place]) for place in order}
    return run, qrels


def differences(peer, n_queries=200, n_documents=6):
    """Yield measure, lists on which a value is not the mean of all orderings, and the largest difference."""
    from enumeration import Doc, reference

    run, qrels = judged_runs(n_queries, n_documents)
    for measure, values in peer.values(run, qrels, SHORT_MEASURES).items():
        exact = {
            query: float(
                reference([Doc(d, score, qrels[query][d]) for d, score in docs.items()], measure, "expected")
            )
            for query, docs in run.items()
        }
        errors = [abs(values[query] - exact[query]) for query in run]
        yield measure, sum(error > EQUAL for error in errors), max(errors)


def arrays(n_queries, n_documents, as_type=np.asarray):
    """Grades and scores of `judged_runs`, (n_queries, n_documents)."""
    run, qrels = judged_runs(n_queries, n_documents)
    scores = np.array([[*docs.values()] for docs in run.values()])
    grades = np.array([[qrels[query][name] for name in docs] for query, docs in run.items()])
    return as_type(grades), as_type(scores)


class Work(NamedTuple):
    """One piece of work that two tools do: what each runs, how often in a process, and the ratio wanted.

    `setup` is not timed, and nor is a first run, but for `first`.
    """

    name: str
    peer: str
    size: tuple[int, int]
    times: int
    setup: str
    ours: str
    theirs: str
    goal: float | None = None
    first: bool = False


FOUR = ["expected", "input", "optimistic", "pessimistic"]
DICTIONARIES = "run, qrels = judged_runs({})"
EVALUATE = "metrics.evaluate(run, MEASURES, {}, qrels=qrels).scores"
THEIRS = "{}(run, qrels, MEASURES)"
ROWS = (
    "rows = [(query, name, score, qrels[query][name]) for query in run for name, score in run[query].items()]"
)
FRAME = "frame = pd.DataFrame(rows, columns=['query_id', 'doc_id', 'score', 'relevance'])"
ARRAYS = "from sklearn.metrics import ndcg_score; grades, scores = arrays({})"
TENSORS = """
import torch, torchmetrics.retrieval as tm
grades, scores = arrays({}, torch.tensor)
flat = scores.flatten(), grades.flatten()
indexes = torch.arange(len(scores)).repeat_interleave(scores.shape[1])"""
SMALL, LARGE = (1000, 100), (10_000, 100)


def works():
    """All pieces of work."""
    for size, times, goal in ((LARGE, 1, 1.0), (SMALL, 3, 1.0), ((50, 100), 50, 3.0), ((1, 10), 200, None)):
        for peer in ("pytrec_eval", "ir_measures"):
            ours, theirs = EVALUATE.format("'expected'"), THEIRS.format(peer)
            of_pytrec_eval = goal if peer == "pytrec_eval" else None
            yield Work("dictionaries", peer, size, times, DICTIONARIES, ours, theirs, of_pytrec_eval)
    ours, theirs = EVALUATE.format(FOUR), THEIRS.format("pytrec_eval")
    yield Work("dictionaries, four tie orders", "pytrec_eval", LARGE, 1, DICTIONARIES, ours, theirs, 1.2)
    yield Work("dictionaries, four tie orders", "pytrec_eval", SMALL, 3, DICTIONARIES, ours, theirs, 1.2)
    setup = f"import pandas as pd\n{DICTIONARIES}\n{ROWS}\n{FRAME}"
    ours = "metrics.evaluate(frame, MEASURES, 'expected').scores"
    yield Work("the same as a data frame", "pytrec_eval", SMALL, 3, setup, ours, theirs)
    imports = "import pandas, pyarrow"
    ours = f"import metrics; {EVALUATE.format(repr('expected'))}"
    yield Work("dictionaries, first call with imports", imports, SMALL, 1, "", ours, imports, 1.3, first=True)
    ours = "metrics.ndcg(grades, scores, 10, gain='linear')"
    theirs = "ndcg_score(grades, scores, k=10)"
    yield Work("arrays, nDCG@10", "scikit-learn", SMALL, 3, ARRAYS, ours, theirs, 0.3)
    for measure, function in (
        ("NormalizedDCG", "ndcg(grades, scores, gain='linear')"),
        ("MRR", "reciprocal_rank(grades, scores)"),
        ("MAP", "average_precision(grades, scores)"),
    ):
        theirs = f"tm.Retrieval{measure}()(*flat, indexes=indexes)"
        yield Work(f"tensors, {measure}", "torchmetrics", SMALL, 3, TENSORS, f"metrics.{function}", theirs, 0.2)
    ours, theirs = "metrics.ndcg(grades[0], scores[0], gain='linear')", "ndcg_score(grades, scores)"
    yield Work("one list by its function, nDCG", "scikit-learn", (1, 10), 500, ARRAYS, ours, theirs)


def speed(work, repeats):
    """Median CPU seconds of one piece of work, ours and theirs, in fresh processes in turn."""
    from fresh import first_call, medians

    size = ", ".join(map(str, work.size))
    with tempfile.TemporaryDirectory() as folder:
        setup = f"import json, sys; sys.path[:0] = {PATHS}\n"
        if work.first:  # dictionaries from a file: making them imports numpy
            board = Path(folder) / "board.json"
            board.write_text(json.dumps(judged_runs(*work.size)))
            setup += f"MEASURES = {MEASURES}; run, qrels = json.loads(open({str(board)!r}).read())\n"
            calls = [(setup, work.ours), (setup, work.theirs)]
        else:
            setup += f"from peers import *; import metrics\n{work.setup.format(size)}\n"
            repeated = [f"for _ in range({work.times}): {call}" for call in (work.ours, work.theirs)]
            calls = [
                (f"{setup}{call}", again)
                for call, again in zip((work.ours, work.theirs), repeated, strict=True)
            ]
        figures = medians([partial(first_call, *call) for call in calls], repeats)
    return [cost.cpu / work.times for cost in figures]


def print_speed(repeats, names):
    """Print the table of all pieces of work whose other tool is installed."""
    print("| work | lists × documents | TieScope, ms | other, ms | other | ratio | goal |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: |")
    for work in works():
        if work.peer in names or work.first:
            ours, theirs = (seconds * 1e3 for seconds in speed(work, repeats))
            cells = [work.name, f"{work.size[0]:,} × {work.size[1]}", f"{ours:.3g}", f"{theirs:.3g}", work.peer]
            print(f"| {' | '.join(cells)} | {ours / theirs:.2f} | {work.goal or '–'} |", flush=True)


def installed(package):
    """The version of a distribution; None where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "this checkout" if package == "tiescope" else None


def costs(name, n_queries, n_documents, repeats):
    """Median cost of a first and of a second call, each in a process of its own."""
    from fresh import first_call, medians

    setup = f"import sys; sys.path[:0] = {PATHS}\nfrom peers import *\n"
    setup += f"run, qrels = judged_runs({n_queries}, {n_documents}); values = PEERS[{name!r}].values\n"
    call = "values(run, qrels, MEASURES)"
    return medians([lambda: first_call(setup, call), lambda: first_call(f"{setup}{call}", call)], repeats)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    packages = {name: peer.package for name, peer in PEERS.items()} | {"torchmetrics": "torchmetrics"}
    names = [name for name, package in packages.items() if installed(package) is not None]
    for name in packages.keys() - set(names):
        print(f"{name} is not installed, and left out: pip install {packages[name]}\n")
    print(f"{', '.join(MEASURES)}, ties averaged; CPU, medians of {repeats} fresh processes in turn.\n")
    print_speed(repeats, names)
    peers = {name: peer for name, peer in PEERS.items() if name in names}
    print(f"\n1,000 lists of 100 documents in dictionaries, {', '.join(MEASURES)}; CPU seconds.\n")
    print("| tool | version | first call | second call | peak MB |\n| --- | --- | ---: | ---: | ---: |")
    for name, peer in peers.items():
        first, second = costs(name, 1000, 100, min(repeats, 3))
        figures = f"{first.cpu:.2f} | {second.cpu:.2f} | {second.megabytes:.0f}"
        print(f"| {name} | {installed(peer.package)} | {figures} |", flush=True)
    print("\n200 lists of 6 documents with ties. Each cell gives the number of lists on which the tool differs")
    print("from the mean over all orders, and in brackets the largest difference.\n")
    print(f"| tool | ties | {' | '.join(SHORT_MEASURES)} |\n| --- | --- |{' ---: |' * len(SHORT_MEASURES)}")
    for name, peer in peers.items():
        cells = {measure: f"{n} ({largest:.2f})" if n else "0" for measure, n, largest in differences(peer)}
        row = " | ".join(cells.get(measure, "–") for measure in SHORT_MEASURES)
        print(f"| {name} | {peer.ties} | {row} |", flush=True)


if __name__ == "__main__":
    sys.path[:0] = PATHS
    main()
