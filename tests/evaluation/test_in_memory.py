"""Dictionaries, frames and files of one board: the same values, to the last bit, and the same refusals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relevance_measures import with_cutoffs

from metrics import TREATMENTS, ReadError, UsageError, evaluate, read_runs
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
    tables = {f"q{i}": {f"d{j}": pair[place] for j, pair in enumerate(docs)} for i, docs in enumerate(lists)}
    return {
        query: kept
        for query, docs in tables.items()
        if (kept := {document: number for document, number in docs.items() if number is not None})
    }


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
def test_dictionaries_frames_and_files_have_the_same_values_to_the_bit(lists, tmp_path_factory):
    run, qrels = nested(lists, 0), nested(lists, 1)
    of_dictionaries = values(run, qrels)
    frames = [
        pd.DataFrame(rows(table), columns=["query_id", "doc_id", name])
        for table, name in ((run, "score"), (qrels, "relevance"))
    ]
    assert_same_bits(values(*frames), of_dictionaries)
    folder = tmp_path_factory.mktemp("board")
    (folder / "run.trec").write_text("".join(f"{q} Q0 {d} 1 {score!r} tag\n" for q, d, score in rows(run)))
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {grade:g}\n" for q, d, grade in rows(qrels)))
    assert_same_bits(values([folder / "run.trec"], folder / "qrels.txt"), of_dictionaries)


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
