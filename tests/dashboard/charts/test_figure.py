import copy
import json

import numpy as np
import pandas as pd
import pytest
from plotly.subplots import make_subplots

from dashboard.charts.figure import Figure
from dashboard.charts.palette import LIGHT


def bare(figure):
    """What plotly has of a figure, without a template and what is said for the browser alone."""
    own = figure.to_plotly() if isinstance(figure, Figure) else figure
    own.layout.update(datarevision=None, template=None)
    sent = json.loads(own.to_json())
    sent["layout"].pop("template", None)
    return sent


def sent(figure, **options):
    return json.loads(figure.to_plotly(**options).to_json())


def test_a_trace_without_a_hover_text_or_a_name_has_no_hover_box_and_no_legend_entry():
    bare_trace, named = Figure().draw_scatter(x=[1]).draw_bars(x=[1], name="tied", hovertemplate="%{x}").traces
    assert (bare_trace["hoverinfo"], bare_trace["showlegend"]) == ("skip", False)
    assert named["hovertemplate"] == "%{x}<extra></extra>"
    assert "showlegend" not in named


def test_tables_are_sent_as_lists_with_null_for_what_is_no_number_and_none_is_not_sent():
    table = pd.DataFrame({"x": [1.0, np.nan], "name": ["a", "b"]}, index=[5, np.inf])
    figure = Figure(xaxis={"tickvals": np.array([np.nan]), "range": None})
    figure.draw_bars(x=table["x"], y=table.index, text=None)
    figure.draw_scatter(text=table["name"], customdata=table, error_y={"array": table["x"]})
    bars, dots = sent(figure)["data"]
    assert sent(figure)["layout"]["xaxis"] == {"tickvals": [None]}
    assert "text" not in bars
    assert (bars["x"], bars["y"], dots["text"]) == ([1, None], [5, None], ["a", "b"])
    assert dots["customdata"][0] == [1, "a"]
    assert dots["error_y"]["array"] == [1, None]


def test_every_axis_drawn_on_has_the_look_and_what_it_says_itself():
    figure = Figure.of_panels(1, 2)
    for col in (1, 2):
        figure.draw_scatter(x=[1], y=[1], row=1, col=col)
    figure.set_layout(xaxis2={"title": {"text": "gap"}, "showgrid": False})
    layout = sent(figure.style(300))["layout"]
    assert [layout[axis]["fixedrange"] for axis in ("xaxis", "xaxis2", "yaxis", "yaxis2")] == [True] * 4
    assert [layout[axis]["showgrid"] for axis in ("xaxis", "xaxis2")] == [True, False]
    assert layout["xaxis2"]["title"] == {
        "text": "gap",
        "font": {"size": 13, "color": LIGHT.muted},
        "standoff": 10,
    }


def test_axes_that_the_layout_does_not_name_have_the_look():
    figure = Figure().draw_scatter(x=[1], y=[1]).draw_scatter(x=[1], y=[1], xaxis="x2", yaxis="y3")
    layout = sent(figure.style(300))["layout"]
    assert {layout[axis]["gridcolor"] for axis in ("xaxis", "xaxis2", "yaxis", "yaxis3")} == {LIGHT.grid}
    figure = Figure(yaxis4={"overlaying": "y"})
    assert sent(figure.style(300))["layout"]["yaxis4"]["gridcolor"] == LIGHT.grid


def test_the_look_beside_the_axes_is_sent_without_a_template():
    layout = sent(Figure(font={"size": 20}).style(300))["layout"]
    assert "template" not in layout
    assert (layout["font"]["size"], layout["font"]["color"]) == (20, LIGHT.text)


def test_a_figure_stays_as_it_is():
    figure = Figure().draw_scatter(x=np.array([np.nan])).style(300)
    before = copy.deepcopy((figure.traces, figure.settings))
    figure.to_plotly()
    np.testing.assert_equal((figure.traces, figure.settings), before)


def test_a_figure_declares_unchanged_data_and_the_layout_for_clickable_points():
    layouts = [sent(Figure().style(300), is_clickable=clickable)["layout"] for clickable in (False, True)]
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
    assert bare(other) == bare(make_subplots(2, 2, **GRID))


def test_parts_in_a_panel_are_on_its_axes_as_plotly_puts_them_there():
    figure, own = Figure.of_panels(2, 2), make_subplots(2, 2)
    look = {"x": [1], "y": [1], "hovertemplate": "one<extra></extra>", "name": "one", "cliponaxis": False}
    for scatter, bars in ((figure.draw_scatter, figure.draw_bars), (own.add_scatter, own.add_bar)):
        scatter(row=1, col=1, **look)
        bars(row=2, col=1, **look)
    for shape in (figure.draw_shape, own.add_shape):
        shape(type="line", x0=1, x1=1, y0=0, y1=1, yref="y domain", row=2, col=2)
        shape(type="rect", x0=1, x1=2, y0=0, y1=1, xref="paper", yref="paper")
    text = {"text": "gap", "x": 0, "xref": "x domain", "y": 1, "row": 1, "col": 2}
    figure.write(**text)
    own.add_annotation(**text, showarrow=False, font={"size": 12, "color": LIGHT.muted})
    assert bare(figure) == bare(own)
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


def test_a_figure_without_panels_has_one_axis_per_letter_and_named_axes():
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
