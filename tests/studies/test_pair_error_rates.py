"""How often the default test calls chance a difference, on boards whose rerankers are equally good.

pytest -m slow tests/studies/test_pair_error_rates.py    ten minutes; not part of a plain run
"""

import numpy as np
import pytest
from repository import ROOT

from metrics.studies.pair_tests import Comparison, largest_statistic

BOARDS, QUERIES, RERANKERS, ALPHA = 4_000, 30, 4, 0.05
PAIRS = np.column_stack(np.triu_indices(RERANKERS, 1))
SYMMETRIC = {
    "normal": lambda random, size: random.normal(size=size),
    "uniform": lambda random, size: random.uniform(-1, 1, size),
    "three-valued": lambda random, size: random.choice([-1.0, 0, 1], size, p=[0.1, 0.8, 0.1]),
    "Laplace": lambda random, size: random.laplace(size=size),
    "t with 3 degrees of freedom": lambda random, size: random.standard_t(3, size),
}
"""Values of rerankers that are alike and independent, so that their differences are symmetric."""
SKEWED = {
    "exponential": lambda random, size: random.exponential(size=size) - 1,
    "1 on 10% of queries, else 0": lambda random, size: (random.random(size) < 0.1) - 0.1,
    "1 on 2% of queries, else 0": lambda random, size: (random.random(size) < 0.02) - 0.02,
    "+1 on 2% of queries, −0.25 on 8%, else 0": lambda random, size: random.choice(
        [1, -0.25, 0], size, p=[0.02, 0.08, 0.9]
    ),
}
"""Differences of two rerankers, less their mean; rerankers that are alike have symmetric differences."""
GUIDE = ROOT / "docs" / "how-to" / "compare.md"


def error_rate(values_of, n_boards, shape):
    """Return the share of boards with a significant pair, though all means are equal."""
    n_wrong = 0
    for seed in range(n_boards):
        values = values_of(np.random.default_rng(seed), shape)
        pairs = PAIRS if shape[1] == RERANKERS else np.array([[0, 1]])
        if len(pairs) == 1:
            values = np.column_stack([np.zeros(len(values)), values])
        results = largest_statistic(Comparison(values, pairs, seed))
        n_wrong += bool((results.p_adjusted < ALPHA).any())
    return n_wrong / n_boards


@pytest.mark.slow
@pytest.mark.parametrize("name", SYMMETRIC)
def test_at_most_one_in_twenty_null_boards_of_symmetric_differences_has_a_significant_pair(name):
    rate = error_rate(SYMMETRIC[name], BOARDS, (QUERIES, RERANKERS))
    assert rate <= ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / BOARDS), rate


@pytest.mark.slow
@pytest.mark.parametrize("name", SKEWED)
def test_the_docs_give_the_error_rates_of_skewed_differences(name):
    row = next(
        line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} |")
    )
    rates = [error_rate(SKEWED[name], BOARDS, (n, 1)) for n in (10, 30, 100, 300)]
    assert row == f"| {name} | {' | '.join(f'{rate:.1%}' for rate in rates)} |"
