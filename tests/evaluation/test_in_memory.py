"""Dictionaries, frames, arrays and files of one board have the same values, to the last bit."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relevance_measures import with_cutoffs

from metrics import (
    TREATMENTS,
    ReadError,
    UsageError,
    average_precision,
    evaluate,
    f1_at_k,
    hits_at_k,
    ndcg,
    precision_at_k,
    read_runs,
    recall_at_k,
    reciprocal_rank,
    tarr,
    tsrr,
)
from metrics.runs.query_doc_keys import QueryDocKeys

NAMES = with_cutoffs(["", "@2"], ["@1", "@3"])
ORDERS = [*(ties.name for ties in TREATMENTS), "random:1"]
SCORES = st.sampled_from([None, 1.0, 1.0, 0.5, 0.1, -2.0, float("inf")])
GRADES = st.sampled_from([None, -1.0, 0.0, 0.0, 0.5, 1.0, 2.0, 3.0])
LISTS = st.lists(st.lists(st.tuples(SCORES, GRADES), min_size=1, max_size=7), min_size=1, max_size=5)


@st.composite
def boards(draw):
    """Scores and grades by query and document, at least one of each; None where there is none."""
    lists = draw(LISTS)
    lists[0].insert(draw(st.integers(0, len(lists[0]))), (1.0, draw(st.sampled_from([0.0, 1.0]))))
    return lists


def nested(lists, place):
    """{query: {document: number}} of one of both numbers."""
    tables = {str(i): {str(j): pair[place] for j, pair in enumerate(docs)} for i, docs in enumerate(lists)}
    return {
        query: kept
        for query, docs in tables.items()
        if (kept := {document: number for document, number in docs.items() if number is not None})
    }


def array(lists, place):
    """(n_lists, n_docs) one of both numbers, NaN where there is none."""
    numbers = np.full((len(lists), max(map(len, lists))), np.nan)
    for row, docs in zip(numbers, lists, strict=True):
        row[: len(docs)] = [np.nan if pair[place] is None else pair[place] for pair in docs]
    return numbers


def rows(table):
    return [(query, document, number) for query, docs in table.items() for document, number in docs.items()]


def values(runs, qrels=None):
    return evaluate(runs, NAMES, ORDERS, qrels=qrels).scores


def assert_same_bits(actual, expected):
    pd.testing.assert_frame_equal(
        actual.droplevel("reranker"), expected.droplevel("reranker"), check_exact=True
    )


@settings(deadline=None, max_examples=60)
@given(lists=boards())
def test_dictionaries_frames_arrays_and_files_have_the_same_values_to_the_bit(lists, tmp_path_factory):
    run, qrels = nested(lists, 0), nested(lists, 1)
    of_dictionaries = values(run, qrels)
    frames = [
        pd.DataFrame(rows(table), columns=["query_id", "doc_id", name])
        for table, name in ((run, "score"), (qrels, "relevance"))
    ]
    assert_same_bits(values(*frames), of_dictionaries)
    assert_same_bits(values({"A": array(lists, 0)}, array(lists, 1)), of_dictionaries)
    folder = tmp_path_factory.mktemp("board")
    (folder / "run.trec").write_text("".join(f"{q} Q0 {d} 1 {score!r} tag\n" for q, d, score in rows(run)))
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {grade:g}\n" for q, d, grade in rows(qrels)))
    assert_same_bits(values([folder / "run.trec"], folder / "qrels.txt"), of_dictionaries)


FUNCTIONS = {
    "RR": reciprocal_rank,
    "Hits@2": partial(hits_at_k, k=2),
    "P@2": partial(precision_at_k, k=2),
    "R@2": partial(recall_at_k, k=2),
    "F1@2": partial(f1_at_k, k=2),
    "AP": average_precision,
    "nDCG": ndcg,
    "nDCG-linear@2": partial(ndcg, k=2, gain="linear"),
    "TsRR": tsrr,
    "taRR": tarr,
}


@settings(deadline=None, max_examples=60)
@given(lists=boards(), ties=st.sampled_from(["expected", "input", "optimistic", "pessimistic", "std"]))
def test_functions_of_arrays_have_the_values_of_an_evaluation_to_the_bit(lists, ties):
    listed = [[pair for pair in docs if None not in pair] for docs in lists]
    scores, grades = array(listed, 0), array(listed, 1)
    by_name = evaluate(nested(listed, 0), list(FUNCTIONS), {ties, "expected"}, qrels=nested(listed, 1)).scores
    filled = [row for row, docs in enumerate(listed) if docs]
    flat = [(row, *pair) for row, docs in enumerate(listed) for pair in docs]
    for name, function in FUNCTIONS.items():
        options = {} if name in ("TsRR", "taRR") else {"ties": ties}
        expected = by_name[name, options.get("ties", "expected")].to_list()
        by_list = function(grades, scores, **options)
        assert by_list[filled].tolist() == expected
        assert not np.delete(by_list, filled).any()
        of_gaps = function(array(lists, 1), array(lists, 0), **options)
        assert of_gaps.tolist() == by_list.tolist()
        nested_lists = function(*([[pair[at] for pair in docs] for docs in listed] for at in (1, 0)), **options)
        assert nested_lists.tolist() == by_list.tolist()
        masked = function(np.nan_to_num(grades), np.nan_to_num(scores), mask=~np.isnan(scores), **options)
        assert masked.tolist() == by_list.tolist()
        indexes, flat_scores, flat_grades = (np.array(column) for column in zip(*flat, strict=True))
        of_flat = function(flat_grades, flat_scores, indexes=indexes, **options)
        assert of_flat.tolist() == by_list[filled].tolist()


def test_lists_that_are_cut_are_divided_by_what_they_lack():
    run, qrels = {"a": {"x": 1, "y": 1}, "b": {"x": 2}}, {"a": {"x": 1, "z": 1, "w": 2}, "b": {"x": 0, "v": 1}}
    expected = (
        evaluate(run, ["R@2", "F1@2", "AP", "nDCG"], "expected", qrels=qrels).scores.to_numpy().T.tolist()
    )
    relevance, scores = [[1, 0], [0]], [[1, 1], [2]]
    for lacking in ({"unlisted": [[1, 2], [1]]}, {"ideal": [[2, 1, 0, 1], [1, 0]]}):
        options = {"relevance": relevance, "scores": scores, **lacking}
        values = [
            recall_at_k(k=2, **options),
            f1_at_k(k=2, **options),
            average_precision(**options),
            ndcg(**options),
        ]
        assert [value.tolist() for value in values] == expected
    for function in (average_precision, partial(recall_at_k, k=2), partial(f1_at_k, k=2)):
        by_number = function(relevance, scores, n_relevant=[3, 1])
        assert by_number.tolist() == function(relevance, scores, unlisted=[[1, 1], [1]]).tolist()
    assert recall_at_k([1, 0], k=2, n_relevant=4) == 0.25


class Exported:
    """A tensor that gives its numbers away by DLPack alone."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __dlpack__(self, **options):
        return self.numbers.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.numbers.__dlpack_device__()


