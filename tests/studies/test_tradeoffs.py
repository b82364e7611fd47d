import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, evaluate, read_runs, read_table
from metrics.studies.leaderboard import UNNAMED, query_segments, segment_table
from metrics.studies.prose import plain
from metrics.studies.tradeoffs import (
    beats,
    coverage,
    coverage_measures,
    duration,
    latencies,
    latency_table,
    pareto_front,
    tradeoff_finding,
    tradeoffs,
    with_targets,
)

TIES = ["input", "expected", "optimistic", "pessimistic"]


def runs_of(rows, *columns):
    """Runs from rows of reranker, query_id, doc_id, score, relevance and further columns."""
    return Runs.from_frame(
        pd.DataFrame(rows, columns=["reranker", "query_id", "doc_id", "score", "relevance", *columns])
    )


def simple(**seconds):
    """One list of two documents for each reranker; the relevant one stands second at `worse`."""
    rows = []
    for name, latency in seconds.items():
        rows += [
            (name, "q", "a", 2, int("good" in name), latency),
            (name, "q", "b", 1, int("good" not in name), latency),
        ]
    return runs_of(rows, "latency")


def board_of(runs, statistic="p50", measure="RR"):
    evaluation = evaluate(runs, [measure], TIES)
    return tradeoffs(evaluation, latency_table(latencies(runs), evaluation), measure, "input", statistic)


def covered_of(runs, k=2):
    return coverage(evaluate(runs, coverage_measures(k), TIES), k)


def finding(runs, budget=None):
    return plain(tradeoff_finding(board_of(runs), covered_of(runs), "MRR", budget, 2))


POINTS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3, math.nan]), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    max_size=8,
)


@given(POINTS)
def test_the_front_is_what_no_other_point_beats(points):
    front = pareto_front(*np.array(points, dtype=float).reshape(-1, 2).T)
    for position, (cost, value) in enumerate(points):
        beaten = any(c <= cost and v >= value and (c < cost or v > value) for c, v in points)
        assert front[position] == (not beaten and not math.isnan(cost))


@given(POINTS)
def test_whoever_is_beaten_is_beaten_by_one_on_the_front(points):
    seconds, quality = np.array(points, dtype=float).reshape(-1, 2).T
    over, front = beats(seconds, quality), pareto_front(seconds, quality)
    beaten = ~front & ~np.isnan(seconds)
    assert over[front][:, beaten].any(axis=0).all()


def test_points_that_are_equal_but_for_rounding_are_both_on_the_front():
    front = pareto_front(np.array([0.1, 0.1, 0.1, 0.2]), np.array([0.3, 0.3, 0.1 + 0.2, 0.2]))
    assert front.tolist() == [True, True, True, False]


def test_the_largest_latency_of_a_list_counts_where_its_rows_disagree():
    rows = [("A", "q", "a", 2, 1, 0.5), ("A", "q", "b", 1, 0, 0.7), ("A", "r", "a", 1, 1, math.nan)]
    rows += [("A", "r", "b", 0, 0, 0.1), ("B", "q", "a", 1, 1, math.nan)]
    list_seconds = latencies(runs_of(rows, "latency"))
    assert {name: found.to_dict() for name, found in list_seconds.items()} == {"A": {"q": 0.7, "r": 0.1}}


@pytest.mark.parametrize("latency", [math.nan, -1.0, math.inf, -math.inf])
def test_a_value_that_is_no_time_is_no_latency(latency):
    assert latencies(runs_of([("A", "q", "a", 1, 1, latency)], "latency")) == {}
    assert latencies(runs_of([("A", "q", "a", 1, 1)])) == {}


def test_latencies_are_those_of_the_lists_that_are_scored():
    rows = [("A", f"q{n}", "a", 1, 1, n / 100) for n in range(1, 101)] + [("B", "q1", "a", 1, 1, math.nan)]
    runs = runs_of(rows, "latency")
    evaluation = evaluate(runs, ["RR"], TIES)
    table = latency_table(latencies(runs), evaluation)
    assert table.index.to_list() == ["A"]
    expected = {"mean": 0.505, "p50": 0.505, "p95": 0.9505}
    assert table.loc["A"].to_dict() == pytest.approx(expected)
    few = latency_table(latencies(runs), evaluation.only(["A", "B"], ["q3", "q5"]))
    assert few.loc["A", "p50"] == pytest.approx(0.04)


