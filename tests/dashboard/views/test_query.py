"""Queries: what it says of one list, and that a long list stays readable."""

import json
import re
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from boards import EXTREMES, HOSTILE, board
from opening import copied, finding, opened

from dashboard import cache
from dashboard.charts.one_list import (
    MAX_DOCUMENTS,
    ladder_pair,
    rank_heatmap,
    tie_ladder,
)
from dashboard.charts.palette import DARK, LIGHT
from dashboard.charts.permutations import orders_figure, permutations_figure
from dashboard.charts.simulator import sampling_convergence
from metrics.evaluation import ScoringOptions
from metrics.studies.one_list import ladder
from metrics.studies.permutations import possible_values
from metrics.ties import Ranking

WORDS = "who is <i>Aziz</i> :red[not] $x$"
TEXTS = "model,qid,docid,score,rel,query_text,doc_text\n" + "".join(
    f'{model},q,d{at},{(at // 3) * (1 if model == "a" else -1)},{at % 3},{WORDS},"<b>{at}</b> said ""so"""\n'
    for model in "ab"
    for at in range(9)
)
LONG = 100_000


FIRST = "Claude (High Ties)", "q098"


def explored(**query):
    """The page with the choices of a link."""
    page = opened("query", **query)
    assert finding(page)
    return page


def label(new_board):
    return cache.loaded_boards().add(new_board).label


def table(page, column):
    return next(one.value for one in page.dataframe if column in one.value.columns)


def charts(page):
    return [json.loads(one.proto.spec) for one in page.get("plotly_chart")]


def values(page):
    """The table of possible values."""
    return table(page, "chance")


def test_a_query_without_documents_says_so_and_draws_nothing():
    page = opened("query", data=label(EXTREMES["no query in common"]()))
    assert [note.value for note in page.info] == ["The run has no documents for this query."]
    assert not charts(page)


def page_text(page):
    return " ".join(one.value for one in [*page.markdown, *page.caption, *page.header])


@pytest.fixture(scope="module")
def texts():
    return label(board(texts_csv=TEXTS))


