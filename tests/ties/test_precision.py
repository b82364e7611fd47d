import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, UsageError, evaluate
from metrics.ties.options import PRECISIONS, rounded

NAMES = ["float64", "float32", "float16", "bfloat16", "decimals:0", "decimals:2", "decimals:17", "within:2"]
ANY = st.floats(allow_nan=False) | st.floats(-2, 2) | st.sampled_from([math.inf, -math.inf, -0.0, 1e308])


def round_to(precision, *scores):
    return rounded(np.array(scores, dtype=np.float64), precision).tolist()


def printed(score, decimals):
    """The double nearest to what `%.Nf` prints."""
    return float(f"{score:.{decimals}f}") if math.isfinite(score) else score


def halves(decimals):
    """Scores halfway between two decimals, as near as doubles come, and their neighbours."""
    middle = st.integers(-(10**6), 10**6).map(lambda number: (number + 0.5) / 10.0**decimals)
    beside = st.sampled_from([-math.inf, math.inf]).flatmap(
        lambda side: middle.map(lambda score: math.nextafter(score, side))
    )
    return middle | beside


def largest_tie(scores, precision):
    ids = [str(place) for place in range(len(scores))]
    table = pa.table(
        {"query_id": ["q"] * len(ids), "doc_id": ids, "score": scores, "relevance": [1.0] * len(ids)}
    )
    lists = evaluate(Runs({"A": table}), ["RR"], ["expected"], precision=precision).lists
    return lists["max_tie_size"].iloc[0]


def test_what_is_offered_is_what_is_tested():
    assert {name.replace("N", "2").replace("E", "2") for name in PRECISIONS} <= set(NAMES)


@pytest.mark.parametrize(
    ("precision", "tied"),
    [("float64", 1), ("float32", 2), ("bfloat16", 2), ("decimals:8", 1), ("decimals:7", 2)],
)
def test_scores_tie_where_the_precision_cannot_tell_them_apart(precision, tied):
    assert largest_tie([1.0, 1.00000001], precision) == tied


def test_float_noise_is_absorbed_by_decimals():
    assert largest_tie([0.3, 0.1 + 0.2], "float64") == 1
    assert largest_tie([0.3, 0.1 + 0.2], "decimals:15") == 2


@pytest.mark.parametrize("decimals", [*range(5), 8, 15, 16, 17])
@given(data=st.data())
def test_decimals_are_those_that_printing_gives(decimals, data):
    scores = data.draw(st.lists(ANY | halves(decimals), max_size=8))
    rounded_scores = round_to(f"decimals:{decimals}", *scores)
    assert rounded_scores == [printed(score, decimals) for score in scores]


def test_decimals_of_a_long_column_of_either_width_are_those_that_printing_gives():
    numbers = np.random.default_rng(0).integers(-(10**6), 10**6, 40_000)
    for column in (numbers / 1000, (numbers / 1000).astype(np.float32), numbers * 2.0**30, numbers / 2.0**60):
        rounded_scores = rounded(column, "decimals:2")
        assert rounded_scores.dtype == np.float64
        assert rounded_scores.tolist() == [printed(score, 2) for score in column.tolist()]


@given(st.lists(ANY, min_size=1, max_size=8), st.randoms(), st.sampled_from(NAMES))
def test_rounding_and_so_grouping_does_not_depend_on_the_order_of_rows(scores, chance, precision):
    order = chance.sample(range(len(scores)), len(scores))
    rounded_scores = round_to(precision, *scores)
    assert round_to(precision, *[scores[at] for at in order]) == [rounded_scores[at] for at in order]
    shuffled = [scores[at] for at in order]
    assert largest_tie(scores, precision) == largest_tie(shuffled, precision)


@given(st.lists(ANY, min_size=2, max_size=8), st.sampled_from(NAMES))
def test_a_coarser_precision_ties_scores_but_never_turns_them_round(scores, precision):
    rounded_scores = round_to(precision, *sorted(scores))
    assert not any(math.isnan(value) for value in rounded_scores)
    assert all(low <= high for low, high in itertools.pairwise(rounded_scores))


@given(ANY, st.sampled_from(NAMES))
def test_rounding_twice_is_rounding_once(score, precision):
    rounded_score = round_to(precision, score)
    assert round_to(precision, *rounded_score) == rounded_score


@pytest.mark.parametrize("precision", NAMES)
def test_infinities_stay_and_zeros_tie(precision):
    rounded_scores = round_to(precision, math.inf, -math.inf, -0.0, 0.0)
    assert rounded_scores == [math.inf, -math.inf, 0.0, 0.0]


@pytest.mark.parametrize(
    ("score", "nearest"),
    [
        (1 + 2**-7, 1 + 2**-7),
        (1 + 2**-8, 1.0),
        (1 + 3 * 2**-8, 1 + 2**-6),
        (1 + 2**-8 + 2**-20, 1 + 2**-7),
        (-(1 + 3 * 2**-8), -(1 + 2**-6)),
        (2.0**-133, 2.0**-133),
        (2.0**-135, 0.0),
        (2.0**128 * (1 - 2**-8), 2.0**128 * (1 - 2**-8)),
        (2.0**128 * (1 - 2**-10), math.inf),
    ],
)
def test_bfloat16_keeps_eight_bits_to_the_nearest_even(score, nearest):
    assert round_to("bfloat16", score) == [nearest]


@pytest.mark.parametrize(
    ("precision", "score", "nearest"),
    [
        ("float16", 1 + 2**-10, 1 + 2**-10),
        ("float16", 1 + 2**-11, 1.0),
        ("float16", 2049.0, 2048.0),
        ("float16", 70_000.0, math.inf),
        ("float32", 1e39, math.inf),
        ("float32", -1e39, -math.inf),
        ("float32", 16_777_217.0, 16_777_216.0),
        ("decimals:2", 0.125, 0.12),
        ("decimals:2", 0.135, 0.14),
        ("decimals:2", 2.675, 2.67),
        ("decimals:2", -2.675, -2.67),
        ("decimals:2", 1.005, 1.0),
        ("decimals:1", 0.25, 0.2),
        ("decimals:1", 0.35, 0.3),
        ("decimals:0", 2.5, 2.0),
        ("decimals:15", 1e300, 1e300),
        ("decimals:15", -1.7e308, -1.7e308),
    ],
)
def test_a_score_becomes_the_nearest_the_format_holds(precision, score, nearest):
    assert round_to(precision, score) == [nearest]


@pytest.mark.parametrize(
    "precision", ["", "float", "float8", "FLOAT32", "decimals", "decimals:", "decimals:-1", "decimals:18"]
)
def test_a_precision_that_does_not_exist_is_refused_with_those_that_do(precision):
    with pytest.raises(UsageError, match=r"no precision.*float32.*decimals:N"):
        rounded(np.ones(1), precision)
