import pytest
from runs.findings.conftest import summaries

from metrics.runs.inspection import negative_grades, none_found, nothing_relevant


def test_grades_below_0_are_counted_with_the_lowest(judged_of, listing_of):
    message = "2 of 4 grades are below 0, the lowest is -2."
    judged = judged_of({"q": {"a": 1, "b": -1}, "r": {"a": -2, "b": 0}})
    assert summaries(negative_grades(judged)) == [("info", "negative-grades", 2, 2, message)]
    inside = listing_of({"q": [(3, 1), (2, -1)], "r": [(3, -2), (2, 0)]})
    assert summaries(negative_grades(inside)) == [("info", "negative-grades", 2, 2, message)]


def test_queries_for_which_nothing_is_relevant_are_counted(judged_of, listing_of):
    message = "2 of 3 queries have no document of grade 1 or more, 'r' first."
    judged = judged_of({"q": {"a": 1}, "r": {"a": 0, "b": 0.5}, "s": {"a": -1}})
    assert summaries(nothing_relevant(judged)) == [("warning", "nothing-relevant", 2, 2, message)]
    inside = listing_of({"q": [(1, 1)], "r": [(2, 0), (1, 0.5)], "s": [(1, -1)]})
    assert summaries(nothing_relevant(inside)) == [("warning", "nothing-relevant", 2, 2, message)]


def test_queries_without_relevant_documents_are_a_warning_from_half_of_the_queries(judged_of):
    queries = {f"q{at}": {"a": int(at >= 2)} for at in range(5)}
    [fewer_than_half] = nothing_relevant(judged_of(queries))
    del queries["q4"]
    [half] = nothing_relevant(judged_of(queries))
    assert (fewer_than_half.severity, half.severity) == ("info", "warning")


def test_lists_that_hold_no_relevant_document_of_their_query_are_counted(listing_of, judged_of):
    listing = listing_of({"p": [(1, 0)], "q": [(2, 1), (1, 0)], "r": [(2, 0), (1, None)], "s": [(1, None)]})
    judged = judged_of({"p": {"d1": 0}, "q": {"d1": 1}, "r": {"d1": 0, "x": 2}, "t": {"d1": 1}})
    message = "1 of 4 lists holds none of the relevant documents of the query, 'r' first."
    assert summaries(none_found(listing, judged)) == [("info", "none-found", 4, 1, message)]


def test_a_run_of_which_nothing_is_judged_is_told_of_once(listing_of_rows, judged_of):
    assert not list(none_found(listing_of_rows([("q", "a", 1, None)]), judged_of({"q": {"b": 1}})))


@pytest.mark.parametrize("check", [negative_grades, nothing_relevant])
def test_where_nothing_is_known_of_relevance_nothing_is_said(listing_of, check):
    assert not list(check(listing_of({"q": [2, 1]})))
    assert not list(check(listing_of({})))
