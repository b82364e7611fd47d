"""Charts of weights: the leader stands out where it leads, and has its name where there is room."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.deciding.weight_lines import weight_lines
from dashboard.charts.deciding.weight_triangle import weight_triangle
from dashboard.charts.palette import LIGHT
from metrics.studies.robustness.weightings import leading_stretches, weightings

COLOURS = {"A": "#00695C", "B": "#7B3F8C", "C": "#2B2F3A"}


def by_weight(n_criteria, **columns):
    index = pd.MultiIndex.from_arrays(
        list(weightings(n_criteria).T), names=["score", "cost", "new"][:n_criteria]
    )
    return pd.DataFrame(columns, index=index)


def texts(figure):
    return [note.text for note in figure.layout.annotations]


def test_a_line_is_thick_where_its_reranker_leads_and_the_strip_names_it():
    weight = weightings(2)[:, 1]
    values = by_weight(2, A=1 - weight, B=0.305 + 0 * weight)
    figure = weight_lines(values, leading_stretches(values), LIGHT, COLOURS, ("RR", "score", "<b>cost"))
    thin, thick = (
        [trace for trace in figure.select_traces("scatter") if trace.line.width == width] for width in (1.3, 4)
    )
    assert [len(trace.x) for trace in thin] == [51, 51]
    assert sum(np.isfinite(trace.y).sum() for trace in thick) == 51
    assert [np.nanmin(trace.y) for trace in thick] == pytest.approx([0.32, 0.305])
    assert [trace.text[0] for trace in figure.select_traces("bar")] == ["A<br>0.320–1.000", "B<br>0.305–0.305"]
    assert "&lt;b&gt;cost alone" in texts(figure)


def test_every_weighting_of_three_has_a_cell_of_its_leader():
    grid = weightings(3)
    values = by_weight(3, **dict(zip("ABC", grid.T, strict=True)))
    figure = weight_triangle(values, LIGHT, COLOURS, ("RR", "score", "cost", "new"))
    assert sum(len(trace.x) for trace in figure.data) == len(grid)
    for trace in figure.data:
        assert (trace.customdata[:, 3] == trace.customdata[:, :3].max(axis=1)).all()
    assert texts(figure) == ["score alone", "cost alone", "new alone"]
    assert [trace.name for trace in figure.data] == ["A", "C", "B"]
