import numpy as np
import pandas as pd

from dashboard.charts.deciding.pair_matrices import likeness_matrix
from dashboard.charts.palette import LIGHT


def test_copies_are_orange_the_rest_in_percent_and_a_pair_without_a_common_query_has_no_cell():
    pairs = pd.DataFrame(
        [("a", "c", 1.0, 3, 3), ("b", "c", 0.9996, 3, 2), ("a", "b", np.nan, 0, 0)],
        columns=["reranker", "other", "similarity", "n", "identical"],
    )
    figure = likeness_matrix(pairs, ["c", "a", "b"], LIGHT)
    cells = figure.data[0]
    assert (cells.text[0][1], cells.text[0][2], cells.text[1][2]) == ("same", ">99", "")
    assert cells.z[0][1] == cells.zmax
    assert np.isnan(cells.z[1][2])
    assert cells.colorscale[-1][1] == LIGHT.warm[1]
    assert "the same list in 2 of 3 queries" in cells.customdata[0][2]
    assert "same: one copies the other" in [trace.name for trace in figure.data]
    unlike = likeness_matrix(pairs[1:], ["c", "a", "b"], LIGHT)
    assert "same: one copies the other" not in [trace.name for trace in unlike.data]