@pytest.fixture(scope="module")
def long():
    """Lists of 100,000 documents: fifty ties, one tie, none."""
    positions = np.arange(LONG)
    scores = {"fifty": positions // 2000, "one": positions * 0, "none": positions}
    parts = [
        pd.DataFrame(
            {
                "query_id": name,
                "doc_id": positions,
                "score": score,
                "relevance": (positions % 997 == 5).astype(int),
            }
        )
        for name, score in scores.items()
    ]
    return label(board(long_csv=pd.concat(parts).to_csv(index=False)))


def test_the_words_of_the_query_are_shown_and_cannot_run(texts):
    page = explored(data=texts)
    assert any(r"who is \<i\>Aziz\<\/i\> \:red\[not\] \$x\$" in one.value for one in page.markdown)


def shown_list(page):
    return page.selectbox(key="reranker").value, page.selectbox(key="query").value


def test_the_page_opens_at_the_largest_gap_of_few_orders_until_a_list_is_chosen():
    page = explored(data=cache.SIMULATED_LABEL)
    first = shown_list(page)
    assert first == FIRST
    assert page.button(key="largest-gap").label == "Largest gap of all: +0.543, 480 orders"
    assert {"reranker", "query"}.isdisjoint(page.query_params)
    page.button(key="largest-gap").click().run()
    assert shown_list(page) == ("Claude (High Ties)", "q093")
    queries, rerankers = (page.selectbox(key=key).options for key in ("query", "reranker"))
    assert queries[0] == "q093 · gap +0.543 · tie ratio 100%"
    assert len(queries) == 100
    assert rerankers[0] == "Claude (High Ties) · largest gap +0.543"
    assert page.button(key="largest-gap").label == "Largest gap with at most 120 orders"
    page.button(key="largest-gap").click().run()
    assert shown_list(page) == first
    page.selectbox(key="query").set_value("q008").run()
    assert page.query_params["reranker"] == first[0]
    page.segmented_control(key="measure").set_value("AP").run()
    assert shown_list(page) == (first[0], "q008")
    assert copied(page).splitlines()[1:] == [
        f"This list: query q008 of {first[0]}.",
        "AP; tie order: file order; 100 queries.",
    ]


def test_the_table_of_documents_has_text_and_possible_ranks(texts):
    documents = table(explored(data=texts, reranker="a", section="Documents"), "places")
    assert documents["doc_id"].to_list()[:4] == ["d6", "d7", "d8", "d3"]
    assert documents["text"].iloc[0] == '<b>6</b> said "so"'
    assert documents["places"].to_list() == ["1 to 3"] * 3 + ["4 to 6"] * 3 + ["7 to 9"] * 3
    assert documents["group"].to_list() == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_a_list_without_texts_has_no_text():
    page = explored(section="Documents")
    assert "text" not in table(page, "places")
    assert not any(":material/search:" in one.value for one in page.markdown)


def test_the_tie_groups_of_the_list_are_a_table(texts):
    page = explored(data=texts, section="Documents", rows="Tie groups")
    groups = table(page, "documents")
    assert groups["documents"].to_list() == [3, 3, 3]
    assert groups["relevant"].to_list() == [2, 2, 2]


def test_each_value_is_drawn_and_listed_with_its_chance_and_an_example(texts):
    page = explored(data=texts, reranker="a", measure="AP")
    text = "216 orders** from ties of 3, 3 and 3 documents: 216 relevance patterns, 1 order each."
    assert text in page_text(page)
    rows = values(page)
    assert len(rows) <= 12
    assert rows["chance"].sum() == pytest.approx(1)
    tied = json.dumps(charts(page)[0])
    assert f"tied MAP {rows['value'] @ rows['chance']:.3f}" in tied
    assert len(charts(page)) == 1


def tied_list(n, relevant=1):
    """A board of one list of n tied documents."""
    rows = "".join(f"q,d{at},1,{int(at < relevant)}\n" for at in range(n))
    return label(board(tied_csv=f"query_id,doc_id,score,relevance\n{rows}"))


def test_single_orders_are_drawn_and_listed_where_they_are_few(downloads):
    page = explored(data=tied_list(5), every="true")
    assert [trace["type"] for trace in charts(page)[1]["data"]].count("bar") == 2
    assert "Every order: 120" in page_text(page)
    assert downloads["orders"]()["ordering"].to_list() == list(range(1, 121))
    assert table(page, "ordering")["RR"].mean() == pytest.approx(137 / 300)
    assert "RR over all orders: 0.2000 to 1.0000, mean (MTRR) 0.4567." in page_text(page)
    page = explored(data=tied_list(6), every="true")
    assert "every" not in [switch.key for switch in page.toggle]
    assert len(charts(page)) == 1


def test_values_of_too_many_orders_come_from_draws_that_say_so(downloads):
    page = explored(data=tied_list(60, 30), measure="AP")
    assert "about 10¹⁷ relevance patterns" in page_text(page)
    assert "Chances from 1,000 random orders" in page_text(page)
    assert values(page)["standard_error"].max() > 0.005
    assert downloads["permutations"]()["order"].str.split(" ").map(len).eq(16).all()


def test_ranks_are_exact_in_a_tie_of_any_size():
    rows = values(explored(data=tied_list(1000)))
    assert rows["name"].to_list() == [*(f"rank {rank}" for rank in range(1, 12)), "ranks 12–1,000"]
    assert rows["chance"].to_list() == pytest.approx([0.001] * 11 + [0.989])


def test_a_list_without_ties_has_one_value():
    untied = "query_id,doc_id,score,relevance\n" + "".join(f"q,d{at},{at},{at % 2}\n" for at in range(5))
    page = explored(data=label(board(untied_csv=untied)), measure="nDCG@10")
    assert "No documents tie: the list has one order, and nDCG@10 is " in finding(page)
    assert "One order: no documents tie." in page_text(page)
    assert values(page)["chance"].to_list() == [1]
    assert "Ranks" not in page.segmented_control(key="section").options


def test_the_ranks_of_documents_are_drawn_for_graded_measures_only(texts):
    page = explored(data=texts, reranker="a", measure="nDCG@10", section="Ranks")
    (figure,) = charts(page)
    assert figure["data"][0]["zmax"] == pytest.approx(1 / 3)
    assert "33%" in json.dumps(figure["layout"]["annotations"], ensure_ascii=False)
    for measure in ("RR", "AP", "Hits@10"):
        page.segmented_control(key="measure").set_value(measure).run()
        assert page.segmented_control(key="section").options == ["Permutations", "Worked values", "Documents"]


@pytest.mark.parametrize(("measure", "term"), [("RR", "rr"), ("AP", "ap"), ("nDCG@5", "ndcg")])
def test_worked_values_add_up_to_the_value_of_the_list(texts, measure, term):
    page = explored(data=texts, reranker="a", measure=measure, section="Worked values")
    value = table(page, "worst").set_index("measure").loc[measure]
    steps, text = page.dataframe[1].value, re.sub(r"[\\\u2060]", "", page_text(page))
    assert steps["term"].sum() == pytest.approx(value["tied"])
    assert f"tied {measure} **{value['tied']:.4f}**." in text
    if measure != "RR":
        assert steps[f"{term}_term_by_order"].sum() == pytest.approx(value["traditional"])
        assert f"add up to {measure} **{value['traditional']:.4f}** and" in text


def test_every_measure_of_the_list_has_its_worst_best_and_deviation():
    page = explored(
        data=cache.SIMULATED_LABEL, query="q084", reranker="GPT-4 (Low Ties)", section="Worked values"
    )
    measures = table(page, "worst").set_index("measure")
    assert measures.loc["RR", ["traditional", "tied", "worst", "best"]].to_list() == pytest.approx(
        [1, 11 / 18, 1 / 3, 1]
    )
    assert measures.loc["RR", "std"] == pytest.approx(np.std([1, 1 / 2, 1 / 3]))
    assert measures.notna().all(axis=None)


def test_the_values_of_a_list_are_those_of_the_order_and_of_the_scoring_chosen_now():
    choices = {"data": cache.SIMULATED_LABEL, "query": "q084", "reranker": "GPT-4 (Low Ties)"}
    columns = ["traditional", "tied", "worst", "best"]
    shown = {
        (order, precision): table(
            explored(order=order, precision=precision, section="Worked values", **choices), "worst"
        )
        .set_index("measure")
        .loc["RR", columns]
        .to_list()
        for order in ("optimistic", "pessimistic", "input", "docid_desc")
        for precision in ("float64", "decimals:0")
    }
    for (order, _), (traditional, _, worst, best) in shown.items():
        assert worst <= traditional <= best
        assert traditional == {"optimistic": best, "pessimistic": worst}.get(order, traditional)
    assert shown["pessimistic", "float64"][2] == pytest.approx(1 / 3, abs=5e-4)
    assert shown["pessimistic", "decimals:0"][2] < 1 / 3


def test_another_reranker_can_stand_beside(texts):
    page = explored(data=texts, reranker="a", beside="b", section="Documents")
    assert "Lines follow the relevant documents" in page_text(page)
    assert page.selectbox(key="beside").options == ["Beside: no other", "Beside: b"]
    page.selectbox(key="reranker").set_value("b").run()
    assert not page.exception
    assert page.selectbox(key="beside").value == "no other"


def test_a_measure_with_its_own_rule_shows_the_values_of_the_measure_whose_ties_it_settles():
    page = explored(measure="TsRR")
    assert "TsRR settles ties by its own rule" in finding(page)
    assert "The values of RR" in page_text(page)
    page.segmented_control(key="section").set_value("Worked values").run()
    assert "–: a measure with its own rule for ties has one value." in page_text(page)


@pytest.mark.parametrize("measure", ["AP", "Judged@2", "DR@2"])
@pytest.mark.parametrize("name", EXTREMES)
def test_any_measure_is_explored_on_extreme_data(name, measure):
    page = explored(data=label(EXTREMES[name]()), measure=measure)
    assert page.info or (len(charts(page)) == 1 and values(page)["chance"].sum() == pytest.approx(1))


@pytest.mark.parametrize("order", cache.TRADITIONAL)
def test_any_order_can_be_the_traditional_one(order):
    page = explored(order=order, measure="nDCG@10")
    rows = values(page)
    assert rows["low"].min() <= rows["value"].min() <= rows["high"].max()
    assert rows["is_traditional"].sum() == 1


@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "AP"])
@pytest.mark.parametrize("query", ["fifty", "one", "none"])
def test_of_a_list_of_100_000_documents_only_what_can_be_read_is_sent(long, query, measure):
    page = explored(data=long, query=query, measure=measure)
    assert len(json.dumps(charts(page))) < 300_000
    assert len(values(page)) <= 12
    page.segmented_control(key="section").set_value("Documents").run()
    assert f"{MAX_DOCUMENTS} of 100,000 documents" in page_text(page)
    assert len(table(page, "doc_id")) <= 1000


