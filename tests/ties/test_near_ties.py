"""Near ties: documents within a distance of the highest of their group share it, from the top down."""

import math
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, UsageError, emulate, evaluate
from metrics.evaluation import ScoringOptions
from metrics.ties import Ranking
from metrics.ties.options import near_tops

LISTS = st.lists(st.lists(st.integers(-40, 40), min_size=1, max_size=12), min_size=1, max_size=4)
"""Scores in hundredths, list by list."""
DISTANCES = st.integers(0, 30)
ANY = st.floats(allow_nan=False) | st.floats(-2, 2) | st.sampled_from([math.inf, -math.inf, -0.0, 1e308])


def hundredths(number):
    """The double nearest to a decimal."""
    return float(f"{number / 100:.2f}")


def tops_by_hand(hundredths_of_list, distance):
    """The definition, in whole numbers: each score's group's highest."""
    tops, top = {}, None
    for score in sorted(hundredths_of_list, reverse=True):
        top = score if top is None or score < top - distance else top
        tops[score] = top
    return [tops[score] for score in hundredths_of_list]


def tops(lists, distance):
    scores = np.array([score for scores in lists for score in scores], dtype=float)
    starts = np.cumsum([0, *map(len, lists)])
    return near_tops(scores, starts, distance)


def table(scores, further=None):
    n = len(scores)
    columns = {"query_id": ["q"] * n, "doc_id": [str(place) for place in range(n)], "score": scores}
    columns |= {"relevance": [1.0] + [0.0] * (n - 1)} | ({} if further is None else {"further": further})
    return pa.table(columns)


def tie_sizes(scores, precision, tiebreak_by=(), further=None):
    runs = Runs({"A": table(scores, further)})
    return Ranking.of(runs, "A", ScoringOptions(precision, tiebreak_by=tiebreak_by)).sizes.tolist()


@given(LISTS, DISTANCES)
def test_groups_of_decimals_are_those_of_the_definition_in_whole_numbers(lists, distance):
    by_hand = [hundredths(top) for scores in lists for top in tops_by_hand(scores, distance)]
    as_doubles = [[hundredths(score) for score in scores] for scores in lists]
    assert tops(as_doubles, hundredths(distance)).tolist() == by_hand


@given(st.lists(ANY, min_size=1, max_size=15), st.sampled_from([0.0, 1e-300, 0.01, 0.5, 3.0, 1e308]))
def test_a_group_spans_the_distance_and_the_next_top_lies_beyond_it(scores, distance):
    highest = tops([scores], distance)
    for score, top in zip(scores, highest.tolist(), strict=True):
        assert score <= top
        assert top in scores
        if math.isfinite(top):
            slack = Fraction(2) ** -49 * max(abs(Fraction(top)), Fraction(distance))
            assert Fraction(top) - Fraction(score) <= Fraction(distance) + slack
        else:
            assert score == top
    distinct = np.unique(highest[np.isfinite(highest)]).tolist()
    for low, high in pairwise(distinct):
        assert Fraction(high) - Fraction(low) >= Fraction(distance) or distance == 0


@given(st.lists(ANY, min_size=1, max_size=15))
def test_a_distance_of_0_ties_what_is_equal_alone(scores):
    assert tie_sizes(scores, "within:0") == tie_sizes(scores, "float64")


@given(LISTS, DISTANCES, st.randoms(use_true_random=False))
def test_the_order_of_rows_has_no_part_in_the_groups(lists, distance, random):
    places = [random.sample(range(len(scores)), len(scores)) for scores in lists]
    shuffled = [[scores[place] for place in order] for scores, order in zip(lists, places, strict=True)]
    before, after = tops(lists, distance).tolist(), tops(shuffled, distance).tolist()
    start = 0
    for order in places:
        assert [before[start + place] for place in order] == after[start : start + len(order)]
        start += len(order)


def test_long_chains_are_cut_as_the_definition_cuts_them():
    rng = np.random.default_rng(0)
    lists = [rng.integers(-400, 400, n).tolist() for n in (3000, 1, 700)]
    by_hand = [top for scores in lists for top in tops_by_hand(scores, 3)]
    assert tops(lists, 3.0).tolist() == by_hand


def test_two_decimals_that_far_apart_tie_whatever_their_doubles_differ_by():
    assert 0.10 - 0.09 > 0.01
    for scores in ([0.10, 0.09], [0.35, 0.34], [100.1, 100.09], [0.01, 0.0], [0.005, -0.005]):
        assert tie_sizes(scores, "within:0.01") == [2], scores
    assert tie_sizes([0.10, 0.0899999], "within:0.01") == [1, 1]


def test_neighbours_do_not_chain():
    assert tie_sizes([0.30, 0.29, 0.28, 0.27], "within:0.01") == [2, 2]


def test_further_score_columns_split_near_ties_as_they_are():
    scores, further = [0.50, 0.495, 0.30], [0.1, 0.101, 0.1]
    assert tie_sizes(scores, "within:0.01") == [2, 1]
    assert tie_sizes(scores, "within:0.01", ["further"], further) == [1, 1, 1]
    assert tie_sizes(scores, "within:0.01", ["further"], [0.1, 0.1, 0.1]) == [2, 1]


def test_a_tool_is_asked_with_files_that_hold_one_score_for_each_near_tie():
    runs = Runs({"A": table([0.5, 0.495, 0.4])})
    values = emulate(runs, ["RR"], precision="within:0.01").set_index("tool")
    assert values.loc["trec_eval", ["value", "tied"]].tolist() == [1 / 2, 3 / 4]


@pytest.mark.parametrize("name", ["within:", "within:-1", "within:nan", "within:1e999", "within:1_0", "within"])
def test_a_distance_that_is_none_is_refused(name):
    with pytest.raises(UsageError, match=re.escape(name)):
        evaluate(Runs({"A": table([1.0])}), precision=name)


def test_near_ties_are_no_treatment_and_the_refusal_says_where_they_go():
    with pytest.raises(UsageError, match=r"--precision within:0\.01"):
        evaluate(Runs({"A": table([1.0])}), ties="within:0.01")
