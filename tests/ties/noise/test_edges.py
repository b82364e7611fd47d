"""Noise where floats end: infinite scores, 0, the largest and smallest numbers; and lists that are too long."""

import numpy as np
import pandas as pd
import pytest
from drawing import one_list as board

from metrics import UsageError, evaluate
from metrics.ties import noise as limits

MEASURES = ["RR", "AP", "nDCG", "Hits@3", "RR@3"]
FORMATS = ["noise:float64", "noise:float32", "noise:float16", "noise:bfloat16", "noise:decimals:1"]


def values(table, ties, measures=MEASURES):
    return evaluate(table, measures, ties).scores.to_numpy()


@pytest.mark.parametrize("ties", [*FORMATS, "noise:1e-9", "noise"])
@pytest.mark.parametrize("sign", [1, -1])
def test_infinite_scores_are_a_tie(ties, sign):
    table = board(sign * np.array([1.0, 0.5, -np.inf, -np.inf]), [2], score_std=[0.001, 0.001, 0, 0.2])
    assert values(table, ties) == pytest.approx(values(table, "expected"), abs=1e-12)


def test_the_cell_of_0_is_the_smallest_step_of_its_format():
    table = board([2e-4, 0.0], [1])
    for ties in FORMATS[:4]:
        assert values(table, ties, ["RR"]).item() == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("ties", FORMATS)
def test_the_largest_numbers_keep_their_order(ties):
    table = board(np.finfo(float).max * np.array([1.0, 0.5, -1.0, -1.0]), [1, 2])
    assert values(table, ties) == pytest.approx(values(table, "expected"), abs=1e-12)


def test_the_standard_deviations_of_a_list_say_nothing_about_another():
    first = board([0.5, 0.5, 0.4], [1], score_std=[0.0, 0.1, 0.1])
    second = board([0.5, 0.5, 0.4], [1], "r", score_std=[0.0, 1e-9, 1e-9])
    together = values(pd.concat([first, second]), "noise")
    assert together[0] == pytest.approx(values(first, "noise")[0], abs=1e-13)


@pytest.mark.parametrize(
    ("deviations", "problem"),
    [
        ([5e-324, 0.0], r"score_std .* between 1e-290"),
        ([1e-300, 0.0], r"score_std .* between 1e-290"),
        ([1e-280, 1e280], r"smallest standard deviation \(1e-280\)"),
    ],
)
def test_standard_deviations_that_floats_cannot_divide_by_are_refused(deviations, problem):
    with pytest.raises(UsageError, match=problem):
        values(board([0.5, 0.5], [1], score_std=deviations), "noise")


@pytest.mark.parametrize(
    ("ties", "measure"),
    [("noise:decimals:0", "RR"), ("noise:decimals:0", "AP"), ("noise", "RR")],
)
def test_a_list_that_costs_too_much_is_refused_with_the_feasible_size(ties, measure):
    rng = np.random.default_rng(0)
    table = board(rng.random(1200), range(0, 1200, 10), score_std=10 ** rng.uniform(-8, 2, 1200))
    with pytest.raises(
        UsageError,
        match=r"reorder 1,200 documents of one list.* take about [1-9]\d+ seconds.* limit is about \d",
    ):
        values(table, ties, [measure])


def test_stretches_that_fill_the_memory_are_refused_for_that():
    with pytest.raises(UsageError, match="need too much memory"):
        limits.refuse_long(np.array([5]), np.array([1e9]), limits.MAX_STRETCHES)


@pytest.mark.parametrize("ties", ["noise:decimals:0", "noise:0.5", "noise"])
def test_many_short_lists_are_not_held_against_the_limit_of_one(monkeypatch, ties):
    table = board(np.linspace(0, 1, 12), [3], score_std=np.linspace(0.5, 1, 12))
    lists = pd.concat(table.assign(query_id=f"q{number}") for number in range(20))
    alone = values(table, ties)
    monkeypatch.setattr(limits.refuse_long, "__defaults__", (20_000,))
    assert values(lists, ties) == pytest.approx(np.tile(alone, (20, 1)), abs=1e-13)
    monkeypatch.setattr(limits.refuse_long, "__defaults__", (100,))
    with pytest.raises(UsageError, match="12 documents"):
        values(lists, ties)


@pytest.mark.parametrize("ties", ["noise:0.5", "noise"])
def test_a_list_scores_the_same_below_one_that_ends_where_it_begins(ties):
    all_alike = board(np.full(100, 3.0), [0], "q1", score_std=0.5)
    graded = board(np.repeat([3.0, 2.0, 1.0], [20, 30, 50]), [5, 30], "q2", score_std=0.5)
    measures = ["RR@10", "P@10", "nDCG@10", "Hits@10"]
    together = values(pd.concat([all_alike, graded]), ties, measures)
    assert together[1] == pytest.approx(values(graded, ties, measures)[0], abs=1e-13)


def test_deviations_inside_a_tie_score_the_same_whatever_lists_are_sorted_with_them():
    random = np.random.default_rng(3)
    lists = []
    for query, n_docs in (("q1", 30), ("q2", 37)):
        table = board(random.integers(0, 3, n_docs) / 2, range(0, n_docs, 4), query)
        lists.append(table.assign(score_std=random.choice([0.1, 0.3, 1.0], n_docs)))
    together = values(pd.concat(lists), "noise", ["RR", "AP", "nDCG@3"])
    alone = [values(table, "noise", ["RR", "AP", "nDCG@3"])[0] for table in lists]
    assert together == pytest.approx(np.array(alone), abs=1e-13)
