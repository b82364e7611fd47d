import numpy as np
import pandas as pd
import pytest

from metrics import evaluate
from metrics.errors import UsageError
from metrics.simulation import (
    NOTEBOOK_SEGMENTS,
    LlmReranker,
    Segment,
    long_table,
    simulate,
    synthetic,
)

RERANKERS = {"one": LlmReranker(0.3, 10)}


def rows(runs, name=None):
    return runs.tables[name or runs.rerankers[0]].to_pandas()


def lists(runs):
    return rows(runs).groupby("query_id", sort=False)


@pytest.mark.parametrize(
    "draw", [lambda **options: simulate(RERANKERS, 300, **options), lambda **options: synthetic(300, **options)]
)
def test_lists_keep_within_the_numbers_asked_for(draw):
    drawn_lists = lists(draw(documents=(3, 6), relevant=(1, 2)))
    assert len(drawn_lists) == 300
    assert set(drawn_lists.size()) == {3, 4, 5, 6}
    assert set(drawn_lists["relevance"].sum()) == {1, 2}


@pytest.mark.parametrize("levels", [1, 2, 7])
def test_scores_stand_on_evenly_spread_levels(levels):
    scores = rows(simulate({"one": LlmReranker(0.5, levels)}, 200))["score"]
    assert set(np.round(scores, 12)) <= set(np.round(np.linspace(0, 1, levels), 12))


@pytest.mark.parametrize("performance", [0, 1])
def test_continuous_scores_never_tie(performance):
    runs = simulate({"one": LlmReranker(0, 0)}, 400, performance=performance)
    assert evaluate(runs, "RR").lists["tie_ratio"].max() == 0


def test_each_reranker_may_have_a_performance_of_its_own():
    rerankers = {"usual": LlmReranker(0, 0), "low": LlmReranker(0, 0, 0), "high": LlmReranker(0, 0, 1)}
    runs = simulate(rerankers, 400, performance=0.5, common=True)
    usual, low, high = evaluate(runs, "RR", "expected").scores.groupby("reranker", sort=False).mean().to_numpy()
    assert low < usual < high
    same = simulate({"one": LlmReranker(0.3, 10, 0.5)}, 20), simulate(RERANKERS, 20, performance=0.5)
    assert rows(same[0]).equals(rows(same[1]))


def test_rerankers_share_their_queries_and_not_their_luck():
    runs = simulate({"a": LlmReranker(0.3, 10), "b": LlmReranker(0.3, 10)}, 30)
    keys = ["query_id", "doc_id", "relevance"]
    assert rows(runs, "a")[keys].equals(rows(runs, "b")[keys])
    assert not rows(runs, "a")["score"].equals(rows(runs, "b")["score"])


def test_rerankers_with_common_luck_differ_by_their_settings_alone():
    settings = {"a": LlmReranker(0.3, 10), "same": LlmReranker(0.3, 10), "finer": LlmReranker(0.3, 1000)}
    runs = simulate(settings, 30, common=True)
    assert rows(runs, "a").equals(rows(runs, "same"))
    assert (rows(runs, "a")["score"] - rows(runs, "finer")["score"]).abs().max() <= 0.5 / 9 + 0.5 / 999 + 1e-12


def test_a_segment_decides_on_performance_and_ties():
    segments = {"easy": Segment(1, 0), "hard": Segment(0, 3)}
    runs = simulate({"one": LlmReranker(0.3, 0)}, 400, segments=segments)
    evaluation = evaluate(runs, "RR", "expected")
    of = lists(runs)["segment"].first().to_numpy()
    ties = evaluation.lists["tie_ratio"].groupby(of).mean()
    values = evaluation.scores["RR", "expected"].groupby(of).mean()
    assert ties["easy"] < 0.02 < ties["hard"]
    assert values["easy"] > values["hard"]


def test_a_synthetic_list_has_ties_only_where_it_keeps_its_few_scores():
    evaluation = evaluate(synthetic(1000, tied=0.3), "RR")
    share = (evaluation.lists["tie_ratio"] > 0).mean()
    assert 0.2 < share < 0.4
    assert evaluate(synthetic(200, tied=0), "RR").lists["tie_ratio"].max() == 0


def test_the_long_table_makes_the_same_runs_again():
    runs = simulate({"a": LlmReranker(0.3, 10), "b": LlmReranker(0.6, 3)}, 20, segments=NOTEBOOK_SEGMENTS)
    table = long_table(runs).to_pandas()
    assert list(table["reranker"].unique()) == ["a", "b"]
    again = type(runs).from_frame(table)
    pd.testing.assert_frame_equal(evaluate(runs).scores, evaluate(again).scores)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: simulate({}, 5), "Name a reranker"),
        (lambda: simulate(RERANKERS, 0), "0 queries"),
        (lambda: simulate(RERANKERS, 5, seed=-1), "seed -1"),
        (lambda: simulate(RERANKERS, 5, documents=(5, 4)), "documents=5 to 4"),
        (lambda: simulate(RERANKERS, 5, documents=(0, 4)), "documents=0 to 4"),
        (lambda: simulate(RERANKERS, 5, relevant=(-1, 4)), "relevant=-1 to 4"),
        (lambda: simulate(RERANKERS, 5, performance=1.5), "performance=1.5"),
        (lambda: LlmReranker(0.5, 3, -0.1), "performance=-0.1"),
        (
            lambda: simulate(RERANKERS, 5, performance=0.5, segments=NOTEBOOK_SEGMENTS),
            "Each segment has its own performance",
        ),
        (
            lambda: simulate({"a": LlmReranker(0, 3, 0.5)}, 5, segments=NOTEBOOK_SEGMENTS),
            "Each segment has its own performance",
        ),
        (lambda: synthetic(5, tied=-0.1), "tied=-0.1"),
        (lambda: LlmReranker(2, 3), "tie probability=2"),
        (lambda: LlmReranker(0.5, -1), "levels=-1"),
        (lambda: Segment(1, -1), "ties=-1"),
        (lambda: Segment(float("nan"), 1), "performance=nan"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(build, message):
    with pytest.raises(UsageError, match=message):
        build()


def test_no_list_has_more_relevant_documents_than_documents():
    drawn_lists = lists(simulate(RERANKERS, 50, documents=(1, 2), relevant=(2, 5)))
    assert (drawn_lists["relevance"].sum() == drawn_lists.size()).all()
