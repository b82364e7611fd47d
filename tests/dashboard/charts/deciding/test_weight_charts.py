"""Charts of weights: the leader stands out where it leads, and has its name where there is room."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.deciding.weight_lines import weight_lines
from dashboard.charts.deciding.weight_triangle import weight_triangle
from dashboard.charts.labels import chart_names
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


def test_the_strip_says_at_how_many_weightings_of_a_stretch_its_reranker_leads():
    values = by_weight(2, A=np.where(np.isin(np.arange(51), [20, 21]), 0.5, 1.0), B=0.9)
    figure = weight_lines(values, leading_stretches(values), LIGHT, COLOURS, ("RR", "score", "cost"))
    (bar,) = figure.select_traces("bar")
    assert "leads at 49 of 51 weightings from 0.00 to 1.00" in bar.hovertemplate


def test_a_reranker_has_the_name_it_has_where_others_that_never_lead_count_too():
    first, second = (f"a reranker of many words, trained twice, {end}" for end in ("base", "large"))
    weight = weightings(2)[:, 1]
    values = by_weight(2, **{first: 0.1, second: 1 + weight})
    colours = dict.fromkeys(values, "#00695C")
    figure = weight_lines(values, leading_stretches(values), LIGHT, colours, ("RR", "score", "cost"))
    grid = by_weight(3, **{first: 0.1, second: 1.0})
    triangle = weight_triangle(grid, LIGHT, colours, ("RR", "score", "cost", "new"))
    name = chart_names([first, second], 22)[second]
    assert name != chart_names([second], 22)[second]
    assert next(figure.select_traces("bar")).text[0].startswith(f"{name}<br>")
    assert triangle.data[0].name == name


def test_every_weighting_of_three_has_a_cell_of_its_leader():
    grid = weightings(3)
    values = by_weight(3, **dict(zip("ABC", grid.T, strict=True)))
    figure = weight_triangle(values, LIGHT, COLOURS, ("RR", "score", "cost", "new"))
    assert sum(len(trace.x) for trace in figure.data) == len(grid)
    for trace in figure.data:
        assert (trace.customdata[:, 3] == trace.customdata[:, :3].max(axis=1)).all()
    assert texts(figure) == ["score alone", "cost alone", "new alone"]
    assert [trace.name for trace in figure.data] == ["A", "C", "B"]


def test_cells_of_a_triangle_do_not_overlap_on_a_phone_and_its_axes_keep_their_ranges():
    grid = weightings(3)
    values = by_weight(3, **dict(zip("ABC", grid.T, strict=True)))
    figure = weight_triangle(values, LIGHT, COLOURS, ("RR", "score", "cost", "new"))
    low, high = figure.layout.xaxis.range
    margin = figure.layout.margin
    a_unit = (350 - margin.l - margin.r) / (high - low)
    n_steps = 12
    assert figure.data[0].marker.size * np.sqrt(3) / 2 <= a_unit / n_steps
    assert {axis.constrain for axis in (figure.layout.xaxis, figure.layout.yaxis)} == {"domain"}