def test_tensors_export_their_numbers():
    grades, scores = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [2.0, 3.0]])
    assert reciprocal_rank(Exported(grades), Exported(scores)).tolist() == [0.75, 0.5]
    by_name = evaluate({"A": scores}, ["RR"], "expected", qrels=grades).scores
    assert by_name.index.to_list() == [("A", "0"), ("A", "1")]
    assert by_name["RR", "expected"].to_list() == [0.75, 0.5]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ndcg([[1, 0]], [[1, 0, 2]]), r"relevance has shape \(1, 2\), scores has shape \(1, 3\)"),
        (lambda: ndcg([[1, np.inf]]), r"relevance\[0, 1\] is infinite"),
        (lambda: ndcg([[1, 0]], mask=[1, 0]), r"mask has shape \(2,\), relevance has shape \(1, 2\)"),
        (lambda: ndcg([[1, 0]], unlisted=[1]), r"unlisted has shape \(1,\). Give the grades of 1 lists"),
        (lambda: ndcg([[1, 1]], n_relevant=1), r"n_relevant\[0\] is below the number of relevant documents"),
        (lambda: ndcg([[1, 1]], ideal=[[1, 0]]), r"ideal\[0\] is below the number of relevant documents"),
        (
            lambda: ndcg([[1, 1]], n_relevant=[2, 2]),
            r"n_relevant has shape \(2,\). Give a number for each of 1 lists",
        ),
        (lambda: ndcg([[1, 1]], n_relevant="x"), "give a number or boolean"),
        (lambda: ndcg([1], n_relevant=2, ideal=[1]), "Give only one of n_relevant and ideal"),
        (lambda: ndcg([1, 0], ideal=[1, np.nan]), r"ideal\[1\] is missing"),
        (lambda: ndcg([[1, 0], ["a", 1]]), "number or boolean for each document"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_in_words(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_dictionaries_are_neither_hashed_nor_joined(monkeypatch):
    monkeypatch.delattr(QueryDocKeys, "hashes")
    run, qrels = {"q": {"a": 1.0, "b": 1.0}, "p": {"c": 2.0}}, {"q": {"a": 1, "z": 1}, "r": {"c": 1}}
    scores = evaluate({"A": run, "B": run}, ["RR", "R@1"], ["expected", "docid_asc"], qrels=qrels).scores
    expected = [[0.75, 1.0, 0.25, 0.5], [0.0] * 4]
    assert scores.to_numpy().tolist() == expected * 2


def test_a_dictionary_that_changes_later_does_not_change_its_runs():
    run, qrels = {"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 1}}
    runs = read_runs(run, qrels)
    run["q"]["c"], qrels["q"] = 3.0, {"c": 1}
    assert evaluate(runs, ["RR"], ["expected"]).scores.iloc[0, 0] == 0.5
    assert runs.tables["table"]["doc_id"].to_pylist() == ["a", "b"]


def test_other_judgments_replace_the_grades_that_were_looked_up():
    runs = read_runs({"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 1}})
    others = read_runs({"q": {"a": 1.0}}, {"q": {"b": 1}})
    assert evaluate(runs.judged_by(others.qrels), ["RR"], ["expected"]).scores.iloc[0, 0] == 1


GRADED = {"q": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"q": {"a": 1.0, "b": float("nan")}}, "row 2: score None is not a number"),
        ({"q": {"a": 1.0, "b": None}}, "row 2: score None is not a number"),
        ({"q": {"a": 0.5}, "p": {"b": True}}, "row 2: score 'True' is not a number"),
        ({"q": {"a": 1, "b": True}}, "row 2: score 'True' is not a number"),
        ({"q": {"a": 1.0, "b": "high"}}, "row 2: score 'high' is not a number"),
        ({"q": {"a": 1.0, "b": b"2"}}, "row 2: score holds a bytes"),
        ({"q": {"a": 1.0, "": 2.0}}, "row 2: doc_id is empty"),
        ({"q": {"a": 1.0, None: 2.0}}, "row 2: doc_id is empty"),
        ({"q": {"a": 1.0, b"b": 2.0}}, "row 2: doc_id holds a bytes"),
        ({"q": {"a": 1.0, ("b", 1): 2.0}}, "row 2: doc_id holds a tuple"),
        ({"q": {"a": 1.0, "\ud800": 2.0}}, "doc_id holds text that is not Unicode"),
        ({"": {"a": 1.0}}, "row 1: query_id is empty"),
        ({"q": {1: 1.0, "1": 2.0}}, "row 2: document '1' is listed twice"),
        ({"q": {"a": 1.0}, "p": 0.5}, "query 'p' holds a float"),
        ({"q": {"a": 1.0}, "p": ["b"]}, "query 'p' holds a list"),
        ({"q": ["a", "b", "a"]}, "row 3: document 'a' is listed twice"),
    ],
)
def test_what_a_dictionary_cannot_hold_is_refused_by_row(run, words):
    with pytest.raises(ReadError, match=words):
        evaluate(run, qrels=GRADED)


@pytest.mark.parametrize(
    "run",
    [
        {"q": {"a": "0.5", "b": "1.5"}},
        {"q": {"a": 0.5, "b": "1.5"}},
        {"q": {"a": np.float32(0.5), "b": np.int64(2)}},
        {"q": {"a": False, "b": True}},
        {"q": ["b", "a"]},
    ],
)
def test_numbers_of_any_kind_in_a_dictionary_rank_its_documents(run):
    assert evaluate(run, ["RR"], ["expected"], qrels=GRADED).scores.iloc[0, 0] == 0.5


def test_ids_that_are_numbers_match_ids_that_are_text():
    assert evaluate({7: {1: 2.0, 2: 1.0}}, ["RR"], ["expected"], qrels={"7": {"2": 1}}).scores.iloc[0, 0] == 0.5


def test_queries_missing_on_one_side_are_found():
    runs = read_runs({"q": {"a": 1.0}, "only run": {"a": 1.0}}, {"q": {"a": 1}, "only qrels": {"a": 1}})
    assert {"queries-missing", "queries-unjudged"} <= set(runs.findings["code"])


def test_a_dictionary_without_judgments_says_what_to_give():
    with pytest.raises(UsageError, match="Nothing says which documents of 'table' are relevant"):
        evaluate({"q": {"a": 1.0}})
