"""Changes told once, and seldom where there are none, however often one looks."""

import numpy as np
import pandas as pd
import pytest

from metrics.evaluation.running import find_change
from metrics.scale.live import ChangeWatch


class Arriving:
    """Values that come one by one, without ties, as `Running` keeps them."""

    measures = ("RR",)

    def __init__(self, values):
        self.values, self.n = np.asarray(values, dtype=float), 0

    @property
    def n_lists(self):
        return {"llm": self.n}

    def change(self, _reranker, _measure, *, after):
        values = self.values[after : self.n]
        return find_change(values, values, values, pd.Index([f"q{n}" for n in range(after, self.n)]))


def told(values):
    """The queries at which changes are told, looking after each value."""
    running = Arriving(values)
    watch, queries = ChangeWatch(running), []
    for running.n in range(1, len(values) + 1):
        queries += [new.change.query_id for new in watch.new_changes()]
    return queries


def test_who_looks_after_every_list_is_hardly_ever_told_of_a_change_that_is_none():
    rng = np.random.default_rng(0)
    assert sum(bool(told(1 / rng.integers(1, 6, 400))) for _ in range(100)) <= 3


@pytest.mark.parametrize("step", [0.5, -0.5])
def test_each_change_is_told_once_and_the_next_one_too(step):
    noise = np.random.default_rng(1).normal(0, 0.1, 300)
    queries = told(noise + step * np.repeat([0, 1, 0], 100))
    assert [round(int(query[1:]), -1) for query in queries] == [100, 200]