def test_speeds_of_nothing_are_an_empty_table():
    runs = runs_of([("A", "q", "a", 1, 1)])
    assert latency_table({}, evaluate(runs, ["RR"], TIES)).to_dict() == {"mean": {}, "p50": {}, "p95": {}}


def test_a_row_holds_quality_latency_and_who_beats_it():
    board = board_of(simple(bad=0.5, good=0.1, good_late=2.0, slow=3.0))
    assert board["tied"].to_list() == [0.5, 1, 1, 0.5]
    assert board["seconds"].to_list() == [0.5, 0.1, 2.0, 3.0]
    assert board["standing"].to_list() == ["beaten", "both", "beaten", "beaten"]
    assert board["beaten_by"].to_list() == ["good", "", "good", "good"]


@pytest.mark.parametrize(("statistic", "front"), [("p50", "b"), ("p95", "a"), ("mean", "a")])
def test_the_latency_asked_for_is_weighed(statistic, front):
    seconds = {"a": [2, 2, 2, 2, 2], "b": [1, 1, 1, 1, 99]}
    rows = [(name, f"q{n}", "d", 1, 1, one) for name, each in seconds.items() for n, one in enumerate(each)]
    board = board_of(runs_of(rows, "latency"), statistic)
    assert board.index[board["tied_front"]].to_list() == [front]


def lucky(name, latency, documents=2):
    """All tied, the relevant document first by the order of the file."""
    return [(name, "q", f"d{at}", 1, int(at == 0), latency) for at in range(documents)]


def unlucky(name, latency):
    return [(name, "q", f"d{at}", 1, int(at == 1), latency) for at in range(2)]


def strict(name, latency, *, right=True):
    return [(name, "q", "a", 2, int(right), latency), (name, "q", "b", 1, int(not right), latency)]


FAST = strict("fast", 0.5, right=False)
BY_TIES = {"lucky": FAST + lucky("lucky", 0.75, 5), "unlucky": FAST + unlucky("unlucky", 1.0)}


@pytest.mark.parametrize(
    ("name", "standing", "sentence"),
    [
        ("lucky", "traditional only", "lucky would join the front: tie order puts its score 0.543 too high."),
        ("unlucky", "tied only", "unlucky would leave the front: tie order puts its score 0.250 too low."),
    ],
)
def test_the_order_of_ties_can_put_a_reranker_on_the_front_or_take_it_away(name, standing, sentence):
    runs = runs_of(BY_TIES[name], "latency")
    assert board_of(runs)["standing"].to_dict() == {"fast": "both", name: standing}
    assert f"By traditional scores, {sentence}" in finding(runs)


def test_distinct_recall_counts_a_target_once():
    rows = [("A", "q", "a", 4, 1, "x"), ("A", "q", "b", 3, 1, "x"), ("A", "q", "c", 2, 1, "y")]
    row = covered_of(runs_of(rows, "target_id")).loc["A"]
    assert row[["recall", "distinct", "targets"]].to_list() == pytest.approx([2 / 3, 1 / 2, 1])
    assert row[["lost", "repeated"]].to_list() == pytest.approx([1 / 6, 1 / 2])


