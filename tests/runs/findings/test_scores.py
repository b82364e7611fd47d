from math import inf

import pytest

from metrics.runs.inspection import constant_lists, constant_run, graded, infinite, saturated


def summaries(findings):
    return [
        (finding.severity, finding.code, finding.line, finding.count, finding.message) for finding in findings
    ]


def test_one_score_for_the_whole_run_is_a_warning(listing_of):
    message = "All 3 documents of the run have the score 0.5."
    listing = listing_of({"q": [0.5, 0.5], "r": [0.5]})
    assert summaries(constant_run(listing)) == [("warning", "constant-run", 1, 3, message)]
    assert not list(constant_lists(listing))


def test_one_infinite_score_for_the_whole_run_is_as_bad(listing_of):
    assert list(constant_run(listing_of({"q": [-inf, -inf]})))


@pytest.mark.parametrize("lists", [{}, {"q": [1]}, {"q": [1], "r": [1]}, {"q": [2, 1]}])
def test_a_run_without_ties_is_not_constant(listing_of, lists):
    assert not list(constant_run(listing_of(lists)))


def test_lists_with_one_score_are_counted(listing_of):
    message = "2 of 4 lists give one score to all documents, 'r' first."
    listing = listing_of({"q": [2, 1], "r": [2, 2], "s": [1, 1, 1], "t": [1]})
    assert summaries(constant_lists(listing)) == [("warning", "constant-lists", 3, 2, message)]


def test_ties_at_the_ends_of_the_scale_are_a_warning_from_a_tenth_on(listing_of):
    scores = {"q": [0.9, 1, 1, 0.5, 0], "r": [0, 0, 0, 0.3, 0.2]}
    message = "5 of 10 documents (50%) are tied at an end of the scale: 3 at exactly 0, 2 at exactly 1."
    assert summaries(saturated(listing_of(scores))) == [("warning", "saturated", 2, 5, message)]
    within = [at / 20 for at in range(1, 19)]
    assert list(saturated(listing_of({"q": [1, 1, *within]})))
    assert not list(saturated(listing_of({"q": [1, 1, *within, 0.99]})))


def test_an_end_must_hold_twice_what_a_value_between_holds(listing_of):
    assert list(saturated(listing_of({"q": [1] * 4 + [0.5] * 2 + [0]})))
    assert not list(saturated(listing_of({"q": [1] * 3 + [0.5] * 2 + [0]})))


@pytest.mark.parametrize(
    "scores",
    [
        [1, 1, 0, 0],
        [1, 1, 0.5, -1],
        [1, 1, 0.5, 2],
        [1, 0.5, 0],
        [inf, 1, 1, 0.5, 0, 0],
        [0.5, 0.5, 0.2, 1],
        [1, 1, 0.5, 0.5, 0, 0],
    ],
    ids=["binary", "below-0", "above-1", "untied", "infinite", "tied-inside", "levels"],
)
def test_other_ties_are_not_saturated(listing_of, scores):
    assert not list(saturated(listing_of({"q": scores})))


def test_infinite_scores_are_counted_by_sign(listing_of):
    message = "3 of 5 scores are infinite: 1 inf, 2 -inf."
    listing = listing_of({"q": [1, -inf, inf], "r": [1, -inf]})
    assert summaries(infinite(listing)) == [("info", "infinite", 2, 3, message)]


def test_ties_among_a_few_whole_numbers_are_grades(listing_of):
    message = "Scores are 3 different whole numbers from 0 to 3; 2 of 4 documents (50%) are tied."
    assert summaries(graded(listing_of({"q": [3, 1, 1, 0]}))) == [("info", "graded", None, 2, message)]


@pytest.mark.parametrize(("highest", "fires"), [(20, True), (21, False)])
def test_grades_are_at_most_21(listing_of, highest, fires):
    assert bool(list(graded(listing_of({"q": [*range(highest + 1), 0]})))) is fires


@pytest.mark.parametrize("scores", [[3, 2, 1], [2, 2], [1.5, 1, 1], [inf, inf]])
def test_scores_without_ties_or_with_fractions_are_no_grades(listing_of, scores):
    assert not list(graded(listing_of({"q": scores})))


@pytest.mark.parametrize("check", [constant_run, constant_lists, saturated, infinite, graded])
def test_a_clean_run_gives_no_word(clean, check):
    assert not list(check(clean))
