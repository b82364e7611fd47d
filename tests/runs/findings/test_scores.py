from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs.findings.conftest import summaries

from metrics.runs.findings import BY_CODE
from metrics.runs.inspection import coarse_scores, constant_scores, decimals, float32_ties, infinite, saturated

NORMAL = np.random.default_rng(5).normal(8, 3, 200)


def codes(findings):
    return [finding.code for finding in findings]


def bfloat16(values):
    return (values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(float)


def test_one_score_for_the_whole_run_is_a_warning(listing_of):
    message = "All 3 documents of the run have the score 0.5."
    listing = listing_of({"q": [0.5, 0.5], "r": [0.5]})
    assert summaries(constant_scores(listing)) == [("warning", "constant-run", 1, 3, message)]
    assert codes(constant_scores(listing_of({"q": [-inf, -inf]}))) == ["constant-run"]


def test_lists_with_one_score_are_counted(listing_of):
    message = "2 of 4 lists give one score to all documents, 'r' first."
    listing = listing_of({"q": [2, 1], "r": [2, 2], "s": [1, 1, 1], "t": [1]})
    assert summaries(constant_scores(listing)) == [("warning", "constant-lists", 3, 2, message)]


@pytest.mark.parametrize("lists", [{}, {"q": [1]}, {"q": [1], "r": [1]}, {"q": [2, 1]}])
def test_a_run_without_ties_is_not_constant(listing_of, lists):
    assert not list(constant_scores(listing_of(lists)))


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


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.integers(0, 4))
def test_decimals_are_those_that_were_printed(numbers, places):
    printed = [f"{number / 10**places:.{places}f}" for number in numbers]
    fewest = max(len(text.rstrip("0").partition(".")[2]) if places else 0 for text in printed)
    assert decimals(np.unique(np.array(printed, dtype=float))) == fewest


@pytest.mark.parametrize("values", [[], [0.12345], [0.1, 1e12 + 0.5], [1e300], [1 / 3]])
def test_more_than_four_decimals_are_none(values):
    assert decimals(np.array(values, dtype=float)) is None


@pytest.mark.parametrize(
    ("scores", "code", "message"),
    [
        ([3, 1, 1, 0], "graded", "Scores are 3 different whole numbers from 0 to 3; 2 of 4 documents"),
        ([*range(21), 0], "graded", "Scores are 21 different whole numbers from 0 to 20; 2 of 22"),
        ([7, 7, 9, 4.27], "graded", "Scores are grades or means of a few grades, with at most 2 decimals;"),
        ([3.2, 3.2, 4.4, 1.6], "graded", "with at most 1 decimal; 2 of 4 documents (50%) are tied."),
        ([2 + 1 / 4, 2 + 1 / 4, 4, 0], "graded", "with at most 2 decimals"),
        ([0.2, 0.2, 0.4, 0.6], "few-decimals", "Scores have at most 1 decimal and 2 of 4"),
        ([15.1, 15.1, 14.3, 11.27], "few-decimals", "at most 2 decimals"),
        ([0.861, 0.854, 0.854, 0.5], "few-decimals", "at most 3 decimals and 2 of 4 documents (50%) are tied."),
        ([inf, 0.5, 0.1, 0.1, -inf], "few-decimals", "at most 1 decimal and 2 of 5 documents"),
        ([1.5, 1.5, 0.4, 0], "few-decimals", "at most 1 decimal"),
    ],
)
def test_grades_are_information_and_other_ties_of_few_decimals_a_warning(listing_of, scores, code, message):
    (finding,) = coarse_scores(listing_of({"q": scores}))
    assert (finding.code, finding.severity) == (code, {"graded": "info", "few-decimals": "warning"}[code])
    assert message in finding.message
    assert (finding.line, finding.count) == (None, 2)
    assert finding.severity == BY_CODE[code].severity


@pytest.mark.parametrize(
    "scores",
    [
        *([0.861, 0.854], [3, 2, 1], [0.5, 0.5], [2, 2], [*range(22), 0]),
        *([0.86123, 0.5, 0.5], [inf, inf], [], [1.5, 1.5, 0.5, 0]),
    ],
    ids=["untied", "whole", "constant", "level", "22-grades", "five-decimals", "infinite", "none", "halves"],
)
def test_other_scores_are_not_coarse(listing_of, scores):
    assert not list(coarse_scores(listing_of({"q": scores})))


def test_scores_that_fit_bfloat16_were_made_in_half_precision(listing_of):
    scores = bfloat16(NORMAL)
    distinct, counts = np.unique(scores, return_counts=True)
    tied = int(counts[counts > 1].sum())
    message = (
        f"bfloat16 holds each of the {len(distinct)} distinct scores exactly; "
        f"{tied} of 200 documents ({tied / 200:.0%}) are tied."
    )
    assert summaries(coarse_scores(listing_of({"q": scores.tolist()}))) == [
        ("info", "half-precision", None, 200, message)
    ]
    (finding,) = coarse_scores(listing_of({"q": NORMAL.astype(np.float16).tolist()}))
    assert finding.message.startswith("float16 holds each")


def test_large_logits_in_half_precision_are_not_taken_for_four_decimals(listing_of):
    scores = bfloat16(np.random.default_rng(1).uniform(8, 16, 100)).tolist()
    assert decimals(np.unique(scores)) == 4
    assert codes(coarse_scores(listing_of({"q": scores}))) == ["half-precision"]


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 0.25],
        np.arange(100) / 4,
        np.arange(100),
        NORMAL,
        NORMAL.astype(np.float32).astype(float),
        bfloat16(NORMAL)[:19],
        np.round(NORMAL, 2),
        np.append(NORMAL, 1e300),
    ],
    ids=["two", "quarters", "whole", "64-bit", "32-bit", "19-values", "two-decimals", "huge"],
)
def test_other_scores_do_not_show_half_precision(listing_of, values):
    assert "half-precision" not in codes(coarse_scores(listing_of({"q": np.array(values, float).tolist()})))


def test_scores_that_are_equal_as_32_bit_floats_are_a_warning(listing_of):
    near = nextafter(0.3, 1)
    listing = listing_of({"p": [0.9, 0.8], "q": [0.9, 0.3, near, 0.3, 0.1], "r": [0.3]})
    message = (
        "3 documents in 1 of 3 lists have scores that differ as 64-bit floats and are equal as 32-bit floats."
    )
    assert summaries(float32_ties(listing)) == [("warning", "float32-ties", 4, 3, message)]
    [finding] = float32_ties(listing_of({"q": [1e300, 1e301]}))  # both are infinite in 32 bits
    assert finding.count == 2


@pytest.mark.parametrize(
    "lists",
    [{"q": [0.3, 0.3]}, {"q": [0.3], "r": [nextafter(0.3, 1)]}, {"q": [inf, inf, 1e30]}, {}],
    ids=["tied", "other-lists", "infinite", "none"],
)
def test_scores_tied_already_or_in_other_lists_are_no_matter(listing_of, lists):
    assert not list(float32_ties(listing_of(lists)))
