"""AP and nDCG rank by rank: the terms add up to what the measures give."""

import numpy as np
import pandas as pd
import pytest
from drawing import frame, lists
from enumeration import (
    Doc,
    all_orderings,
    in_order,
    judged_list,
    rank_counts,
    reference,
    tie_groups,
    value_in_order,
)
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.studies.one_list import (
    every_ordering,
    first_rank_chances,
    gap_of_list,
    ladder,
    list_label,
    lists_by_gap,
    query_finding,
    value_steps,
)
from metrics.studies.orderings import list_values
from metrics.studies.prose import Strong, plain
from metrics.ties import Ranking

SHORT = lists(ids=st.text("abZ9", min_size=1, max_size=2)).map(lambda docs: docs[:5])
TIES = ["expected", "optimistic", "pessimistic", "input"]


def ranking(docs):
    table = {"A": {"other": [Doc("x", 1, 1), Doc("y", 1, 0)], "q": docs, "last": [Doc("z", 1, 1)]}}
    return Ranking.of(Runs.from_frame(frame(table)), "A")


@given(SHORT)
def test_every_ordering_is_listed_once_and_scored_as_the_enumeration_does(docs):
    orders = every_ordering(ranking(docs), "q", ["RR", "Hits@2"], limit=1000)
    strict_orders = {" ".join(doc.id for doc in order): order for order in all_orderings(docs)}
    assert orders["ordering"].to_list() == list(range(1, len(strict_orders) + 1))
    for measure in ("RR", "Hits@2"):
        exact = {
            ids: float(value_in_order(measure, judged_list(docs), order))
            for ids, order in strict_orders.items()
        }
        assert dict(zip(orders["documents"], orders[measure], strict=True)) == pytest.approx(exact)


@given(SHORT)
def test_the_mean_over_every_ordering_is_the_expected_value(docs):
    orders = every_ordering(ranking(docs), "q", ["RR", "Hits@2", "Hits@3"], limit=1000)
    for measure in ("RR", "Hits@2", "Hits@3"):
        assert orders[measure].mean() == pytest.approx(float(reference(docs, measure, "expected")))
        assert orders[measure].max() == pytest.approx(float(reference(docs, measure, "optimistic")))
        assert orders[measure].min() == pytest.approx(float(reference(docs, measure, "pessimistic")))


@given(SHORT)
def test_the_first_row_of_every_ordering_is_the_input_order(docs):
    first = every_ordering(ranking(docs), "q", ["RR"], limit=1).iloc[0]
    assert first["documents"] == " ".join(doc.id for doc in in_order(docs, "input"))
    assert first["RR"] == pytest.approx(float(reference(docs, "RR", "input")))


@given(SHORT)
def test_an_ordering_without_relevant_documents_has_no_first_relevant_rank(docs):
    ranks = every_ordering(ranking(docs), "q", ["RR"], limit=1000)["first_relevant"]
    if any(doc.grade >= 1 for doc in docs):
        assert ranks.value_counts().to_dict() == dict(rank_counts(docs))
    else:
        assert ranks.isna().all()


@given(lists())
def test_chances_of_the_first_rank_sum_to_one_and_are_those_of_the_enumeration(docs):
    chances = first_rank_chances(ranking(docs), "q")
    counts = rank_counts(docs)
    if None in counts:
        assert not len(chances)
        return
    assert chances["chance"].sum() == pytest.approx(1)
    exact = {rank: count / counts.total() for rank, count in counts.items()}
    assert dict(zip(chances["rank"], chances["chance"], strict=True)) == pytest.approx(exact)


@given(lists())
def test_the_ladder_gives_each_document_its_place_group_and_the_places_of_its_tie(docs):
    rows = ladder(ranking(docs), "q")
    expected = []
    for group, members in enumerate(tie_groups(docs)):
        first = len(expected) + 1
        last = len(expected) + len(members)
        expected += [(doc.id, doc.grade >= 1, group, first, last) for doc in members]
    columns = rows[["doc_id", "relevant", "group", "first", "last"]]
    assert list(columns.itertuples(index=False, name=None)) == expected
    assert rows["place"].to_list() == list(range(1, len(docs) + 1))


def finding(docs, traditional="input"):
    runs = Runs.from_frame(frame({"A": {"q": docs}}))
    values = evaluate(runs, ["RR"], [*TIES, traditional]).scores["RR"].loc[("A", "q")]
    ranking_of_a = Ranking.of(runs, "A")
    return plain(
        query_finding(
            ladder(ranking_of_a, "q"), first_rank_chances(ranking_of_a, "q"), values, "RR", traditional, "6"
        )
    )


@pytest.mark.parametrize(
    ("docs", "start"),
    [
        ([Doc("a", 1, 0)], "The list has no relevant document, so RR is 0 in every order."),
        ([Doc("a", 2, 1), Doc("b", 1, 0)], "No documents tie"),
        ([Doc("a", 2, 1), Doc("b", 1, 0), Doc("c", 1, 0), Doc("d", 1, 0)], "6 orders, one value"),
        ([Doc("a", 1, 1), Doc("b", 1, 0), Doc("c", 1, 0)], "File order gives this list RR 1.000"),
    ],
)
def test_the_finding_of_a_query_says_what_its_ties_leave_open(docs, start):
    assert finding(docs).startswith(start)


