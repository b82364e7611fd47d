import re

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.palette import DARK, LIGHT
from dashboard.charts.rerankers import aligned_rows, gap_multiples, gap_rows, win_loss_bars


def multiples(n, palette=LIGHT):
    names = [f"reranker {number}" for number in range(n)]
    ratios = np.linspace(0.1, 1, 40)
    lists = pd.concat(
        pd.DataFrame({"reranker": name, "query_id": "q", "tie_ratio": ratios, "first_gap": 0.4 * ratios})
        for name in names
    )
    colours = {name: palette.reranker(number) for number, name in enumerate(names)}
    return gap_multiples(lists, palette, colours, "RR")


@pytest.mark.parametrize("n", [1, 4, 5, 15])
def test_the_tie_ratio_is_named_once_below_the_first_panel_of_the_last_row(n):
    figure = multiples(n)
    (named,) = (axis for axis in figure.to_plotly().select_xaxes() if axis.title.text)
    assert named.title.text == "tie ratio"
    assert named.domain[0] == 0
    heights = {axis.anchor: axis.domain[0] for axis in figure.to_plotly().select_yaxes()}
    assert heights[named.plotly_name.replace("axis", "")] == min(heights.values()) == 0


def test_axes_of_tie_ratios_end_with_the_data():
    ratios = np.r_[np.linspace(0.9, 1, 40), np.full(40, 0.5)]
    gaps = np.r_[np.linspace(0.1, 0.4, 40), np.zeros(40)]
    lists = pd.DataFrame(
        {"reranker": ["a"] * 40 + ["b"] * 40, "query_id": "q", "tie_ratio": ratios, "first_gap": gaps}
    )
    figure = gap_multiples(lists, LIGHT, {"a": LIGHT.text, "b": LIGHT.muted}, "RR")
    *panels, means = figure.to_plotly().select_xaxes()
    assert all(axis.range[0] == pytest.approx(0.475) for axis in panels)
    assert means.range[0] > 0.88
    assert means.range[1] <= 1.03


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_an_axis_of_one_tie_ratio_holds_nothing_below_none_or_above_all(ratio):
    lists = pd.DataFrame({"reranker": "a", "query_id": "q", "tie_ratio": [ratio] * 3, "first_gap": 0.0})
    (low, high), *_ = (
        axis.range for axis in gap_multiples(lists, LIGHT, {"a": "#000"}, "RR").to_plotly().select_xaxes()
    )
    assert -0.01 < low < high < 1.01


def test_lists_too_few_for_a_mean_have_no_panel_of_means():
    lists = pd.DataFrame({"reranker": "a", "query_id": "q", "tie_ratio": [0.5], "first_gap": 0.0})
    figure = gap_multiples(lists, LIGHT, {"a": "#000"}, "RR")
    assert len(list(figure.to_plotly().select_xaxes())) == len(figure.layout.annotations) == 1


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_a_mean_has_the_ground_around_it_on_dots_of_any_colour(palette):
    halo, mean = [shape for shape in multiples(3, palette).layout.shapes if shape.layer == "above"][:2]
    assert (halo.line.color, mean.line.color) == (palette.ground, palette.text)
    assert halo.line.width >= mean.line.width + 3
    assert halo.path == mean.path
    assert (halo.xref, halo.yref) == (mean.xref, mean.yref)


def test_panels_of_a_few_rerankers_have_the_names_of_all():
    names = [f"run_of_a_model_with_a_long_name_{kind}_{n}" for kind in ("listwise", "pointwise") for n in "123"]
    lists = pd.DataFrame({"reranker": names, "query_id": "q", "tie_ratio": 0.5, "first_gap": 0.1})
    all_panels, few_panels = (
        [
            note.text
            for note in gap_multiples(lists, LIGHT, dict.fromkeys(part, "#000"), "RR").layout.annotations
        ]
        for part in (names, names[:3])
    )
    assert few_panels == all_panels[:3]
    assert all("listwise" in title for title in few_panels)


