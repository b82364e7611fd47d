"""The six panels of ties against gaps."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.gaps.gap_panels import gap_panels
from dashboard.charts.palette import LIGHT


def lists_of(first, second):
    first, second = np.asarray(first), np.asarray(second)
    return pd.DataFrame(
        {
            "reranker": "a",
            "query_id": [f"q{number}" for number in range(len(first))],
            "tie_ratio": np.linspace(0.1, 1, len(first)),
            "max_tie_size": 2,
            "first_size": first,
            "second_size": second,
            "first_gap": first,
            "second_gap": second,
        }
    )


def dots(lists):
    """The lists in the panel of one gap against the other."""
    figure = gap_panels(lists, LIGHT, ("RR", "Hits@3"))
    (trace,) = figure.select_traces({"mode": "markers", "xaxis": "x6"})
    return trace


def test_lists_with_the_same_two_gaps_are_a_dot_as_opaque_as_all_of_them_that_counts_the_others():
    trace = dots(lists_of([0.5, 0.5, 0.5, 0.2], [1.0, 1.0, 1.0, 0.0]))
    assert list(zip(trace.x, trace.y, strict=True)) == [(0.5, 1.0), (0.2, 0.0)]
    assert [row[2] for row in trace.customdata] == ["q0 and 2 more here", "q3"]
    assert list(trace.marker.opacity) == pytest.approx([1 - 0.35**3, 0.65])


def test_every_place_of_many_lists_has_its_dot():
    trace = dots(lists_of(np.tile([0.1, 0.2, 0.3], 3000), np.tile([0.3, 0.2, 0.1], 3000)))
    assert sorted(trace.x) == [0.1, 0.2, 0.3]


def test_lists_without_a_gap_have_no_dot():
    assert not len(dots(lists_of([0.0, 0.0], [0.0, 0.0])).x)
