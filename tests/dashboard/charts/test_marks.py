import numpy as np
import pandas as pd
import pytest

from dashboard.charts.figure import Figure
from dashboard.charts.marks import cells, line_names


def test_cells_have_colours_evenly_spaced_or_where_each_is_said_to_be():
    even = cells(np.eye(2), ("white", "grey", "black"))["colorscale"]
    assert even == [(0, "white"), (0.5, "grey"), (1, "black")]
    placed = [(0, "white"), (0.2, "grey"), (1, "black")]
    assert cells(np.eye(2), placed)["colorscale"] == placed


HEIGHT = 330


def heights(ends):
    """Pixels from the top of the plot to each name, from the highest line on."""
    figure = Figure(yaxis={"range": (0.0, 1.0)})
    line_names(figure, ends, dict.fromkeys(ends.index, "#00695C"), HEIGHT)
    return [HEIGHT * (1 - note["y"]) - note["yshift"] for note in figure.settings["annotations"]]


@pytest.mark.parametrize("middle", [0.01, 0.5, 0.99])
def test_names_of_lines_that_end_together_stand_apart_and_none_below_the_plot(middle):
    ends = pd.Series(np.linspace(middle - 0.01, middle + 0.01, 12), [f"r{place}" for place in range(12)])
    places = heights(ends)
    assert np.diff(places).min() >= 17 - 1e-9
    assert max(places) <= HEIGHT


def test_a_name_alone_stands_beside_its_end():
    assert heights(pd.Series({"A": 0.75, "B": 0.25})) == pytest.approx([HEIGHT / 4, 3 * HEIGHT / 4])
