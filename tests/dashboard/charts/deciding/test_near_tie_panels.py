"""The panels of near ties: who ties above, what it does below, names at the ends of lines."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.deciding.noise import near_tie_panels
from dashboard.charts.palette import LIGHT

DISTANCES = pd.Index([0.0, 0.01, 0.1, 1.0], name="distance")


@pytest.fixture
def figure():
    values = pd.DataFrame({"<b>a": [0.9, 0.9, 0.8, 0.5], "b": [0.8, 0.8, 0.8, 0.4]}, DISTANCES)
    ratios = pd.DataFrame({"<b>a": [0, 0.1, 0.5, 1.0], "b": [0.4, 0.4, 0.4, 1.0]}, DISTANCES)
    return near_tie_panels(ratios, values, LIGHT, {"<b>a": "#111111", "b": "#222222"}, "MTRR")


def test_distances_stand_on_a_log_axis_and_changes_begin_at_0(figure):
    ratio, _, change, _ = figure.data
    assert ratio.x.tolist() == pytest.approx([-2, -1, 0])
    assert (ratio.yaxis, change.yaxis) == ("y2", "y")
    assert np.asarray(change.y).tolist() == pytest.approx([0, -0.1, -0.4])


def test_names_are_escaped_in_their_colour_and_pushed_apart(figure):
    upper, lower = figure.layout.annotations
    assert {upper.text, lower.text} == {"&lt;b&gt;a", "b"}
    assert {upper.font.color, lower.font.color} == {"#111111", "#222222"}
    assert lower.yshift < 0 == upper.yshift
