"""Figures that are kept with the results of a board, and how they are sent."""

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io

from dashboard.charts.palette import LIGHT
from dashboard.charts.style import style, subplots
from dashboard.widgets.figures import SentFigure, kept_figure


def test_a_figure_of_the_same_contents_is_drawn_once_and_one_of_others_anew():
    drawn = []

    def draw(table, colour):
        drawn.append(colour)
        return go.Figure(go.Scatter(x=table["x"], line={"color": colour}))

    table = pd.DataFrame({"x": [1.0, 2.0], "name": ["a", "b"]})
    first = kept_figure("board", draw, table, "red")
    assert kept_figure("board", draw, table.copy(), "red") is first
    assert list(kept_figure("board", draw, table.assign(x=[1.0, 3.0]), "red").data[0].x) == [1, 3]
    assert kept_figure("board", draw, table, "blue").data[0].line.color == "blue"
    assert drawn == ["red", "red", "blue"]


def test_a_figure_whose_axes_have_ends_is_sent_so_that_plotly_draws_it_once():
    times = pd.Series(pd.to_datetime(["2026-01-01", "2026-01-02"]))
    figure = style(subplots(1, 2), LIGHT, 300).add_scatter(x=times, y=np.array([np.nan, 2.0]), row=1, col=2)
    figure.update_xaxes(title_text="day", col=2).update_layout(legend_x=0.5)
    sent = json.loads(plotly.io.to_json(SentFigure(figure).to_dict(), validate=False))
    assert sent["data"][0]["y"] == [None, 2.0]
    assert [day[:10] for day in sent["data"][0]["x"]] == ["2026-01-01", "2026-01-02"]
    layout, look = sent["layout"], figure.layout.template.layout
    assert "template" not in layout
    assert "datarevision" not in layout
    for name in ("xaxis", "yaxis", "xaxis2", "yaxis2"):
        assert layout[name]["gridcolor"] == look.xaxis.gridcolor
    assert layout["xaxis2"]["title"] == look.xaxis.title.to_plotly_json() | {"text": "day"}
    assert layout["legend"] == look.legend.to_plotly_json() | {"x": 0.5}
    ranged = figure.update_xaxes(range=[0, 1]).update_yaxes(range=[0, 1])
    assert "datarevision" in SentFigure(ranged).to_dict()["layout"]
    assert "datarevision" not in SentFigure(ranged.update_xaxes(labelalias={"+0": "0"})).to_dict()["layout"]
