import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Running, UsageError, evaluate

MEASURES = ["RR", "nDCG@3"]


def lists(seed, n_queries, reranker="llm", chance=0.4):
    rng = np.random.default_rng(seed)
    rows = [
        (reranker, f"q{query}", f"d{place}", float(rng.integers(3)), float(rng.random() < chance))
        for query in range(n_queries)
        for place in range(5)
    ]
    return pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance"])


def of_queries(frame, first, end):
    return frame[frame["query_id"].isin([f"q{query}" for query in range(first, end)])]


def evaluated(frame):
    ties = {"traditional": "input", "tied": "expected", "worst": "pessimistic", "best": "optimistic"}
    scores = evaluate(frame, MEASURES, list(ties.values())).scores
    return {measure: [scores[measure, name].mean() for name in ties.values()] for measure in MEASURES}


def means(running, **window):
    rows = running.means(**window).set_index("measure")
    return {
        measure: rows.loc[measure, ["traditional", "tied", "worst", "best"]].to_list() for measure in MEASURES
    }


@settings(max_examples=8)
@given(st.integers(0, 100), st.integers(1, 6), st.data())
def test_means_are_those_of_evaluate_however_lists_arrive(seed, n_queries, data):
    frame, running, first = lists(seed, n_queries), Running(MEASURES), 0
    while first < n_queries:
        end = data.draw(st.integers(first + 1, n_queries))
        running.add(of_queries(frame, first, end))
        first = end
    expected = evaluated(frame)
    for measure, values in means(running).items():
        assert values == pytest.approx(expected[measure], rel=1e-12)


def test_a_window_is_the_mean_of_its_lists_alone():
    frame, running = lists(1, 8), Running(MEASURES)
    for query in range(8):
        running.add(of_queries(frame, query, query + 1))
    expected = evaluated(of_queries(frame, 5, 8))
    for measure, values in means(running, last=3).items():
        assert values == pytest.approx(expected[measure], rel=1e-12)
    assert running.means(last=3)["n"].to_list() == [3, 3]


def test_judgments_of_queries_that_have_not_come_do_not_count_as_0():
    frame = lists(3, 4)
    qrels, run = frame[["query_id", "doc_id", "relevance"]], frame.drop(columns="relevance")
    running = Running(MEASURES)
    running.add(of_queries(run, 0, 2), qrels)
    assert running.means()["n"].to_list() == [2, 2]
    assert means(running)["RR"] == pytest.approx(evaluated(of_queries(frame, 0, 2))["RR"], rel=1e-12)


def test_rerankers_that_arrive_together_have_means_of_their_own():
    running = Running(MEASURES)
    running.add(pd.concat([lists(4, 3, "a"), lists(5, 3, "b")]))
    assert running.means()["reranker"].to_list() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("last", [0, 1.5, "3", math.nan])
def test_a_window_of_no_whole_number_of_lists_is_refused(last):
    running = Running("RR")
    assert running.means().empty
    running.add(lists(0, 2))
    with pytest.raises(UsageError, match="give a whole number of lists, 1 or more"):
        running.means(last=last)


@pytest.mark.parametrize(
    ("measures", "options", "problem"),
    [
        ("RR", {"traditional": "nonsense"}, "nonsense"),
        (["nonsense"], {}, "nonsense"),
        ([], {}, "at least one measure"),
        *(("RR", {"keep": keep}, "give a whole number of lists, 1 or more") for keep in (2.5, math.nan, 0)),
    ],
)
def test_what_cannot_be_kept_or_computed_is_refused_before_any_list_comes(measures, options, problem):
    with pytest.raises(UsageError, match=problem):
        Running(measures, **options)


def test_a_measure_named_twice_has_one_row():
    running = Running(["RR", "MTRR", "RR"])
    running.add(lists(0, 2))
    assert running.means()["measure"].to_list() == ["RR"]


@settings(max_examples=8)
@given(st.integers(0, 100), st.integers(1, 5))
def test_means_of_all_lists_are_those_of_evaluate_however_few_are_kept(seed, keep):
    frame, running = lists(seed, 12), Running(MEASURES, keep=keep)
    for query in range(12):
        running.add(of_queries(frame, query, query + 1))
    for measure, values in means(running).items():
        assert values == pytest.approx(evaluated(frame)[measure], rel=1e-12)
    expected = evaluated(of_queries(frame, 12 - keep, 12))
    for measure, values in means(running, last=keep).items():
        assert values == pytest.approx(expected[measure], rel=1e-12)


def test_lists_that_are_not_kept_take_no_memory_and_no_window_reaches_them():
    running = Running("RR", keep=3)
    frame, sizes = lists(0, 40), []
    for query in range(40):
        running.add(of_queries(frame, query, query + 1))
        sizes.append(len(pickle.dumps(running)))
    assert max(sizes[20:]) < 1.1 * max(sizes[:20])
    assert (running.n_lists, running.means(last=3)["n"].to_list()) == ({"llm": 40}, [3])
    with pytest.raises(UsageError, match="keep=3"):
        running.means(last=4)


def test_counts_of_queries_left_out_or_counted_as_0_are_those_of_all_batches():
    running = Running("RR")
    for first in (0, 2):
        running.add(of_queries(lists(0, 4, chance=0), first, first + 2))
    assert running.policies.loc["llm", ["n_queries", "n_empty"]].to_list() == [4, 4]
