import numpy as np
import pandas as pd
import pytest
from comparing import scored
from drawing import frame, tables
from enumeration import Doc
from hypothesis import given
from scipy import stats

from metrics import Runs, evaluate
from metrics.studies.gaps.gap import Moments, correlation, gap_finding, gap_prose, gaps, tie_prediction, trend
from metrics.studies.prose import Strong, plain

TIES = ["expected", "optimistic", "pessimistic", "input", "docid_desc"]


def table_of(table, traditional="input"):
    evaluation = evaluate(Runs.from_frame(frame(table)), ["RR", "Hits@3"], TIES)
    return gaps(evaluation, {"first": "RR", "second": "Hits@3"}, traditional)


def finding(*lists):
    return plain(gap_finding(table_of({"A": {f"q{n}": docs for n, docs in enumerate(lists)}}), "RR"))


def tie(size, relevant):
    return [Doc(str(n), 1, int(n == relevant)) for n in range(1, size + 1)]


STRICT = [Doc("a", 2, 1), Doc("b", 1, 0)]


@given(tables())
def test_a_gap_is_traditional_minus_tied_and_no_wider_than_best_minus_worst(table):
    rows = table_of(table)
    for p in ("first", "second"):
        gap = rows[f"{p}_gap"]
        assert np.allclose(gap, rows[f"{p}_traditional"] - rows[f"{p}_tied"], atol=1e-12)
        assert (gap.abs() <= rows[f"{p}_best"] - rows[f"{p}_worst"] + 1e-12).all()


@given(tables())
def test_a_list_whose_orderings_all_score_alike_has_a_gap_of_exactly_zero(table):
    rows = table_of(table)
    for p in ("first", "second"):
        level = rows[f"{p}_best"] == rows[f"{p}_worst"]
        assert (rows.loc[level, f"{p}_gap"] == 0).all()


def test_a_gap_of_nothing_but_rounding_is_exactly_zero():
    table = {"A": {f"q{size}": tie(size, size) for size in range(2, 101)}}
    scores = evaluate(Runs.from_frame(frame(table)), ["Hits@100"], TIES)
    rows = gaps(scores, {"first": "Hits@100"}, "input")
    assert set(rows["first_gap"]) == {0}


def test_there_is_one_row_for_each_list_of_each_reranker():
    rows = table_of({"B": {"q2": STRICT, "q1": tie(3, 1)}, "A": {"q1": STRICT}})
    assert rows[["reranker", "query_id"]].to_numpy().tolist() == [["B", "q2"], ["B", "q1"], ["A", "q1"]]
    assert rows["tie_ratio"].to_list() == [0, 1, 0]
    assert rows["max_tie_size"].to_list() == [1, 3, 1]


@pytest.mark.parametrize(("traditional", "gap"), [("input", 7 / 18), ("docid_desc", 1 / 3 - 11 / 18)])
def test_the_gap_is_that_of_the_treatment_asked_for(traditional, gap):
    assert table_of({"A": {"q": tie(3, 1)}}, traditional)["first_gap"].to_list() == [pytest.approx(gap)]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([1, 2, 3], [3, 1, 2]),
        ([1, 1, 1, 1], [1, 2, 3, 4]),
        ([1, 2, 3, 4], [0.5, 0.5, 0.5, 0.5]),
        ([1, 2, 3, 4], [0.1 + 0.2, 0.3, 0.3, 0.3]),
    ],
    ids=["nothing", "three lists", "x constant", "y constant", "y constant but for rounding"],
)
def test_a_correlation_that_is_not_defined_is_none(x, y):
    assert correlation(pd.Series(x, dtype=float), pd.Series(y, dtype=float)) is None


def test_a_correlation_is_pearsons_inside_its_interval():
    x, y = pd.Series([1.0, 2, 3, 4, 5, 6]), pd.Series([2.0, 1, 4, 3, 6, 5])
    r, low, high = correlation(x, y)
    assert r == pytest.approx(np.corrcoef(x, y)[0, 1])
    z, half = np.arctanh(r), 1.959964 / np.sqrt(3)
    assert (low, high) == pytest.approx((np.tanh(z - half), np.tanh(z + half)), rel=1e-5)


def test_a_perfect_correlation_is_one():
    x = pd.Series([1.0, 2, 3, 4])
    assert correlation(x, 3 * x + 1) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize("x", [[], [1, 2, 3], [2, 2, 2, 2, 2]])
def test_a_trend_needs_four_lists_that_differ(x):
    assert not len(trend(pd.Series(x, dtype=float), pd.Series(x, dtype=float)))


def test_a_trend_of_a_constant_is_that_constant_without_a_band():
    line = trend(pd.Series(np.linspace(0, 1, 200)), pd.Series(np.full(200, 0.25)))
    assert len(line)
    assert np.allclose(line[["mean", "low", "high"]], 0.25, atol=1e-6)


