"""Names at the ends of lines."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.name_places import line_names
from dashboard.charts.palette import LIGHT

HEIGHT = 330


def heights(ends):
    """Pixels from the top of the plot to each name, from the highest line on."""
    notes = line_names(ends, dict.fromkeys(ends.index, "#00695C"), LIGHT, (0.0, 1.0), HEIGHT)
    return [HEIGHT * (1 - note["y"]) - note["yshift"] for note in notes]


@pytest.mark.parametrize("middle", [0.01, 0.5, 0.99])
def test_names_of_lines_that_end_together_stand_apart_and_none_below_the_plot(middle):
    ends = pd.Series(np.linspace(middle - 0.01, middle + 0.01, 12), [f"r{place}" for place in range(12)])
    places = heights(ends)
    assert np.diff(places).min() >= 17 - 1e-9
    assert max(places) <= HEIGHT


def test_a_name_alone_stands_beside_its_end():
    assert heights(pd.Series({"A": 0.75, "B": 0.25})) == pytest.approx([HEIGHT / 4, 3 * HEIGHT / 4])
