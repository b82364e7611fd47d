"""Differences of two lists over all orders of ties and all judgments, against enumeration of both."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from metrics import UsageError, evaluate, read_runs
from metrics.evaluation.holes import difference_bounds, joint_bounds

MEASURES = ["P@2", "DCG@3", "nDCG@3", "R@2", "RBP(0.8)", "F1@2", "RR", "AP"]
EXACT = ["P@2", "DCG@3", "RBP(0.8)"]
PAIR = pd.DataFrame({"reranker": ["a"], "baseline": ["b"]})


def lists(seed, *, has_ties):
    """Two lists that share documents of one query, some judged: rows, judgments, and the documents without."""
    generator = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(5)]
    rows = [
        ("a" if own else "b", "q", document, generator.integers(0, 3) if has_ties else generator.random())
        for own in (True, False)
        for document in generator.permutation(documents)[: generator.integers(3, 6)]
    ]
    is_judged = generator.random(5) < 0.6
    is_judged[0] = True
    qrels = [("q", name, int(generator.integers(0, 3))) for name in np.array(documents)[is_judged]]
    listed = {document for _, _, document, _ in rows}
    unjudged = [name for name in np.array(documents)[~is_judged] if name in listed]
    table = pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score"])
    return table, pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]), unjudged


def differences(table, qrels, unjudged):
    """The smallest and the largest difference of each measure over all judgments (a query each) and orders."""
    grades = {0, *qrels["relevance"]} | (set() if (qrels["relevance"] >= 1).any() else {1})
    rows, judgments = [], []
    for number, choice in enumerate(product(sorted(grades), repeat=len(unjudged))):
        added = pd.DataFrame({"query_id": "q", "doc_id": unjudged, "relevance": choice}).astype(qrels.dtypes)
        rows.append(table.assign(query_id=f"q{number}"))
        judgments.append(pd.concat([qrels, added]).assign(query_id=f"q{number}"))
    runs = read_runs(pd.concat(rows), pd.concat(judgments))
    scores = evaluate(runs, MEASURES, ["pessimistic", "optimistic"]).scores
    worst, best = (scores.xs(ties, axis=1, level="ties")[MEASURES] for ties in ("pessimistic", "optimistic"))
    return (worst.loc["a"] - best.loc["b"]).min(), (best.loc["a"] - worst.loc["b"]).max()


@pytest.mark.parametrize("has_ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_differences_lie_within_bounds_that_are_exact_for_sums_without_ties(seed, has_ties):
    table, qrels, unjudged = lists(seed, has_ties=has_ties)
    smallest, largest = (ends.to_numpy() for ends in differences(table, qrels, unjudged))
    runs = read_runs(table, qrels)
    bars = joint_bounds(runs, MEASURES)
    bounds = pd.concat([difference_bounds(runs, measure, PAIR, bars[measure]) for measure in MEASURES])
    bounds.index = MEASURES
    assert (bounds["lowest"] <= smallest + 1e-12).all()
    assert (bounds["highest"] >= largest - 1e-12).all()
    lowest, highest = (
        bars.xs(end, axis=1, level="bound").loc[["a", "b"]].to_numpy() for end in ("lowest", "highest")
    )
    assert (bounds["lowest"] >= lowest[0] - highest[1] - 1e-12).all(), "no wider than both bars"
    assert (bounds["highest"] <= highest[0] - lowest[1] + 1e-12).all()
    if not has_ties:
        exact = [MEASURES.index(name) for name in EXACT]
        assert np.allclose(bounds.loc[EXACT], np.stack([smallest, largest], axis=1)[exact])


def test_queries_that_one_of_both_lacks_do_not_count():
    index = pd.MultiIndex.from_tuples([("a", "q"), ("a", "r"), ("b", "q")], names=["reranker", "query_id"])
    bars = pd.DataFrame({"lowest": [0.5, 0.0, 0.1], "highest": [0.6, 1.0, 0.3]}, index)
    table, qrels, _ = lists(0, has_ties=False)
    bounds = difference_bounds(read_runs(table, qrels), "RR", PAIR, bars)
    assert np.allclose(bounds, [[0.5 - 0.3, 0.6 - 0.1]])


def test_a_reranker_without_bounds_is_named():
    table, qrels, _ = lists(0, has_ties=False)
    runs = read_runs(table, qrels)
    bounds = joint_bounds(runs, "RR")["RR"]
    with pytest.raises(UsageError, match="no reranker 'z'"):
        difference_bounds(runs, "RR", PAIR.assign(baseline="z"), bounds)
