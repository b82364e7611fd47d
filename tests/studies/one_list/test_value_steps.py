"""AP and nDCG rank by rank: the terms add up to what the measures give."""

import numpy as np
import pytest
from drawing import frame, lists
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs
from metrics.studies.one_list.orderings import list_values
from metrics.studies.one_list.value_steps import value_steps
from metrics.ties import Ranking


def ranking(docs):
    table = {"A": {"other": [Doc("x", 1, 2), Doc("y", 1, 0)], "q": docs, "last": [Doc("z", 1, 1)]}}
    return Ranking.of(Runs.from_frame(frame(table)), "A")


@given(lists(), st.sampled_from(["input", "docid_desc", "optimistic", "expected"]), st.integers(1, 6))
def test_the_terms_of_all_ranks_add_up_to_ap_and_to_ndcg(docs, ties, k):
    values = list_values(ranking(docs), "q", ["AP", f"nDCG@{k}"], [ties])[ties]
    steps = value_steps(ranking(docs), "q", ties, k)
    assert steps[["ap_term", "ndcg_term"]].sum().to_list() == pytest.approx(values.to_list())
    assert steps["rank"].is_monotonic_increasing
    assert steps["precision"].dropna().between(0, 1 + 1e-12).all()


def test_in_a_strict_order_each_relevant_rank_has_its_precision():
    docs = [Doc("a", 5, 1), Doc("b", 4, 0), Doc("c", 3, 2), Doc("d", 2, 0), Doc("e", 1, 1)]
    steps = value_steps(ranking(docs), "q", "input", 10).set_index("rank")
    assert steps.index.to_list() == [1, 3, 5]
    assert steps["precision"].to_list() == pytest.approx([1, 2 / 3, 3 / 5])
    assert steps["gain"].to_list() == [1, 3, 1]
    assert steps["discount"].to_list() == pytest.approx(1 / np.log2([2, 4, 6]))


def test_in_a_tie_each_rank_has_the_mean_over_its_orders():
    steps = value_steps(ranking([Doc("a", 1, 1), Doc("b", 1, 0), Doc("c", 1, 1)]), "q", "expected", 10)
    assert steps["chance"].to_list() == pytest.approx([2 / 3] * 3)
    assert steps["precision"].to_list() == pytest.approx([1, (1 + 1 / 2) / 2, 2 / 3])
