"""The section Noise of Compare: what it draws of noise and near ties, and when there is nothing to draw."""

import numpy as np
import pandas as pd
import pytest
from boards import EXTREMES, board
from opening import charts, only, opened, table, texts

from dashboard import cache
from metrics import evaluate
from metrics.studies.noise import near_distances, near_tie_curves
from metrics.studies.weightings import values_by_weighting
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


def test_the_range_over_all_weightings_is_of_the_rerankers_shown(coarse_and_fine):
    page = opened("compare", section="Trade-offs", data=coarse_and_fine.label, measure="AP", rerankers=["fine"])
    runs = coarse_and_fine.runs.arranged({"fine": "fine"})
    values = values_by_weighting(runs, "AP", ("score", "fresh"))["fine"]
    ranges = table(page, "Over all weightings").iloc[0]
    assert ranges[["lowest_weighted", "highest_weighted"]].tolist() == pytest.approx(
        [values.min(), values.max()]
    )
    assert "weighed" not in page.query_params


def test_a_reason_against_weights_is_shown_as_plain_text(coarse_and_fine):
    page = opened("compare", data=coarse_and_fine.label, section="Trade-offs", tiebreak=["fresh"])
    assert any(r"tiebreak\_by" in note.value for note in page.info)


def test_weights_are_of_the_criteria_that_rank_or_of_those_of_the_link(coarse_and_fine):
    page = opened(
        "compare",
        section="Trade-offs",
        data=coarse_and_fine.label,
        measure="AP",
        criteria=["fresh:asc", "score"],
    )
    weighed = page.multiselect(key="weighed")
    assert weighed.value == ["fresh:asc", "score"]
    values = values_by_weighting(coarse_and_fine.runs, "AP", ("fresh:asc", "score"))
    ranges = table(page, "Over all weightings").set_index("reranker")
    assert ranges["lowest_weighted"].to_dict() == pytest.approx(values.min().to_dict())
    assert ranges["highest_weighted"].to_dict() == pytest.approx(values.max().to_dict())
    weighed.set_value(["score"]).run()
    assert "Choose two or three criteria" in only(page.info).value
    page.multiselect(key="weighed").set_value(["score", "fresh"]).run()
    assert page.query_params["weighed"] == ["score", "fresh"]


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
