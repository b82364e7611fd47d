"""Figures that are kept with the results of a board."""

import pandas as pd
import plotly.graph_objects as go

from dashboard.widgets.figures import kept_figure


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
