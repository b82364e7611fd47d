"""Queries: what it says of one list, and that a long list stays readable."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from boards import EXTREMES, HOSTILE, board
from opening import finding, has_four_cards, metrics, opened

from dashboard import cache
from dashboard.charts.one_list import (
    MAX_DOCUMENTS,
    MAX_STEPS,
    first_hit_bars,
    ladder_pair,
    rank_heatmap,
    relevance_steps,
    tie_group_heatmap,
    tie_ladder,
    value_histogram,
)
from dashboard.charts.palette import DARK, LIGHT
from dashboard.charts.simulator import sampling_convergence
from dashboard.views.query import _without_shared_start
from dashboard.widgets import components
from metrics.evaluation import ScoringOptions
from metrics.studies.one_list import ladder, tie_groups
from metrics.ties import Ranking

WORDS = "who is <i>Aziz</i> :red[not] $x$"
TEXTS = "model,qid,docid,score,rel,query_text,doc_text\n" + "".join(
    f'{model},q,d{at},{(at // 3) * (1 if model == "a" else -1)},{at % 3},{WORDS},"<b>{at}</b> said ""so"""\n'
    for model in "ab"
    for at in range(9)
)
LONG = 100_000


def explored(**query):
    """The page with the choices of a link."""
    page = opened("query", **query)
    measure = query.get("measure", "RR")
    assert {measure, f"Traditional {measure}"} & metrics(page).keys()
    return page


def label(new_board):
    return cache.loaded_boards().add(new_board).label


def table(page, column):
    return next(one.value for one in page.dataframe if column in one.value.columns)


def charts(page):
    return [json.loads(one.proto.spec) for one in page.get("plotly_chart")]


def test_the_cards_of_a_query_without_documents_count_no_orders():
    page = opened("query", data=label(EXTREMES["no query in common"]()))
    assert [note.value for note in page.info] == ["The run has no documents for this query."]
    assert "no documents" in [card.delta for card in page.metric]
    assert not any("mean of" in card.delta for card in page.metric)


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


def test_the_page_opens_at_the_largest_gap_until_a_list_is_chosen():
    page = explored(data=cache.SIMULATED_LABEL)
    assert shown_list(page) == ("Claude (High Ties)", "q093")
    assert {"reranker", "query"}.isdisjoint(page.query_params)
    queries, rerankers = (page.selectbox(key=key).options for key in ("query", "reranker"))
    assert queries[0] == "q093 · gap +0.543 · 100% tied"
    assert len(queries) == 100
    assert rerankers[0].startswith("Claude (High Ties) · gap +0.543 · ")
    assert "tie ratio of this reranker's list" in page.selectbox(key="query").help
    assert "mean tie ratio" in page.selectbox(key="reranker").help
    page.segmented_control(key="measure").set_value("AP").run()
    assert shown_list(page) == ("Local LLM (Very High Ties)", "q066")
    page.selectbox(key="query").set_value("q008").run()
    assert page.query_params["reranker"] == "Local LLM (Very High Ties)"
    page.segmented_control(key="measure").set_value("RR").run()
    assert shown_list(page) == ("Local LLM (Very High Ties)", "q008")


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


def test_relevance_patterns_come_first_then_single_orders_and_both_are_counted(texts):
    page = explored(data=texts, reranker="a", measure="AP", section="Permutations")
    text = "216 orders** from ties of 3, 3, 3 documents: 216 relevance patterns, 1 order each."
    assert text in page_text(page)
    patterns = table(page, "pattern")
    assert len(patterns) == 216
    assert patterns["grades"].iloc[0] == "2 1 0 | 2 1 0 | 2 1 0"
    assert patterns["orderings"].unique().tolist() == [1]
    assert patterns["AP"].mean() == pytest.approx(float(metrics(page)["Tied AP"]), abs=5e-4)
    page.segmented_control(key="every").set_value("Single orders").run()
    assert len(table(page, "ordering")) == math.factorial(3) ** 3
    assert any("over all orders:" in caption.value for caption in page.caption)


def tied_list(n, relevant=1):
    """A board of one list of n tied documents."""
    rows = "".join(f"q,d{at},1,{int(at < relevant)}\n" for at in range(n))
    return label(board(tied_csv=f"query_id,doc_id,score,relevance\n{rows}"))


