"""The charts of the Leaderboard: ranks, names, scores and their intervals."""

import numpy as np
import pandas as pd
import pytest

from dashboard.charts.labels import NAME_COLUMNS, text_columns
from dashboard.charts.leaderboard import (
    LEAST_WIDTH,
    leaderboard_figure,
    rank_texts,
    score_bounds,
    tool_strip,
)
from dashboard.charts.palette import LIGHT

LABELS = "MTRR", "MRR"
COLUMNS = "rank", "name", "tied", "traditional", "moved", "gap", "ties"
"""Columns of text from left to right."""


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
            "tie_ratio": 0.5,
            "tied_rank": range(1, n + 1),
            "traditional_rank": traditional_places,
        }
    ).set_axis([name.format(place) for place in range(n)])


def figure_of(rows, names=None, **options):
    return leaderboard_figure(rows, LIGHT, LABELS, names, **options)


def columns(figure):
    """The columns of text, name → one text a row."""
    texts = sorted(traces(figure, "text"), key=lambda trace: trace.x[0])
    return {name: list(trace.text) for name, trace in zip(COLUMNS, texts, strict=True)}


def traces(figure, mode):
    return list(figure.to_plotly().select_traces({"type": "scatter", "mode": mode}))


def slope_ends(figure):
    """The diamonds and the dots of the slope."""
    return traces(figure, "markers+text") + [
        trace for trace in traces(figure, "markers") if trace.xaxis is None
    ]


def notes(figure):
    return [note.text for note in figure.layout.annotations]


def with_intervals(rows, low, high):
    return rows.assign(rank_low=pd.array(low, dtype="Int64"), rank_high=pd.array(high, dtype="Int64"))


def test_each_reranker_has_one_row_with_its_rank_interval_name_scores_gap_and_ties():
    rows = with_intervals(leaderboard([2, 1, 3], "r{}"), [1, 1, 3], [2, 2, 3])
    rows = rows.assign(gap=[0.0, 0.0126, -0.0001], tie_ratio=[0, 0.001, 0.63])
    figure = figure_of(rows)
    assert columns(figure) == {
        "rank": ["1–2", "1–2", "3"],
        "name": ["<b>r0</b>", "<b>r1</b>", "<b>r2</b>"],
        "tied": ["<b>1.000</b>", "<b>0.667</b>", "<b>0.333</b>"],
        "traditional": ["0.334", "0.668", "0.001"],
        "moved": ["#2", "#1", "#3"],
        "gap": ["0", "+0.013", "−0.00010"],
        "ties": ["0%", "<1%", "63%"],
    }
    assert {trace.yaxis for trace in figure.data} == {None}, "all on one axis of rows"


def test_a_traditional_rank_is_seen_only_where_it_differs():
    (moved,) = (trace for trace in traces(figure_of(leaderboard([2, 1, 3])), "text") if trace.text[0] == "#2")
    is_seen = [colour == LIGHT.traditional for colour in moved.textfont.color]
    assert is_seen == [True, True, False]


def test_where_no_rank_changes_there_is_no_slope_and_its_width_goes_to_the_scores():
    still, moved = (figure_of(leaderboard(places)) for places in ([1, 2, 3], [2, 1, 3]))
    assert not slope_ends(still)
    assert len(slope_ends(moved)) == 2
    assert "traditional<br>→ tied" in notes(moved)
    assert "traditional<br>→ tied" not in notes(still)
    widths = [np.ptp(figure.layout.xaxis2.domain) for figure in (still, moved)]
    assert widths[0] > widths[1]


def test_only_rows_whose_worst_is_not_their_best_have_a_bar():
    rows = leaderboard([1, 2, 3])
    rows.loc[rows.index[1], ["worst", "best"]] = rows["tied"].iloc[1]
    (bars,) = figure_of(rows).to_plotly().select_traces({"type": "bar"})
    assert list(bars.y) == [0, 2]
    untied = figure_of(rows.assign(worst=rows["tied"], best=rows["tied"]))
    assert not any("worst to best" in text for text in notes(untied))


def strips(figure):
    return [trace for trace in figure.to_plotly().select_traces({"type": "bar"}) if trace.xaxis == "x4"]


def test_a_strip_is_shaded_in_its_interval_and_dark_at_its_rank():
    rows = with_intervals(leaderboard([1, 2, 3, 4]), [1, 1, 2, 4], [2, 3, 3, 4])
    figure = figure_of(rows, list(rows.index[1:]))
    ranks, interval, own = (list(zip(trace.base, trace.x, strict=True)) for trace in strips(figure))
    assert ranks == [(0.5, 4)] * 3
    assert interval == [(0.5, 3), (1.5, 2), (3.5, 1)]
    assert own == [(1.5, 1), (2.5, 1), (3.5, 1)]
    assert "<b>rank, 95%</b>" in notes(figure)


