"""Hierarchical ties: further score columns split what is level in those before."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import Runs, UsageError, evaluate
from metrics.evaluation import ScoringOptions
from metrics.ties import Ranking

MEASURES = ["RR", "AP", "nDCG@3", "Hits@2"]
TIES = ["expected", "input", "optimistic", "pessimistic"]
VALUES = st.sampled_from([-math.inf, -1.0, 0.0, -0.0, 0.5, math.inf])
ROWS = st.lists(
    st.tuples(st.sampled_from("qr"), VALUES, VALUES, VALUES, st.sampled_from([0.0, 1.0, 2.0])),
    min_size=1,
    max_size=10,
)


def runs(rows):
    query, score, second, third, relevance = map(list, zip(*rows, strict=True))
    ids = [str(place) for place in range(len(rows))]
    columns = {"query_id": query, "doc_id": ids, "score": score, "second": second, "third": third}
    return Runs({"A": pa.table({**columns, "relevance": relevance})})


def scores(rows, tiebreak_by=(), ties=TIES, precision="float64"):
    return evaluate(runs(rows), MEASURES, ties, tiebreak_by=tiebreak_by, precision=precision).scores


@given(ROWS)
def test_breaking_ties_by_more_columns_is_sorting_by_tuples(rows):
    keys = [tuple(row[1:4]) for row in rows]
    place = {key: float(at) for at, key in enumerate(sorted(set(keys)))}
    at_once = [(row[0], place[key], 0.0, 0.0, row[4]) for row, key in zip(rows, keys, strict=True)]
    assert scores(rows, ["second", "third"]).equals(scores(at_once))


@given(ROWS)
def test_each_column_narrows_the_range_of_best_and_worst(rows):
    values = [scores(rows, by, ties=TIES[2:4]) for by in ([], ["second"], ["second", "third"])]
    for measure in MEASURES:
        width = [one[measure, "optimistic"] - one[measure, "pessimistic"] for one in values]
        assert (width[0] >= width[1] - 1e-12).all()
        assert (width[1] >= width[2] - 1e-12).all()


@given(ROWS)
def test_the_score_itself_as_tie_break_changes_nothing(rows):
    assert scores(rows, ["score"]).equals(scores(rows))


def test_the_highest_value_of_the_tie_break_comes_first():
    rows = [("q", 1.0, 0.2, 0.0, 0.0), ("q", 1.0, 0.9, 0.0, 1.0)]
    assert scores(rows, ties=["input"])["RR", "input"].item() == pytest.approx(1 / 2)
    assert scores(rows, ["second"], ties=["input"])["RR", "input"].item() == 1


def test_the_tie_break_is_read_at_the_same_precision_as_the_score():
    rows = [("q", 1.0, 1.00001, 0.0, 0.0), ("q", 1.0, 1.00002, 0.0, 1.0)]
    values = [
        scores(rows, ["second"], precision=name)["RR", "expected"].item() for name in ("float64", "float16")
    ]
    assert values == pytest.approx([1, 3 / 4])


def test_what_the_tie_break_leaves_level_stays_tied():
    rows = [("q", 1.0, 5.0, 0.0, 0.0), ("q", 1.0, 4.0, 0.0, 1.0), ("q", 1.0, 4.0, 0.0, 0.0)]
    lists = evaluate(runs(rows), ["RR"], ["expected"], tiebreak_by=["second"]).lists
    assert lists["max_tie_size"].item() == 2
    assert scores(rows, ["second"])["RR", "expected"].item() == pytest.approx(np.mean([1 / 2, 1 / 3]))


def test_one_list_alone_is_split_as_among_all():
    rows = [("q", 1.0, 5.0, 0.0, 0.0), ("q", 1.0, 4.0, 0.0, 1.0), ("r", 1.0, 4.0, 0.0, 1.0)]
    alone = Ranking.of(runs(rows), "A", ScoringOptions(tiebreak_by=["second"]), "q")
    assert (alone.sizes.tolist(), [key.tolist() for key in alone.further]) == ([1, 1], [[5.0, 4.0]])


def test_ties_can_be_split_by_the_further_scores_that_every_reranker_has():
    with_both = runs([("q", 1.0, 5.0, 0.0, 0.0)]).tables["A"]
    columns = {"latency": pa.array([1.0]), "name": pa.array(["a"])}
    for name, column in columns.items():
        with_both = with_both.append_column(name, column)
    assert Runs({"A": with_both}).stacks.further_scores == ["second", "third"]
    assert Runs({"A": with_both, "B": with_both.drop_columns(["second"])}).stacks.further_scores == ["third"]


@pytest.mark.parametrize("name", ["fourth", "doc_id", ""])
def test_a_tie_break_that_is_no_score_column_is_refused_with_those_there_are(name):
    with pytest.raises(UsageError, match=r"no score column.*second.*third"):
        scores([("q", 1.0, 1.0, 1.0, 1.0)], [name])


def test_a_document_without_a_target_is_its_own():
    table = pa.table(
        {
            "query_id": ["q"] * 3,
            "doc_id": list("abc"),
            "score": [3.0, 2.0, 1.0],
            "relevance": [1.0, 1.0, 1.0],
            "target_id": pa.array(["x", None, None]),
        }
    )
    assert evaluate(Runs({"A": table}), ["Div@3"], ["expected"]).scores.iloc[0, 0] == 3
