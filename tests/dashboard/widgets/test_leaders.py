import pandas as pd
import pytest

from dashboard.widgets.leaders import farthest_off, leader_name, most_ties


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([0.2, 0.5, 0.4], "B"),
        ([0.5, 0.5 - 1e-15, 0.4], "2 rerankers alike"),
        ([0.0, 0.0, 0.0], "3 rerankers alike"),
        ([float("nan"), 0.1, 0.0], "B"),
    ],
)
def test_a_card_names_the_leader_or_says_how_many_are_level(values, name):
    assert leader_name(pd.Series(values, list("ABC"))) == name


@pytest.mark.parametrize(
    ("gaps", "gap", "name"),
    [
        ([0.0, 0.0], 0.0, "no reranker"),
        ([0.1, -0.3], -0.3, "B"),
        ([-0.3, -0.3], -0.3, "2 rerankers alike"),
        ([0.3, -0.3], 0.3, "A"),
    ],
)
def test_no_reranker_has_a_gap_of_0_and_gaps_of_two_signs_are_not_alike(gaps, gap, name):
    assert farthest_off(pd.Series(gaps, list("AB"))) == (gap, name)


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ([0.9, 0.899, 0.2], ("90%", "2 rerankers alike")),
        ([1.0, 0.999, 0.2], ("100%", "A")),
        ([0.0, 0.0, 0.0], ("0%", "no reranker")),
    ],
)
def test_rerankers_that_tie_the_same_percent_are_alike(ratios, words):
    assert most_ties(pd.Series(ratios, list("ABC"))) == words
