"""The section Trade-offs of Compare on whatever columns there are, and its charts."""

import html
import json
import re
from functools import cache as once
from itertools import combinations

import numpy as np
import opening
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opening import finding, opened, texts
from tradeoff_boards import TIMED, UNTIMED, kind, rising, table

from dashboard import cache
from dashboard.charts.marks import TALL, WIDE
from dashboard.charts.palette import DARK, LIGHT
from dashboard.charts.tradeoffs import latency_scatter
from dashboard.library.boards import default_name
from dashboard.views.compare import LATENCY_NAMES
from metrics import evaluate
from metrics.studies.experiment import experiment_lines, experiment_measures, experiment_table
from metrics.studies.tradeoffs import coverage_measures, latencies, pareto_front, with_latency

ALL_BOARDS = {**TIMED, **UNTIMED}
COLUMNS = ["latency", "target_id"]


def add_board(new_board):
    return cache.loaded_boards().add(new_board).label


def open_board(new_board, **query):
    return opened("compare", section="Trade-offs", data=add_board(new_board), **query)


def page_text(page):
    return " ".join(text.value for text in page.markdown)


def hidden(page):
    return [name for name in COLUMNS if f"Hidden: no `{name}` column" in page_text(page)]


def charts(page):
    """The figures of the page by key."""
    return {one.proto.id.rsplit("-", 1)[1]: json.loads(one.proto.spec) for one in page.get("plotly_chart")}


def rows(page):
    """The tied lines of the table."""
    heading = "Means" if "Means" in [one.value for one in page.header] else "Against"
    lines = opening.table(page, heading).set_index("reranker")
    return lines[lines["ties"] == "tied"]


def figures_of(lines, column):
    """The figures of a column without their stars."""
    return lines[column].str.extract(r"^(\S+)", expand=False).astype(float).to_dict()


def test_of_the_sample_data_no_chart_is_hidden():
    page = opened("compare", section="Trade-offs")
    assert hidden(page) == []
    assert set(charts(page)) == {"latency", "recall"}


def test_the_section_says_what_is_missing_of_the_simulated_data():
    page = opened("compare", section="Trade-offs", data=cache.SIMULATED_LABEL)
    assert "No run has latencies" in page_text(page)
    assert hidden(page) == COLUMNS
    assert charts(page) == {}


@once
def within_budget(name):
    """A board and its page, which tests only look at."""
    new_board = ALL_BOARDS[name]()
    return new_board, open_board(new_board, budget="200 ms")


@pytest.mark.parametrize("name", ALL_BOARDS)
def test_the_section_runs_on_extreme_data(name):
    new_board, page = within_budget(name)
    assert page.selectbox(key="data").value.startswith(f"{default_name(new_board)} · ")
    assert finding(page)
    assert len(rows(page)) == len(new_board.runs.rerankers)
    assert ("latency" in charts(page)) == (name in TIMED) == ("latency" not in hidden(page))


@pytest.mark.parametrize("name", ["latency, segments and targets", "zero latency", "some lists not timed"])
@pytest.mark.parametrize("statistic", ["p95", "mean"])
def test_any_latency_can_be_weighed(name, statistic):
    page = open_board(TIMED[name](), latency=statistic)
    assert page.segmented_control(key="latency").value == statistic
    assert LATENCY_NAMES[statistic] in charts(page)["latency"]["layout"]["xaxis"]["title"]["text"]


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("latency, segments and targets", []),
        ("latency alone", ["target_id"]),
        ("targets alone", ["latency"]),
        ("segments alone", ["latency", "target_id"]),
        ("columns without a value", ["latency", "target_id"]),
        ("negative and infinite latencies", ["latency", "target_id"]),
    ],
)
def test_a_chart_is_hidden_with_its_reason_where_its_column_is_absent(name, gone):
    _, page = within_budget(name)
    assert hidden(page) == gone
    chart_of_column = {"latency": "latency", "target_id": "recall"}
    assert set(charts(page)) == {chart for column, chart in chart_of_column.items() if column not in gone}
    (frame,) = page.dataframe
    columns = set(json.loads(frame.proto.columns))
    assert ("repeated" in columns) == ("DR@20" in columns) == ("target_id" not in gone)
    assert ("p50" in columns) == ("standing" in columns) == ("latency" not in gone)