def test_single_orders_are_offered_only_where_all_can_be_listed(downloads):
    page = explored(data=tied_list(7), section="Permutations", every="Single orders")
    assert "Every order: 5,040" in page_text(page)
    assert "The first 250 of 5,040 rows; the CSV file contains all rows." in page_text(page)
    assert table(page, "ordering")["ordering"].to_list() == list(range(1, 251))
    assert downloads["orders"]()["ordering"].to_list() == list(range(1, 5041))
    page = explored(data=tied_list(8), section="Permutations")
    assert "every" not in [control.key for control in page.segmented_control]
    assert "Every relevance pattern: 8" in page_text(page)


def test_patterns_that_are_too_many_are_counted_and_not_listed():
    page = explored(data=tied_list(30, 15), section="Permutations")
    assert not page.dataframe
    assert "155,117,520 relevance patterns" in page_text(page)
    assert "Patterns are listed only if there are at most 5,040." in page_text(page)
    assert "RR over all orders:" in page_text(page)


@pytest.mark.parametrize(("every", "number"), [("Single orders", 720), ("Relevance patterns", 360)])
def test_the_csv_of_orders_is_made_on_request_and_is_complete(every, number, monkeypatch):
    downloads, show = {}, components.table
    monkeypatch.setattr(
        components,
        "table",
        lambda frame, title, name, columns, download=None, explanation="": (
            downloads.update({name: download}),
            show(frame, title, name, columns, download, explanation),
        ),
    )
    tied = "query_id,doc_id,score,relevance\n" + "".join(f"q,d{at},1,{min(at, 4)}\n" for at in range(6))
    page = explored(data=label(board(tied_csv=tied)), section="Permutations", every=every)
    name, column, title = (
        ("orders", "ordering", "order")
        if every == "Single orders"
        else ("relevance-patterns", "pattern", "relevance pattern")
    )
    shown, whole = table(page, column), downloads[name]()
    assert f"Every {title}: {number}" in page_text(page)
    assert len(whole) == number
    for column in ("first_relevant", "RR", "Hits@3"):
        assert whole[column].head(250).to_list() == shown[column].to_list()
    if every == "Single orders":
        assert whole["documents"].nunique() == number


def test_a_list_without_ties_has_one_sentence_and_no_charts_of_its_orders():
    untied = "query_id,doc_id,score,relevance\n" + "".join(f"q,d{at},{at},{at % 2}\n" for at in range(5))
    page = explored(data=label(board(untied_csv=untied)))
    assert "No documents tie: the list has one order, and RR is 0.500." in finding(page)
    for section in ("Ranks", "Permutations"):
        page.segmented_control(key="section").set_value(section).run()
        assert [box.value for box in page.info] == ["Without ties, each document has one rank."]
        assert len(charts(page)) == 1


def test_worked_values_add_up_to_the_values_of_the_list(texts):
    page = explored(data=texts, reranker="a", measure="nDCG@5", section="Worked values")
    values = table(page, "worst").set_index("measure")
    precision, gain = (element.value for element in page.dataframe[1:])
    assert precision["ap_term"].sum() == pytest.approx(values.loc["AP", "tied"])
    assert precision["ap_term_by_order"].sum() == pytest.approx(values.loc["AP", "traditional"])
    assert gain["ndcg_term"].sum() == pytest.approx(values.loc["nDCG@5", "tied"])
    assert gain["rank"].max() == 5
    said = f"The terms add up to AP **{values.loc['AP', 'traditional']:.4f}**"
    assert said in page_text(page).replace("\\", "")


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
    shown = {
        (order, precision): [
            float(card.value) for card in explored(order=order, precision=precision, **choices).metric
        ]
        for order in ("optimistic", "pessimistic", "input", "docid_desc")
        for precision in ("float64", "decimals:0")
    }
    for (order, _), (traditional, _, worst, best) in shown.items():
        assert worst <= traditional <= best
        assert traditional == {"optimistic": best, "pessimistic": worst}.get(order, traditional)
    assert shown["pessimistic", "float64"][2] == pytest.approx(1 / 3, abs=5e-4)
    assert shown["pessimistic", "decimals:0"][2] < 1 / 3


def test_another_reranker_can_stand_beside(texts):
    page = explored(data=texts, reranker="a", beside="b")
    assert "Lines follow the relevant documents" in page_text(page)
    assert page.selectbox(key="beside").options == ["no other", "b"]
    page.selectbox(key="reranker").set_value("b").run()
    assert not page.exception
    assert page.selectbox(key="beside").value == "no other"


