"""The panels of ties against gaps."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.palette import LIGHT
from dashboard.charts.ties_vs_gap import COLOURED, gap_panels, gap_scatter


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
    (trace,) = figure.to_plotly().select_traces({"mode": "markers", "xaxis": "x6"})
    return trace


def scatter(lists, **options):
    colours = {name: LIGHT.reranker(number) for number, name in enumerate(lists["reranker"].unique())}
    return gap_scatter(lists, LIGHT, options.pop("colours", colours), "RR", "file order", **options)


def marks(figure, trace_type="scatter"):
    """The traces of marks in a figure."""
    return list(figure.to_plotly().select_traces({"type": trace_type, "mode": "markers"}))


def test_the_axis_of_tie_ratios_begins_where_lists_do():
    lists = lists_of([0.5, 0.0, 0.2], [1.0, 1.0, 0.0]).assign(tie_ratio=[0.8, 0.9, 1.0])
    assert list(scatter(lists).layout.xaxis.range) == pytest.approx([0.794, 1.006])
    assert list(scatter(lists.assign(tie_ratio=1.0)).layout.xaxis.range) == pytest.approx([0.9588, 1.0012])


def test_lists_with_equal_gaps_share_a_dot_that_counts_them():
    trace = dots(lists_of([0.5, 0.5, 0.5, 0.2], [1.0, 1.0, 1.0, 0.0]))
    assert list(zip(trace.x, trace.y, strict=True)) == [(0.5, 1.0), (0.2, 0.0)]
    assert [row[2] for row in trace.customdata] == ["q0 and 2 more here", "q3"]
    assert list(trace.marker.opacity) == pytest.approx([1 - 0.35**3, 0.65])


def test_lists_without_a_gap_have_no_dot():
    assert not len(dots(lists_of([0.0, 0.0], [0.0, 0.0])).x)


def test_the_scatter_has_the_sign_of_each_gap_and_counts_the_lists_without_one():
    figure = scatter(lists_of([0.5, -0.25, 0.0], [0.0] * 3))
    (trace,) = marks(figure)
    assert sorted(trace.y) == [-0.25, 0.5]
    low, high = figure.layout.yaxis.range
    assert low < -0.25 < 0.5 < high
    notes = [note.text for note in figure.layout.annotations]
    assert figure.layout.xaxis.title.text == "tie ratio<br>1 of 3 lists have no gap and are not drawn"
    assert "▲ file order scores too high" in notes


def test_each_reranker_has_a_colour_and_a_legend_entry_that_hides_it_and_many_share_a_grey():
    lists = pd.concat(
        [
            lists_of([0.1] * (12 - number), [0.0] * (12 - number)).assign(reranker=f"r{number}")
            for number in range(9)
        ],
        ignore_index=True,
    )
    figure = scatter(lists)
    assert marks(figure)[0].name == "2 more", "dots in grey cover no other"
    names = [trace.name for trace in sorted(marks(figure), key=lambda trace: trace.legendrank)]
    assert names == [*(f"r{number}" for number in range(COLOURED)), "2 more"]
    assert len({trace.marker.color for trace in marks(figure)}) == COLOURED + 1
    assert figure.layout.legend.itemclick == "toggle"


def test_dots_have_the_colour_that_their_reranker_has_on_every_page_unless_another_has_it():
    colours = {"a": LIGHT.rerankers[4], "b": LIGHT.rerankers[2], "c": LIGHT.rerankers[2]}
    lists = pd.concat([lists_of([0.1], [0.0]).assign(reranker=name) for name in colours], ignore_index=True)
    drawn = [trace.marker.color for trace in marks(scatter(lists, colours=colours))]
    assert drawn == [LIGHT.rerankers[4], LIGHT.rerankers[2], LIGHT.rerankers[0]]


def test_the_line_is_the_mean_of_the_absolute_gaps_of_all_lists():
    lists = lists_of(np.tile([0.4, -0.4, 0.0, 0.0], 30), np.zeros(120))
    (line,) = scatter(lists).to_plotly().select_traces({"mode": "lines"})
    assert line.name == "mean |gap|"
    assert np.array(line.y) == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(("n", "kind"), [(5000, "scatter"), (5001, "scattergl"), (50_010, "heatmap")])
def test_many_lists_are_drawn_by_webgl_and_more_as_a_density_on_the_same_axes(n, kind):
    few, many = (scatter(lists_of(np.linspace(-0.3, 0.5, size), np.zeros(size))) for size in (100, n))
    kinds = [trace.type for trace in many.to_plotly().data]
    assert kinds[0] == kind
    assert "scatter" not in kinds or "scattergl" not in kinds, "lines of SVG lie below WebGL"
    assert many.layout.yaxis.range == pytest.approx(few.layout.yaxis.range)
    assert many.layout.xaxis.range == few.layout.xaxis.range
    if kind == "heatmap":
        assert np.nansum(many.to_plotly().data[0].customdata) == (np.linspace(-0.3, 0.5, n) != 0).sum()


def test_the_distribution_has_every_list_with_a_gap_on_its_side():
    lists = lists_of([0.5, 0.5, -0.25, 0.0], [0.0] * 4)
    high, low = (trace for trace in gap_panels(lists, LIGHT, ("RR", "Hits@3")).data if trace.type == "bar")
    assert (sum(high.x), sum(low.x)) == (2, 1)


def test_every_panel_has_a_title():
    lists = lists_of([0.5, -0.25], [1.0, 0.5])
    notes = [note.text for note in gap_panels(lists, LIGHT, ("RR", "Hits@3")).layout.annotations]
    titles = [
        "Tie ratio, RR",
        "Largest tie, RR",
        "Distribution, RR",
        "Tie ratio, Hits@3",
        "Largest tie, Hits@3",
    ]
    assert {f"<b>{title}</b>" for title in [*titles, "Hits@3 against RR"]} <= set(notes)


def test_a_selected_list_is_ringed_and_named():
    figure = scatter(lists_of([0.5, -0.25], [1.0, 0.5]), selected=1)
    (ring,) = (trace for trace in marks(figure) if trace.marker.size == 13)
    assert (ring.marker.color, list(ring.y)) == (LIGHT.tied, [-0.25])
    assert "<b>q1</b>" in [note.text for note in figure.layout.annotations]