def test_figures_are_those_of_the_evaluation():
    new_board = TIMED["latency, segments and targets"]()
    page = open_board(new_board, depth="5")
    lines = rows(page)
    means = evaluate(new_board.runs, ["RR", *coverage_measures(5)], ["input", "expected"]).summary()
    for column, measure in (("MRR", "RR"), ("Recall@5", "R@5"), ("DR@5", "DR@5"), ("Div@5", "Div@5")):
        expected = means[measure, "expected", "mean"].to_dict()
        assert figures_of(lines, column) == pytest.approx(expected, abs=5e-5)
    assert lines["p50"].to_dict() == pytest.approx({"fast": 11.5, "middle": 115, "slow": 1150})
    dots = next(trace for trace in charts(page)["recall"]["data"][::-1] if "customdata" in trace)
    drawn = {name: target for name, *_, target, _, _ in dots["customdata"]}
    assert drawn == pytest.approx(means["Div@5", "expected", "mean"].to_dict())


@pytest.mark.parametrize(
    ("budget", "sentence"), [("20 ms", "has the lowest latency"), ("1 ms", "No reranker answers within")]
)
def test_a_budget_of_the_link_is_kept(budget, sentence):
    page = open_board(TIMED["latency alone"](), budget=budget)
    assert page.selectbox(key="budget").value == budget
    assert sentence in page_text(page)
    page.switch_page("views/leaderboard.py").run()
    page.switch_page("views/compare.py").run()
    assert page.selectbox(key="budget").value == budget


def test_a_segment_restricts_latencies_and_targets_to_its_queries():
    new_board = TIMED["latency, segments and targets"]()
    figures = rows(open_board(new_board, segments=["short"]))
    assert figures.loc["fast", "p50"] == pytest.approx(12)
    scores = evaluate(new_board.runs, ["DR@20"], ["expected"]).scores["DR@20", "expected"]
    distinct = scores.loc["slow"].loc[["q1", "q3"]].mean()
    assert figures_of(figures, "DR@20")["slow"] == pytest.approx(distinct, abs=5e-5)


@pytest.mark.parametrize("scoring", [{"precision": "decimals:0"}, {"empty": "skip"}, {"relevant_from": "2"}])
@pytest.mark.parametrize("name", ["latency, segments and targets", "nothing relevant"])
def test_targets_are_counted_as_lists_are_scored(name, scoring):
    page = open_board(TIMED[name](), **scoring)
    assert not rows(page)[["Recall@20", "DR@20", "Div@20"]].isin(["–"]).any(axis=None)


def test_one_table_has_every_measure_with_stars_by_the_chosen_test():
    new_board = TIMED["latency, segments and targets"]()
    page = open_board(new_board, baseline="middle", test="t-test", correction="Bonferroni", depth="5")
    lines = opening.table(page, "Against middle")
    names = ["Hits@1", "Hits@5", "Hits@10", "Hits@20", "MRR", "Recall@5", "DR@5", "Div@5", "Latency (s)"]
    more = ["standing", "repeated", "p50", "p95", "mean", "beaten_by"]
    assert lines.columns.to_list() == ["reranker", "ties", *names, *more]
    assert lines["ties"].to_list() == ["tied", "traditional"] * 3
    evaluation = evaluate(new_board.runs, experiment_measures(5), ["expected", "input"])
    timed = with_latency(evaluation, latencies(new_board.runs))
    expected = experiment_lines(experiment_table(timed, "middle", test="t", correction="bonferroni"))
    texts_of = [
        frame.assign(ties=frame["ties"].replace({"expected": "tied", "input": "traditional"}))
        .set_index(["reranker", "ties"])
        .sort_index()
        .to_dict()
        for frame in (lines[expected.columns], expected)
    ]
    assert texts_of[0] == texts_of[1]
    assert lines.set_index(["reranker", "ties"]).loc[("slow", "tied"), "Latency (s)"] == "1.15 −**"
    said = texts(page, "caption")
    assert "compared with middle by paired t-test, corrected for 3 pairs by Bonferroni" in said
    assert "+ better than middle, − worse." in said


