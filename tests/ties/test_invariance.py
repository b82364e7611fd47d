"""What must hold of every measure under every treatment, whatever the list."""

from itertools import pairwise

import pandas as pd
from drawing import MEASURES, TREATMENTS, frame, tables
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate


def scores(table, treatments=tuple(TREATMENTS)):
    return evaluate(Runs.from_frame(table), MEASURES, treatments).scores.sort_index()


def assert_same(actual, expected):
    pd.testing.assert_frame_equal(actual, expected, rtol=1e-12, atol=1e-15)


@given(tables(), st.randoms())
def test_interleaving_lists_changes_nothing_while_each_keeps_its_order(table, draw):
    rows = frame(table)
    lists = [list(part.index) for _, part in rows.groupby(["reranker", "query_id"], sort=False)]
    order = []
    while lists:
        list_rows = draw.choice(lists)
        order.append(list_rows.pop(0))
        lists = [one for one in lists if one]
    assert_same(scores(rows), scores(rows.loc[order]))


@given(tables())
def test_only_the_order_of_scores_matters_not_their_size(table):
    rows = frame(table)
    assert_same(scores(rows), scores(rows.assign(score=rows["score"].rank(method="dense") * 1e6)))


@given(tables())
def test_hits_never_fall_as_the_cutoff_grows_and_rr_lies_between_its_cut_form_and_hits(table):
    values = scores(frame(table))
    hits = pairwise(["Hits@1", "Hits@2", "Hits@3", "Hits@5", "Hits@10"])
    for low, high in (*hits, ("Hits@1", "RR@3"), ("RR@3", "RR"), ("RR@3", "Hits@3"), ("RR", "Hits@10")):
        assert values[low].sub(values[high]).le(1e-15).all(axis=None)
