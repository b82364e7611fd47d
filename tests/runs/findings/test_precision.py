from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.runs.findings import BY_CODE
from metrics.runs.inspection import (
    decimals,
    few_decimals,
    float32_ties,
    half_format,
    half_precision,
    near_ties,
)

NORMAL = np.random.default_rng(5).normal(8, 3, 200)


def summaries(findings):
    return [
        (finding.severity, finding.code, finding.line, finding.count, finding.message) for finding in findings
    ]


def bfloat16(values):
    return (values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(float)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.integers(0, 4))
def test_decimals_are_those_that_were_printed(numbers, places):
    printed = [f"{number / 10**places:.{places}f}" for number in numbers]
    fewest = max(len(text.rstrip("0").partition(".")[2]) if places else 0 for text in printed)
    assert decimals(np.unique(np.array(printed, dtype=float))) == fewest


@pytest.mark.parametrize("values", [[], [0.12345], [0.1, 1e12 + 0.5], [1e300], [1 / 3]])
def test_more_than_four_decimals_are_none(values):
    assert decimals(np.array(values, dtype=float)) is None


def test_ties_among_scores_of_few_decimals_are_a_warning(listing_of):
    message = "Scores have at most 3 decimals and 2 of 4 documents (50%) are tied."
    listing = listing_of({"q": [0.861, 0.854, 0.854, 0.5], "r": []})
    assert summaries(few_decimals(listing)) == [("warning", "few-decimals", None, 2, message)]


@pytest.mark.parametrize(
    "scores",
    [[0.861, 0.854], [3, 2, 2], [0.5, 0.5], [0.86123, 0.5, 0.5], [inf, inf], []],
    ids=["untied", "whole", "constant", "five-decimals", "infinite", "none"],
)
def test_other_scores_do_not_have_few_decimals(listing_of, scores):
    assert not list(few_decimals(listing_of({"q": scores})))


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ([7, 7, 9, 4.27], "graded"),  # whole numbers, but for one
        ([3.2, 3.2, 4.4, 1.6], "graded"),  # means of five graders
        ([2 + 1 / 4, 2 + 1 / 4, 4, 0], "graded"),
        ([0.2, 0.2, 0.4, 0.6], "few-decimals"),  # as probabilities are rounded
        ([15.1, 15.1, 14.3, 11.27], "few-decimals"),
    ],
)
def test_few_decimals_in_whole_number_grades_are_information(listing_of, scores, code):
    (finding,) = few_decimals(listing_of({"q": scores}))
    assert finding.code == code
    assert finding.severity == BY_CODE[code].severity
    assert (BY_CODE["graded"].severity, BY_CODE["few-decimals"].severity) == ("info", "warning")


def test_infinite_scores_have_no_decimals(listing_of):
    [finding] = few_decimals(listing_of({"q": [inf, 0.5, 0.1, 0.1, -inf]}))
    assert "at most 1 decimal and 2 of 5 documents" in finding.message


def test_scores_that_fit_bfloat16_were_made_in_half_precision(listing_of):
    scores = bfloat16(NORMAL)
    distinct, counts = np.unique(scores, return_counts=True)
    tied = int(counts[counts > 1].sum())
    message = (
        f"bfloat16 holds each of the {len(distinct)} distinct scores exactly; "
        f"{tied} of 200 documents ({tied / 200:.0%}) are tied."
    )
    assert summaries(half_precision(listing_of({"q": scores.tolist()}))) == [
        ("info", "half-precision", None, 200, message)
    ]


def test_scores_that_fit_float16_alone_are_told_so():
    assert half_format(np.unique(NORMAL.astype(np.float16).astype(float))) == "float16"


def test_large_logits_in_half_precision_are_not_taken_for_four_decimals(listing_of):
    scores = bfloat16(np.random.default_rng(1).uniform(8, 16, 100)).tolist()
    assert decimals(np.unique(scores)) == 4
    assert list(half_precision(listing_of({"q": scores})))
    assert not list(few_decimals(listing_of({"q": scores})))


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
def test_other_scores_do_not_show_half_precision(values):
    assert half_format(np.unique(np.asarray(values, dtype=float))) is None


def test_scores_that_are_equal_as_32_bit_floats_are_a_warning(listing_of):
    near = nextafter(0.3, 1)
    listing = listing_of({"p": [0.9, 0.8], "q": [0.9, 0.3, near, 0.3, 0.1], "r": [0.3]})
    message = (
        "3 documents in 1 of 3 lists have scores that differ as 64-bit floats and are equal as 32-bit floats."
    )
    assert summaries(float32_ties(listing)) == [("warning", "float32-ties", 4, 3, message)]


def test_scores_too_large_for_32_bits_are_equal_in_them(listing_of):
    [finding] = float32_ties(listing_of({"q": [1e300, 1e301]}))
    assert finding.count == 2


@pytest.mark.parametrize(
    "lists",
    [{"q": [0.3, 0.3]}, {"q": [0.3], "r": [nextafter(0.3, 1)]}, {"q": [inf, inf, 1e30]}, {}],
    ids=["tied", "other-lists", "infinite", "none"],
)
@pytest.mark.parametrize("check", [float32_ties, near_ties])
def test_scores_tied_already_or_in_other_lists_are_no_matter(listing_of, lists, check):
    assert not list(check(listing_of(lists)))


def test_neighbours_within_a_billionth_are_told(listing_of):
    listing = listing_of({"q": [5, 3 + 1e-9, 3, 3, 1], "r": [-3, -3 - 1e-9, 1]})
    message = (
        "5 documents in 2 of 2 lists have a score that differs from a neighbour's "
        "by less than one part in a billion."
    )
    assert summaries(near_ties(listing)) == [("info", "near-ties", 2, 5, message)]


@pytest.mark.parametrize(
    "scores",
    [[3 + 4e-9, 3], [1e-12, 2e-12], [0, 1e-300], [inf, 1e308, -1e308, -inf]],
    ids=["above-a-billionth", "small", "beside-0", "huge"],
)
def test_scores_further_apart_are_not_near(listing_of, scores):
    assert not list(near_ties(listing_of({"q": scores})))


@pytest.mark.parametrize("check", [few_decimals, half_precision, float32_ties, near_ties])
def test_a_clean_run_gives_no_word(clean, check):
    assert not list(check(clean))


def test_halves_are_counted_and_not_said_to_be_rounded(listing_of):
    assert list(few_decimals(listing_of({"q": [1.5, 1.5, 0.5, 0]}))) == []
    assert [one.code for one in few_decimals(listing_of({"q": [1.5, 1.5, 0.4, 0]}))] == ["few-decimals"]
