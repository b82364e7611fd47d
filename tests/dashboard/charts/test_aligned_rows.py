"""Rerankers in aligned rows: ridges of gaps."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.aligned_rows import aligned_rows, gap_rows
from dashboard.charts.palette import LIGHT

RERANKERS = pd.DataFrame(
    {"tie_ratio": [0.5, 0.2, 0.0], "gap": [0.03, -0.01, 0.0], "lists_with_gap": [0.6, 0.3, 0.0]},
    index=["<b>a", "b", "c"],
)
EDGES = np.linspace(-0.1, 0.1, 13)
COUNTS = np.zeros((3, 12), dtype=int)
COUNTS[0, [4, 9]] = 1, 6
COUNTS[1, 2] = 3


def pieces(trace):
    """The closed outlines or lines of a trace, which are parted by gaps."""
    x, y = np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)
    return [part[~np.isnan(part[:, 0])] for part in np.split(np.c_[x, y], np.flatnonzero(np.isnan(x)) + 1)][:-1]


def test_each_side_of_all_ridges_is_one_trace_that_ends_on_the_ground_line_of_its_row():
    ground, below, above, _ = gap_rows(RERANKERS, EDGES, list(COUNTS), LIGHT, "RR").data[1:]
    bases = [line[0, 1] for line in pieces(ground)]
    assert np.diff(bases) == pytest.approx([1, 1])
    for side, colour in ((below, LIGHT.other), (above, LIGHT.traditional)):
        assert (side.fill, side.fillcolor) == ("toself", colour)
        assert [outline[:, 1].max() for outline in pieces(side)] == bases
    peaks = [
        [base - outline[:, 1].min() for base, outline in zip(bases, pieces(side), strict=True)]
        for side in (below, above)
    ]
    assert peaks[1][0] > peaks[0][0] > 0
    assert peaks[0][1] > peaks[1][1] >= 0
    assert [side[2] for side in peaks] == [0, 0]


def test_a_ridge_begins_at_zero_and_is_highest_over_the_gap_that_most_lists_have():
    _, below, above, _ = gap_rows(RERANKERS, EDGES, list(COUNTS), LIGHT, "RR").data[1:]
    centre = (EDGES[1:] + EDGES[:-1]) / 2
    for side, row, most in ((above, 0, centre[9]), (below, 1, centre[2])):
        x, y = pieces(side)[row].T
        assert x[y.argmin()] == pytest.approx(most)
        assert x.tolist() == x[::-1].tolist(), "it comes back on the ground line below itself"
    for side, ends in ((below, (centre[0], 0)), (above, (0, centre[-1]))):
        for outline in pieces(side):
            assert (outline[:, 0].min(), outline[:, 0].max()) == pytest.approx(ends)


def test_the_mark_of_a_mean_gap_names_its_reranker_and_its_name_is_escaped():
    *_, means = gap_rows(RERANKERS, EDGES, list(COUNTS), LIGHT, "RR").data
    assert list(means.x) == [0.03, -0.01, 0.0]
    assert [name.count("<") for name in means.customdata] == [0, 0, 0]
    assert means.customdata[1] == "b"
    assert "%{customdata}" in means.hovertemplate


def test_gaps_are_absolute_with_their_mean_unless_asked_for_with_their_sign():
    values = {f"first_{name}": [0.5] for name in ("traditional", "tied", "worst", "best", "lists_with_gap")}
    summary = pd.DataFrame(values | {"tie_ratio": [0.5], "first_gap": [-0.01], "first_gap_mean": [0.2]}, ["a"])
    lists = pd.DataFrame({"reranker": "a", "first_gap": [-0.3, 0.1]})
    for is_signed, mean, written in ((False, 0.2, "<b>0.200</b>"), (True, -0.01, "<b>−0.010</b>")):
        figure = aligned_rows(summary, lists, LIGHT, "MRR", is_signed=is_signed)
        assert figure.data[-1].x.tolist() == [mean]
        assert any(note.text.startswith(written) for note in figure.layout.annotations)
        ridges = list(figure.to_plotly().select_traces({"type": "scatter", "fill": "toself"}))
        assert [trace.fillcolor for trace in ridges] == [LIGHT.other, LIGHT.traditional][not is_signed :]
