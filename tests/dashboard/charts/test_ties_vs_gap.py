"""The panels of ties against gaps."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.palette import LIGHT
from dashboard.charts.ties_vs_gap import gap_panels, gap_scatter


def lists_of(first, second):
    first, second = np.asarray(first), np.asarray(second)
    return pd.DataFrame(
        {
            "reranker": "a",
            "query_id": [f"q{number}" for number in range(len(first))],
            "tie_ratio": np.linspace(0.1, 1, len(first)),
            "max_tie_size": 2,
            "first_gap": first,
            "second_gap": second,
        }
    )


def dots(lists):
    """The lists in the panel of one gap against the other."""
    figure = gap_panels(lists, LIGHT, ("RR", "Hits@3"))
    (trace,) = figure.to_plotly().select_traces({"mode": "markers", "xaxis": "x2"})
    return trace


def scatter_dots(figure):
    """The lists in the panel of tie ratio against gap."""
    return next(figure.to_plotly().select_traces({"type": "scatter", "mode": "markers"}))


def test_lists_with_equal_gaps_share_a_dot_that_counts_them():
    trace = dots(lists_of([0.5, 0.5, 0.5, 0.2], [1.0, 1.0, 1.0, 0.0]))
    assert list(zip(trace.x, trace.y, strict=True)) == [(0.5, 1.0), (0.2, 0.0)]
    assert [row[2] for row in trace.customdata] == ["q0 and 2 more here", "q3"]
    assert list(trace.marker.opacity) == pytest.approx([1 - 0.35**3, 0.65])


def test_every_place_of_many_lists_has_its_dot():
    trace = dots(lists_of(np.tile([0.1, 0.2, 0.3], 3000), np.tile([0.3, 0.2, 0.1], 3000)))
    assert sorted(trace.x) == [0.1, 0.2, 0.3]


def test_lists_without_a_gap_have_no_dot():
    assert not len(dots(lists_of([0.0, 0.0], [0.0, 0.0])).x)


def test_gaps_are_absolute_unless_asked_for_with_their_sign():
    lists = lists_of([0.5, -0.25, 0.0], [0.0, 0.0, 0.0])
    absolute, signed = (gap_scatter(lists, LIGHT, "RR", is_signed=sign) for sign in (False, True))
    assert sorted(scatter_dots(absolute).y) == [0.25, 0.5]
    assert sorted(scatter_dots(signed).y) == [-0.25, 0.5]
    assert [
        axis.title.text for axis in (absolute.layout[name] for name in absolute.axis_names("y", col=1))
    ] == ["| RR − tied RR |"]
    assert [axis.title.text for axis in (signed.layout[name] for name in signed.axis_names("y", col=1))] == [
        "RR − tied RR"
    ]
    low, high = signed.layout.yaxis.range
    assert low < -0.5 < 0.5 < high


@pytest.mark.parametrize("is_signed", [False, True])
def test_the_distribution_has_every_list_with_a_gap_on_its_side(is_signed):
    lists = lists_of([0.5, 0.5, -0.25, 0.0], [0.0] * 4)
    high, low = (
        trace for trace in gap_scatter(lists, LIGHT, "RR", is_signed=is_signed).data if trace.type == "bar"
    )
    assert (sum(high.x), sum(low.x)) == (2, 1)
    assert (np.asarray(low.y)[np.asarray(low.x) > 0] < 0).all() == is_signed


@pytest.mark.parametrize("is_signed", [False, True])
def test_a_selected_list_is_ringed_and_named_in_every_panel(is_signed):
    lists = lists_of([0.5, -0.25], [1.0, 0.5])
    scatter = gap_scatter(lists, LIGHT, "RR", 1, is_signed=is_signed)
    panels = gap_panels(lists, LIGHT, ("RR", "Hits@3"), 1, is_signed=is_signed)
    markers = [
        trace
        for figure in (scatter, panels)
        for trace in figure.to_plotly().select_traces({"type": "scatter", "mode": "markers"})
    ]
    rings = [trace for trace in markers if trace.marker.size == 13]
    assert [trace.marker.color for trace in rings] == [LIGHT.tied] * 5
    named = [note.text for figure in (scatter, panels) for note in figure.layout.annotations]
    assert named.count("<b>q1</b>") == 5
