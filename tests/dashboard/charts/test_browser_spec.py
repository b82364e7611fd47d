import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
from plotly.subplots import make_subplots

from dashboard.charts.browser_spec import browser_spec
from dashboard.charts.palette import LIGHT
from dashboard.charts.style import style


def sent(figure, **options):
    return json.loads(plotly.io.to_json(browser_spec(figure, **options), validate=False))


def test_numbers_are_sent_as_lists_with_null_where_there_is_none():
    figure = go.Figure(go.Scatter(x=np.array([1.5, np.nan, np.inf]), y=np.arange(3), customdata=np.eye(2)))
    trace = sent(figure)["data"][0]
    assert (trace["x"], trace["y"], trace["customdata"]) == ([1.5, None, None], [0, 1, 2], [[1, 0], [0, 1]])


def test_every_axis_drawn_on_has_the_look_and_what_it_says_itself():
    figure = make_subplots(1, 2)
    for col in (1, 2):
        figure.add_scatter(x=[1], y=[1], row=1, col=col)
    figure.layout.xaxis2 = figure.layout.xaxis2.to_plotly_json() | {"title": {"text": "gap"}, "showgrid": False}
    layout = sent(style(figure, LIGHT, 300))["layout"]
    assert [layout[axis]["fixedrange"] for axis in ("xaxis", "xaxis2", "yaxis", "yaxis2")] == [True] * 4
    assert [layout[axis]["showgrid"] for axis in ("xaxis", "xaxis2")] == [True, False]
    assert layout["xaxis2"]["title"] == {
        "text": "gap",
        "font": {"size": 13, "color": LIGHT.muted},
        "standoff": 10,
    }


def test_axes_that_the_layout_does_not_name_have_the_look():
    figure = go.Figure([go.Scatter(x=[1], y=[1]), go.Scatter(x=[1], y=[1], xaxis="x2", yaxis="y3")])
    layout = sent(style(figure, LIGHT, 300))["layout"]
    assert {layout[axis]["gridcolor"] for axis in ("xaxis", "xaxis2", "yaxis", "yaxis3")} == {LIGHT.grid}
    figure = go.Figure(layout={"yaxis4": {"overlaying": "y"}})
    assert sent(style(figure, LIGHT, 300))["layout"]["yaxis4"]["gridcolor"] == LIGHT.grid


def test_the_look_beside_the_axes_is_sent_without_a_template():
    figure = style(go.Figure(layout={"font": {"size": 20}}), LIGHT, 300)
    layout = sent(figure)["layout"]
    assert "template" not in layout
    assert (layout["font"]["size"], layout["font"]["color"]) == (20, LIGHT.text)


def test_a_figure_stays_as_it_is():
    figure = style(go.Figure(go.Scatter(x=np.array([np.nan]))), LIGHT, 300)
    before = figure.to_json()
    browser_spec(figure)
    assert figure.to_json() == before


def test_what_is_no_number_is_null_wherever_it_stands():
    figure = go.Figure(
        go.Heatmap(z=[np.array([1, np.nan])]), layout={"xaxis": {"tickvals": np.array([np.nan])}}
    )
    spec = sent(figure)
    assert (spec["data"][0]["z"], spec["layout"]["xaxis"]["tickvals"]) == ([[1, None]], [None])


def test_a_figure_says_that_its_data_stay_and_what_streamlit_would_set_where_its_points_are_clicked():
    layouts = [
        sent(style(go.Figure(), LIGHT, 300), is_clickable=clickable)["layout"] for clickable in (False, True)
    ]
    assert [layout["datarevision"] for layout in layouts] == [0, 0]
    assert [(layout["dragmode"], layout.get("clickmode")) for layout in layouts] == [
        (False, None),
        ("pan", "event+select"),
    ]
