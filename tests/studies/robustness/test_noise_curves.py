"""Curves of a measure as noise grows: limits, trades of places, losses and draws."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import Runs, evaluate
from metrics.evaluation import ScoringOptions
from metrics.studies.robustness.noise_curves import (
    drawn_means,
    format_noise,
    lead_ends,
    noise_curves,
    noise_levels,
    noise_losing,
    order_chances,
    score_spreads,
    trades,
)


def table(seed, steps):
    random = np.random.default_rng(seed)
    score = np.round(random.random(600) * steps) / steps
    relevance = (random.random(600) < 0.1 + 0.5 * score) * 1.0
    queries, ids = np.repeat([f"q{n}" for n in range(30)], 20), [str(place) for place in range(600)]
    return pa.table(
        {
            "query_id": queries,
            "doc_id": ids,
            "score": score,
            "relevance": relevance,
        }
    )


@pytest.fixture(scope="module")
def runs():
    return Runs({"coarse": table(1, 3), "fine": table(2, 500)})


@pytest.fixture(scope="module")
def curves(runs):
    return noise_curves(runs, "nDCG@5", noise_levels(1200))


def test_curves_start_at_the_tied_value_and_vanishing_noise_keeps_it(curves, runs):
    tied = evaluate(runs, "nDCG@5", "expected").means("nDCG@5")["expected"]
    assert curves.loc[0].to_numpy() == pytest.approx(tied.to_numpy(), abs=1e-15)
    assert curves["coarse"].iloc[1] == pytest.approx(tied["coarse"], abs=1e-9)
    assert curves.index[1] == pytest.approx(0.001)
    assert curves.index[-1] == 1
    assert (curves.loc[1] < curves.loc[0]).all()


def test_noise_is_in_standard_deviations_of_a_rerankers_own_scores(curves, runs):
    stretched = runs.rescored({name: 40 * part["score"].to_numpy() - 7 for name, part in runs.tables.items()})
    again = noise_curves(stretched, "nDCG@5", noise_levels(1200))
    assert again.to_numpy() == pytest.approx(curves.to_numpy(), abs=1e-9)


@pytest.mark.parametrize("scale", [2.0**-560, 2.0**660])
def test_tiny_and_huge_scores_have_the_curves_of_others(curves, runs, scale):
    scaled = runs.rescored({name: scale * part["score"].to_numpy() for name, part in runs.tables.items()})
    assert noise_curves(scaled, "nDCG@5", noise_levels(1200)).to_numpy() == pytest.approx(curves.to_numpy())


@pytest.mark.parametrize("precision", ["float64", "decimals:1", "within:0.3"])
def test_curves_lie_within_four_standard_errors_of_draws(runs, precision):
    levels, options = [0.1, 1.0], ScoringOptions(precision)
    curves = noise_curves(runs, "nDCG@5", np.array(levels), options)
    drawn = drawn_means(runs, "nDCG@5", levels, 30, options)
    errors = drawn.std(axis=1, ddof=1) / np.sqrt(30)
    assert (np.abs(drawn.mean(axis=1) - curves.iloc[1:].to_numpy()) <= 4 * errors).all()


def test_scores_that_do_not_vary_have_no_spread_and_a_level_curve():
    level = Runs({"A": table(1, 3).set_column(2, "score", pa.array(np.ones(600)))})
    assert score_spreads(level).tolist() == [0]
    values = noise_curves(level, "RR", noise_levels(600))["A"]
    assert (values == values.iloc[0]).all()
    endless = Runs({"A": table(1, 3).set_column(2, "score", pa.array(np.full(600, -np.inf)))})
    values = noise_curves(endless, "RR", noise_levels(600))["A"]
    assert (values == values.iloc[0]).all()


def drawn_curves(**columns):
    return pd.DataFrame(columns, index=pd.Index([0.0, 0.01, 0.1, 1.0], name="noise"))


def test_places_are_traded_where_lines_cross_between_levels():
    crossing = trades(drawn_curves(A=[1, 0.9, 0.7, 0.0], B=[0.8, 0.8, 0.8, 0.8]))
    assert crossing[["before", "after"]].to_numpy().tolist() == [["A", "B"]]
    assert crossing["noise"].item() == pytest.approx(np.sqrt(0.001))
    assert crossing["value"].item() == pytest.approx(0.8)


def test_lines_that_only_touch_trade_no_places():
    assert trades(drawn_curves(A=[1, 0.8, 0.9, 1.0], B=[0.5, 0.801, 0.5, 0.0])).empty
    assert trades(drawn_curves(A=[1.0] * 4, B=[1.0] * 4)).empty


def test_places_are_traded_through_a_level_at_which_lines_meet():
    crossing = trades(drawn_curves(A=[1, 0.8, 0.6, 0.5], B=[0.5, 0.8, 0.8, 0.8]))
    assert crossing["noise"].tolist() == pytest.approx([0.01])


def test_the_lead_ends_where_the_first_is_overtaken():
    assert lead_ends(drawn_curves(A=[1, 0.9, 0.7, 0.0], B=[0.8, 0.8, 0.8, 0.8])) == (
        pytest.approx(np.sqrt(0.001)),
        "B",
    )
    assert lead_ends(drawn_curves(A=[1.0, 1, 1, 1], B=[0.0, 0, 0, 0])) is None


def test_a_loss_is_met_between_levels_or_never():
    losing = noise_losing(drawn_curves(A=[1, 1, 0.98, 0.5], B=[0.5] * 4, C=[1, 0.96, 0.9, 0.9]), 0.01)
    assert losing["A"] == pytest.approx(10**-1.5)
    assert np.isnan(losing["B"])
    assert losing["C"] == pytest.approx(0.0025)


def test_an_order_holds_in_the_share_of_draws_that_keep_every_pair():
    drawn = np.array([[[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]], [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]])
    chances = order_chances(drawn, np.array([0.9, 0.8, 0.7]))
    assert chances["whole"].tolist() == [0.5, 0.5]
    assert chances["pairs"].tolist() == pytest.approx([5 / 6, 1 / 2])
    for level in (np.ones(3), np.array([0.5, 0.5 + 2e-16, 0.5 - 2e-16])):
        assert order_chances(drawn, level).to_numpy().tolist() == [[1, 1], [1, 1]]


def test_formats_that_scores_show_leave_the_noise_of_their_cells():
    scores = np.random.default_rng(3).random(600)
    columns = table(1, 3)
    halves = {"full": scores, "half": scores.astype(np.float16), "grades": np.round(4 * scores)}
    arrays = {name: pa.array(values.astype(float)) for name, values in halves.items()}
    formats = format_noise(Runs({name: columns.set_column(2, "score", arrays[name]) for name in arrays}))
    assert formats["number_format"].to_dict() == {"half": "float16", "grades": "decimals:0"}
    spread = np.round(4 * scores).std()
    assert formats.loc["grades", "noise"] == pytest.approx(1 / np.sqrt(12) / spread, rel=1e-9)
    assert 0 < formats.loc["half", "noise"] < 0.001
