import numpy as np
import pandas as pd

from dashboard.charts.data import MAX_POINTS, running_means_chart
from dashboard.charts.palette import LIGHT
from metrics.studies.history import running_means


def drawn(n_lists, window, change=None, name="llm"):
    values = {"tied": 0.5, "traditional": 0.6, "worst": 0.4, "best": 0.7}
    lists = pd.DataFrame({"name": name, "query_id": [f"q{n}" for n in range(n_lists)], **values})
    return running_means_chart(running_means(lists, window), LIGHT, "MRR", window, change, "in order of time")


def test_the_latest_begin_where_there_are_enough_and_all_so_far_at_the_first_list():
    figure = drawn(20, 5)
    begins = {trace.meta: min(trace.x) for trace in figure.data if trace.meta}
    assert begins == {
        "tied, latest": 5,
        "traditional, latest": 5,
        "tied, all so far": 1,
        "traditional, all so far": 1,
    }
    assert [min(figure.data[0].x), max(figure.data[0].x)] == [5, 20]


def test_a_change_is_an_upright_line_after_the_lists_before_it():
    assert not drawn(20, 5).layout.shapes
    figure = drawn(20, 5, change=12)
    line = figure.layout.shapes[0]
    assert (line.x0, line.x1, line.y0, line.y1, line.yref) == (12.5, 12.5, 0, 1, "y domain")
    assert "changed after 12" in [note.text for note in figure.layout.annotations]


def test_a_hundred_thousand_lists_are_thinned_to_pixels_and_keep_the_last():
    figure = drawn(100_000, 50)
    assert {max(trace.x) for trace in figure.data} == {100_000}
    assert max(len(trace.x) for trace in figure.data if trace.meta) == MAX_POINTS


def test_names_in_the_hover_text_are_no_markup():
    texts = np.concatenate(
        [np.ravel(trace.customdata) for trace in drawn(4, 2, name="<b>x").data if trace.meta]
    )
    assert "<b>x" not in texts


def test_the_key_names_the_band():
    assert any("worst to best" in note.text for note in drawn(20, 5).layout.annotations)
