"""A chart for a room is the same chart, larger."""

from dashboard.charts.figure import Figure
from dashboard.views.present import FACTOR, enlarged


def test_marks_lines_and_texts_are_larger_and_data_and_bars_are_not():
    figure = Figure()
    figure.draw_bars(x=[1, 2], y=["a", "b"], width=0.4, marker={"line": {"width": 2}})
    figure.draw_scatter(x=[1, 2], y=[3, 4], marker={"size": [6, 8]}, line={"width": 1}, textfont={"size": 10})
    figure.style(200)
    large = enlarged(figure, 500)
    bar, dots = large.data
    assert (bar.width, bar.marker.line.width) == (0.4, 2 * FACTOR)
    assert list(dots.x) == [1, 2]
    assert (list(dots.marker.size), dots.line.width, dots.textfont.size) == (
        [6 * FACTOR, 8 * FACTOR],
        FACTOR,
        10 * FACTOR,
    )
    before, after = (chart.layout.template.layout.font.size for chart in (figure, large))
    assert after == before * FACTOR
    assert (figure.layout.height, large.layout.height) == (200, 500)
