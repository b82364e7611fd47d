"""How many orders of two rerankers survive what ties and unjudged documents leave open, on TREC DL 2019.

    python tests/benchmarks/verdicts_with_holes.py FOLDER

FOLDER holds runs (*.trec) and qrels.txt. An order is that of the tied means with all judgments. It holds over
ties where no order of them reverses it, and over ties and holes where no judgment of a ranked document that
nobody judged does, either: by both bars (`difference_bounds`). Both lists of a query share its judgments, so
more may hold. Then judgments are hidden at random, means of five draws: how many orders the tied means still
have, and how many hold. Below 10: what all rerankers have below place 10 is taken not to be relevant.
"""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from metrics import evaluate, read_runs
from metrics.evaluation import ScoringOptions
from metrics.evaluation.grade_model import RankedDocuments
from metrics.evaluation.holes import difference_bounds, joint_bounds
from metrics.studies.holes import holds
from metrics.studies.judged_copies import judged_below

MEASURES = ["nDCG@10", "RR", "AP"]
HIDDEN = [0.1, 0.3, 0.5]
DRAWS = 5
DEPTH = 10
OPTIONS = ScoringOptions(relevant_from=2)
TIES = {"expected": "tied", "pessimistic": "lowest", "optimistic": "highest"}


def signs(table, measure, pairs):
    """Return whose tied mean is above in each pair: 1 for the first, -1 for the second."""
    means = table[measure]["expected"].groupby(level="reranker").mean()
    return np.sign(means[pairs["reranker"]].to_numpy() - means[pairs["baseline"]].to_numpy())


def count_held(runs, pairs):
    """Return, for each measure, how many orders hold over ties and holes, without and with a depth."""
    documents = RankedDocuments.of(runs, OPTIONS)
    tables = [joint_bounds(board, MEASURES, OPTIONS) for board in (runs, judged_below(runs, documents, DEPTH))]
    return {
        measure: [int(holds(difference_bounds(table[measure], pairs)).sum()) for table in tables]
        for measure in MEASURES
    }


def hidden_rows(runs, pairs, known):
    """Yield a row for each measure and share of hidden judgments: the share, the measure, and three counts."""
    for share in HIDDEN:
        counts = {measure: [] for measure in MEASURES}
        for draw in range(DRAWS):
            is_left = np.random.default_rng(draw).random(len(runs.qrels)) >= share
            rest = runs.judged_by(runs.qrels.filter(pa.array(is_left)))
            held = count_held(rest, pairs)
            scores = evaluate(rest, MEASURES, "expected", relevant_from=OPTIONS.relevant_from).scores
            for measure in MEASURES:
                n_same = int((signs(scores, measure, pairs) == known[measure]).sum())
                counts[measure].append([n_same, *held[measure]])
        for measure in MEASURES:
            yield f"{share:.0%}", measure, *np.mean(counts[measure], axis=0)


def main(folder):
    runs = read_runs(sorted(Path(folder).glob("*.trec")), Path(folder) / "qrels.txt")
    pairs = pd.DataFrame(combinations(runs.rerankers, 2), columns=["reranker", "baseline"])
    scores = evaluate(runs, MEASURES, list(TIES), relevant_from=OPTIONS.relevant_from).scores
    known = {measure: signs(scores, measure, pairs) for measure in MEASURES}
    counts = f"{len(runs.rerankers)} rerankers, {len(pairs)} orders, {len(runs.qrels):,} judgments"
    print(f"{counts}, relevant from {OPTIONS.relevant_from}\n")
    print(f"{'hidden':>8}{'measure':>10}{'same order':>12}{'over ties':>11}{'and holes':>11}{'below 10':>10}")
    held = count_held(runs, pairs)
    for measure in MEASURES:
        over_ties = int(holds(difference_bounds(scores[measure].rename(columns=TIES), pairs)).sum())
        print(
            f"{'none':>8}{measure:>10}{len(pairs):>12}{over_ties:>11}{held[measure][0]:>11}{held[measure][1]:>10}"
        )
    for share, measure, n_same, n_held, n_below in hidden_rows(runs, pairs, known):
        print(f"{share:>8}{measure:>10}{n_same:>12.1f}{'':>11}{n_held:>11.1f}{n_below:>10.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
