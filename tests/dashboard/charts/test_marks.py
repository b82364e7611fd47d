import numpy as np

from dashboard.charts.marks import cells


def test_cells_have_colours_evenly_spaced_or_where_each_is_said_to_be():
    even = cells(np.eye(2), ("white", "grey", "black"))["colorscale"]
    assert even == [(0, "white"), (0.5, "grey"), (1, "black")]
    placed = [(0, "white"), (0.2, "grey"), (1, "black")]
    assert cells(np.eye(2), placed)["colorscale"] == placed
