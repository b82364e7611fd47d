import numpy as np
import pandas as pd
import pytest

from dashboard.charts.audit import convention_bars, matrix_cells, reproduction_matrix
from dashboard.charts.palette import DARK, LIGHT

ROWS = [
    ("a", "RR", None, 0.5, 0.5, 0.0, "to the digit"),
    ("a", "AP", None, 0.3, 0.3004, 0.0004, "by rounding"),
    ("b", "RR", None, 0.4, 0.42, 0.02, "is not reproduced"),
    ("b", "AP", None, 0.2, 0.1999, -0.0001, "is not reproduced"),
]
COLUMNS = ["reranker", "measure", "query_id", "published", "computed", "difference", "verdict"]


@pytest.fixture
def figures():
    return pd.DataFrame(ROWS, columns=COLUMNS)


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def test_each_figure_has_the_mark_of_its_verdict_and_the_legend_counts_them(figures):
    matrix = reproduction_matrix(figures, LIGHT, ["b", "a"], has_differences=True)
    marks = traces(matrix)
    assert set(marks) == {"to the digit · 1", "by rounding · 1", "not reproduced · 2"}
    off = marks["not reproduced · 2"]
    assert list(zip(off.x, off.y, strict=True)) == [(0, 0), (1, 0)]  # b is the first row
    assert [text.strip() for text in off.text] == ["+.020", "&lt;.001"]
    assert off.marker.color == LIGHT.traditional
    assert marks["by rounding · 1"].marker.color == LIGHT.ground


def test_differences_stand_in_the_matrix_of_another_rule_alone(figures):
    matrix = reproduction_matrix(figures, DARK, ["a", "b"], has_differences=False)
    assert traces(matrix)["not reproduced · 2"].mode == "markers"


def test_counts_below_the_columns_are_of_all_rerankers_though_few_are_drawn(figures):
    matrix = reproduction_matrix(figures, LIGHT, ["a"], has_differences=False)
    counts = matrix.data[-1]
    assert list(counts.text) == ["1", "1"]
    assert list(counts.customdata) == ["1 of 2 are reproduced", "1 of 2 are reproduced"]
    assert matrix.layout.yaxis.ticktext[-1] == "of 2 reproduced"
    assert list(counts.textfont.color) == [LIGHT.traditional, LIGHT.traditional]


def test_a_cell_of_several_queries_shows_the_worst_figure_and_counts_failures():
    verdicts = ["to the digit", "is not reproduced", "is not reproduced"]
    differences = [0.0, 0.1, -0.2]
    figures = pd.DataFrame(
        {
            "reranker": "a",
            "measure": "RR",
            "query_id": ["q1", "q2", "q3"],
            "published": 0.5,
            "computed": 0.5,
            "difference": differences,
            "verdict": verdicts,
        }
    )
    cell = matrix_cells(figures).iloc[0]
    assert (cell["query_id"], cell["n"], cell["n_off"]) == ("q3", 3, 2)


def test_names_in_a_matrix_cannot_run():
    name = "<b onmouseover=alert(1)>"
    figures = pd.DataFrame([(name, name, None, 0.5, np.nan, np.nan, "is not reproduced")], columns=COLUMNS)
    text = reproduction_matrix(figures, LIGHT, [name], has_differences=True).to_json()
    assert "<b onmouseover" not in text
    assert "&lt;b onmouseover" in text


def test_a_bar_is_the_share_of_figures_that_come_out_and_its_click_names_its_row():
    rules = pd.DataFrame(
        {
            "label": ["one", "two & more"],
            "to_the_digit": [8, 3],
            "by_rounding": [2, 1],
            "does_not_come_out": [0, 6],
        }
    )
    figure = convention_bars(rules, LIGHT, 1)
    assert list(figure.data[1].x) == [1.0, 0.4]
    assert [row[0] for row in figure.data[1].customdata] == [0, 1]
    assert list(figure.data[1].marker.color) == [LIGHT.other, LIGHT.text]
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["one", "10", "<b>two &amp; more</b>", "<b>4</b>"]