def test_a_measure_with_its_own_rule_is_not_drawn_as_a_mean_over_orderings():
    page = explored(measure="TsRR")
    assert any("settles ties by its own rule" in one.value for one in page.info)
    page.segmented_control(key="section").set_value("Permutations").run()
    assert "TsRR" not in table(page, "pattern")


@pytest.mark.parametrize("measure", ["AP", "Judged@2", "DR@2"])
@pytest.mark.parametrize("name", EXTREMES)
def test_any_measure_is_explored_on_extreme_data(name, measure):
    page = explored(data=label(EXTREMES[name]()), measure=measure, section="Permutations")
    assert has_four_cards(page)


@pytest.mark.parametrize("order", cache.TRADITIONAL)
def test_any_order_can_be_the_traditional_one(order):
    page = explored(order=order, measure="nDCG@10")
    worst, value, best = (
        float(metrics(page)[name]) for name in ("Worst case", "Traditional nDCG@10", "Best case")
    )
    assert worst <= value <= best


def test_scores_are_compared_as_the_sidebar_says(texts):
    page = explored(data=texts, reranker="a", section="Documents", precision="decimals:0", relevant_from="2")
    assert table(page, "places")["group"].nunique() == 3
    assert page.selectbox(key="precision").value == "decimals:0"


@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "AP"])
@pytest.mark.parametrize("query", ["fifty", "one", "none"])
def test_of_a_list_of_100_000_documents_only_what_can_be_read_is_sent(long, query, measure):
    page = explored(data=long, query=query, measure=measure)
    assert len(json.dumps(charts(page))) < 300_000
    assert f"{MAX_DOCUMENTS} of 100,000 documents" in page_text(page)
    page.segmented_control(key="section").set_value("Documents").run()
    assert len(table(page, "doc_id")) <= 1000
    page.segmented_control(key="section").set_value("Permutations").run()
    assert not page.dataframe
    assert ("Patterns are listed only if" in page_text(page)) == (query != "none")


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
    page = explored(data=label(holed), query="q", reranker="x", beside="y", measure="nDCG@10")
    assert "Hatched: unjudged." in page_text(page)
    page.segmented_control(key="section").set_value("Documents").run()
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


def test_a_whole_list_has_a_step_a_tie_or_few_steps(rows):
    bars = relevance_steps(tie_groups(rows), LIGHT, 10).data[0]
    assert bars.y.tolist() == pytest.approx([0.1, 0.1, 0.1])
    places = np.arange(1, 5001)
    single = pd.DataFrame(
        {"first": places, "last": places, "documents": 1, "relevant": places % 2, "score": -places}
    )
    bars = relevance_steps(single, LIGHT, None).data[0]
    assert len(bars.x) == MAX_STEPS
    assert (bars.y * bars.width).sum() == pytest.approx(2500)


def test_cells_of_large_ties_are_the_chances_of_stretches_of_places(rows):
    cells = tie_group_heatmap(tie_groups(rows), LIGHT).data[0].z
    assert cells.sum(axis=1) == pytest.approx([1, 1, 1])
    assert cells[0, 0] == pytest.approx(19 / 100)


@pytest.mark.parametrize("n", [1, 6])
def test_few_ranks_have_a_tick_each_and_none_between_them(n):
    documents = pd.DataFrame({"doc_id": [f"d{at}" for at in range(n)], "grade": 0, "relevant": False})
    assert rank_heatmap(documents.assign(first=1, last=n), LIGHT, None).settings["xaxis"]["dtick"] == 1


def test_cells_of_documents_are_their_chances(rows):
    cells = rank_heatmap(rows.head(3).assign(first=[1, 1, 3], last=[2, 2, 3]), LIGHT, 2).data[0].z
    assert cells.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]


def test_figures_of_cells_are_drawn_where_the_longest_has_room(rows):
    def has_figures(n, *, is_tied):
        places = range(1, n + 1)
        ends = {"first": 1, "last": n} if is_tied else {"first": places, "last": places}
        return len(rank_heatmap(rows.head(n).assign(**ends), LIGHT, None).data) > 1

    assert [has_figures(n, is_tied=False) for n in (3, 14, 15, 16)] == [True, True, False, False]
    assert [has_figures(n, is_tied=True) for n in (14, 16, 18)] == [True, True, False]


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


