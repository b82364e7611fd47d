"""The section Noise of Compare: what it draws of noise and near ties, and when there is nothing to draw."""

import numpy as np
import pandas as pd
import pytest
from boards import EXTREMES, board
from opening import charts, only, opened, texts

from dashboard import cache
from metrics import evaluate
from metrics.studies.noise import near_distances, near_tie_curves
from metrics.ties import noise as limits


@pytest.fixture(scope="module")
def coarse_and_fine():
    random = np.random.default_rng(1)
    places = [
        (name, f"q{query}", f"d{doc}") for name in ("coarse", "fine") for query in range(6) for doc in range(8)
    ]
    rows = pd.DataFrame(places, columns=["reranker", "query_id", "doc_id"])
    rows["score"] = random.random(len(rows)).round(3)
    rows.loc[rows["reranker"] == "coarse", "score"] = rows["score"].round(0)
    rows["fresh"], rows["relevance"] = random.integers(0, 3, len(rows)), 1 * (random.random(len(rows)) < 0.3)
    return cache.loaded_boards().add(board(coarse_csv=rows.to_csv(index=False)))


@pytest.fixture(scope="module")
def worst_order_page(coarse_and_fine):
    """The section of one reranker, whose traditional order is the worst."""
    query = {"data": coarse_and_fine.label, "measure": "AP", "rerankers": ["fine"], "order": "pessimistic"}
    return opened("compare", section="Noise", **query)


def test_a_traditional_order_that_is_the_worst_is_drawn_where_the_worst_is(coarse_and_fine, worst_order_page):
    worst = evaluate(coarse_and_fine.runs, ["AP"]).means("AP").loc["fine", "pessimistic"]
    traces = charts(worst_order_page)["noise"]["data"]
    (traditional,) = (trace for trace in traces if trace.get("name") == "traditional")
    assert traditional["y"] == pytest.approx([worst])


def test_near_ties_are_drawn_and_told_of_the_rerankers_shown(coarse_and_fine, worst_order_page):
    page = worst_order_page
    curves = near_tie_curves(coarse_and_fine.runs, "AP", near_distances(96))
    ratio, change = charts(page)["near-ties"]["data"]
    assert ratio["y"] == pytest.approx(curves.tie_ratios["fine"].iloc[1:].tolist())
    tied = curves.means["fine"]
    assert change["y"] == pytest.approx((tied - tied.iloc[0]).iloc[1:].tolist())
    assert "of each other count as tied" in texts(page) or "Near ties have little effect" in texts(page)


def test_noise_is_refused_where_criteria_rank(coarse_and_fine):
    page = opened("compare", section="Noise", data=coarse_and_fine.label, criteria=["fresh:asc", "score"])
    assert "Noise applies only to the score" in only(page.info).value
    assert not charts(page)


@pytest.mark.parametrize("name", EXTREMES)
def test_the_section_runs_on_extreme_data(name):
    label = cache.loaded_boards().add(EXTREMES[name]()).label
    page = opened("compare", section="Noise", data=label)
    assert page.selectbox(key="data").value == label
    assert page.segmented_control(key="section").value == "Noise"
    assert "near-ties" in charts(page)


def test_noise_that_is_refused_is_said_above_the_near_ties(coarse_and_fine, monkeypatch):
    monkeypatch.setattr(limits.refuse_long, "__defaults__", (1,))
    page = opened("compare", section="Noise", data=coarse_and_fine.label, measure="RR", rerankers=["fine"])
    assert "documents of one list, which would" in page.warning[0].value
    assert list(charts(page)) == ["near-ties"]