def test_without_rank_intervals_a_row_has_its_rank_and_no_strip():
    figure = figure_of(leaderboard([1, 2]))
    assert columns(figure)["rank"] == ["1", "2"]
    assert not strips(figure)
    assert "<b>rank</b>" in notes(figure)
    assert rank_texts(with_intervals(leaderboard([1, 2]), [1, 2], [1, 2])) == ["1", "2"]


@pytest.mark.parametrize("n", [9, 30, 200])
def test_ranks_of_any_length_have_room_left_of_the_diamonds_and_of_the_strip(n):
    rows = with_intervals(leaderboard([2, 1, *range(3, n + 1)]), [n] * n, [n] * n)
    figure, digit = figure_of(rows), 6.5
    assert slope_ends(figure)[0].x[0] * LEAST_WIDTH > digit * len(str(n)) + 15
    ranks = min(trace.x[0] for trace in traces(figure, "text"))
    assert (figure.layout.xaxis4.domain[0] - ranks) * LEAST_WIDTH > 2 * digit * len(str(n)) + 7


def test_names_are_escaped():
    assert columns(figure_of(leaderboard([1], "<b>&{}")))["name"] == ["<b>&lt;b&gt;&amp;0</b>"]


@pytest.mark.parametrize("n", [1, 2, 60, 200])
def test_any_number_of_rerankers_has_a_row_each(n):
    rows = with_intervals(leaderboard(range(1, n + 1), "r{}"), [1] * n, [n] * n)
    figure = figure_of(rows.assign(query_low=rows["tied"] - 0.1, query_high=np.nan))
    assert {len(texts) for texts in columns(figure).values()} == {n}
    low, high = figure.layout.yaxis.range
    assert (low, high) == (n - 0.4, -0.6)
    assert type(figure.layout.height) is int, "Streamlit draws 450 pixels for any other"
    assert figure.layout.height < 4200


def test_lines_of_the_slope_are_orange_for_long_moves_and_pale_where_a_rank_stays():
    (*lines,) = traces(figure_of(leaderboard([4, 1, 2, 3, 5])), "lines")
    assert {line.line.color: len(line.x) // 3 for line in lines} == {
        LIGHT.traditional: 1,
        LIGHT.other: 3,
        LIGHT.grid: 1,
    }


def ends_outside(rows, start, stop):
    """What is said of places outside the drawn rows, and at which height: below 0 above the first row."""
    figure = figure_of(rows, list(rows.index[start:stop]))
    return {
        note.text.replace("<br>", " "): note.y for note in figure.layout.annotations if note.yref != "paper"
    }


def test_the_slope_labels_ranks_outside_its_rows():
    rows = leaderboard([*range(1, 20), 27, 20, 22, 21, *range(23, 27), 28, 29, 30])
    assert ends_outside(rows, 0, 20) == {"from 27": 19.75, "to 21": 19.75}
    assert ends_outside(rows, 20, 30) == {"from 20": -0.75, "to 20": -0.75}
    assert not ends_outside(rows, 0, 30)
    heights = [figure_of(rows, list(rows.index[:n])).layout.height for n in (20, 30)]
    assert heights == [84 + 18 * 21, 84 + 18 * 30]
    entering = leaderboard([21, 23, *range(1, 21), 22, *range(24, 31)])
    assert set(ends_outside(entering, 0, 20)) == {"from 21–23", "to 21–22"}


def test_each_end_of_the_slope_stands_at_its_own_place_though_others_leave_the_rows():
    rows = leaderboard([*range(1, 20), 27, *range(20, 27), 28, 29, 30])
    diamonds, dots = slope_ends(figure_of(rows, list(rows.index[:20])))
    assert [float(text) - 1 for text in diamonds.text] == list(diamonds.y)
    assert sorted(diamonds.y) == list(dots.y) == list(range(20))


def test_rerankers_looked_for_by_name_follow_on_one_another():
    rows = leaderboard([2, 1, 3, 4, 6, 5])
    figure = figure_of(rows, list(rows.index[[0, 1, 4]]))
    diamonds, _ = slope_ends(figure)
    assert list(diamonds.y) == [1, 0, 2]
    assert not [note for note in figure.layout.annotations if note.yref != "paper"]


@pytest.mark.parametrize("name", ["r{}", "x" * 120 + "{}", "重排序模型" * 20 + "{}", "ن" * 120 + "{}"])
def test_every_name_has_a_label_of_its_own_that_fits_and_its_hover_the_whole(name):
    rows = leaderboard(range(1, 31), name)
    figure = figure_of(rows)
    names = columns(figure)["name"]
    assert len(set(names)) == 30
    assert max(text_columns(text.removeprefix("<b>").removesuffix("</b>")) for text in names) <= NAME_COLUMNS
    hover = traces(figure, "text")[1].customdata[7][0].replace("<br>", "")
    assert hover.replace("\u2068", "").replace("\u2069", "") == name.format(7)


