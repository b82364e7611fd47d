"""The look of all charts, and their empty panels."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.palette import LIGHT
from dashboard.charts.style import padded_range, style, subplots

AXIS_WITH_TITLE = 36
"""Pixels that plotly gives an axis with ticks and a title, beside the smallest of the margins, 12 at most."""


def test_an_axis_with_a_title_has_room_below_the_panels_so_that_plotly_need_not_draw_them_again():
    margin = style(go.Figure(), LIGHT, 300, l=50).layout.margin
    assert margin.b >= AXIS_WITH_TITLE + min(12, margin.l, margin.r, margin.t)


def test_empty_panels_are_a_figure_of_ones_own():
    one, other = subplots(1, 2, column_widths=(0.3, 0.7)), subplots(1, 2, column_widths=(0.3, 0.7))
    one.add_scatter(x=[1], y=[1], row=1, col=2)
    assert one.data[0].xaxis == "x2"
    assert not other.data
    assert other.layout.xaxis2 == make_subplots(1, 2, column_widths=[0.3, 0.7]).layout.xaxis2


def test_an_axis_of_values_up_to_1_ends_before_a_tick_past_1_and_starts_after_one_below_0():
    low, high = padded_range(np.array([0.0, 1.0]))
    assert -0.04 < low < 0
    assert 1 < high < 1.04
    low, high = padded_range(np.array([1.0]))
    assert low < 1 < high < 1.01


def test_an_axis_of_values_beyond_1_has_air_on_both_sides():
    low, high = padded_range(np.array([2.0, 4.0]))
    assert low < 2 - 0.1
    assert high > 4 + 0.1


def test_thousands_have_a_comma_as_in_sentences_and_tables():
    layout = style(go.Figure(), LIGHT, 300).layout
    assert (layout.separators or layout.template.layout.separators) == ".,"
