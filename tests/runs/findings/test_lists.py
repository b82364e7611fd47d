import pytest
from runs.findings.conftest import summaries

from metrics.runs.inspection import one_document, rank_disagrees, straddles


def test_lists_of_one_document_are_counted(listing_of):
    message = "2 of 3 lists hold a single document, 'r' first."
    assert summaries(one_document(listing_of({"q": [2, 1], "r": [1], "s": [1]}))) == [
        ("info", "one-document", 3, 2, message)
    ]


def test_ties_across_cut_offs_are_counted_for_each(listing_of):
    lists = {
        "p": [3, 2, 1],
        "q": [1, 1, 1, 1],
        "r": [9, 2, 2, 2],
        "s": [9, 8, 7, 6, 5, 4, 3, 2, 2, 1, 1],
    }
    message = "Ties lie across a cut-off in 3 of 4 lists: 1 at k = 1, 2 at k = 3, 1 at k = 10."
    assert summaries(straddles(listing_of(lists))) == [("info", "straddles", 4, 3, message)]


def test_ties_that_end_at_a_cut_off_do_not_lie_across_it(listing_of):
    assert not list(straddles(listing_of({"q": [9, 2, 2, 1, 1], "r": [9, 8, 7, 6, 5, 4, 4, 4, 4, 4]})))


def test_ranks_against_the_scores_are_a_warning(listing_of):
    listing = listing_of({"q": [3, 2, 1], "r": [3, 2, 1], "s": [1, 2, 2]}, ranks=[1, 2, 3, 3, 2, 1, 1, 2, 3])
    message = "2 of 3 lists have ranks that contradict the scores, 'r' first."
    assert summaries(rank_disagrees(listing)) == [("warning", "rank-disagrees", 4, 2, message)]


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [
        ([3, 2, 2, 1], [1, 3, 2, 4]),
        ([1, 2, 3], [3, 2, 1]),
        ([3, 2, 1], [1, None, 2]),
        ([3, 2, 1], [None, 5, None]),
        ([3, 2, 1], [None, None, None]),
        ([3, 2, 1], [1.0, 1.0, 1.0]),
        ([], []),
    ],
    ids=["inside-ties", "unsorted", "one-missing", "one-stated", "none-stated", "all-level", "no-rows"],
)
def test_ranks_that_go_with_the_scores_are_no_matter(listing_of, scores, ranks):
    assert not list(rank_disagrees(listing_of({"q": scores}, ranks=ranks)))


def test_ranks_on_both_sides_of_a_missing_one_are_compared(listing_of):
    assert list(rank_disagrees(listing_of({"q": [3, 2, 1]}, ranks=[2, None, 1])))


def test_ranks_are_compared_within_a_list_only(listing_of):
    assert not list(rank_disagrees(listing_of({"q": [3], "r": [2]}, ranks=[2, 1])))