def test_the_interval_over_queries_is_a_thin_line_within_the_axis():
    rows = leaderboard([1, 2, 3])
    rows = rows.assign(query_low=rows["tied"] - 0.5, query_high=[1.2, float("nan"), 0.9])
    figure = figure_of(rows)
    (line,) = traces(figure, "lines")
    assert (line.xaxis, line.line.width) == ("x2", 1.3)
    assert [y for y in line.y if y is not None and not np.isnan(y)] == [0, 0, 2, 2]
    assert "line: Student's t, 95% over queries<br>bar: worst to best tie order" in notes(figure)
    low, high = figure.layout.xaxis2.range
    assert low < rows["query_low"].min()
    assert high > 1.2


def test_published_scores_are_named():
    assert "published<br>→ tied" in notes(figure_of(leaderboard([2, 1]), order="published"))


def test_stacked_names_stand_above_their_bars_within_the_axis():
    rows = leaderboard([1, 2, 3])
    figure = score_bounds(rows, LIGHT, "MRR")
    names, ranks = figure.layout.annotations[:3], figure.layout.annotations[3:]
    assert [note.y for note in names] == [note.y for note in ranks] == pytest.approx([-0.24, 0.76, 1.76])
    assert [note.text for note in ranks] == [
        f"<b>{tied}</b> · rank {rank}" for rank, tied in enumerate(("1.000", "0.667", "0.333"), 1)
    ]
    assert figure.layout.yaxis.range[1] < -0.24
    taller = score_bounds(leaderboard(range(1, 21)), LIGHT, "MRR")
    assert taller.layout.height == figure.layout.height + 17 * 44


def test_a_stacked_row_names_the_traditional_rank_where_it_differs():
    first, second = score_bounds(leaderboard([2, 1]), LIGHT, "MRR").layout.annotations[2:]
    assert f"rank 1, <span style='color:{LIGHT.traditional}'>was #2</span>" in first.text
    assert "was #1" in second.text


def test_stacked_rows_explain_the_line_of_their_intervals_below_the_axis():
    rows = leaderboard([1, 2])
    with_intervals = score_bounds(rows.assign(query_low=0.5, query_high=0.7), LIGHT, "MRR")
    assert with_intervals.layout.xaxis.title.text == "MRR · line: Student's t, 95% over queries"
    assert score_bounds(rows, LIGHT, "MRR").layout.xaxis.title.text == "MRR"


def test_a_row_says_its_interval_and_its_verdict_with_the_reason_on_hover():
    rows = leaderboard([1, 2]).assign(query_low=0.5, query_high=0.7)
    rows = rows.assign(verdict=["tie-inflated", "stable"], why=["12% above its tied score", "it has no ties"])
    notes = [row[5] for row in traces(figure_of(rows), "markers")[0].customdata]
    interval = "95% over queries 0.5000 to 0.7000<br>(Student's t, of this mean)"
    assert notes == [
        f"{interval}<br>tie-inflated: 12% above its tied score",
        f"{interval}<br>stable: it has no ties",
    ]


def test_long_names_take_their_width_from_the_scores_and_none_from_other_columns():
    short, long = (figure_of(leaderboard([1, 2, 3], name)) for name in ("r{}", "a-name-of-twenty-letters{}"))
    widths = [np.ptp(figure.layout.xaxis2.domain) for figure in (short, long)]
    assert widths[0] > widths[1] > 0.2
    tied, name = (
        min(trace.x[0] for trace in traces(long, "text") if trace.text[0] == text)
        for text in ("<b>1.000</b>", "<b>a-name-of-twenty-letters0</b>")
    )
    assert (tied - name) * LEAST_WIDTH > 6.6 * 25


def test_values_of_tools_that_measure_something_else_are_grey_and_say_what_on_hover():
    rows = leaderboard([1, 2])
    values = pd.DataFrame(
        {"reranker": rows.index, "tool": "BEIR", "value": [1.2, 0.5], "question": ["", "other queries"]}
    )
    ticks = [
        trace
        for trace in traces(tool_strip(rows, values, LIGHT, "MRR"), "markers")
        if trace.marker.symbol == "line-ns-open"
    ]
    assert [tick.marker.color for tick in ticks] == [LIGHT.traditional, LIGHT.muted]
    assert ["other queries" in tick.hovertemplate for tick in ticks] == [False, True]
    assert tool_strip(rows, values, LIGHT, "MRR").layout.xaxis.range[1] > 1.2, "beyond the bounds"
