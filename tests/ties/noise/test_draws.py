"""Noisy orders held against drawn scores, exact enumeration and lists that stand alone."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from relevance_measures import MEASURES, with_cutoffs

from metrics import evaluate, parse

NOISY = [measure for measure in MEASURES if measure.family.noisy and not measure.family.own_rule]
NAMES = with_cutoffs(["", "@2"], ["@1", "@3"], NOISY)
DRAWN = ["RR", "RR@3", "Hits@3", "AP", "AP@3", "AP-cap@12", "nDCG", "nDCG@5", "P@5", "RBP(0.8)", "DR@4"]


def board(rng, n_docs, query="q"):
    return pd.DataFrame(
        {
            "query_id": query,
            "doc_id": [f"d{number}" for number in range(n_docs)],
            "score": np.round(rng.random(n_docs), 2),
            "relevance": rng.choice([0.0, 0.0, 0.0, 1.0, 2.0], n_docs),
            "target_id": rng.choice(list("stuv"), n_docs),
            "score_std": rng.choice([0.0, 0.02, 0.1, 0.5], n_docs),
        }
    )


def values(table, ties, measures=NAMES):
    return evaluate(table, measures, ties).scores.to_numpy()


def value_of_orders(table, order):
    """(n_orders, n_measures) values of `DRAWN`, by the textbook, of (n_orders, n_docs) documents in order."""
    grades, targets = table["relevance"].to_numpy()[order], table["target_id"].to_numpy()[order]
    hits, place = grades >= 1, np.arange(1.0, order.shape[1] + 1)
    n_relevant, gains = max((table["relevance"] >= 1).sum(), 1), 2**grades - 1
    ideal = np.sort(2 ** table["relevance"].to_numpy() - 1)[::-1]
    precisions = hits * np.cumsum(hits, axis=1) / place
    first = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, np.inf)
    discounts = 1 / np.log2(place + 1)
    names = np.unique(table["target_id"][table["relevance"] >= 1])
    distinct = sum((hits & (targets == name))[:, :4].any(axis=1) for name in names)
    return np.stack(
        [
            1 / first,
            np.where(first <= 3, 1 / first, 0),
            first <= 3,
            precisions.sum(axis=1) / n_relevant,
            precisions[:, :3].sum(axis=1) / n_relevant,
            precisions[:, :12].sum(axis=1) / min(n_relevant, 12),
            gains @ discounts / (ideal @ discounts),
            gains[:, :5] @ discounts[:5] / (ideal[:5] @ discounts[:5]),
            hits[:, :5].mean(axis=1),
            hits @ (0.2 * 0.8 ** (place - 1)),
            distinct / len(names),
        ],
        axis=1,
    )


@pytest.mark.parametrize(
    ("ties", "n_docs"), [("noise:0.1", 9), ("noise:0.1", 40), ("noise", 9), ("noise:decimals:1", 9)]
)
def test_values_are_those_of_200_000_draws_within_four_standard_errors(ties, n_docs):
    rng = np.random.default_rng(7)
    table = board(rng, n_docs)
    sums, squares, n_draws = 0, 0, 200_000
    for _ in range(10):
        size = n_draws // 10, n_docs
        if ties == "noise:decimals:1":
            noise = (rng.random(size) - 0.5) / 10
        else:
            noise = rng.standard_normal(size) * (table["score_std"].to_numpy() if ties == "noise" else 0.1)
        drawn = value_of_orders(table, np.argsort(-(table["score"].to_numpy() + noise), axis=1))
        sums, squares = sums + drawn.sum(axis=0), squares + (drawn**2).sum(axis=0)
    mean = sums / n_draws
    error = np.sqrt(np.maximum(squares / n_draws - mean**2, 0) / n_draws)
    assert (np.abs(values(table, ties, DRAWN)[0] - mean) <= 4 * error + 1e-6).all()


def test_even_noise_on_a_grid_is_the_mean_over_all_half_cells():
    rng = np.random.default_rng(3)
    for _ in range(5):
        table = board(rng, 5).assign(score=rng.integers(0, 4, 5) / 2)
        lists = [
            table.assign(query_id=f"q{number}", score=2 * table["score"] + np.array(halves))
            for number, halves in enumerate(product([0, 1], repeat=5))
        ]
        exact = values(pd.concat(lists), "expected").mean(axis=0)
        assert values(table, "noise:decimals:0")[0] == pytest.approx(exact, abs=1e-12)


def test_scores_that_a_format_holds_differ_by_at_least_its_cells():
    scores = np.array([1.0, 1.0, 1.0078125, 0.99609375, 0.5, 0.498046875, -0.25, 0.0])
    table = board(np.random.default_rng(1), len(scores)).assign(score=scores)
    exact = values(table, "expected")
    for ties in ("noise:bfloat16", "noise:float16", "noise:float32", "noise:float64"):
        assert values(table, ties) == pytest.approx(exact, abs=1e-12)
    between = table.assign(score=scores + 0.001)
    assert np.abs(values(between, "noise:bfloat16") - values(between, "expected")).max() > 0.01


@pytest.mark.parametrize("ties", ["noise:0.05", "noise:0.001", "noise:decimals:1"])
def test_a_list_scores_the_same_alone_as_among_others(ties):
    rng = np.random.default_rng(5)
    lists = [board(rng, n_docs, f"q{n_docs}") for n_docs in (1, 2, 5, 12, 30, 64, 130)]
    together = values(pd.concat(lists), ties)
    for number, table in enumerate(lists):
        assert values(table, ties)[0] == pytest.approx(together[number], abs=1e-13)


@pytest.mark.parametrize("ties", ["noise:0.05", "noise", "noise:decimals:1"])
def test_a_measure_scores_the_same_alone_as_beside_others_that_share_its_tables(ties):
    rng = np.random.default_rng(9)
    table = pd.concat(board(rng, n_docs, f"q{n_docs}") for n_docs in (3, 20, 60))
    together = values(table, ties, DRAWN[::-1])[:, ::-1]
    for number, name in enumerate(DRAWN):
        assert values(table, ties, name)[:, 0] == pytest.approx(together[:, number], abs=1e-13)


@pytest.mark.parametrize("n_docs", [30, 150, 300])
def test_endless_noise_of_long_lists_is_one_tie_of_all(n_docs):
    table = board(np.random.default_rng(n_docs), n_docs)
    tied = values(table.assign(score=1.0), "expected")
    assert values(table, "noise:1e9") == pytest.approx(tied, abs=1e-6)


def test_the_worth_of_places_is_never_above_the_largest_there_is():
    table = pd.concat(board(np.random.default_rng(number), 20, f"q{number}") for number in range(20))
    bounded = [name for name in NAMES if parse(name).measure.largest == 1]
    noisy = values(table, ["noise:0.1", "noise:decimals:1"], bounded)
    assert (noisy >= 0).all()
    assert (noisy <= 1 + 1e-9).all()
