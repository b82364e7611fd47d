"""Expectations under noise: limits, hand-made lists, drawn scores and exact enumeration."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from relevance_measures import MEASURES, with_cutoffs

from metrics import UsageError, evaluate, parse
from metrics.ties.treatments import treatment

NOISY = [measure for measure in MEASURES if measure.family.noisy]
NAMES = with_cutoffs(["", "@2"], ["@1", "@3"], NOISY)
DOCS = st.lists(
    st.fixed_dictionaries(
        {
            "score": st.sampled_from([0.0, 0.5, 0.75, 1.0]),
            "relevance": st.sampled_from([0.0, 0.0, 1.0, 2.0]),
            "target_id": st.sampled_from("stu"),
        }
    ),
    min_size=1,
    max_size=9,
)


def board(docs, **columns):
    table = pd.DataFrame(docs).assign(query_id="q", **columns)
    return table.assign(doc_id=[f"d{number}" for number in range(len(table))])


def values(table, ties, measures=NAMES):
    return evaluate(table, measures, ties).scores.iloc[0]


@given(DOCS)
def test_no_noise_is_the_tied_value_of_every_measure(docs):
    for ties in ("noise:0", "noise:1e-9", "noise:decimals:3"):
        scores = values(board(docs), [ties, "expected"])
        assert scores.xs(ties, level=1).to_numpy() == pytest.approx(
            scores.xs("expected", level=1).to_numpy(), abs=1e-12
        )


@given(DOCS)
def test_no_noise_is_the_strict_value_where_nothing_ties(docs):
    strict = board(docs, score=np.arange(len(docs)) / 7)
    scores = values(strict, ["noise:1e-6", "input"])
    assert scores.xs("noise:1e-6", level=1).to_numpy() == pytest.approx(
        scores.xs("input", level=1).to_numpy(), abs=1e-12
    )


@given(DOCS)
def test_endless_noise_is_one_tie_of_all(docs):
    noisy = values(board(docs), "noise:1e12")
    tied = values(board(docs, score=1.0), "expected")
    own = [parse(name).measure.family.own_rule for name in NAMES]
    treated = ~np.array(own)
    assert noisy.to_numpy()[treated] == pytest.approx(tied.to_numpy()[treated], abs=1e-7)


@pytest.mark.parametrize("sigma", [0.01, 0.1, 1.0])
def test_two_documents_change_places_with_the_chance_of_their_difference(sigma):
    docs = [{"score": 0.3, "relevance": 1.0}, {"score": 0.45, "relevance": 0.0}]
    chance_first = 0.5 * math.erfc(0.15 / (2 * sigma))
    scores = values(board(docs), f"noise:{sigma}", ["RR", "AP", "Hits@1", "P@1"])
    assert scores.tolist() == pytest.approx([(1 + chance_first) / 2] * 2 + [chance_first] * 2, abs=1e-7)


def test_two_spreads_inside_a_tie_have_another_limit():
    docs = [{"score": 0.5, "relevance": grade} for grade in (1.0, 0.0, 0.0)]
    first = 0.25 + math.asin(100 / 101) / math.tau
    for size in (1e-6, 1.0):
        wide = board(docs, score_std=[10 * size, size, size])
        assert values(wide, "noise", ["Hits@1"]).item() == pytest.approx(first, abs=1e-7)
    even = board(docs, score_std=0.01)
    assert values(even, "noise", ["Hits@1"]).item() == pytest.approx(1 / 3, abs=1e-12)


def test_further_score_columns_are_refused_beside_noise():
    table = board([{"score": 0.5, "relevance": 1.0}], freshness=1.0)
    with pytest.raises(UsageError, match="never tied"):
        evaluate(table, "RR", "noise:0.1", tiebreak_by=["freshness"])


TOO_SMALL_OR_LARGE = ["noise:1e-300", "noise:1e308", "noise:5e307"]
INVALID = ["noise:-1", "noise:nan", "noise:inf", "noise:", "noise:float8", "noise:decimals:18"]
NO_MEAN = r"no formula for the mean of {} under noise:0\.1\. Choose AP or nDCG"


@pytest.mark.parametrize(
    ("ties", "measures", "problem"),
    [
        ("noise", NAMES, "score_std"),
        *((name, NAMES, "standard deviation of 0 or more") for name in INVALID),
        *((name, NAMES, r"0, or between 1e-290 and 1e\+290") for name in TOO_SMALL_OR_LARGE),
        ("noise:0.1", ["bpref"], NO_MEAN.format("bpref")),
    ],
)
def test_noise_that_cannot_be_computed_is_refused(ties, measures, problem):
    with pytest.raises(UsageError, match=problem):
        values(board([{"score": 0.5, "relevance": 1.0}]), ties, measures)


def test_a_format_is_said_to_be_even_and_a_standard_deviation_normal():
    assert "normal noise with standard deviation 0.05" in treatment("noise:0.05").summary
    assert "each row's score_std" in treatment("noise").summary
    assert "documents with the same score have the same standard deviation" in treatment("noise").summary
    assert treatment("noise:0.05").summary.endswith("approaches the tied mean as the noise goes to 0.")
    for number_format in ("bfloat16", "decimals:2"):
        summary = treatment(f"noise:{number_format}").summary
        assert f"uniformly within half a rounding step of {number_format}" in summary
        assert "normal" not in summary