def test_the_table_follows_the_order_of_the_shown_measure():
    orders = [
        rows(opened("compare", section="Trade-offs", measure=measure)).index.to_list()
        for measure in ("RR", "Hits@10")
    ]
    assert orders[0] != orders[1]


def test_stars_are_against_the_baseline_shown_whichever_was_shown_before():
    new_board = TIMED["latency, segments and targets"]()
    for baseline in new_board.runs.rerankers:
        page = open_board(new_board, baseline=baseline, test="t-test")
        lines = opening.table(page, f"Against {baseline}").set_index("reranker")
        has_stars = lines["Latency (s)"].str.contains("*", regex=False)
        assert set(has_stars.index[~has_stars]) == {baseline}
        assert f"better than {baseline}, − worse." in texts(page, "caption")


def test_a_reranker_left_out_of_sight_is_still_among_those_corrected_for():
    new_board, choices = TIMED["latency, segments and targets"](), {"baseline": "middle", "test": "t-test"}
    whole, part = (
        opening.table(open_board(new_board, correction="Bonferroni", **choices, **shown), "Against middle")
        for shown in ({}, {"rerankers": ["fast", "middle"]})
    )
    assert set(part["reranker"]) == {"fast", "middle"}
    pd.testing.assert_frame_equal(part, whole[whole["reranker"] != "slow"].reset_index(drop=True))
    assert "+**" in whole["Latency (s)"].iloc[0], "alone, the pair would have +***"


def test_a_name_is_text_in_every_chart():
    for figure in charts(within_budget("hostile names")[1]).values():
        assert "<b>*x*" not in json.dumps(figure)
        assert "\u202e" not in json.dumps(figure, ensure_ascii=False)


VALUES = st.floats(0, 1).map(lambda value: round(value, 3))
SECONDS = st.one_of(st.just(0.0), st.floats(1e-12, 1e6))
POINTS = st.lists(st.tuples(VALUES, VALUES, SECONDS), min_size=1, max_size=12)


def board_of(points):
    """A board as `tradeoffs` makes it, from tied and traditional values and seconds."""
    board = pd.DataFrame(points, columns=["tied", "traditional", "seconds"])
    board.index = pd.Index([f"reranker {at}" for at in range(len(board))], name="reranker")
    board["worst"] = board[["tied", "traditional"]].min(axis=1)
    board["best"] = board[["tied", "traditional"]].max(axis=1)
    board = board.assign(
        mean=board["seconds"], p50=board["seconds"], p95=1.5 * board["seconds"], standing="both"
    )
    for value in ("tied", "traditional"):
        board[f"{value}_front"] = pareto_front(board["seconds"].to_numpy(), board[value].to_numpy())
    return board


def trace(figure, name):
    return next(one for one in figure.data if one.name == name)


@given(POINTS, st.sampled_from([None, 1e-3, 0.2, 70]))
def test_every_mark_stands_inside_the_axes(points, budget):
    figure = latency_scatter(board_of(points), LIGHT, "MRR", "median", budget)
    x_low, x_high = figure.layout.xaxis.range
    bottom, top = figure.layout.yaxis.range
    assert figure.layout.xaxis.type == "log"
    for name in ("tied", "traditional"):
        x, y = np.log10(trace(figure, name).x), trace(figure, name).y
        assert ((x_low < x) & (x < x_high) & (bottom < y) & (y < top)).all()
        step = trace(figure, f"Pareto front, {name}")
        assert (np.diff(step.x) >= 0).all()
        assert (np.diff(step.y) >= -1e-12).all()