def test_many_first_ranks_are_drawn_in_stretches_without_their_tail():
    chance = 0.5 ** np.arange(1, 2001)
    chance[-1] += 1 - chance.sum()
    few = first_hit_bars(pd.DataFrame({"rank": np.arange(1, 2001), "chance": chance}), LIGHT, 3)
    assert len(few.data[0].x) == MAX_DOCUMENTS
    even = first_hit_bars(pd.DataFrame({"rank": np.arange(1, 2001), "chance": 1 / 2000}), LIGHT, None)
    assert len(even.data[0].x) <= MAX_DOCUMENTS
    assert even.data[0].y.sum() >= 0.999


MARKS = pd.Series({"tied": 0.5, "traditional": 0.75, "worst": 0.0, "best": 1.0})


@pytest.mark.parametrize(
    "values", [[0.0, 0.5, 1.0], np.linspace(0, 1, 500), [0.0, 0.001, 1.0], [0.0, 1e-9, 0.5, 1.0]]
)
def test_the_bars_of_a_histogram_hold_every_ordering_within_worst_and_best(values):
    chances = pd.DataFrame({"value": values, "chance": 1 / len(values)})
    bars = value_histogram(chances, MARKS, LIGHT, "RR").data[0]
    assert bars.y.sum() == pytest.approx(1)
    assert len(bars.x) <= 24
    assert (np.asarray(bars.width) > 0).all()


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_histogram_of_one_value_is_one_bar(value):
    marks = pd.Series(dict.fromkeys(MARKS.index, value))
    noise = value + np.array([0.0, 1e-16])
    figure = value_histogram(pd.DataFrame({"value": noise, "chance": [0.5, 0.5]}), marks, LIGHT, "RR")
    bars, (left, right) = figure.data[0], figure.layout.xaxis.range
    assert bars.x.tolist() == [value]
    assert bars.y.tolist() == [1]
    assert (right - left) / 10 < bars.width[0] < right - left
    assert not any("best" in note.text for note in figure.layout.annotations)


def test_an_axis_has_the_decimals_that_its_ticks_need_however_narrow_its_range():
    marks = MARKS * 0.001 + 0.076
    axes = value_histogram(pd.DataFrame({"value": [0.076, 0.077], "chance": 0.5}), marks, LIGHT, "RR").layout
    assert axes.xaxis.tickformat is None
    assert axes.template.layout.xaxis.exponentformat == "none"


def test_tied_is_a_filled_blue_dot_and_traditional_a_hollow_orange_diamond():
    figure = value_histogram(pd.DataFrame({"value": [0.0, 1.0], "chance": [0.5, 0.5]}), MARKS, LIGHT, "RR")
    marks = {trace.x[0]: trace.marker for trace in figure.data if getattr(trace, "mode", None) == "markers"}
    assert (marks[0.5].color, marks[0.5].symbol) == (LIGHT.tied, None)
    assert (marks[0.75].color, marks[0.75].symbol) == (LIGHT.traditional, "diamond-open")


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
    assert "<img" not in json.dumps(charts(page))


def test_range_and_mean_cover_all_orderings_even_if_not_listed():
    nine_tied = "".join(f"q0 Q0 d{document} {document} 1 t\n" for document in range(9))
    nine = label(board(nine_trec=nine_tied, qrels_txt="q0 0 d4 1\n"))
    page = explored(data=nine, section="Permutations", measure="P@3")
    text = page_text(page)
    assert "P@3 over all orders: 0.0000 to 0.3333, mean (tied P@3) 0.1111." in text
    assert "RR over all orders: 0.1111 to 1.0000, mean (MTRR) 0.3143." in text


def test_a_picker_shows_the_gap_of_now_when_another_order_is_chosen():
    page = opened("query", data="Sample: simulated rerankers", reranker="GPT-4 (Low Ties)", query="q001")
    before = page.selectbox(key="reranker").proto.raw_value
    page.selectbox(key="order").set_value("optimistic").run()
    picker = page.selectbox(key="reranker").proto
    assert picker.set_value
    assert picker.raw_value.split(" · ")[0] == before.split(" · ")[0] == "GPT-4 (Low Ties)"
    assert picker.raw_value != before


def test_orderings_that_begin_alike_are_written_from_where_they_differ():
    shared = " ".join(f"document-{number}" for number in range(9))
    assert _without_shared_start([f"{shared} a b", f"{shared} b a"]) == (["… a b", "… b a"], 9)
    assert _without_shared_start(["d1 a b", "d1 b a"]) == (["d1 a b", "d1 b a"], 0)
    assert _without_shared_start([f"{shared} a b"]) == ([f"{shared} a b"], 0)
