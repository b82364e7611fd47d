import math
import pickle
from types import SimpleNamespace

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
        running.add(of_queries(frame, first, end), at=float(first))
        first = end
    expected = evaluated(frame)
    for measure, values in means(running).items():
        assert values == pytest.approx(expected[measure], rel=1e-12)


@pytest.mark.parametrize("window", [{"last": 3}, {"seconds": 2}])
def test_a_window_is_the_mean_of_its_lists_alone(window):
    frame, running = lists(1, 8), Running(MEASURES)
    for query in range(8):
        running.add(of_queries(frame, query, query + 1), at=query)
    expected = evaluated(of_queries(frame, 5, 8))
    for measure, values in means(running, **window).items():
        assert values == pytest.approx(expected[measure], rel=1e-12)
    assert running.means(**window)["n"].to_list() == [3, 3]


def test_weights_halve_with_every_half_life():
    frame, running = lists(2, 4), Running("RR")
    running.add(frame)
    values = evaluate(frame, ["RR"], ["expected"]).scores.to_numpy().ravel()
    assert running.means(halflife=1).loc[0, "tied"] == pytest.approx(np.average(values, weights=[1, 2, 4, 8]))


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


def _steps(scores, relevance):
    rows = [
        (f"q{query}", f"d{place}", score, grade)
        for query, (of_list, grades) in enumerate(zip(scores, relevance, strict=True))
        for place, (score, grade) in enumerate(zip(of_list, grades, strict=True))
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score", "relevance"])


def test_a_change_is_found_where_it_is_and_is_beyond_ties_where_no_order_undoes_it():
    running = Running("RR")
    running.add(_steps([[2, 1, 0]] * 40, [[1, 0, 0]] * 25 + [[0, 0, 1]] * 15))
    change = running.change("table", "RR")
    assert (change.query_id, change.n_before, change.n_after) == ("q25", 25, 15)
    assert (change.before, change.after) == (1, pytest.approx(1 / 3))
    assert change.p < 0.001
    assert change.is_beyond_ties


def test_a_change_that_an_order_of_ties_would_undo_is_not_beyond_them():
    running = Running("RR")
    running.add(_steps([[2, 1, 0]] * 20 + [[1, 1, 1]] * 20, [[1, 0, 0]] * 40))
    change = running.change("table", "RR")
    assert change.n_before == 20
    assert change.p < 0.001
    assert change.after_bounds == (pytest.approx(1 / 3), 1)
    assert not change.is_beyond_ties


def test_equal_lists_have_no_change_and_steady_ones_none_that_stands_out():
    running = Running("RR")
    running.add(_steps([[2, 1]] * 9, [[1, 0]] * 9))
    assert running.change("table", "RR") is None
    p_values = []
    for seed in range(40):
        steady = Running("RR")
        steady.add(lists(seed, 60))
        p_values.append(steady.change("llm", "RR").p)
    assert np.mean(np.array(p_values) < 0.05) <= 0.15


FINITE = "give a finite number of seconds"


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda running: running.add(lists(0, 2), at=4), "in order of time"),
        *(
            (lambda running, at=at: running.add(lists(0, 2), at=at), FINITE)
            for at in (math.nan, math.inf, "noon")
        ),
        (lambda running: running.means(last=2, seconds=3), "one of last, seconds or halflife"),
        (lambda running: running.means(last=0), "above 0"),
        (lambda running: running.means(last=1.5), "a whole number of lists"),
        (lambda running: running.means(last="3"), "above 0"),
        (lambda running: running.means(seconds=math.nan), "above 0"),
        (lambda running: running.means(halflife="1"), "above 0"),
        (lambda running: running.change("other", "RR"), "There are: llm; RR"),
    ],
)
def test_wrong_questions_and_moments_are_refused_and_add_nothing(ask, problem):
    running = Running("RR")
    assert running.means().empty
    running.add(lists(0, 2), at=5)
    with pytest.raises(UsageError, match=problem):
        ask(running)
    assert running.n_lists == {"llm": 2}


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


def test_batches_are_joined_once_however_often_means_are_asked_for(monkeypatch):
    running, sizes, concat = Running("RR"), [], pd.concat
    monkeypatch.setattr(pd, "concat", lambda parts: sizes.append(len(parts)) or concat(parts))
    for moment in range(5):
        running.add(lists(0, 2), at=moment)
    for _ in range(2):
        assert running.means(seconds=1)["n"].to_list() == [4]
    running.add(lists(0, 2), at=9)
    assert running.means(last=20)["n"].to_list() == [12]
    assert sizes == [5, 2]


@settings(max_examples=8)
@given(st.integers(0, 100), st.integers(1, 5))
def test_means_of_all_lists_are_those_of_evaluate_however_few_are_kept(seed, keep):
    frame, running = lists(seed, 12), Running(MEASURES, keep=keep)
    for query in range(12):
        running.add(of_queries(frame, query, query + 1), at=query)
    for measure, values in means(running).items():
        assert values == pytest.approx(evaluated(frame)[measure], rel=1e-12)
    expected = evaluated(of_queries(frame, 12 - keep, 12))
    for measure, values in means(running, last=keep).items():
        assert values == pytest.approx(expected[measure], rel=1e-12)


def test_lists_that_are_not_kept_take_no_memory_and_no_window_reaches_them():
    running = Running("RR", keep=3)
    frame, sizes = lists(0, 40), []
    for query in range(40):
        running.add(of_queries(frame, query, query + 1), at=query)
        sizes.append(len(pickle.dumps(running)))
    assert max(sizes[20:]) < 1.1 * max(sizes[:20])
    assert (running.n_lists, running.means(seconds=99)["n"].to_list()) == ({"llm": 40}, [3])
    for window in ({"last": 4}, {"halflife": 1}):
        with pytest.raises(UsageError, match="keep=3"):
            running.means(**window)


def test_lists_before_a_known_change_are_left_out_by_number():
    running, values = Running("RR", keep=30), [[1, 0, 0]] * 20 + [[0, 0, 1]] * 10 + [[0, 1, 0]] * 10
    running.add(_steps([[2, 1, 0]] * 40, values))
    change = running.change("table", "RR", after=20)
    assert (change.query_id, change.n_before, change.n_after) == ("q30", 10, 10)
    assert running.change("table", "RR").n_before == 10


def test_counts_of_queries_left_out_or_counted_as_0_are_those_of_all_batches():
    running = Running("RR")
    for first in (0, 2):
        running.add(of_queries(lists(0, 4, chance=0), first, first + 2))
    assert running.policies.loc["llm", ["n_queries", "n_empty"]].to_list() == [4, 4]


def test_a_clock_that_steps_back_does_not_refuse_lists(monkeypatch):
    moments = iter([10.0, 5.0])
    clock = SimpleNamespace(time=lambda: next(moments))  # other threads have theirs
    monkeypatch.setattr("metrics.evaluation.running.time", clock)
    running = Running("RR")
    for _ in range(2):
        running.add(_steps([[2, 1, 0]], [[1, 0, 0]]))
    assert running.n_lists == {"table": 2}