def test_without_targets_nothing_is_lost_or_repeated():
    rows = [("A", "q", str(at), at // 3, at % 2) for at in range(9)]
    table = covered_of(runs_of(rows))
    assert table[["lost", "repeated"]].to_numpy().tolist() == [[0, 0]]


def test_expected_coverage_lies_between_worst_and_best():
    rows = [("A", f"q{q}", str(at), at // 4, at % 3 == q, f"t{at % 2}") for q in range(3) for at in range(9)]
    row = covered_of(runs_of(rows, "target_id"), 3).loc["A"]
    assert row["targets_worst"] < row["targets"] < row["targets_best"]


def test_targets_are_those_of_the_judgments_where_there_are_any(write):
    table = write("table.csv", "query_id,doc_id,score,relevance,target_id\nq,a,1,1,x\n")
    assert with_targets(read_table(table)) == ["table"]
    bare = write("bare.csv", "query_id,doc_id,score,relevance\nq,a,1,1\n")
    assert with_targets(read_table(bare)) == []
    assert with_targets(read_runs([table, write("bare2.csv", bare.read_text())], bare)) == []
    assert with_targets(read_runs([bare], table)) == ["bare"]


SEGMENTED = [
    ("A", "q1", "a", 2, 1, None),
    ("A", "q1", "b", 1, 0, "x"),
    ("A", "q2", "a", 2, 0, " "),
    ("A", "q2", "b", 1, 1, ""),
    ("B", "q3", "a", 1, 1, "y"),
    ("B", "q1", "a", 1, 1, "z"),
]


def test_the_segment_of_a_query_is_the_first_one_named():
    assert query_segments(runs_of(SEGMENTED, "segment")).to_dict() == {"q1": "x", "q3": "y"}


def test_a_segment_holds_the_means_of_its_lists():
    runs = runs_of(SEGMENTED, "segment")
    table = segment_table(evaluate(runs, ["RR"], TIES), query_segments(runs), "RR", "input")
    by_segment = table.set_index(["reranker", "segment"])
    assert list(by_segment.index) == [("A", "x"), ("A", UNNAMED), ("B", "x"), ("B", "y")]
    assert by_segment["tied"].to_list() == [1, 0.5, 1, 1]
    assert by_segment["n"].to_list() == [1, 1, 1, 1]


@given(st.lists(st.sampled_from(["", "x", "y"]), min_size=1, max_size=6))
def test_the_segments_of_a_reranker_together_hold_each_list_once(kinds):
    rows = [
        ("A", f"q{at}", f"d{n}", 1, int(n == at % 3), kind) for at, kind in enumerate(kinds) for n in range(3)
    ]
    runs = runs_of(rows, "segment")
    evaluation = evaluate(runs, ["RR"], TIES)
    table = segment_table(evaluation, query_segments(runs), "RR", "input")
    assert table["n"].sum() == len(kinds)
    mean_of_all = evaluation.scores["RR"].mean()
    assert np.average(table["gap"], weights=table["n"]) == pytest.approx(
        mean_of_all["input"] - mean_of_all["expected"]
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (1e-7, "0.1 µs"),
        (0.0003, "300 µs"),
        (0.00394, "3.94 ms"),
        (0.9996, "1 s"),
        (1.5, "1.5 s"),
        (119.8, "2 min"),
        (5400, "90 min"),
        (1e7, "2,778 h"),
    ],
)
def test_a_duration_has_three_figures_and_the_unit_that_suits_it(seconds, text):
    assert duration(seconds) == text


REPEATED = [("A", "q", "a", 4, 1, "x"), ("A", "q", "b", 3, 1, "x"), ("B", "q", "a", 4, 1, "x")]
FOUND = [("A", "q", "a", 4, 1), ("A", "q", "b", 3, 0), ("A", "q", "c", 2, 1), ("B", "q", "a", 4, 1)]


@pytest.mark.parametrize(
    ("runs", "budget", "words"),
    [
        (runs_of([("A", "q", "a", 1, 1)]), None, "No run has latencies: a latency column"),
        (runs_of([("A", "q", "a", 1, 1)]), None, "Every reranker has Recall@2 1.000."),
        (runs_of(REPEATED, "target_id"), None, "A has the largest share of repeats: 50% of"),
        (runs_of(FOUND), None, "B has the highest Recall@2: 1.000"),
        (simple(good=0.1, bad=math.nan), None, "1 of 2 rerankers has no latency."),
        (simple(good=0.1, bad=0.2), None, "good has the lowest latency and the highest MTRR (1.000 at 100 ms)"),
        (simple(good=0.1, bad=0.2), None, "the same rerankers are on the front."),
        (simple(good=1.0, bad=0.04), None, "(1.000 at 1 s). Next on the front, bad has 0.500 at 40 ms."),
        (simple(good=1.0, bad=0.4), 0.5, "Within 500 ms, bad has the highest MTRR (0.500 at 400 ms); good has"),
        (simple(good=1.0, bad=0.4), 5, "Within 5 s, good has"),
        (simple(good=1.0, bad=0.4), 0.1, "answers within 100 ms: the fastest, bad, takes 400 ms."),
    ],
)
def test_the_finding_says_who_is_best_at_what_latency(runs, budget, words):
    assert words in finding(runs, budget)


def test_the_finding_of_nothing_scored_says_so():
    runs = runs_of([("A", "q", "a", 1, 0, 0.1)], "latency")
    evaluation = evaluate(runs, ["RR"], TIES, empty="skip")
    board = tradeoffs(evaluation, latency_table(latencies(runs), evaluation), "RR", "input")
    assert plain(tradeoff_finding(board, covered_of(runs), "MRR")).startswith("No list is scored")


def test_the_finding_of_nothing_relevant_says_so():
    text = finding(runs_of([("A", "q", "a", 1, 0, 0.1), ("B", "q", "a", 1, 0, 0.2)], "latency"))
    assert text == "Every MTRR is 0."
