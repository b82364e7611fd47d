"""The charts of the Leaderboard: places, names, scores and tiers."""

import pandas as pd
import pytest

from dashboard.charts.labels import SLOPE_COLUMNS, text_columns
from dashboard.charts.leaderboard import (
    clear_gap,
    is_out_of_order,
    least_width,
    place_and_score,
    place_strip,
    score_bounds,
    tier_runs,
    tool_strip,
)
from dashboard.charts.marks import rows_height
from dashboard.charts.palette import LIGHT


def test_legends_of_large_marks_keep_a_distance_from_the_first_row():
    rows = leaderboard([2, 1, 3])
    values = pd.DataFrame(
        {"reranker": rows.index, "tool": "trec_eval", "value": rows["traditional"].to_numpy()}
    )
    figure = tool_strip(rows, values, LIGHT, "RR")
    plot = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b - 40  # the x axis
    bottom, top = figure.layout.yaxis.range
    assert -top * plot / (bottom - top) + 13 > plot / (bottom - top)  # half a legend line above the plot


def leaderboard(traditional_places, name="lynx-rerank-4b-lora-r{}-lr1e4-s2k"):
    """A leaderboard whose n-th by the tied value has the n-th of these places by the sort."""
    n = len(traditional_places)
    tied = pd.Series([1 - place / n for place in range(n)])
    traditional = pd.Series([1.001 - place / n for place in traditional_places])
    return pd.DataFrame(
        {
            "tied": tied,
            "traditional": traditional,
            "worst": tied - 0.01,
            "best": tied + 0.5,
            "gap": traditional - tied,
            "tied_rank": range(1, n + 1),
            "traditional_rank": traditional_places,
        }
    ).set_axis([name.format(place) for place in range(n)])


def drawn_texts(figure):
    texts = [text for trace in figure.data for text in trace.text or ()]
    return [text.removeprefix("<b>").removesuffix("</b>").strip() for text in texts]


def traces(figure, mode):
    return list(figure.to_plotly().select_traces({"type": "scatter", "mode": mode}))


def test_names_stand_once_and_places_and_scores_share_their_rows():
    figure = place_and_score(leaderboard([2, 1, 3]), LIGHT, "MRR")
    assert sum("r0" in text for text in drawn_texts(figure)) == 1
    assert {trace.xaxis for trace in figure.data} == {None, "x2", "x3"}
    assert {trace.yaxis for trace in figure.data} == {None}


def test_only_what_swaps_is_orange_and_bold_among_few():
    rows = leaderboard([2, 1, 3, 4])
    assert list(is_out_of_order(rows)) == [True, True, False, False]
    lines = {trace.line.color: len(trace.x) for trace in traces(place_and_score(rows, LIGHT, "MRR"), "lines")}
    assert lines == {LIGHT.traditional: 2 * 3, LIGHT.other: 2 * 3}


def test_who_stays_while_others_pass_swaps_with_them():
    assert list(is_out_of_order(leaderboard([3, 2, 1]))) == [True, True, True]


def test_among_many_a_move_of_two_places_does_not_stand_out():
    places = [3, 1, 2, 7, 4, 5, 6, *range(8, 26)]
    moves = is_out_of_order(leaderboard(places))
    assert list(moves[moves].index) == ["lynx-rerank-4b-lora-r3-lr1e4-s2k"]


def ends_outside(rows, start, stop):
    """What is said of places outside the drawn rows, and at which height: below 0 above the first row."""
    figure = place_and_score(rows, LIGHT, "MRR", list(rows.index[start:stop]))
    return {
        note.text.replace("<br>", " "): note.y for note in figure.layout.annotations if note.yref != "paper"
    }


def test_the_slope_labels_ranks_outside_its_rows():
    rows = leaderboard([*range(1, 20), 27, 20, 22, 21, *range(23, 27), 28, 29, 30])
    assert ends_outside(rows, 0, 20) == {"from 27": 19.75, "to 21": 19.75}
    assert ends_outside(rows, 20, 30) == {"from 20": -0.75, "to 20": -0.75}
    assert not ends_outside(rows, 0, 30)
    heights = [place_and_score(rows, LIGHT, "MRR", list(rows.index[:n])).layout.height for n in (20, 30)]
    assert heights == [88 + 30 * 21, 88 + 30 * 30]
    assert {type(height) for height in heights} == {int}, "Streamlit draws 450 pixels for any other"
    entering = leaderboard([21, 23, *range(1, 21), 22, *range(24, 31)])
    assert set(ends_outside(entering, 0, 20)) == {"from 21–23", "to 21–22"}


def test_each_end_of_the_slope_stands_at_its_own_place_though_others_leave_the_rows():
    rows = leaderboard([*range(1, 20), 27, *range(20, 27), 28, 29, 30])
    (diamonds, dots) = traces(place_and_score(rows, LIGHT, "MRR", list(rows.index[:20])), "markers+text")
    for ends in (diamonds, dots):
        assert [float(text.strip("\u2002\u2009</b>")) - 1 for text in ends.text] == list(ends.y)
    assert sorted(diamonds.y) == list(dots.y) == list(range(20))


def test_a_place_stands_farther_from_a_diamond_than_from_a_dot():
    diamonds, dots = traces(place_and_score(leaderboard([1, 2, 3]), LIGHT, "MRR"), "markers+text")
    assert diamonds.text[0] == "1\u2002"
    assert dots.text[0] == "\u20091"