def test_a_trend_follows_a_straight_line_inside_its_band():
    x = pd.Series(np.linspace(0, 1, 400))
    line = trend(x, 2 * x)
    middle = line[line["x"].between(0.3, 0.7)]
    assert np.allclose(middle["mean"], 2 * middle["x"], atol=0.05)
    assert (line["low"] <= line["mean"]).all()
    assert (line["mean"] <= line["high"]).all()


def test_a_trend_of_two_far_clusters_holds_only_numbers():
    x = pd.Series([0.0] * 10 + [1.0] * 10)
    assert np.isfinite(trend(x, x)).all(axis=None)


def test_the_finding_says_plainly_that_nothing_ties():
    assert finding(STRICT, STRICT).startswith("No list has a tie.")


def test_the_finding_says_plainly_that_ties_cost_nothing():
    text = finding([Doc("a", 2, 1), Doc("b", 1, 0), Doc("c", 1, 0)], STRICT)
    assert text.startswith("One list has ties.")
    assert "costs nothing" in text


@pytest.mark.parametrize(("relevant", "direction"), [(1, "too high"), (5, "too low")])
def test_the_finding_names_the_query_that_is_farthest_off_and_which_way(relevant, direction):
    text = finding(STRICT, tie(5, relevant), tie(2, 1))
    assert "query q1 of A" in text
    assert text.endswith(f"{direction}.")


def test_a_correlation_is_told_with_a_true_minus_and_none_before_nought():
    worst = {"gap": 0.5, "query_id": "q", "reranker": "A"}
    for r, written in ((-0.004, "r = 0.00"), (-0.25, "r = −0.25"), (0.25, "r = 0.25")):
        assert written in plain(gap_prose(9, 0.5, (r, -1.0, 1.0), worst, "RR"))


@pytest.mark.parametrize(
    ("correlation", "said"),
    [
        ((-0.73, -0.97, 0.21), "cannot be told"),
        ((-0.73, -0.9, -0.5), "strongly"),
        ((0.4, 0.1, 0.6), "moderately"),
    ],
)
def test_no_strength_is_said_of_a_correlation_that_may_be_none(correlation, said):
    worst = {"gap": 0.5, "query_id": "q", "reranker": "A"}
    assert said in plain(gap_prose(6, 0.5, correlation, worst, "RR"))


@pytest.mark.parametrize("seed", range(5))
def test_a_correlation_and_its_interval_are_those_of_scipy_however_lists_come_in_parts(seed):
    draw = np.random.default_rng(seed)
    x = draw.random(200) + seed
    y = seed * x + draw.normal(size=200) ** 3
    scipys = stats.pearsonr(x, y)
    parts = Moments()
    for part in (slice(0, 7), slice(7, 150), slice(150, 200)):
        parts.add(x[part], y[part])
    for result in (correlation(pd.Series(x), pd.Series(y)), parts.correlation()):
        assert result == pytest.approx((scipys.statistic, *scipys.confidence_interval()), rel=0, abs=1e-12)


def test_a_gap_that_cannot_be_told_is_none_rather_than_zero():
    values = {ties: {"A": {"p": 0.5, "q": 0.25}} for ties in ("expected", "optimistic", "pessimistic")}
    evaluation = scored(input={"A": {"p": np.nan, "q": 0.25 + 1e-14}}, **values)
    evaluation.lists[["n_docs", "n_relevant", "n_tie_groups", "max_tie_size", "log10_orderings"]] = 2
    table = gaps(evaluation, {"first": "RR"}, "input")
    assert table["first_gap"].to_list() == pytest.approx([np.nan, 0], nan_ok=True)


def test_lists_with_nothing_relevant_are_not_said_to_be_level():
    table = pd.DataFrame(
        {
            "reranker": "A",
            "query_id": ["q1", "q2", "q3", "q4"],
            "tie_ratio": 0.5,
            "first_gap": [0.2, 0.0, 0.0, 0.0],
            "first_best": [1.0, 1.0, 0.0, 0.0],
            "n_relevant": [1, 1, 0, 0],
        }
    )
    assert plain(gap_finding(table, "RR")).startswith("50% of the 2 lists with ties and a relevant document")
    judged = table.assign(n_relevant=1)
    assert plain(gap_finding(judged, "RR")).startswith("75% of the 4 lists with ties have the same RR")


def test_the_prediction_alone_is_what_the_finding_says_of_it_and_without_a_gap_it_is_the_finding():
    table = pd.DataFrame(
        {
            "reranker": "A",
            "query_id": [f"q{n}" for n in range(40)],
            "tie_ratio": np.linspace(0, 1, 40),
            "first_gap": np.linspace(0, 0.4, 40),
            "first_best": 1.0,
            "n_relevant": 1,
        }
    )
    point, rest = tie_prediction(table, "RR")
    assert point == Strong("The tie ratio predicts the gap strongly")
    assert point.text + rest in plain(gap_finding(table, "RR"))
    level = table.assign(first_gap=0.0)
    assert tie_prediction(level, "RR") == gap_finding(level, "RR")
