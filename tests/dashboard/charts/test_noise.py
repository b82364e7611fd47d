import numpy as np
import pandas as pd
import pytest

from dashboard.charts.noise import NoiseTables, near_tie_panels, noise_lines
from dashboard.charts.palette import DARK, LIGHT
from metrics.studies.noise import trades

LEVELS = pd.Index([0.0, 0.01, 0.1, 1.0], name="noise")


def tables(names):
    values = {name: np.array([0.9, 0.9, 0.8, 0.1 + at / 5]) - at / 10 for at, name in enumerate(names)}
    curves = pd.DataFrame(values, LEVELS)
    edge = pd.DataFrame({"traditional": 0.95, "worst": 0.2, "best": 1.0}, pd.Index(names[::-1]))
    chances = pd.DataFrame({"whole": [1.0, 0.25], "pairs": [1.0, 0.5]}, pd.Index([0.01, 1.0], name="noise"))
    deviations = pd.DataFrame(0.01, chances.index, names)
    formats = pd.DataFrame({"number_format": ["float16"], "noise": [0.02]}, index=names[:1])
    own = pd.DataFrame({"low": [0.1, 0.2, np.nan][: len(names)], "high": 0.3, "value": 0.5}, index=names[:3])
    return NoiseTables(curves, edge, trades(curves), chances, deviations, formats, own)


def drawn(names, palette=LIGHT):
    return noise_lines(tables(names), palette, dict.fromkeys(names, "#00695C"), "MRR")


def words(figure):
    return [annotation.text for annotation in figure.layout.annotations]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_marks_without_noise_stand_left_of_every_level_in_slots_of_their_own(palette):
    figure = drawn(["A", "B", "C"], palette)
    dots = next(trace for trace in figure.data if trace.name == "tied" and len(trace.x) == 3)
    assert max(dots.x) < np.log10(0.01)
    assert len(set(dots.x)) == 3
    assert list(dots.y) == pytest.approx([0.9, 0.8, 0.7])
    low, high = figure.layout.xaxis.range
    assert low < min(dots.x)
    assert high > 0


def test_a_ring_marks_each_trade_of_places():
    figure = drawn(["A", "B"])
    ring = next(trace for trace in figure.data if "overtakes" in (trace.hovertemplate or ""))
    assert list(ring.customdata[0]) == ["A", "B"]
    assert len(ring.x) == 1


def test_the_strip_writes_how_often_the_order_holds():
    assert [text for text in words(drawn(["A", "B"])) if text.endswith("%")] == ["100%", "25%", "100%", "50%"]


def test_one_reranker_has_no_order_to_draw():
    figure = drawn(["A"])
    assert not [trace for trace in figure.data if trace.type == "heatmap"]
    assert not [text for text in words(figure) if text.endswith("%")]


def test_the_noise_that_the_data_tells_is_bounded_and_shaded():
    (rounding, scatter) = drawn(["A", "B", "C"]).layout.shapes
    assert (rounding.type, rounding.x0) == ("line", pytest.approx(np.log10(0.02)))
    assert scatter.type == "rect"
    assert scatter.x0 < np.log10(0.1) < np.log10(0.3) < scatter.x1 < 0
    assert any("score_std" in text for text in words(drawn(["A", "B"])))


def test_names_cannot_run_as_markup_and_stand_apart():
    figure = drawn(["<b>A</b>", "B"])
    names = [note for note in figure.layout.annotations if note.xref == "paper"]
    assert {note.text for note in names} == {"&lt;b&gt;A&lt;/b&gt;", "B"}
    assert any("rounding in the files" in text for text in words(figure))


DISTANCES = pd.Index([0.0, 0.01, 0.1, 1.0], name="distance")


@pytest.fixture
def figure():
    values = pd.DataFrame({"<b>a": [0.9, 0.9, 0.8, 0.5], "b": [0.8, 0.8, 0.8, 0.4]}, DISTANCES)
    ratios = pd.DataFrame({"<b>a": [0, 0.1, 0.5, 1.0], "b": [0.4, 0.4, 0.4, 1.0]}, DISTANCES)
    return near_tie_panels(ratios, values, LIGHT, {"<b>a": "#111111", "b": "#222222"}, "MTRR")


def test_distances_stand_on_a_log_axis_and_changes_begin_at_0(figure):
    ratio, _, change, _ = figure.data
    assert ratio.x.tolist() == pytest.approx([-2, -1, 0])
    assert (ratio.yaxis, change.yaxis) == ("y2", "y")
    assert np.asarray(change.y).tolist() == pytest.approx([0, -0.1, -0.4])


def test_names_are_escaped_in_their_colour_and_pushed_apart(figure):
    upper, lower = figure.layout.annotations
    assert {upper.text, lower.text} == {"&lt;b&gt;a", "b"}
    assert {upper.font.color, lower.font.color} == {"#111111", "#222222"}
    assert lower.yshift < 0 == upper.yshift
