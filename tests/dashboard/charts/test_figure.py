import copy
import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io
import pytest
from plotly.subplots import make_subplots

from dashboard.charts.figure import Figure
from dashboard.charts.palette import LIGHT
from dashboard.charts.style import style


def sent(figure, **options):
    return json.loads(plotly.io.to_json(figure.browser_spec(**options), validate=False))


@pytest.mark.parametrize("is_clickable", [False, True])
def test_plotly_knows_what_is_sent_beside_the_figure(is_clickable):
    figure = Figure().draw_scatter(x=[1], y=[1])
    added = figure.browser_spec(is_clickable=is_clickable)["layout"].keys() - figure.spec()["layout"].keys()
    assert added == {"datarevision", *(("clickmode", "dragmode") if is_clickable else ())}
    go.Figure(figure.browser_spec(is_clickable=is_clickable))


def test_numbers_are_sent_as_lists_with_null_where_there_is_none():
    figure = Figure().draw_scatter(x=np.array([1.5, np.nan, np.inf]), y=np.arange(3), customdata=np.eye(2)[:1])
    trace = sent(figure)["data"][0]
    assert (trace["x"], trace["y"], trace["customdata"]) == ([1.5, None, None], [0, 1, 2], [[1, 0]])


def test_tables_of_pandas_are_sent_as_arrays_wherever_they_stand():
    table = pd.DataFrame({"x": [1.0, np.nan], "name": ["a", "b"]}, index=[5, np.inf])
    figure = Figure().draw_bars(x=table["x"], y=table.index)
    figure.draw_scatter(text=table["name"], customdata=table, error_y={"array": table["x"]})
    bars, dots = sent(figure)["data"]
    assert (bars["x"], bars["y"], dots["text"]) == ([1, None], [5, None], ["a", "b"])
    assert dots["customdata"][0] == [1, "a"]
    assert dots["error_y"]["array"] == [1, None]


def test_every_axis_drawn_on_has_the_look_and_what_it_says_itself():
    figure = Figure.of_panels(1, 2)
    for col in (1, 2):
        figure.draw_scatter(x=[1], y=[1], row=1, col=col)
    figure.set_layout(xaxis2={"title": {"text": "gap"}, "showgrid": False})
    layout = sent(style(figure, LIGHT, 300))["layout"]
    assert [layout[axis]["fixedrange"] for axis in ("xaxis", "xaxis2", "yaxis", "yaxis2")] == [True] * 4
    assert [layout[axis]["showgrid"] for axis in ("xaxis", "xaxis2")] == [True, False]
    assert layout["xaxis2"]["title"] == {
        "text": "gap",
        "font": {"size": 13, "color": LIGHT.muted},
        "standoff": 10,
    }


def test_axes_that_the_layout_does_not_name_have_the_look():
    figure = Figure().draw_scatter(x=[1], y=[1]).draw_scatter(x=[1], y=[1], xaxis="x2", yaxis="y3")
    layout = sent(style(figure, LIGHT, 300))["layout"]
    assert {layout[axis]["gridcolor"] for axis in ("xaxis", "xaxis2", "yaxis", "yaxis3")} == {LIGHT.grid}
    figure = Figure(yaxis4={"overlaying": "y"})
    assert sent(style(figure, LIGHT, 300))["layout"]["yaxis4"]["gridcolor"] == LIGHT.grid


def test_the_look_beside_the_axes_is_sent_without_a_template():
    layout = sent(style(Figure(font={"size": 20}), LIGHT, 300))["layout"]
    assert "template" not in layout
    assert (layout["font"]["size"], layout["font"]["color"]) == (20, LIGHT.text)


def test_a_figure_stays_as_it_is():
    figure = style(Figure().draw_scatter(x=np.array([np.nan])), LIGHT, 300)
    before = copy.deepcopy((figure.traces, figure.settings))
    figure.browser_spec()
    np.testing.assert_equal((figure.traces, figure.settings), before)


def test_what_is_no_number_is_null_and_what_is_none_is_not_sent_wherever_they_stand():
    figure = Figure().draw({"type": "heatmap", "z": [np.array([1, np.nan])], "text": None})
    figure.set_layout(xaxis={"tickvals": np.array([np.nan]), "range": None})
    spec = sent(figure)
    assert (spec["data"][0], spec["layout"]["xaxis"]) == (
        {"type": "heatmap", "z": [[1, None]]},
        {"tickvals": [None]},
    )


def test_a_figure_says_that_its_data_stay_and_what_streamlit_would_set_where_its_points_are_clicked():
    layouts = [
        sent(style(Figure(), LIGHT, 300), is_clickable=clickable)["layout"] for clickable in (False, True)
    ]
    assert [layout["datarevision"] for layout in layouts] == [0, 0]
    assert [(layout["dragmode"], layout.get("clickmode")) for layout in layouts] == [
        (False, None),
        ("pan", "event+select"),
    ]


GRID = {"column_widths": (0.3, 0.7), "shared_yaxes": True, "vertical_spacing": 0.2}


