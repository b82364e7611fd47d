"""What must hold of every measure under every treatment, whatever the list."""

from itertools import pairwise

import pandas as pd
import pytest
from drawing import MEASURES, TREATMENTS, frame, tables
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate

SEEDS = st.integers(0, 2**32 - 1)


def scores(table, treatments=tuple(TREATMENTS)):
    return evaluate(Runs.from_frame(table), MEASURES, treatments).scores.sort_index()


def assert_same(actual, expected):
    pd.testing.assert_frame_equal(actual, expected, rtol=1e-12, atol=1e-15)


@given(tables(), SEEDS)
def test_shuffling_the_rows_changes_nothing_but_the_input_treatment(table, seed):
    rows = frame(table)
    treatments = [ties for ties in TREATMENTS if ties != "input"]
    assert_same(scores(rows, treatments), scores(rows.sample(frac=1, random_state=seed), treatments))


@given(tables(), st.randoms())
def test_renaming_documents_changes_nothing_but_the_docid_treatments(table, draw):
    rows = frame(table)
    names = list(rows["doc_id"].unique())
    shuffled = draw.sample(names, len(names))
    renamed = rows.assign(doc_id=rows["doc_id"].map(dict(zip(names, shuffled, strict=True))))
    treatments = ["expected", "input", "optimistic", "pessimistic"]
    assert_same(scores(rows, treatments), scores(renamed, treatments))


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
def test_pessimistic_and_optimistic_enclose_every_other_treatment(table):
    values = scores(frame(table))
    for measure in MEASURES:
        by_treatment = values[measure]
        assert (by_treatment.sub(by_treatment["pessimistic"], axis=0) >= -1e-15).all(axis=None)
        assert (by_treatment.sub(by_treatment["optimistic"], axis=0) <= 1e-15).all(axis=None)


@given(tables(untied=True))
def test_all_treatments_agree_where_nothing_ties(table):
    values = scores(frame(table))
    for measure in MEASURES:
        assert values[measure].eq(values[measure]["input"], axis=0).all(axis=None)


@given(tables())
def test_values_lie_between_zero_and_one(table):
    values = scores(frame(table))
    assert values.ge(0).all(axis=None)
    assert values.le(1).all(axis=None)


@given(tables())
def test_hits_never_fall_as_the_cutoff_grows(table):
    values = scores(frame(table))
    for low, high in pairwise(["Hits@1", "Hits@2", "Hits@3", "Hits@5", "Hits@10"]):
        assert values[low].sub(values[high]).le(1e-15).all(axis=None)


@given(tables())
def test_rr_lies_between_its_cut_form_and_hits(table):
    values = scores(frame(table))
    for low, high in (("Hits@1", "RR@3"), ("RR@3", "RR"), ("RR@3", "Hits@3"), ("RR", "Hits@10")):
        assert values[low].sub(values[high]).le(1e-15).all(axis=None)


@pytest.mark.parametrize("ties", TREATMENTS)
def test_adding_a_reranker_leaves_the_others_as_they_were(ties):
    rows = pd.DataFrame({"query_id": "q", "doc_id": list("abc"), "score": [1, 1, 0], "relevance": [0, 1, 1]})
    alone = scores(rows.assign(reranker="A"), [ties])
    values = scores(pd.concat([rows.assign(reranker="B", score=0), rows.assign(reranker="A")]), [ties])
    assert_same(alone, values.loc[["A"]])