@given(POINTS)
def test_names_do_not_cover_each_other_unless_they_are_on_the_front(points):
    board = board_of(points)
    figure = latency_scatter(board, DARK, "MRR", "median")
    boxes = [box_of(figure, one) for one in figure.layout.annotations if not one.text.startswith("<b>")]
    for box, other_box in combinations(boxes, 2):
        assert overlap(box, other_box) <= 25


def box_of(figure, label):
    """Left, right, top and bottom of a name in pixels, as it was placed."""
    (x_low, x_high), (bottom, top) = figure.layout.xaxis.range, figure.layout.yaxis.range
    text = html.unescape(re.sub("<.*?>", "", label.text))
    wide = 6.5 * len(text) + 4
    x = WIDE * (label.x - x_low) / (x_high - x_low) + label.ax
    y = TALL * (top - label.y) / (top - bottom) + label.ay
    x -= {"left": 0, "center": wide / 2, "right": wide}[label.xanchor]
    y -= {"top": 0, "middle": 8, "bottom": 16}[label.yanchor]
    return x, x + wide, y, y + 16


def overlap(box, other_box):
    across = min(box[1], other_box[1]) - max(box[0], other_box[0])
    down = min(box[3], other_box[3]) - max(box[2], other_box[2])
    return max(across, 0) * max(down, 0)


USUAL = {
    "bge-reranker-v2-m3": (0.731, 0.731, 0.038),
    "cohere-rerank-3.5": (0.715, 0.714, 0.126),
    "llm-listwise": (0.715, 0.715, 1.496),
    "llm-pointwise (1–5)": (0.702, 0.749, 0.93),
    "mxbai-rerank-large": (0.7, 0.7, 0.055),
    "jina-reranker-v2": (0.68, 0.695, 0.041),
    "bm25": (0.502, 0.496, 0.004),
}


def test_seven_usual_rerankers_all_find_room_for_their_names():
    figure = latency_scatter(board_of(USUAL.values()).set_axis(USUAL), LIGHT, "nDCG@10", "median", 0.2)
    text = " ".join(label.text for label in figure.layout.annotations)
    assert [name for name in USUAL if name not in text] == []
    boxes = [box_of(figure, label) for label in figure.layout.annotations if label.showarrow]
    assert max(overlap(one, other) for one, other in combinations(boxes, 2)) == 0


def test_one_far_below_all_others_stands_on_the_edge_with_its_figures():
    figure = latency_scatter(board_of(USUAL.values()).set_axis(USUAL), LIGHT, "nDCG@10", "median")
    label = next(one.text for one in figure.layout.annotations if "bm25" in one.text)
    assert "0.502" in label
    assert "0.496" in label
    assert min(trace(figure, "tied").y) > figure.layout.yaxis.range[0] > 0.6


def test_what_takes_no_time_is_drawn_at_zero():
    figure = latency_scatter(board_of([(0.5, 0.5, 0.0), (0.6, 0.6, 0.2)]), LIGHT, "MRR", "median")
    assert figure.layout.xaxis.ticktext[0] == "0"
    assert figure.layout.xaxis.tickvals[0] == pytest.approx(trace(figure, "tied").x[0])


@pytest.mark.parametrize(("budget", "shaded"), [(None, 0), (1e-3, 1), (0.2, 1), (70, 0)])
def test_the_budget_shades_what_is_too_slow(budget, shaded):
    figure = latency_scatter(board_of(USUAL.values()), LIGHT, "MRR", "median", budget)
    boxes = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert len(boxes) == shaded
    assert all(shape.x0 >= 0.99 * (budget or 0) for shape in boxes)


def test_the_chart_with_rows_shows_twenty_rerankers_and_all_on_request():
    names = [f"r{number:02d}" for number in range(23)]
    many = add_board(table(names, rising, segment=kind, target=lambda document: document // 3)())
    page = opened("compare", section="Trade-offs", data=many)
    assert len(charts(page)["recall"]["layout"]["yaxis"]["ticktext"]) == 20
    assert "shows 20 of 23 rerankers." in texts(page)
    page.button(key="show-drawn-expand_more").click().run()
    assert len(charts(page)["recall"]["layout"]["yaxis"]["ticktext"]) == 23
