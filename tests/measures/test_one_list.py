"""Measures of one plain list are those of an evaluation, and of all orderings."""

import doctest
import math
import subprocess
import sys
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from drawing import lists
from hypothesis import given

import metrics
from metrics import UsageError, evaluate
from metrics.measures import one_list
from metrics.ties import TREATMENTS

CALLS = {
    "RR": metrics.reciprocal_rank,
    "RR@2": lambda *args, **options: metrics.reciprocal_rank(*args, k=2, **options),
    "Hits@2": lambda *args, **options: metrics.hits_at_k(*args, k=2, **options),
    "P@2": lambda *args, **options: metrics.precision_at_k(*args, k=2, **options),
    "R@2": lambda *args, **options: metrics.recall_at_k(*args, k=2, **options),
    "F1@2": lambda *args, **options: metrics.f1_at_k(*args, k=2, **options),
    "AP": metrics.average_precision,
    "nDCG": metrics.ndcg,
    "nDCG@2": lambda *args, **options: metrics.ndcg(*args, k=2, **options),
    "nDCG-linear@2": lambda *args, **options: metrics.ndcg(*args, k=2, gain="linear", **options),
}
OWN_RULES = {"TsRR": metrics.tsrr, "taRR": metrics.tarr}


@pytest.mark.parametrize(
    "measure", [metrics.hits_at_k, metrics.precision_at_k, metrics.recall_at_k, metrics.f1_at_k]
)
def test_a_measure_at_k_says_that_it_needs_one(measure):
    with pytest.raises(UsageError, match="needs a cut-off"):
        measure([0, 1])


@given(lists())
def test_values_of_one_list_are_those_of_an_evaluation_to_the_bit(docs):
    scores, grades = [doc.score for doc in docs], [doc.grade for doc in docs]
    frame = pd.DataFrame({"doc_id": map(str, range(len(docs))), "score": scores, "relevance": grades})
    treatments = [ties.name for ties in TREATMENTS if not ties.name.startswith("docid")]
    treatments += ["random:7"]
    values = evaluate(frame, [*CALLS, *OWN_RULES], treatments, relevant_from=2).scores.iloc[0]
    for ties in treatments:
        own = {measure: call(grades, scores, ties=ties, relevant_from=2) for measure, call in CALLS.items()}
        assert own == {measure: values[measure, ties] for measure in CALLS}
    for measure, call in OWN_RULES.items():
        assert call(grades, scores, relevant_from=2) == values[measure, "expected"]


def test_the_help_on_each_function_has_the_shapes_of_its_arguments_and_values():
    public = [getattr(metrics, name) for name in metrics.__all__]
    functions = [each for each in public if getattr(each, "__module__", "") == one_list.__name__]
    assert len(functions) == 9
    assert all(
        "(n_docs,)" in measure.__doc__ and "(n_lists, n_docs)" in measure.__doc__ for measure in functions
    )


def test_a_list_without_scores_is_ranked_as_it_stands():
    for ties in ("expected", "optimistic", "pessimistic"):
        assert metrics.reciprocal_rank([0, 0, 1, 1], ties=ties) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank([0, 1], ties="std") == 0


@pytest.mark.parametrize(
    "relevance",
    [
        [False, True, False],
        (0, 1.0, 0),
        np.array([0, 1, 0], np.uint8),
        pd.Series([0, 2, 0], index=[5, 6, 7], dtype="Int64"),
        [Decimal(0), Decimal(1), Decimal(-1)],
    ],
)
def test_grades_are_numbers_or_booleans_of_any_kind(relevance):
    assert metrics.reciprocal_rank(relevance, np.float32([2, 2, 1])) == 0.75