def test_panels_stand_where_plotly_lays_them_out_and_are_a_figure_of_ones_own():
    figure, other = Figure.of_panels(2, 2, **GRID), Figure.of_panels(2, 2, **GRID)
    figure.set_layout(xaxis2={"title": {"text": "gap"}})
    figure.settings["yaxis"]["nticks"] = 3
    figure.draw_bars(x=[1], y=[1], row=1, col=2)
    assert other == make_subplots(2, 2, **GRID)


def test_parts_in_a_panel_are_on_its_axes_as_plotly_puts_them_there():
    figure, own = Figure.of_panels(2, 2), make_subplots(2, 2)
    for scatter, bars in ((figure.draw_scatter, figure.draw_bars), (own.add_scatter, own.add_bar)):
        scatter(x=[1], y=[1], row=1, col=1)
        bars(x=[1], y=[1], row=2, col=1)
    for shape in (figure.draw_shape, own.add_shape):
        shape(type="line", x0=1, x1=1, y0=0, y1=1, yref="y domain", row=2, col=2)
        shape(type="rect", x0=1, x1=2, y0=0, y1=1, xref="paper", yref="paper")
    text = {"text": "gap", "x": 0, "xref": "x domain", "y": 1, "row": 1, "col": 2}
    figure.write_notes([text])
    own.add_annotation(**text)
    assert figure == own
    assert text["row"] == 1, "what is given stays as it is"


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ({}, ["xaxis", "xaxis2", "xaxis3", "xaxis4", "xaxis5", "xaxis6"]),
        ({"row": 2}, ["xaxis4", "xaxis5", "xaxis6"]),
        ({"col": 2}, ["xaxis2", "xaxis5"]),
        ({"row": 1, "col": 3}, ["xaxis3"]),
    ],
)
def test_axes_are_found_by_the_row_and_the_column_of_their_panel(place, names):
    assert Figure.of_panels(2, 3).axis_names("x", **place) == names


def test_a_figure_without_panels_has_one_axis_of_a_letter_and_those_that_its_layout_names():
    assert Figure(yaxis2={"overlaying": "y"}).axis_names("y") == ["yaxis", "yaxis2"]
    assert Figure(yaxis10={}, yaxis2={}).axis_names("y") == ["yaxis", "yaxis2", "yaxis10"]


def test_properties_are_set_at_any_depth_where_a_selector_holds_and_the_others_stay():
    figure = (
        Figure().draw_scatter(name="tied", marker={"size": 9, "color": "blue"}).draw_bars(name="tied", y=[1])
    )
    figure.set_traces({"name": "tied", "type": "scatter"}, marker={"size": 14})
    assert figure.traces[0]["marker"] == {"size": 14, "color": "blue"}
    assert "marker" not in figure.traces[1]
    figure.set_layout(legend={"x": 1}).set_layout(legend={"y": 0})
    assert figure.settings["legend"] == {"x": 1, "y": 0}


def test_a_mark_shared_by_two_traces_is_changed_in_one():
    marker = {"size": 9}
    figure = Figure().draw_scatter(name="tied", marker=marker).draw_scatter(name="best", marker=marker)
    figure.set_traces({"name": "best"}, marker={"size": 14})
    assert [trace["marker"]["size"] for trace in figure.traces] == [9, 14]


def test_a_figure_becomes_plotlys_own_as_soon_as_something_of_plotlys_is_used():
    figure = style(Figure().draw_scatter(name="tied", x=[1], y=[2]), LIGHT, 300)
    assert isinstance(figure, go.Figure)
    figure.add_vline(x=1).update_layout(title_text="Ties")
    figure.layout.width = 500
    assert type(figure) is go.Figure
    assert (figure.data[0].name, figure.layout.title.text, figure.layout.width) == ("tied", "Ties", 500)
    assert figure.layout.shapes[0].x0 == 1
    assert figure.to_dict()["layout"]["height"] == 300


def test_a_figure_that_became_plotlys_own_keeps_its_panels():
    figure = Figure.of_panels(1, 2, **GRID).draw_bars(x=[1], y=[1], row=1, col=2)
    figure.add_scatter(x=[1], y=[1], row=1, col=2).update_yaxes(nticks=3, row=1, col=1)
    assert [trace.xaxis for trace in figure.data] == ["x2", "x2"]
    assert (figure.layout.yaxis.nticks, figure.layout.yaxis2.nticks) == (3, None)


def test_what_is_drawn_too_late_is_refused_instead_of_lost():
    figure = Figure().draw_scatter(x=[1], y=[1])
    assert len(figure.data) == 1
    with pytest.raises(AttributeError, match="draw_scatter"):
        figure.draw_scatter(x=[1], y=[1])
    with pytest.raises(AttributeError, match="settings"):
        style(figure, LIGHT, 300)


def test_a_figure_lacks_what_plotlys_own_lacks():
    assert not hasattr(Figure(), "colour")


def test_plotly_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="colour"):
        Figure().draw_scatter(x=[1], marker={"colour": "red"}).to_json()
    figure = Figure(hight=3)
    for _ in range(2):
        with pytest.raises(ValueError, match="hight"):
            figure.to_json()
    assert figure.settings == {"hight": 3}
