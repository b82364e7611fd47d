import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
from plotly.subplots import make_subplots

from dashboard.charts.palette import LIGHT
from dashboard.charts.style import DrawnOnce, padded_range, style, subplots


def sent(figure):
    """A figure as it travels to the browser."""
    return json.loads(plotly.io.to_json(DrawnOnce(figure), validate=False))


def test_a_figure_holds_nothing_that_plotly_draws_again_when_it_is_handed_over_again():
    figure = style(make_subplots(1, 2), LIGHT, 300)
    figure.add_scatter(
        x=np.array([0.5, np.nan, 1]), y=np.arange(3), marker={"color": np.array([1.0, 2.0, 3.0])}
    )
    spec = sent(figure)
    assert "template" not in spec["layout"]
    assert spec["layout"]["datarevision"] == sent(figure)["layout"]["datarevision"]
    (trace,) = spec["data"]
    assert trace["x"] == [0.5, None, 1]
    assert trace["y"] == [0, 1, 2]
    assert trace["marker"]["color"] == [1, 2, 3]


def test_other_data_has_another_revision_so_that_a_chart_that_is_there_is_drawn_anew():
    revisions = {
        sent(style(make_subplots(1, 1).add_scatter(x=np.array(x)), LIGHT, 300))["layout"]["datarevision"]
        for x in ([1.0, 2.0], [1.0, 2.5], [1.0])
    }
    assert len(revisions) == 3


def test_every_axis_has_the_look_of_the_app_except_for_what_its_chart_says():
    figure = style(make_subplots(1, 2), LIGHT, 300)
    figure.add_scatter(x=[1], y=[1], row=1, col=2).update_xaxes(title_text="rank", gridcolor="#123456", col=2)
    layout = sent(figure)["layout"]
    assert {layout[axis]["gridcolor"] for axis in ("xaxis", "yaxis", "yaxis2")} == {LIGHT.grid}
    assert layout["xaxis2"]["gridcolor"] == "#123456"
    assert layout["xaxis2"]["title"] == {
        "text": "rank",
        "font": {"size": 13, "color": LIGHT.muted},
        "standoff": 10,
    }


def test_axes_that_a_chart_does_not_mention_have_the_look_of_the_app():
    figure = style(go.Figure(go.Scatter(x=[1], y=[1])), LIGHT, 300)
    assert sent(figure)["layout"]["xaxis"]["gridcolor"] == LIGHT.grid
    assert figure.layout.template.layout.xaxis.gridcolor == LIGHT.grid


def test_empty_panels_are_a_figure_of_ones_own():
    one, other = subplots(1, 2, column_widths=(0.3, 0.7)), subplots(1, 2, column_widths=(0.3, 0.7))
    one.add_scatter(x=[1], y=[1], row=1, col=2)
    assert one.data[0].xaxis == "x2"
    assert not other.data
    assert other.layout.xaxis2 == make_subplots(1, 2, column_widths=[0.3, 0.7]).layout.xaxis2


def test_an_axis_of_values_up_to_1_ends_before_a_tick_past_1_and_starts_after_one_below_0():
    low, high = padded_range(np.array([0.0, 1.0]))
    assert -0.04 < low < 0
    assert 1 < high < 1.04
    low, high = padded_range(np.array([1.0]))
    assert low < 1 < high < 1.01


def test_an_axis_of_values_beyond_1_has_air_on_both_sides():
    low, high = padded_range(np.array([2.0, 4.0]))
    assert low < 2 - 0.1
    assert high > 4 + 0.1