def test_a_list_without_documents_or_with_nothing_relevant_scores_0():
    assert metrics.ndcg([]) == metrics.reciprocal_rank([0, 0], [1, 1]) == metrics.precision_at_k([], k=3) == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: metrics.ndcg([1, math.nan]), "relevance\\[1\\] is missing"),
        (lambda: metrics.ndcg([1, math.inf]), "relevance\\[1\\] is infinite"),
        (lambda: metrics.ndcg([1, 0], [None, 1]), "scores\\[0\\] is missing"),
        (lambda: metrics.ndcg([1, 2], [1]), "relevance has 2 values, scores has 1"),
        (lambda: metrics.ndcg(["d1", "d2"]), "number or boolean for each document"),
        (lambda: metrics.ndcg({1, 2}), "number or boolean for each document"),
        (
            lambda: metrics.ndcg([[[1, 0], [0, 1]]]),
            r"shape \(1, 2, 2\). Give \(n_docs,\) or \(n_lists, n_docs\) numbers",
        ),
        (lambda: metrics.ndcg([10**400, 1]), "number or boolean for each document"),
        (lambda: metrics.ndcg([1], 2.5), "scores=2.5: give a number"),
        (lambda: metrics.ndcg([1], gain="log"), "'exponential' or 'linear'"),
        (lambda: metrics.ndcg([1], ties="docid_desc"), "no document IDs"),
        (lambda: metrics.ndcg([1], ties="mean"), "There is no tie order 'mean'"),
        (lambda: metrics.ndcg([1], gain=[1]), "'exponential' or 'linear'"),
        (lambda: metrics.ndcg([1], relevant_from=0), "relevant_from=0"),
        (lambda: metrics.reciprocal_rank([1], relevant_from="x"), "relevant_from='x' is not a number"),
        (
            lambda: metrics.ndcg([1], n_judged=2),
            "There is no option n_judged. Options: relevant_from, mask, indexes, unlisted, n_relevant, ideal",
        ),
        (lambda: metrics.precision_at_k([1], k=-1), "k=-1 is not a whole number of 1 or more"),
        (lambda: metrics.precision_at_k([1], k=0), "k=0 is not a whole number of 1 or more"),
        (lambda: metrics.precision_at_k([1], k=1.5), "k=1.5 is not a whole number of 1 or more"),
        (lambda: metrics.precision_at_k([1], k=True), "k=True is not a whole number of 1 or more"),
        (lambda: metrics.precision_at_k([1], k=[0.5]), "Give scores as scores="),
        (lambda: metrics.score([1, 0]), "For one plain list: metrics.reciprocal_rank"),
        (lambda: metrics.score(1), "Give a path, a data frame or a dictionary"),
        (
            lambda: metrics.score({"q": {"a": 1}}, {"q": {"a": 1}}),
            "the runs first and the judgments as qrels",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_a_data_frame_is_scored_in_one_line():
    frame = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [1, 1], "relevance": [1, 0]})
    row = metrics.score(frame, "RR").iloc[0]
    assert row[["reranker", "measure", "expected", "pessimistic"]].to_list() == ["table", "RR", 0.75, 0.5]
    pd.testing.assert_frame_equal(metrics.score(frame), evaluate(frame).summary(flat=True))


def test_dictionaries_of_other_tools_are_read_as_frames_are():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}, "p": {"c": 2.0}}, {"q": {"a": 1, "b": 0}, "p": {"c": 0}}
    row = metrics.score(run, "RR", qrels=qrels).iloc[0]
    assert row[["reranker", "n", "expected"]].to_list() == ["table", 2, 0.375]
    named = metrics.score({"A": run, "B": run}, "RR", qrels=qrels)
    assert named[["reranker", "expected"]].to_numpy().tolist() == [["A", 0.375], ["B", 0.375]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mrr", r"use metrics.score\(frame, 'RR'\)"),
        ("mean_reciprocal_rank", "did you mean reciprocal_rank"),
        ("ndcg_at_10", "did you mean ndcg"),
        ("precision", "did you mean precision_at_k"),
        ("recall_score", "did you mean recall_at_k"),
        ("evaluate_run", "did you mean evaluate"),
        ("map", r"use metrics.score\(frame, 'AP'\)"),
        ("evalute", "did you mean evaluate"),
        ("zzz", "no attribute 'zzz'$"),
    ],
)
def test_a_name_that_people_try_first_says_which_to_use(name, words):
    with pytest.raises(AttributeError, match=words):
        getattr(metrics, name)


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(one_list, raise_on_error=True).attempted > len(CALLS)


def test_one_list_by_its_function_imports_numpy_alone():
    calls = (
        "ts.reciprocal_rank([0, 1], [8, 8]), ts.ndcg([0, 1], k=1, ties='optimistic'), ts.average_precision([1])"
    )
    code = f"import sys; import tiescope as ts; {calls}; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 our own
    assert "numpy" in ran.stdout.split()
    assert not {"pandas", "pyarrow", "scipy"} & set(ran.stdout.split())


@pytest.mark.parametrize("dtype", ["torch.bfloat16", "torch.float32"])
def test_a_tensor_that_still_learns_or_has_no_type_of_numpy_is_a_list_of_numbers(dtype):
    def to_numpy():
        return np.float32([8, 8, 5])

    plain = SimpleNamespace(dtype=dtype, cpu=lambda: plain, float=lambda: SimpleNamespace(numpy=to_numpy))
    if dtype == "torch.float32":
        plain.numpy = to_numpy
    assert metrics.reciprocal_rank([0, 1, 0], SimpleNamespace(detach=lambda: plain)) == 0.75