@pytest.fixture
def rows():
    docs = pd.DataFrame({"query_id": "q", "doc_id": [f"d{at}" for at in range(300)]})
    docs = docs.assign(score=-(np.arange(300) // 100), relevance=(np.arange(300) % 10 == 0).astype(int))
    runs = board(a_csv=docs.to_csv(index=False)).runs
    return ladder(Ranking.of(runs, "a", query_id="q"), "q")


def test_a_ladder_draws_the_first_documents_and_says_how_many_more(rows):
    figure = tie_ladder(rows, LIGHT, 10)
    assert len(figure.data[0].x) == MAX_DOCUMENTS
    assert any("240 more" in note.text for note in figure.layout.annotations)


def test_scores_below_zero_have_a_true_minus_and_zero_has_none(rows):
    halves = {"score": [-0.0] * 30 + [-1.5] * 30, "group": [0] * 30 + [1] * 30}
    places = {"first": [1] * 30 + [31] * 30, "last": [30] * 30 + [60] * 30}
    figure = tie_ladder(rows.head(60).assign(**halves, **places), LIGHT, None)
    assert [note.text for note in figure.layout.annotations] == ["score 0", "score −1.5"]


def test_a_frame_surrounds_what_is_level_in_the_score_and_a_bracket_what_stays_tied():
    docs = pd.DataFrame({"query_id": "q", "doc_id": list("abcdef"), "relevance": [1, 0, 0, 0, 0, 0]})
    docs = docs.assign(score=[2, 2, 2, 2, 1, 0], fresh=[7, 7, 3, 3, 1, 1], second=[2, 1, 1, 1, 1, 1])
    runs = board(a_csv=docs.to_csv(index=False)).runs
    rows = ladder(Ranking.of(runs, "a", ScoringOptions(tiebreak_by=["fresh", "second"]), "q"), "q")
    assert rows["level_1"].to_list() == [1, 1, 1, 1, 5, 6]
    assert rows["level_2"].to_list() == [1, 1, 3, 3, 5, 6]
    assert rows["further_2"].to_list() == [2, 1, 1, 1, 1, 1]
    figure = tie_ladder(rows, LIGHT, None)
    spans = [(round(shape.x0), round(shape.x1), bool(shape.fillcolor)) for shape in figure.layout.shapes]
    assert spans == [(1, 4, False), (1, 2, False), (3, 4, False), (3, 4, True)]
    heights = [shape.y1 - shape.y0 for shape in figure.layout.shapes]
    assert heights[0] > heights[1] == heights[2] > heights[3]
    assert [note.text for note in figure.layout.annotations] == ["score 2"]
    assert "score 2, then 7, then 2" in figure.data[0].hovertext[0]


def test_relevant_documents_differ_in_colour_and_in_shape(rows):
    bars = tie_ladder(rows, LIGHT, None).data[0]
    relevant = rows["relevant"].head(MAX_DOCUMENTS).to_numpy()
    assert set(bars.marker.color[relevant]) == {LIGHT.tied}
    assert bars.y[relevant].min() > bars.y[~relevant].max()


@pytest.fixture(scope="module")
def holed():
    """Two lists of four documents, of which b and, further down, d are not judged."""
    runs = {
        name: "".join(f"q Q0 {document} {place} {9 - place} t\n" for place, document in enumerate(order, 1))
        for name, order in (("x_trec", "abcd"), ("y_trec", "bacd"))
    }
    return board(**runs, qrels_txt="q 0 a 1\nq 0 c 0\n")


def test_unjudged_documents_are_hatched(holed):
    upper, lower = (ladder(Ranking.of(holed.runs, name, query_id="q"), "q") for name in "xy")
    figure = ladder_pair(upper, lower, ("x", "y"), DARK, None)
    hatched = [bars for bars in figure.data if bars.marker.pattern.shape == "/"]
    assert [list(bars.x) for bars in hatched] == [[2, 4], [1, 4]]
    assert {bars.marker.pattern.bgcolor for bars in hatched} == {DARK.ground}
    assert {bars.marker.line.color for bars in hatched} == {DARK.muted}
    assert "not judged" in hatched[0].hovertext[0]
    judged = [bars for bars in figure.data if bars.marker.pattern.shape is None]
    assert [list(bars.x) for bars in judged] == [[1, 3], [2, 3]]
    assert [shape.line.color for shape in figure.layout.shapes if shape.type == "path"] == [DARK.tied]
    assert all(
        bars.marker.pattern.shape is None for bars in tie_ladder(upper[upper["judged"]], DARK, None).data
    )


def test_the_page_explains_hatching(holed):
    page = explored(
        data=label(holed), query="q", reranker="x", beside="y", measure="nDCG@10", section="Documents"
    )
    assert "Hatched: unjudged." in page_text(page)
    assert "–: not judged." in page_text(page)
    assert np.isnan(table(page, "doc_id")["grade"].iloc[1])


def test_the_text_of_a_document_is_escaped_and_cut_in_its_hover(rows):
    long = "<img src=x onerror=alert(1)> " + "word " * 200
    hover = tie_ladder(rows.assign(text=long), LIGHT, None).data[0].hovertext[0]
    assert "&lt;img" in hover
    assert "<img" not in hover
    assert len(hover) < 600


def test_lines_join_the_relevant_documents_that_both_ladders_draw(rows):
    lower = rows.assign(doc_id=rows["doc_id"].to_numpy()[::-1], relevant=rows["relevant"].to_numpy()[::-1])
    paths = [
        shape for shape in ladder_pair(rows, lower, ("a", "b"), LIGHT, 5).layout.shapes if shape.type == "path"
    ]
    assert not paths
    paths = [
        shape for shape in ladder_pair(rows, rows, ("a", "b"), LIGHT, 5).layout.shapes if shape.type == "path"
    ]
    assert len(paths) == rows["relevant"].head(MAX_DOCUMENTS).sum()


def test_cells_of_documents_are_their_chances(rows):
    cells = rank_heatmap(rows.head(3).assign(first=[1, 1, 3], last=[2, 2, 3]), LIGHT, 2).data[0].z
    assert cells.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]


def test_names_of_documents_are_whole_beside_their_ranks_but_on_a_phone(rows):
    name = "scipy.interpolate.InterpolatedUnivariateSpline"
    rows = rows.head(3).assign(doc_id=[name, "a", "b"], first=[1, 1, 3], last=[2, 2, 3])
    wide, narrow = (
        rank_heatmap(rows, LIGHT, None, is_narrow=is_narrow).layout.yaxis.ticktext[0]
        for is_narrow in (False, True)
    )
    assert wide.startswith(name)
    assert "…" in narrow


def test_the_score_of_a_tie_is_left_out_or_shortened_where_its_bracket_is_narrow(rows):
    ends = [(1, 6), (7, 12), (13, 14), (15, 17), (18, 19), (20, 20)]
    scores = [1.5, 0.5, 0, -0.5, -1, -2]
    ties = pd.DataFrame(ends, columns=["first", "last"]).assign(score=scores, group=range(6))
    ties = ties.loc[ties.index.repeat(ties["last"] - ties["first"] + 1)].reset_index(drop=True)
    drawn = rows.head(20).assign(**ties)
    notes = [note.text for note in tie_ladder(drawn, LIGHT, None).layout.annotations]
    assert notes == ["score 1.5", "score 0.5", "0", "−0.5", "−1"]
    longer = drawn.assign(score=drawn["score"] + 0.123)
    notes = [note.text for note in tie_ladder(longer, LIGHT, None).layout.annotations]
    assert notes == ["score 1.623", "score 0.623", "−0.377"]


def possible_of(docs, measure="RR", order="input"):
    """The possible values of a list of (score, grade), and its ladder."""
    table = pd.DataFrame(docs, columns=["score", "relevance"]).assign(query_id="q")
    runs = board(a_csv=table.assign(doc_id=[f"d{at}" for at in range(len(docs))]).to_csv(index=False)).runs
    ranking = Ranking.of(runs, "a", query_id="q")
    return possible_values(ranking, "q", measure, order), ladder(ranking, "q")


def drawn_words(figure):
    return [word for trace in figure.traces if trace.get("mode") == "text" for word in trace["text"]]


FIVE = [(7, grade) for grade in (0, 0, 1, 1, 1)] + [(6, 0)] * 5 + [(5, 0)] * 10


def test_the_permutations_figure_has_a_row_a_rank_with_chance_value_and_the_order_of_the_file():
    figure = permutations_figure(*possible_of(FIVE), LIGHT)
    words = drawn_words(figure)
    assert words[:3] == ["rank 1", "rank 2", "rank 3"]
    assert {"60%", "30%", "10%", "1.000", "0.500", "0.333", "File order", "<b>1.000</b>"} <= set(words)
    notes = [note.text for note in figure.layout.annotations]
    assert {"<b>MTRR 0.783</b>", "k = 3", "score 7", "score 6", "ranks 1 to 16 of 20"} <= set(notes)
    tied = next(shape for shape in figure.layout.shapes if shape.line.color == LIGHT.tied)
    assert tied.x0 == pytest.approx(0.7833, abs=1e-4)
    (diamond,) = figure.to_plotly().select_traces({"marker.symbol": "diamond-open"})
    assert (diamond.x[0], diamond.y[0], diamond.marker.color) == (pytest.approx(1 / 3), 2, LIGHT.traditional)


def test_on_a_phone_each_row_is_written_above_its_order_and_no_bar_is_drawn():
    figure = permutations_figure(*possible_of(FIVE), LIGHT, is_narrow=True)
    assert drawn_words(figure) == [
        f"rank {rank} · {chance} · <b>RR {value}</b> · Hits@3 1"
        for rank, chance, value in ((1, "60%", "1.000"), (2, "30%", "0.500"), (3, "10%", "0.333"))
    ]
    assert "x2" not in {trace.xaxis for trace in figure.data}
    end, _ = figure.layout.yaxis.range
    assert end > 1.7 * 2, "rows apart, for the words between them"
    cutoffs = [shape for shape in figure.layout.shapes if shape.line.dash == "dot"]
    words = next(figure.to_plotly().select_traces({"mode": "text"})).y
    assert [shape.y0 - word > 0.4 for shape, word in zip(cutoffs, words, strict=True)] == [True] * 3
    score = next(note for note in figure.layout.annotations if note.text == "score 7")
    assert score.y <= end
    assert figure.layout.margin.b >= 20, "room for the scores below the last row"


def test_the_first_relevant_document_of_an_order_is_dark_and_the_others_pale():
    figure = permutations_figure(*possible_of(FIVE), LIGHT)
    boxes = next(trace for trace in figure.data if trace.hovertext is not None)
    colours = np.array(boxes.marker.color).reshape(3, 16)
    assert [list(row).index(LIGHT.tied) for row in colours] == [0, 1, 2]
    assert (colours == LIGHT.tied).sum() == 3
    assert (colours == "#80B8D8").sum() == 6
    assert "<b>d2</b>" in boxes.hovertext[0]


def test_chances_from_draws_have_their_standard_error_drawn():
    exact, drawn = (possible_of([(1, at % 2) for at in range(n)], "AP")[0] for n in (8, 60))
    assert (exact.draws, drawn.draws) == (0, 1000)
    figure = permutations_figure(*possible_of([(1, at % 2) for at in range(60)], "AP"), LIGHT)
    (chances,) = [trace for trace in figure.data if trace.xaxis == "x2"]
    assert max(chances.error_x.array) > 0.005


def test_single_orders_stand_side_by_side_above_their_mean():
    _, rows = possible_of([(1, int(at == 0)) for at in range(5)] + [(0, 1)])
    orders = np.array([[*order, 5] for order in permutations(range(5))])
    scores = pd.DataFrame({"RR": [1 / (1 + list(order).index(0)) for order in orders], "Hits@3": 1.0})
    figure = orders_figure(orders, scores, scores.mean(), rows, LIGHT)
    boxes = next(trace for trace in figure.data if trace.hovertext is not None)
    assert len(boxes.x) == 120 * 5
    assert max(boxes.base) < 41
    assert "<b>0.457</b>" in drawn_words(figure)
    assert "mean of 120 orders" in [note.text for note in figure.layout.annotations]
    left, right = (
        next(note for note in figure.layout.annotations if note.text == f"<b>{name}</b>") for name in scores
    )
    assert (left.xanchor, right.xanchor) == ("right", "left"), "long heads do not meet"
    assert left.x < right.x


def test_convergence_draws_the_exact_value_the_mean_and_its_band():
    means = pd.DataFrame({"draws": [10, 100], "mean": [0.4, 0.5], "standard_error": [0.1, 0.01]})
    band, exact, mean = sampling_convergence(means, 0.51, LIGHT, "RR").data
    assert set(exact.y) == {0.51}
    assert mean.y.tolist() == [0.4, 0.5]
    assert band.y.tolist() == pytest.approx([0.595996, 0.5195996, 0.4804004, 0.204004], abs=1e-6)


def test_hostile_names_are_escaped_in_every_chart():
    page = opened(
        "query", data=label(board(table_csv=HOSTILE)), beside="<b>*x*</b>$1$ [a](b) :red[b]\u202e %{x}"
    )
    drawn = json.dumps(charts(page))
    assert "&lt;img" in drawn
    assert "<img" not in drawn


def test_a_picker_shows_the_gap_of_now_when_another_order_is_chosen():
    page = opened("query", data="Sample: simulated rerankers", reranker="GPT-4 (Low Ties)", query="q001")
    before = page.selectbox(key="reranker").proto.raw_value
    page.selectbox(key="order").set_value("optimistic").run()
    picker = page.selectbox(key="reranker").proto
    assert picker.set_value
    assert picker.raw_value.split(" · ")[0] == before.split(" · ")[0] == "GPT-4 (Low Ties)"
    assert picker.raw_value != before
