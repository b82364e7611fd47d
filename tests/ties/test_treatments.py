import math

import pandas as pd
import pytest
from drawing import TREATMENTS

import metrics
from metrics import Runs, UsageError, evaluate


def rr(documents, ties, **policies):
    rows = pd.DataFrame(documents, columns=["doc_id", "score", "relevance"]).assign(query_id="q")
    return evaluate(Runs.from_frame(rows), ["RR"], [ties], **policies).scores.iloc[0, 0]


def test_the_treatments_are_those_that_are_promised():
    assert [one.name for one in metrics.TREATMENTS] == [*TREATMENTS, "std"]


BY_CODE_POINT = [("10", 1, 0), ("9", 1, 0), ("a", 1, 1), ("é", 1, 0)]
PAST_THE_BASIC_PLANE = [("\U0001f600", 1, 1), ("\uffff", 1, 0)]  # where UTF-16 orders otherwise
GRADED = [("a", 1, -1), ("b", 1, 2), ("c", 1, 0), ("d", 1, 0)]
INFINITE = [("a", -math.inf, 1), ("b", 0, 0), ("c", math.inf, 0), ("d", math.inf, 0)]


@pytest.mark.parametrize(
    ("documents", "ties", "value"),
    [
        ([("z", 1, 0), ("a", 1, 1), ("m", 1, 0)], "input", 1 / 2),
        (BY_CODE_POINT, "docid_asc", 1 / 3),
        (BY_CODE_POINT, "docid_desc", 1 / 2),
        (PAST_THE_BASIC_PLANE, "docid_desc", 1),
        (PAST_THE_BASIC_PLANE, "docid_asc", 1 / 2),
        ([("a", 1, 1), ("B", 1, 0)], "docid_asc", 1 / 2),
        (GRADED, "optimistic", 1),
        (GRADED, "pessimistic", 1 / 4),
    ],
)
def test_a_treatment_orders_a_tie_by_file_by_code_point_or_by_relevance(documents, ties, value):
    assert rr(documents, ties) == pytest.approx(value)


@pytest.mark.parametrize(
    ("documents", "value"),
    [
        ([("a", 0.3, 1), ("b", 0.1 + 0.2, 0)], 1 / 2),
        ([("a", -0.0, 1), ("b", 0.0, 0)], 3 / 4),
        (INFINITE, 1 / 4),
    ],
    ids=["a rounding apart", "zeros of both signs", "infinities"],
)
def test_scores_tie_where_they_are_equal(documents, value):
    assert rr(documents, "expected") == pytest.approx(value)


def test_a_treatment_that_does_not_exist_is_refused_by_name_with_those_that_do():
    with pytest.raises(UsageError, match=r"'best'.*expected, input"):
        rr([("a", 1, 1)], "best")


@pytest.mark.parametrize(
    ("word", "name"), [("best", "optimistic"), ("worst", "pessimistic"), ("Tied", "expected")]
)
def test_a_word_for_a_tie_order_is_refused_with_the_name_of_the_order(word, name):
    with pytest.raises(UsageError, match=f"no tie order '{word}'. Did you mean {name}"):
        rr([("a", 1, 1)], word)
