import pandas as pd

from dashboard.charts.leaderboard.place_and_score import place_and_score
from dashboard.charts.leaderboard.place_strip import place_strip
from dashboard.charts.leaderboard.tier_brackets import tier_runs
from dashboard.charts.palette import LIGHT


def leaderboard(n):
    tied = pd.Series([1 - place / n for place in range(n)])
    ranks = dict.fromkeys(("tied_rank", "traditional_rank"), range(1, n + 1))
    values = dict.fromkeys(("tied", "traditional", "worst", "best"), tied)
    return pd.DataFrame(values | ranks).assign(gap=0.0).set_axis([f"r{place}" for place in range(n)])


def tiered(*tiers):
    return leaderboard(len(tiers)).assign(tier=pd.array(tiers, dtype="Int64"))


def brackets(figure):
    return [trace for trace in figure.data if trace.xaxis == "x4"]


def test_each_tier_has_a_bracket_round_its_rows_and_every_second_one_a_band():
    figure = place_and_score(tiered(1, 1, 1, 2, 3, 3), LIGHT, "MRR")
    lines, numbers = brackets(figure)
    assert list(numbers.text) == ["1", "2", "3"]
    assert list(numbers.y) == [1, 3, 4.5]
    assert [round(y, 2) for y in lines.y if y is not None][:4] == [-0.34, -0.34, 2.34, 2.34]
    bands = [(shape.y0, shape.y1) for shape in figure.layout.shapes]
    assert bands == [(-0.5, 2.5), (3.5, 5.5)]


def test_one_tier_has_a_bracket_and_no_band_and_a_board_without_tiers_has_neither():
    figure = place_and_score(tiered(1, 1), LIGHT, "MRR")
    assert list(brackets(figure)[1].text) == ["1"]
    assert not figure.layout.shapes
    bare = place_and_score(leaderboard(2), LIGHT, "MRR")
    assert not brackets(bare)
    assert figure.layout.xaxis2.domain[0] > bare.layout.xaxis2.domain[0]
    assert figure.layout.legend.xanchor == "right", "a legend that begins at the scores squeezes a phone's rows"


def test_a_window_of_rows_has_the_brackets_of_those_it_shows():
    rows = tiered(*[1] * 15, *[2] * 10)
    figure = place_and_score(rows, LIGHT, "MRR", list(rows.index[10:20]))
    assert list(brackets(figure)[1].text) == ["1", "2"]
    assert list(brackets(figure)[1].y) == [2, 7]
    assert tier_runs(rows["tier"].iloc[10:20]) == [(1, 0, 4), (2, 5, 9)]


def test_the_strip_has_a_line_above_each_tier_and_a_number_where_there_is_room():
    rows = tiered(*[1] * 60, 2, *[3] * 39)
    figure = place_strip(rows, LIGHT, "MRR", 0, 19)
    lines = [(shape.x0, shape.x1) for shape in figure.layout.shapes if shape.type == "line"]
    assert lines == [(0.65, 60.35), (60.65, 61.35), (61.65, 100.35)]
    assert [note.text for note in figure.layout.annotations] == ["tier 1", "3"]
    assert figure.layout.height > place_strip(rows.drop(columns="tier"), LIGHT, "MRR", 0, 19).layout.height
