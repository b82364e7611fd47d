"""Bars of ties and unjudged documents."""

import numpy as np
import pandas as pd

from dashboard.charts.leaderboard.place_and_score import place_and_score
from dashboard.charts.palette import LIGHT

ROWS = pd.DataFrame(
    {
        "tied": [0.5, 0.4, np.nan],
        "traditional": [0.55, 0.4, np.nan],
        "worst": [0.45, 0.4, np.nan],
        "best": [0.6, 0.4, np.nan],
        "lowest": [0.3, 0.4, np.nan],
        "highest": [0.9, 0.4, np.nan],
        "unjudged": [0.2, 0.004, np.nan],
        "traditional_rank": pd.array([1, 2, None], "Int64"),
        "tied_rank": pd.array([1, 2, None], "Int64"),
    },
    index=["a", "b", "unscored"],
)


def test_hatched_bars_lie_under_those_of_ties_and_the_axis_holds_both():
    figure = place_and_score(ROWS, LIGHT, "nDCG@10")
    hatched, solid = (trace for trace in figure["data"] if trace["type"] == "bar")
    assert hatched["marker"]["pattern"]["shape"] == "/"
    assert list(hatched["base"]) == [0.3, 0.4]
    assert np.allclose(hatched["x"], [0.6, 0])
    assert list(solid["base"]) == [0.45, 0.4]
    low, high = figure.layout.xaxis2.range
    assert (low < 0.3) & (high > 0.9)
    assert figure.layout.barmode == "overlay"


def test_the_share_unjudged_stands_at_the_end_of_its_row_orange_from_15_percent():
    notes = place_and_score(ROWS, LIGHT, "nDCG@10").to_plotly().to_dict()["layout"]["annotations"]
    shares = {
        note["text"]: note["font"]["color"] for note in notes if note["x"] == 1 and note["xref"] == "paper"
    }
    assert shares == {"unjudged": LIGHT.muted, "20%": LIGHT.traditional, "<1%": LIGHT.muted}
    title = next(note for note in notes if note["text"] == "unjudged")
    assert (title["y"], title["yanchor"]) == (0, "top")  # below, where no legend is


def test_a_tick_at_the_judged_rate_is_higher_than_the_bar_and_lies_under_dot_and_diamond():
    figure = place_and_score(ROWS.assign(expectation=[0.7, np.nan, np.nan]), LIGHT, "nDCG@10")
    names = [trace.name for trace in figure.data]
    tick = figure.data[names.index("at the judged rate")]
    assert names.index("at the judged rate") < names.index("traditional") < names.index("tied")
    assert tick.x[0] == 0.7
    assert tick.marker.size > 0.42 * 30
    nowhere = place_and_score(ROWS.assign(expectation=np.nan), LIGHT, "nDCG@10")
    assert "at the judged rate" not in [trace.name for trace in nowhere.data]


def test_without_bounds_over_judgments_there_is_one_bar():
    figure = place_and_score(ROWS.drop(columns=["lowest", "highest"]), LIGHT, "nDCG@10").to_plotly().to_dict()
    assert [trace["name"] for trace in figure["data"] if trace["type"] == "bar"] == ["worst to best"]
