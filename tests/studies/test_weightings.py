"""Values over all weightings of criteria. What is said of weights is true of the values, however odd."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import Runs, UsageError, evaluate
from metrics.evaluation import ScoringOptions
from metrics.studies.prose import plain
from metrics.studies.weightings import (
    leading_stretches,
    telling_scores,
    values_by_weighting,
    weighting_finding,
    weighting_ranges,
    weightings,
)
from metrics.ties.ranking import further_scores

CRITERIA = ("score", "cost:asc")


def table(relevance, *, seed=1, scale=1.0):
    random = np.random.default_rng(seed)
    columns = {"query_id": np.repeat(["p", "q", "r"], 20), "doc_id": [str(n) for n in range(60)]}
    scores = {"score": scale * random.integers(0, 6, 60) + scale, "cost": random.integers(0, 6, 60) * 1.0}
    return pa.table({**columns, **scores, "fresh": random.random(60), "relevance": relevance})


@pytest.fixture(scope="module")
def relevance():
    return np.random.default_rng(9).integers(0, 3, 60) * 1.0


@pytest.fixture(scope="module")
def values(relevance):
    runs = Runs({"A": table(relevance), "B": table(relevance, seed=2)})
    return values_by_weighting(runs, "nDCG@5", CRITERIA)


def test_a_further_score_that_is_the_same_for_all_of_a_list_is_not_weighed(relevance):
    latency = pa.array(np.repeat([0.3, 0.1, 0.2], 20))
    runs = Runs({name: table(relevance).append_column("wait_ms", latency) for name in "AB"})
    assert further_scores(runs) == ["cost", "fresh", "wait_ms"]
    assert telling_scores(runs) == ["cost", "fresh"]


def test_weights_are_none_below_zero_and_sum_to_one():
    for n_criteria, n_weightings in ((2, 51), (3, 91)):
        grid = weightings(n_criteria)
        assert grid.shape == (n_weightings, n_criteria)
        assert len(np.unique(grid, axis=0)) == n_weightings
        assert grid.min() == 0
        assert grid.sum(axis=1) == pytest.approx(1, abs=1e-12)
    with pytest.raises(UsageError, match="two or three criteria, not 4"):
        weightings(4)


def test_of_many_rows_fewer_weights_are_tried():
    assert len(weightings(2, n_rows=100_000)) == 51
    assert [len(weightings(count, n_rows=900_000)) for count in (2, 3)] == [11, 15]
    assert [len(weightings(count, n_rows=10**9)) for count in (2, 3)] == [11, 15]


def test_only_the_queries_asked_for_count(relevance):
    runs = Runs({"A": table(relevance), "B": table(relevance, seed=2)})
    part = values_by_weighting(runs, "nDCG@5", CRITERIA, queries=["p", "r"])
    alone = evaluate(runs, "nDCG@5", "expected", criteria=["score"]).only(["A", "B"], ["p", "r"])
    assert part.iloc[0].to_numpy() == pytest.approx(alone.means("nDCG@5")["expected"].to_numpy(), abs=1e-15)


def test_all_weight_on_one_criterion_is_that_criterion_alone(values, relevance):
    runs = Runs({"A": table(relevance), "B": table(relevance, seed=2)})
    for place, criterion in ((0, "score"), (-1, "cost:asc")):
        alone = evaluate(runs, "nDCG@5", "expected", criteria=[criterion]).means("nDCG@5")["expected"]
        assert values.iloc[place].to_numpy() == pytest.approx(alone.to_numpy(), abs=1e-15)


def test_a_criterion_on_another_scale_weighs_the_same(values, relevance):
    runs = Runs({"A": table(relevance, scale=1024.0), "B": table(relevance, seed=2)})
    assert values_by_weighting(runs, "nDCG@5", CRITERIA).to_numpy() == pytest.approx(values.to_numpy())


def test_a_document_without_one_of_its_scores_is_last_however_high_the_other():
    columns = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "relevance": [1.0, 0.0, 0.0]}
    scores = {"score": [np.inf, 1.0, 0.0], "fresh": [-np.inf, 1.0, 0.0], "cost": [-np.inf, 0.0, 1.0]}
    runs = Runs({"A": pa.table({**columns, **scores})})
    for criteria in (("score", "fresh"), ("score", "cost:asc")):
        values = values_by_weighting(runs, "RR", criteria)["A"].to_numpy()
        assert values[0] == 1  # nothing is asked of the second
        assert values[1:] == pytest.approx(1 / 3)


def test_precision_rounds_criteria_and_not_their_sum(relevance):
    runs = Runs({"A": table(relevance)})
    rounded = evaluate(runs, "RR", "expected", precision="decimals:1", criteria=["fresh"])
    options = ScoringOptions("decimals:1")
    by_weight = values_by_weighting(runs, "RR", ("score", "fresh"), options)
    assert by_weight.iloc[-1, 0] == pytest.approx(rounded.scores.mean().iloc[0], abs=1e-15)
    assert by_weight.iloc[-1, 0] != evaluate(runs, "RR", "expected", criteria=["fresh"]).scores.mean().iloc[0]


def test_documents_without_a_score_stay_last_where_the_score_weighs(relevance):
    lacking = table(relevance)
    scores = lacking["score"].to_numpy().copy()
    scores[::2] = -np.inf
    runs = Runs({"A": lacking.set_column(2, "score", pa.array(scores))})
    values = values_by_weighting(runs, "nDCG@5", CRITERIA)
    assert np.isfinite(values.to_numpy()).all()


def test_ranges_hold_every_value_and_shares_of_leading_sum_to_one(values):
    ranges = weighting_ranges(values)
    assert (values.ge(ranges["lowest"]) & values.le(ranges["highest"])).all(axis=None)
    assert ranges["leads"].sum() == pytest.approx(1)
    level = values.assign(B=values["A"])
    assert weighting_ranges(level)["leads"].tolist() == [0.5, 0.5]


def test_stretches_cover_every_weight_and_leave_out_short_ones(values):
    drawn = values.assign(A=1.0, B=0.5)
    drawn.iloc[20:22] = 0.5, 0.9  # two of 51 weights: less than a twentieth
    drawn.iloc[40:] = 0.5, 0.7
    stretches = leading_stretches(drawn)
    assert stretches["reranker"].tolist() == ["A", "B"]
    assert stretches["start"].tolist() == pytest.approx([0, 0.79])
    assert stretches["end"].tolist() == pytest.approx([0.79, 1])
    assert stretches["highest"].tolist() == [1.0, 0.7]
    assert stretches[["n_led", "n_weightings"]].to_numpy().tolist() == [[38, 40], [11, 11]]


def test_who_leads_at_an_end_of_the_weights_has_a_stretch_however_short(values):
    drawn = values.assign(A=1.0, B=0.5)
    drawn.iloc[[0, -1]] = 0.5, 0.9
    stretches = leading_stretches(drawn)
    assert stretches["reranker"].tolist() == ["B", "A", "B"]
    assert stretches["end"].tolist() == pytest.approx([0.01, 0.99, 1])


def test_of_level_rerankers_the_one_that_led_before_leads_on(values):
    drawn = values.assign(A=1.0, B=0.5)
    drawn.iloc[10:30] = 1.0, 1.0 + 1e-16
    drawn.iloc[30:] = 0.5, 0.5
    assert leading_stretches(drawn)["reranker"].tolist() == ["A"]
    assert weighting_ranges(drawn)["leads"].tolist() == pytest.approx([30.5 / 51, 20.5 / 51])


@pytest.mark.parametrize("precision", ["float64", "within:0.3", "within:2", "decimals:0"])
def test_each_end_of_the_weights_ranks_by_its_criterion_alone_at_any_precision(relevance, precision):
    columns = table(relevance).set_column(3, "cost", pa.array(np.random.default_rng(4).random(60) * 6))
    runs, options = Runs({"A": columns}), ScoringOptions(precision)
    values = values_by_weighting(runs, "nDCG@5", CRITERIA, options)["A"]
    for end, text in ((0, "score"), (-1, "cost:asc")):
        alone = evaluate(runs, ["nDCG@5"], ["expected"], precision=precision, criteria=(text,))
        assert values.iloc[end] == pytest.approx(alone.means("nDCG@5").loc["A", "expected"], abs=1e-12)


def test_further_columns_have_no_weight(relevance):
    with pytest.raises(UsageError, match=r"criteria and tiebreak_by\. Leave them out"):
        values_by_weighting(
            Runs({"A": table(relevance)}), "RR", CRITERIA, ScoringOptions(tiebreak_by=("fresh",))
        )


TWO = weightings(2)


def by_weight(grid=TWO, **columns):
    index = pd.MultiIndex.from_arrays(list(grid.T), names=["score", "cost:asc", "fresh"][: grid.shape[1]])
    return pd.DataFrame(columns, index=index)


WEIGHT = TWO[:, 1]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            {"A": 1 - WEIGHT, "B": 0.105 + 0 * WEIGHT},
            "A has the highest RR up to a weight of 0.89 for cost, then B. "
            "A varies most, between 0.000 and 1.000 RR.",
        ),
        (
            {"A": 1 - WEIGHT, "B": 0.605 + 0 * WEIGHT, "C": 1.205 * WEIGHT - 0.1},
            "A has the highest RR up to a weight of 0.39 for cost, then B up to 0.59, then C. "
            "C varies most, between -0.100 and 1.105 RR.",
        ),
        (
            {"A": 0.5 + 0 * WEIGHT, "B": 0.4},
            "A has the highest RR at every weighting. No value depends on the weights.",
        ),
        (
            {"A": 0.5 + 2e-5 * WEIGHT, "B": 0.4},
            "A has the highest RR at every weighting. No value depends much on the weights.",
        ),
        ({"A": 0.5 + 2e-5 * WEIGHT}, "A scores 0.500 RR at every weighting."),
        (
            {"A": WEIGHT, "B": WEIGHT},
            "Both rerankers have the same RR at every weighting. Every value varies by 1.000 RR.",
        ),
        (
            {"A": WEIGHT, "B": WEIGHT, "C": WEIGHT / 2},
            "2 rerankers share the highest RR at every weighting. A varies most, between 0.000 and 1.000 RR.",
        ),
        ({"A": WEIGHT}, "A scores between 0.000 and 1.000 RR over all weightings."),
        ({"A": 0 * WEIGHT + 0.25}, "A scores 0.250 RR at every weighting."),
        (
            {"A": np.where(WEIGHT[7] == WEIGHT, 0.9, 0.5), "B": 0.6},
            "B has the highest RR at 98% of 51 weightings, A at 2%. A varies most, between 0.500 and 0.900 RR.",
        ),
        ({"A": WEIGHT * np.nan, "B": 1.0}, "No list is scored: every query was left out."),
    ],
)
def test_a_finding_says_who_leads_where_and_whose_value_depends_most(columns, says):
    assert plain(weighting_finding(by_weight(**columns), "RR")) == says


def test_of_three_criteria_the_two_that_lead_over_most_are_named():
    grid = weightings(3)
    shares = {"A": grid[:, 0], "B": grid[:, 1] - 0.001, "C": grid[:, 2] - 0.3}
    text = plain(weighting_finding(by_weight(grid, **shares), "RR"))
    assert text.startswith("A has the highest RR at 43% of 91 weightings, B at 38% (3 rerankers have")
    assert text.endswith("Every value varies by 1.000 RR.")


def test_a_finding_names_the_highest_mean_and_claims_no_winner():
    for columns in ({"A": WEIGHT, "B": 1 - WEIGHT}, {"A": WEIGHT + 1, "B": WEIGHT}, {"A": 0 * WEIGHT}):
        text = plain(weighting_finding(by_weight(**columns), "RR"))
        assert not {"leads", "lead", "beats", "better", "best"} & set(text.replace(".", "").split())