def test_the_finding_of_a_query_gives_the_order_taken_the_mean_and_the_range():
    text = finding([Doc("a", 1, 0), Doc("b", 1, 1), Doc("c", 1, 0)])
    assert text.startswith("File order gives this list RR 0.500. The mean over 6 orders is 0.611.")
    assert "can have any rank from 1 to 3" in text
    assert text.endswith("RR is 0.333 in the worst case and 1.000 in the best case.")
    assert "can have rank 1 or 2. " in finding([Doc("a", 1, 0), Doc("b", 1, 1)])


@pytest.mark.parametrize(("traditional", "point"), [(1.0, "0.750 too high"), (0.2, "0.050 too low")])
def test_the_gap_of_a_list_is_stated_with_both_values_and_orderings(traditional, point):
    value = pd.Series({"input": traditional, "expected": 0.25})
    prose = gap_of_list(value, "RR", "input", "about 10¹⁹")
    assert Strong(point) in prose
    assert f"score is {traditional:.3f}, the mean over about 10¹⁹ orders is 0.250." in plain(prose)


def evaluated(rows, measures=("RR", "TsRR")):
    """The evaluation of lists, each the reranker, the query, and score and grade of its documents."""
    table = pd.DataFrame(
        [
            (reranker, query, f"d{place}", score, grade)
            for reranker, query, documents in rows
            for place, (score, grade) in enumerate(documents)
        ],
        columns=["reranker", "query_id", "doc_id", "score", "relevance"],
    )
    return evaluate(Runs.from_frame(table), measures, ["input", "expected", "optimistic", "pessimistic"])


UNTIED = [(3, 1), (2, 0), (1, 0)]
HALF = [(2, 1), (2, 0), (1, 0)]
"""RR 1 by the order of the file, .75 once ties are averaged."""
THIRD = [(2, 0), (2, 0), (2, 1)]
"""RR 1/3 by the order of the file, 11/18 once ties are averaged."""


def test_lists_are_ordered_by_absolute_gap_over_all_rerankers():
    lists = lists_by_gap(evaluated([("a", "q1", HALF), ("a", "q2", UNTIED), ("b", "q1", THIRD)]), "RR", "input")
    assert list(zip(lists["reranker"], lists["query_id"], strict=True)) == [
        ("b", "q1"),
        ("a", "q1"),
        ("a", "q2"),
    ]
    assert lists["gap"].to_list() == pytest.approx([1 / 3 - 11 / 18, 0.25, 0])


def test_a_measure_with_its_own_tie_rule_is_ordered_by_the_replaced_measure():
    rows = [("a", "q1", HALF), ("b", "q1", THIRD)]
    assert lists_by_gap(evaluated(rows), "TsRR", "input").equals(lists_by_gap(evaluated(rows), "RR", "input"))


@pytest.mark.parametrize(
    ("gap", "ties", "label"),
    [
        (0.5, 0.614, "q1 · gap +0.500 · tie ratio 61%"),
        (-0.00031, 0.0001, "q1 · gap −0.00031 · tie ratio under 1%"),
        (0.0, 1.0, "q1 · no gap · tie ratio 100%"),
        (0.0, 0.0, "q1 · no ties"),
    ],
)
def test_the_label_of_a_list_begins_with_its_id_and_says_its_gap_and_its_ties(gap, ties, label):
    assert list_label("q1", gap, ties) == label


def graded_ranking(docs):
    table = {"A": {"other": [Doc("x", 1, 2), Doc("y", 1, 0)], "q": docs, "last": [Doc("z", 1, 1)]}}
    return Ranking.of(Runs.from_frame(frame(table)), "A")


@given(lists(), st.sampled_from(["input", "docid_desc", "optimistic", "expected"]), st.integers(1, 6))
def test_the_terms_of_all_ranks_add_up_to_ap_and_to_ndcg(docs, ties, k):
    values = list_values(graded_ranking(docs), "q", ["AP", f"nDCG@{k}"], [ties])[ties]
    steps = value_steps(graded_ranking(docs), "q", ties, k)
    assert steps[["ap_term", "ndcg_term"]].sum().to_list() == pytest.approx(values.to_list())
    assert steps["rank"].is_monotonic_increasing
    assert steps["precision"].dropna().between(0, 1 + 1e-12).all()


def test_in_a_strict_order_each_relevant_rank_has_its_precision():
    docs = [Doc("a", 5, 1), Doc("b", 4, 0), Doc("c", 3, 2), Doc("d", 2, 0), Doc("e", 1, 1)]
    steps = value_steps(graded_ranking(docs), "q", "input", 10).set_index("rank")
    assert steps.index.to_list() == [1, 3, 5]
    assert steps["precision"].to_list() == pytest.approx([1, 2 / 3, 3 / 5])
    assert steps["gain"].to_list() == [1, 3, 1]
    assert steps["discount"].to_list() == pytest.approx(1 / np.log2([2, 4, 6]))
