"""Evaluations of parts make up the evaluation of the whole."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given
from hypothesis import strategies as st

from metrics import Evaluation, Runs, UsageError, evaluate
from metrics.evaluation.evaluation import Means

MEASURES = ["RR", "nDCG@3", "DR@2", "Judged@2"]
TIES = ["input", "expected", "optimistic", "random:3"]
QUERIES = ["q1", "Q1", "7", "007", "nothing", "absent"]
POLICIES = st.fixed_dictionaries(dict.fromkeys(["missing", "empty"], st.sampled_from(["zero", "skip"])))
TABLE = {
    "A": {"q1": [Doc("a", 1, 1)], "q2": [Doc("a", 1, 0), Doc("b", 1, 1)]},
    "B": {"q1": [Doc("a", 1, 0)], "q2": [Doc("b", 1, 1)]},
}


def rows_of_queries(table, queries):
    """Rows of some queries, in their order."""
    return table.filter(pc.is_in(table["query_id"].cast(pa.string()), value_set=pa.array(queries, pa.string())))


def part_of(runs, queries):
    """The rows and the judgments of some queries; every reranker is there, with or without rows."""
    qrels = None if runs.qrels is None else rows_of_queries(runs.qrels, queries)
    return Runs({name: rows_of_queries(table, queries) for name, table in runs.tables.items()}, qrels)


@st.composite
def judged(draw):
    """Several rerankers with judgments apart: some queries without rows, some with nothing relevant."""
    inside = Runs.from_frame(frame(draw(tables())))
    judged_queries = draw(st.lists(st.sampled_from(QUERIES), min_size=1, unique=True))
    documents = st.sampled_from([*pc.unique(next(iter(inside.tables.values()))["doc_id"]).to_pylist(), "x"])
    rows = [
        (query, document, draw(st.sampled_from([0.0, 1.0, 2.0])))
        for query in judged_queries
        for document in draw(st.lists(documents, min_size=1, max_size=3, unique=True))
    ]
    columns = zip(*rows, strict=True)
    qrels = pa.table(dict(zip(["query_id", "doc_id", "relevance"], map(list, columns), strict=True)))
    return Runs(inside.tables, qrels)


def parts(draw, runs):
    """Any split of the queries, some parts perhaps with none."""
    all_tables = runs.tables.values() if runs.qrels is None else [*runs.tables.values(), runs.qrels]
    queries = sorted(
        {query for table in all_tables for query in table["query_id"].cast(pa.string()).to_pylist()}
    )
    part_numbers = draw(st.lists(st.integers(0, 2), min_size=len(queries), max_size=len(queries)))
    split = [
        [query for query, at in zip(queries, part_numbers, strict=True) if at == part] for part in range(3)
    ]
    return [part_of(runs, one) for one in draw(st.permutations(split))]


def bits(table):
    return table.to_numpy().tobytes()


@pytest.mark.parametrize(
    "runs_strategy", [tables().map(frame).map(Runs.from_frame), judged()], ids=["inside", "apart"]
)
@given(st.data(), POLICIES)
def test_parts_of_any_split_by_query_merge_into_the_whole_to_the_last_bit(runs_strategy, data, policies):
    runs = data.draw(runs_strategy)
    evaluation = evaluate(runs, MEASURES, TIES, **policies)
    merged = Evaluation.merge(*(evaluate(part, MEASURES, TIES, **policies) for part in parts(data.draw, runs)))
    pd.testing.assert_frame_equal(merged.policies, evaluation.policies)
    assert set(merged.skipped) == set(evaluation.skipped)
    assert len(merged.skipped) == len(evaluation.skipped)
    assert len(merged.scores) == len(evaluation.scores)
    assert merged.scores.columns.equals(evaluation.scores.columns)
    aligned = merged.scores.reindex(evaluation.scores.index)
    assert bits(aligned) == bits(evaluation.scores)
    pd.testing.assert_frame_equal(
        merged.lists.reindex(evaluation.lists.index), evaluation.lists, check_exact=True, check_index_type=False
    )
    in_order = Evaluation(aligned, merged.lists, merged.policies, merged.measures, merged.ties)
    assert bits(in_order.summary()) == bits(evaluation.summary())
    pd.testing.assert_frame_equal(merged.summary(), evaluation.summary(), rtol=1e-12, atol=1e-12)


@given(judged(), POLICIES)
def test_parts_in_the_order_of_the_whole_merge_into_the_same_table(runs, policies):
    evaluation = evaluate(runs, MEASURES, TIES, **policies)
    queries = list(dict.fromkeys(runs.qrels["query_id"].to_pylist()))
    merged = Evaluation.merge(
        *(evaluate(part_of(runs, [query]), MEASURES, TIES, **policies) for query in queries)
    )
    assert merged.scores.index.to_list() == evaluation.scores.index.to_list()
    assert bits(merged.scores) == bits(evaluation.scores)


VALUES = st.lists(st.sampled_from([0.0, 1.0, 1 / 3, 1 / 6, 0.1, 1e-17, 1e-300, 12345.678]), max_size=12)


@given(VALUES, st.integers(1, 5))
def test_running_means_are_those_of_exact_fractions_however_lists_are_cut(values, size):
    index = pd.MultiIndex.from_product([["A"], range(len(values))], names=["reranker", "query_id"])
    scores, means = pd.DataFrame({"RR": values}, index=index, dtype=float), Means()
    means.add(scores.iloc[:0], ["A"])
    for start in range(0, len(values), size):
        means.add(scores.iloc[start : start + size], ["A"])
    exact = float(sum(map(Fraction, values))) / len(values) if values else float("nan")
    assert means.table()["RR"].to_list() == [pytest.approx(exact, rel=0, abs=0, nan_ok=True)]


def test_a_mean_that_has_no_bound_is_infinite():
    index = pd.MultiIndex.from_product([["A"], range(3)], names=["reranker", "query_id"])
    means = Means()
    means.add(pd.DataFrame({"DCG": [1.0, np.inf, 1.0]}, index=index), ["A"])
    assert means.table()["DCG"].to_list() == [np.inf]


def scored(table=TABLE, measures=("RR",), ties=("expected",), **options):
    return evaluate(Runs.from_frame(frame(table)), measures, ties, **options)


def queries_of(table, *queries):
    return {name: {q: docs for q, docs in lists.items() if q in queries} for name, lists in table.items()}


def test_rerankers_and_queries_come_in_order_of_first_appearance():
    first, second = scored(queries_of(TABLE, "q2")), scored(queries_of(TABLE, "q1"))
    merged = Evaluation.merge(first, second)
    assert merged.scores.index.to_list() == [("A", "q2"), ("A", "q1"), ("B", "q2"), ("B", "q1")]
    assert merged.lists.index.equals(merged.scores.index)
    assert merged.policies.index.to_list() == ["A", "B"]


def test_one_part_is_the_whole():
    evaluation = scored()
    merged = Evaluation.merge(evaluation)
    assert merged.scores.equals(evaluation.scores)
    assert merged.policies.equals(evaluation.policies)


def test_a_merged_evaluation_can_be_merged_again():
    first, second = scored(queries_of(TABLE, "q1")), scored(queries_of(TABLE, "q2"))
    third = scored({"A": {"q3": [Doc("a", 1, 1)]}, "C": {"q1": [Doc("a", 1, 1)]}})
    merged = Evaluation.merge(Evaluation.merge(first, second), third)
    assert merged.policies["n_scored"].to_dict() == {"A": 3, "B": 2, "C": 1}


def test_a_query_in_two_parts_of_a_reranker_is_refused_by_name():
    with pytest.raises(UsageError, match="Two parts contain query 'q2' of reranker 'A'"):
        Evaluation.merge(scored(queries_of(TABLE, "q2")), scored(TABLE))


def test_a_query_left_out_of_two_parts_is_refused_too():
    evaluations = []
    for query in ("q1", "q2"):
        qrels = pa.table({"query_id": [query, "gone"], "doc_id": ["a", "a"], "relevance": [1.0, 1.0]})
        runs = Runs(Runs.from_frame(frame(queries_of(TABLE, query))).tables, qrels)
        evaluations.append(evaluate(runs, ["RR"], ["expected"], missing="skip"))
    assert [one.policies["n_missing"].to_list() for one in evaluations] == [[1, 1], [1, 1]]
    with pytest.raises(UsageError, match="Two parts contain query 'gone' of reranker 'A'"):
        Evaluation.merge(*evaluations)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("measures", {"measures": ["AP"]}),
        ("ties", {"ties": ["input"]}),
        ("missing", {"missing": "skip"}),
        ("empty", {"empty": "skip"}),
        ("precision", {"precision": "float16"}),
        ("relevant_from", {"relevant_from": 2}),
    ],
)
def test_parts_evaluated_differently_are_refused_by_what_differs(name, options):
    first, second = queries_of(TABLE, "q1"), queries_of(TABLE, "q2")
    with pytest.raises(UsageError, match=f"different {name}"):
        Evaluation.merge(scored(first), scored(second, **options))


def test_a_part_reduced_to_some_queries_is_refused_because_its_counts_are_of_all():
    with pytest.raises(UsageError, match="Merge the complete parts"):
        Evaluation.merge(scored().only(["A"], ["q1"]))


def test_a_part_reduced_to_some_rerankers_can_be_merged():
    merged = Evaluation.merge(scored().only(["B"]), scored().only(["A"]))
    assert merged.policies.index.to_list() == ["B", "A"]


def test_nothing_to_merge_is_refused():
    with pytest.raises(UsageError, match="at least one"):
        Evaluation.merge()
