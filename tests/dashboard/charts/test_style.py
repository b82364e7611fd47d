"""The look of all charts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.charts.figure import Figure, padded_range, signed_ticks, value_axis

AXIS_WITH_TITLE = 36
"""Pixels that plotly gives an axis with ticks and a title, beside the smallest of the margins, 12 at most."""


def test_an_axis_title_has_room_so_plotly_draws_once():
    margin = Figure().style(300, l=50).layout.margin
    assert margin.b >= AXIS_WITH_TITLE + min(12, margin.l, margin.r, margin.t)


def test_an_axis_of_values_from_0_to_1_has_no_ticks_outside():
    low, high = padded_range(np.array([0.0, 1.0]))
    assert -0.04 < low < 0
    assert 1 < high < 1.04
    low, high = padded_range(np.array([1.0]))
    assert low < 1 < high < 1.01


def test_an_axis_of_values_beyond_1_has_air_on_both_sides():
    low, high = padded_range(np.array([2.0, 4.0]))
    assert low < 2 - 0.1
    assert high > 4 + 0.1


@pytest.mark.parametrize(("high", "form"), [(0.91, ".2f"), (0.51, ""), (300, "")])
def test_ticks_of_scores_have_two_decimals_where_these_tell_them_apart(high, form):
    assert value_axis(np.array([0.5, high]))["tickformat"] == form


def test_thousands_have_a_comma_as_in_sentences_and_tables():
    layout = Figure().style(300).layout
    assert (layout.separators or layout.template.layout.separators) == ".,"


@pytest.mark.parametrize(
    ("low", "high", "n_steps", "texts"),
    [
        (-0.06, 0.06, 6, ["−0.06", "−0.04", "−0.02", "0", "+0.02", "+0.04", "+0.06"]),
        (-1.1, 1.1, 5, ["−1", "−0.5", "0", "+0.5", "+1"]),
        (0, 0.00003, 3, ["0", "+0.00001", "+0.00002", "+0.00003"]),
        (-2500, 100, 4, ["−2000", "−1000", "0"]),
        (0, 0, 6, ["0"]),
    ],
)
def test_ticks_of_differences_have_a_sign_but_for_zero(low, high, n_steps, texts):
    ticks = signed_ticks(low, high, n_steps)
    assert list(ticks["ticktext"]) == texts
    assert [float(text.replace("−", "-")) for text in texts] == pytest.approx(list(ticks["tickvals"]))


@given(low=st.floats(-1e3, 1e3), span=st.floats(1e-6, 1e3), n_steps=st.integers(2, 9))
def test_ticks_of_differences_are_no_more_than_asked_for_and_no_two_have_one_label(low, span, n_steps):
    ticks = signed_ticks(low, low + span, n_steps)
    assert len(ticks["tickvals"]) <= n_steps + 1
    assert len(set(ticks["ticktext"])) == len(ticks["tickvals"])


def test_axis_properties_are_merged():
    figure = Figure.of_panels(1, 2)
    figure.set_xaxes(title_text="gap", nticks=3)
    figure.set_xaxes(title_standoff=7, showgrid=False, col=2)
    left, right = figure.layout.xaxis, figure.layout.xaxis2
    assert (left.title.text, left.nticks, left.showgrid, left.title.standoff) == ("gap", 3, None, None)
    assert (right.title.text, right.nticks, right.showgrid, right.title.standoff) == ("gap", 3, False, 7)
