import pytest
from runs.findings.conftest import summaries

from metrics.runs.inspection import documents_of_both, queries_differ, queries_of_both


def test_judged_queries_without_rows_are_counted_and_the_first_is_named(listing_of, judged_of):
    judged = judged_of({"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}})
    message = "2 of 3 judged queries have no rows, 'q2' first."
    assert summaries(queries_of_both(listing_of({"q1": [1]}), judged)) == [
        ("warning", "queries-missing", None, 2, message)
    ]


def test_queries_without_judgments_are_counted_and_the_first_is_named(listing_of, judged_of):
    listing = listing_of({"q1": [2, 1], "q2": [2, 1], "q3": [1]})
    message = "2 of 3 queries have no judgments, 'q2' first."
    assert summaries(queries_of_both(listing, judged_of({"q1": {"d1": 1}}))) == [
        ("info", "queries-unjudged", 3, 2, message)
    ]


def test_no_shared_query_is_an_error_with_its_cause(listing_of, judged_of):
    listing = listing_of({"x": [1], "q2": [1]})
    message = (
        "No query of the run is judged: it has 'q2', the judgments have 'Q2'. The IDs differ only by case."
    )
    assert summaries(queries_of_both(listing, judged_of({"Q1": {"d1": 1}, "Q2": {"d1": 1}}))) == [
        ("error", "no-overlap", 2, 2, message)
    ]


def test_queries_that_both_sides_have_are_not_worth_a_word(listing_of, judged_of):
    assert not list(queries_of_both(listing_of({"q": [1]}), judged_of({"q": {"x": 1}})))


@pytest.mark.parametrize(
    ("scores", "grades", "codes"),
    [
        ({}, {"q": {"d1": 1}}, ["queries-missing"]),
        ({"q": [1]}, {}, ["queries-unjudged"]),
        ({}, {}, []),
    ],
    ids=["no-rows", "no-judgments", "neither"],
)
def test_an_empty_side_has_no_cause(listing_of, judged_of, scores, grades, codes):
    assert [one.code for one in queries_of_both(listing_of(scores), judged_of(grades))] == codes


def test_no_judged_document_is_an_error_with_its_cause(listing_of_rows, judged_of):
    listing = listing_of_rows([("p", "z", 3, None), ("q", "D8", 2, None), ("q", "D7", 1, None)])
    [(*finding, message)] = summaries(documents_of_both(listing, judged_of({"q": {"9": 1, "7": 0}})))
    assert finding == ["error", "documents-no-overlap", 3, 2]
    assert message.startswith("Of 2 documents listed for 1 judged query, none is judged")
    assert "the run has 'D7', the judgments have '7'" in message
    assert message.endswith("differ only by the prefix 'D' in the run.")


def test_documents_judged_for_other_queries_point_at_the_query_ids(listing_of_rows, judged_of):
    listing = listing_of_rows([("q", "a", 2, None)])
    [finding] = documents_of_both(listing, judged_of({"q": {"b": 1}, "r": {"a": 1}}))
    assert "listed documents are judged for other queries" in finding.message
    assert finding.message.endswith("the query IDs may belong to another collection.")


def test_one_judged_document_is_enough(listing_of_rows, judged_of):
    rows = [("q", "a", 2, 0), ("q", "b", 1, None)]
    assert not list(documents_of_both(listing_of_rows(rows), judged_of({"q": {"a": 0}})))


def test_documents_of_queries_nobody_judged_are_not_missed(listing_of_rows, judged_of):
    assert not list(documents_of_both(listing_of_rows([("q", "a", 2, None)]), judged_of({"r": {"a": 0}})))


def test_rerankers_that_lack_queries_of_others_are_named(listing_of):
    listings = [
        listing_of({"q": [1], "r": [1]}, name="A", file="t.csv"),
        listing_of({"q": [1], "s": [1]}, name="B", file="t.csv"),
    ]
    message = "{}: 1 of 3 queries has no rows, {!r} first; other rerankers have rows for them."
    assert summaries(queries_differ(listings)) == [
        ("info", "queries-differ", None, 1, message.format("A", "s")),
        ("info", "queries-differ", None, 1, message.format("B", "r")),
    ]


def test_the_same_queries_in_another_order_do_not_differ(listing_of):
    assert not list(queries_differ([listing_of({"q": [1], "r": [1]}), listing_of({"r": [1], "q": [1]})]))
    assert not list(queries_differ([]))