def test_each_panel_repeats_the_lists_of_all_rerankers_as_one_path_behind_its_own():
    lists = pd.DataFrame(
        {
            "reranker": ["a", "a", "b"],
            "query_id": "q",
            "tie_ratio": [0.2, 0.6, 1.0],
            "first_gap": [0, 0.1, -0.1],
        }
    )
    figure = gap_multiples(lists, LIGHT, {"a": "#000", "b": "#111"}, "RR")
    behind = [shape for shape in figure.layout.shapes if shape.layer == "between"]
    assert [(shape.xref, shape.yref) for shape in behind] == [("x", "y"), ("x2", "y2")]
    for shape in behind:
        dashes = [re.split("[,H]", dash) for dash in shape.path.split("M")[1:]]
        ratios = [(float(low) + float(high)) / 2 for low, _, high in dashes]
        assert ratios == pytest.approx([0.2, 0.6, 1.0], abs=1e-4)
        assert [float(gap) for _, gap, _ in dashes] == [0, 0.1, 0.1]
    assert [len(trace.x) for trace in figure.data] == [2, 1]


def test_a_list_without_a_gap_has_no_dash():
    lists = pd.DataFrame(
        {"reranker": "a", "query_id": "q", "tie_ratio": [0.2, 0.6], "first_gap": [np.nan, 0.1], "n_hidden": 0}
    )
    (behind,) = (shape for shape in gap_multiples(lists, LIGHT, {"a": "#000"}, "RR").layout.shapes)
    assert behind.path.count("M") == 1
    assert "nan" not in behind.path


def test_means_that_are_all_the_same_have_an_axis_around_them():
    ratios = np.linspace(0.1, 1, 40)
    lists = pd.DataFrame({"reranker": "a", "query_id": "q", "tie_ratio": ratios, "first_gap": 0.3})
    *_, axis = gap_multiples(lists, LIGHT, {"a": "#000"}, "RR").to_plotly().select_yaxes()
    low, high = axis.range
    assert low < 0.29
    assert high > 0.31


def test_panels_draw_absolute_gaps():
    lists = pd.DataFrame({"reranker": "a", "query_id": "q", "tie_ratio": [0.2, 0.6], "first_gap": [-0.3, 0.1]})
    figure = gap_multiples(lists, LIGHT, {"a": "#000"}, "RR")
    assert list(figure.data[0].y) == [0.3, 0.1]
    assert figure.layout.yaxis.title.text == "|RR gap|"


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


def test_each_side_of_the_ridges_is_one_trace_that_ends_on_its_ground_line():
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


def test_rows_draw_absolute_gaps_and_their_mean():
    values = {f"first_{name}": [0.5] for name in ("traditional", "tied", "worst", "best", "lists_with_gap")}
    summary = pd.DataFrame(values | {"tie_ratio": [0.5], "first_gap": [-0.01], "first_gap_mean": [0.2]}, ["a"])
    lists = pd.DataFrame({"reranker": "a", "first_gap": [-0.3, 0.1]})
    figure = aligned_rows(summary, lists, LIGHT, "MRR")
    titles = [figure.settings[axis]["title"]["text"] for axis in ("xaxis", "xaxis3")]
    assert titles == ["MRR", "|RR gap| of each list"]
    assert figure.data[-1].x.tolist() == [0.2]
    assert any(note.text.startswith("<b>0.200</b>") for note in figure.layout.annotations)
    (ridge,) = figure.to_plotly().select_traces({"type": "scatter", "fill": "toself"})
    assert ridge.fillcolor == LIGHT.traditional


@pytest.mark.parametrize(("n_queries", "step"), [(1, 1), (8, 1), (9, None)])
def test_few_queries_have_a_tick_each_and_none_between_them(n_queries, step):
    counts = {"won": n_queries, "equal": 0, "lost": 0}
    table = pd.DataFrame([counts | {f"{name}_before": count for name, count in counts.items()}], index=["a"])
    figure = win_loss_bars(table, LIGHT)
    assert figure.settings["xaxis"].get("dtick") == step
    colours = {trace.marker.color for trace in figure.to_plotly().data}
    assert LIGHT.traditional not in colours, "orange is kept for traditional scores"
