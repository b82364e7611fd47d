"""How often tests call chance a difference, on simulated boards where there is none.

pytest -m slow tests/studies/test_error_rates.py    a quarter of an hour; not part of a plain run
"""

import numpy as np
import pytest
from comparing import scored, tied_values
from scipy import stats

from metrics.studies.significance.significance import compare
from metrics.studies.significance.test_registry import TESTS

BOARDS, FEWER, QUERIES, ALPHA = 2_000, 1_000, 50, 0.05
FEW_QUERIES = [(test.name, n) for test in TESTS if test.queries == "two" for n in (5, 10, 20)]


def rejected(test, boards=BOARDS, queries=QUERIES, rerankers=2):
    """Share of boards on which any pair is significant after Holm, though all rerankers are as good."""
    n_rejected = 0
    for seed in range(boards):
        values = tied_values(seed, queries, rerankers)
        board = scored(expected={f"r{at}": column for at, column in enumerate(values.T)})
        table = compare(board, "RR", "expected", test=test, level=1 - ALPHA, seed=seed)
        n_rejected += bool((table["p_adjusted"] < ALPHA).any())
    return n_rejected / boards


@pytest.mark.slow
@pytest.mark.parametrize("test", [test.name for test in TESTS if test.paired])
def test_one_in_twenty_null_boards_is_called_significant(test):
    low, high = stats.binom.interval(0.999, BOARDS, ALPHA)
    rate = rejected(test)
    assert low / BOARDS <= rate <= high / BOARDS, rate


@pytest.mark.slow
@pytest.mark.parametrize("test", [test.name for test in TESTS if test.paired])
def test_of_all_pairs_of_four_no_more_null_boards_are_called_significant(test):
    rate = rejected(test, FEWER, rerankers=4)
    assert rate <= stats.binom.ppf(0.9995, FEWER, ALPHA) / FEWER, rate


@pytest.mark.slow
@pytest.mark.parametrize(("test", "queries"), FEW_QUERIES)
def test_few_queries_do_not_make_chance_significant(test, queries):
    rate = rejected(test, FEWER, queries)
    assert rate <= stats.binom.ppf(0.9995, FEWER, ALPHA) / FEWER, rate


def test_the_simulated_values_tie_heavily_and_no_reranker_is_better():
    values = np.concatenate([tied_values(seed, QUERIES) for seed in range(200)])
    assert len(np.unique(values)) < 20
    assert 0.05 < np.mean(values[:, 0] == values[:, 1]) < 0.5
    assert abs(values[:, 0].mean() - values[:, 1].mean()) < 0.01
