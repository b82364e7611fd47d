from itertools import product

import pandas as pd
import pytest
from drawing import MEASURES, TREATMENTS, frame, tables, values
from enumeration import Doc, reference
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Runs, evaluate
from metrics.runs import File, read


def exact_values(table, relevant_from=1):
    """{(reranker, query, measure, ties): value} of the enumeration."""
    return {
        (reranker, query, measure, ties): float(reference(docs, measure, ties, relevant_from))
        for reranker, queries in table.items()
        for query, docs in queries.items()
        for measure in MEASURES
        for ties in TREATMENTS
    }


def assert_exact(actual, exact):
    assert actual == pytest.approx(exact, rel=1e-12, abs=1e-15)


@settings(max_examples=65)
@given(tables(), st.sampled_from([1, 1, 1, 0.5, 2, 3]))
def test_every_value_is_that_of_the_enumeration_wherever_relevance_begins(table, relevant_from):
    evaluation = evaluate(Runs.from_frame(frame(table)), MEASURES, TREATMENTS, relevant_from=relevant_from)
    assert_exact(values(evaluation), exact_values(table, relevant_from))


def test_every_list_of_up_to_five_documents_equals_its_enumeration():
    queries = {
        f"{cuts}{grades}": [
            Doc(name, -sum(cuts[:at]), grade)
            for at, (name, grade) in enumerate(zip("bdace", grades, strict=False))
        ]
        for size in range(1, 6)
        for cuts in product((0, 1), repeat=size - 1)
        for grades in product((0, 1), repeat=size)
    }
    table = {"A": queries}
    assert_exact(values(evaluate(Runs.from_frame(frame(table)), MEASURES, TREATMENTS)), exact_values(table))


QUERIES, DOCUMENTS = st.sampled_from(["q1", "q2", "q3"]), st.sampled_from("abcdefg")
RANKED = st.dictionaries(
    QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0.1, 0.2, 3e8]), min_size=1), min_size=1
)
JUDGED = st.dictionaries(
    QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([-2, 0, 1, 2]), min_size=1), min_size=1
)


@given(RANKED, JUDGED)
def test_judgments_in_their_own_file_score_as_the_enumeration_does(ranked, judged):
    run = "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, docs in ranked.items() for d, s in docs.items())
    qrels = "".join(f"{q} 0 {d} {g}\n" for q, docs in judged.items() for d, g in docs.items())
    runs = Runs.from_sources([read(File("run.trec", run.encode())), read(File("qrels.txt", qrels.encode()))])
    lists = {
        query: [Doc(name, score, grades.get(name, 0)) for name, score in ranked.get(query, {}).items()]
        for query, grades in judged.items()
    }
    assert_exact(values(evaluate(runs, MEASURES, TREATMENTS)), exact_values({"run": lists}))


def test_the_reference_itself_knows_the_textbook_list():
    docs = [Doc("a", 1, 0), Doc("b", 1, 1), Doc("c", 1, 0)]
    assert [reference(docs, "RR", ties) for ties in ("expected", "input", "optimistic", "pessimistic")] == [
        pytest.approx(11 / 18),
        pytest.approx(1 / 2),
        1,
        pytest.approx(1 / 3),
    ]


def test_lists_with_nothing_relevant_anywhere_score_zero():
    table = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": 1, "relevance": 0})
    assert (evaluate(Runs.from_frame(table), MEASURES, TREATMENTS).scores == 0).all(axis=None)