def test_rerankers_looked_for_by_name_follow_on_one_another():
    rows = leaderboard([2, 1, 3, 4, 6, 5])
    figure = place_and_score(rows, LIGHT, "MRR", list(rows.index[[0, 1, 4]]))
    diamonds, _ = traces(figure, "markers+text")
    assert list(diamonds.y) == [1, 0, 2]
    assert not [note for note in figure.layout.annotations if note.yref != "paper"]


@pytest.mark.parametrize("name", ["r{}", "x" * 120 + "{}", "重排序模型" * 20 + "{}", "ن" * 120 + "{}"])
def test_every_name_has_a_label_of_its_own_that_fits_and_its_hover_the_whole(name):
    rows = leaderboard(range(1, 31), name)
    (trace,) = traces(place_and_score(rows, LIGHT, "MRR"), "text")
    assert len(set(trace.text)) == 30
    assert max(map(text_columns, trace.text)) <= SLOPE_COLUMNS
    hover = trace.customdata[7][0].replace("<br>", "")
    assert hover.replace("\u2068", "").replace("\u2069", "") == name.format(7)


def test_two_hundred_rerankers_are_drawn_below_five_thousand_pixels():
    assert place_and_score(leaderboard(range(1, 201)), LIGHT, "MRR").layout.height < 5000


def test_the_strip_has_a_diamond_only_where_the_sort_is_clearly_off():
    rows = leaderboard(range(1, 31)).assign(gap=0.001)
    rows.loc[rows.index[3], "gap"] = 2 * clear_gap(rows)
    diamonds, dots = (
        trace for trace in place_strip(rows, LIGHT, "MRR", 20, 29).data if trace.mode == "markers"
    )
    assert list(diamonds.x) == [4]
    assert list(dots.x) == list(range(1, 31))


def test_the_strip_frames_those_that_are_drawn():
    figure = place_strip(leaderboard(range(1, 31)), LIGHT, "MRR", 20, 29)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1) == (20.5, 30.5)


def test_a_chart_of_one_row_leaves_the_title_of_its_axis_room_below_the_labels():
    layout = place_and_score(leaderboard([1]), LIGHT, "MRR").layout
    least = 64  # pixels that plotly leaves a plot, whatever room its labels need
    assert layout.height - layout.margin.t - least >= 45, "pixels of a row of labels and a title"


def test_a_chart_of_one_row_is_as_high_as_its_legend_needs_on_a_phone():
    assert rows_height(1) == rows_height(4) < rows_height(5)


@pytest.mark.parametrize(
    ("name", "pixels"),
    [("lynx-rerank-4b-lora", 135), ("переранжировщик-большая-модель", 165), ("重排序模型" * 4, 130)],
)
def test_on_a_phone_the_half_of_the_names_is_as_wide_as_a_name_of_broad_letters(name, pixels):
    start, end = place_and_score(leaderboard([1, 2]), LIGHT, "MRR").layout.xaxis3.domain
    assert (end - start) * (least_width([name, "bm25"]) - 20) > pixels, "the margins take 20 pixels"
    assert least_width([name, "bm25"]) < 700


def test_on_a_phone_names_of_small_latin_letters_ask_for_no_more_room():
    assert least_width(["lynx-rerank-4b-lora-r16"]) == least_width(["bm25"]) == least_width([])


def test_other_tie_orders_are_named_and_query_intervals_are_thin_lines():
    rows = leaderboard([2, 1, 3])
    rows = rows.assign(query_low=rows["tied"] - 0.5, query_high=[1.2, float("nan"), 0.9])
    figure = place_and_score(rows, LIGHT, "MRR", order="published")
    texts = [*(trace.name for trace in figure.data), *(trace.hovertemplate for trace in figure.data)]
    assert not any("traditional" in (text or "") for text in texts)
    assert {"published", "tied"} <= {note.text for note in figure.layout.annotations}
    (line,) = figure.to_plotly().select_traces({"name": "queries, 95%"})
    (bars,) = figure.to_plotly().select_traces({"type": "bar"})
    assert line.legend == bars.legend == "legend2"  # below the marks, which have the first row
    assert figure.layout.height > place_and_score(leaderboard([2, 1, 3]), LIGHT, "MRR").height
    assert line.xaxis == "x2"
    low, high = figure.layout.xaxis2.range
    assert low < rows["query_low"].min()
    assert high > 1.2


def ranked(n):
    tied = pd.Series([1 - place / n for place in range(n)])
    ranks = dict.fromkeys(("tied_rank", "traditional_rank"), range(1, n + 1))
    values = dict.fromkeys(("tied", "traditional", "worst", "best"), tied)
    return pd.DataFrame(values | ranks).assign(gap=0.0).set_axis([f"r{place}" for place in range(n)])


def tiered(*tiers):
    return ranked(len(tiers)).assign(tier=pd.array(tiers, dtype="Int64"))


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
    bare = place_and_score(ranked(2), LIGHT, "MRR")
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


def test_stacked_names_stand_above_their_bars_within_the_axis():
    rows = leaderboard([1, 2, 3])
    figure = score_bounds(rows, LIGHT, "MRR", is_stacked=True)
    assert [note.y for note in figure.layout.annotations] == pytest.approx([-0.24, 0.76, 1.76])
    assert figure.layout.yaxis.range[1] < -0.24
    taller = score_bounds(leaderboard(range(1, 21)), LIGHT, "MRR", is_stacked=True)
    assert taller.layout.height == figure.layout.height + 17 * 44
