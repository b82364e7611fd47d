"""The Leaderboard: what is drawn of many rerankers, and what stands first."""

import numpy as np
from boards import COARSE, EXTREMES, board
from opening import charts, finding, opened, table, texts

from dashboard import cache
from dashboard.visitor import WIDTH_KEY
from metrics import evaluate, parse, swapped_orders
from metrics.evaluation.holes import joint_bounds, unjudged_counts, unjudged_shares
from metrics.studies.judging import plan_judging


def names_drawn(page):
    """The names in the figure of places and scores, as it writes them."""
    figure = charts(page)["place-and-score"]
    (names,) = [trace["text"] for trace in figure["data"] if trace.get("xaxis") == "x3"]
    return [name.removeprefix("<b>").removesuffix("</b>") for name in names]


def thirty():
    """A board of thirty rerankers that all rank four documents for two queries."""
    rows = [
        f"run{number:02},q{query},d{document},{(document * 7 + number) % 5},{int(document == query)}"
        for number in range(30)
        for query in range(2)
        for document in range(4)
    ]
    text = "\n".join(["reranker,query_id,doc_id,score,relevance", *rows])
    return cache.loaded_boards().add(board(table_csv=text + "\n")).label


def test_twenty_of_many_rerankers_are_drawn_and_the_address_keeps_more():
    label = thirty()
    page = opened("leaderboard", data=label)
    assert len(names_drawn(page)) == len(table(page, "All rerankers")) == 20
    first = names_drawn(page)
    page.button(key="show-places-arrow_forward").click().run()
    assert page.query_params["places"] == "21"
    assert len(names_drawn(page)) == len(table(page, "All rerankers")) == 10
    assert not set(names_drawn(page)) & set(first)
    page.button(key="show-places-expand_more").click().run()
    assert page.query_params["places"] == "all"
    assert len(names_drawn(page)) == 30
    again = opened("leaderboard", data=label, places="21", named="RUN07")
    assert names_drawn(again) == list(table(again, "All rerankers")["reranker"]) == ["run07"]


def test_the_first_screen_has_the_verdict_the_chart_and_the_ranked_table():
    page = opened("leaderboard")
    assert finding(page).startswith("MiniLM grade 0-10 leads only because of its tie order. ")
    assert list(charts(page)) == ["place-and-score"]
    rows = table(page, "All rerankers")
    assert list(rows) == ["tied_rank", "reranker", "tied", "traditional", "bounds", "gap", "verdict"]
    assert rows.loc[6, ["reranker", "bounds"]].to_list() == ["MiniLM grade 0-10", "0.557 – 0.835"]
    texts = [
        trace.get("text") for trace in charts(page)["place-and-score"]["data"] if trace.get("xaxis") == "x4"
    ]
    assert texts[-1] == ["1", "2"]


def test_on_a_phone_names_stand_above_bounds_without_a_slope():
    page = opened("leaderboard")
    assert "Sample data" in next(node.value for node in page.main if node.type == "markdown")
    page.session_state[WIDTH_KEY] = {"is_narrow": True}
    page.run()
    figure = charts(page)["place-and-score"]
    assert {trace.get("xaxis", "x") for trace in figure["data"]} == {"x"}
    names = [note["text"] for note in figure["layout"]["annotations"]]
    assert names == [*table(page, "All rerankers")["reranker"], "tier 1", "tier 2"]
    assert "Sample data" in [node.value for node in page.main if node.type == "markdown"][-1]


def test_the_pairs_that_swap_are_those_of_the_study_each_less_likely_than_not():
    query = {"data": cache.SIMULATED_LABEL, "measure": "Hits@5", "order": "docid_asc"}
    rows = table(opened("leaderboard", section="Pairs that swap", **query), "Pairs that swap")
    runs = cache.sample_board(cache.SIMULATED_LABEL).runs
    evaluation = evaluate(runs, ["Hits@5"], ["expected", "docid_asc", "std"])
    expected = swapped_orders(evaluation, "Hits@5", "docid_asc")
    assert len(expected)
    assert rows[["a", "b"]].to_numpy().tolist() == expected[["a", "b"]].to_numpy().tolist()
    assert ((rows["above"] > 0) & (rows["above"] < 0.5)).all()


def test_pairs_that_swap_and_other_tools_are_a_click_away_and_in_the_address():
    page = opened("leaderboard")
    assert page.segmented_control(key="section").options == ["Scores", "Pairs that swap", "Other tools"]
    page.segmented_control(key="section").set_value("Pairs that swap").run()
    assert len(table(page, "Pairs that swap")) == 5
    page.segmented_control(key="section").set_value("Other tools").run()
    assert list(charts(page)) == ["tools"]
    assert page.query_params["section"] == "Other tools"


def test_many_queries_without_a_relevant_document_are_left_out_by_a_click():
    rows = "".join(f"q{query},d,{query},{int(query == 1)}\n" for query in range(1, 5))
    label = cache.loaded_boards().add(board(a_csv="query_id,doc_id,score,relevance\n" + rows)).label
    page = opened("leaderboard", data=label)
    assert "3 of 4 queries have no relevant document and count as 0." in texts(page)
    page.button(key="skip-empty").click().run()
    assert page.query_params["empty"] == "skip"
    assert "3 of 4 queries have no relevant document and are left out." in texts(page)
    assert table(page, "All rerankers")["tied"].to_list() == [1.0]
    page.button(key="skip-empty").click().run()
    assert "empty" not in page.query_params


def test_where_no_ranked_document_is_judged_the_page_says_what_to_do_in_plain_text():
    label = cache.loaded_boards().add(board(a_trec=COARSE, qrels_txt="q0 0 other 1\n")).label
    page = opened("leaderboard", data=label, measure="nDCG@10", section="Unjudged documents")
    (note,) = [element.value for element in page.info]
    assert "Judge some of them, or give" in note
    assert r"\(\-\-rate; in Python, rate\)" in note


def test_what_nobody_judged_is_left_out_or_bounds_the_values_as_chosen_in_one_place():
    label = cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label
    page = opened("leaderboard", data=label, measure="nDCG@10", section="Unjudged documents")
    assert "80% of the documents in the top 10 are unjudged" in texts(page)
    page.segmented_control(key="unjudged").set_value("bounds").run()
    assert page.query_params["unjudged"] == "bounds"
    assert list(charts(page)) == ["place-and-score", "settling"]
    runs = EXTREMES["two rerankers with ties"]().runs
    plan = plan_judging(runs, "nDCG@10")
    assert page.number_input(key="n_judge").value == plan.halving()
    page.number_input(key="n_judge").set_value(len(plan.documents)).run()
    next_rows = table(page, "Judge next")
    assert next_rows["doc_id"].to_list() == plan.documents["doc_id"].to_list()
    assert np.allclose(next_rows["narrowing"], plan.documents["narrowing"] / plan.n_rerankers)
    assert np.allclose(next_rows["closed"], 100 * plan.documents["closed"])
    page.toggle(key="judge_next").set_value(False).run()
    assert page.query_params["judge_next"] == "false"
    rows = table(page, "Unjudged documents").set_index("reranker")
    bounds = joint_bounds(runs, "nDCG@10")["nDCG@10"].groupby(level="reranker").mean().loc[rows.index]
    assert np.allclose(rows[["lowest", "highest"]], bounds[["lowest", "highest"]])
    scored = evaluate(runs, ["nDCG@10", "Judged@10"], "expected")
    assert np.allclose(rows["tied"], scored.means("nDCG@10")["expected"][rows.index])
    counts = unjudged_counts(scored, parse("nDCG@10"))
    assert np.allclose(rows["unjudged"], 100 * unjudged_shares(counts)[rows.index])
    assert "expectation" not in rows
    page.segmented_control(key="unjudged").set_value("rate").run()
    assert "expectation" in table(page, "Unjudged documents")
    assert np.allclose(table(page, "Unjudged documents")["lowest"], rows["lowest"])
    scores = opened("leaderboard", **{**page.query_params, "section": "Scores", "data": label})
    assert list(table(scores, "All rerankers").columns)[-1] == "verdict"
    scores.segmented_control(key="unjudged").set_value("leave_out").run()
    condensed = evaluate(runs, "nDCG@10", unjudged="leave_out").means("nDCG@10")["expected"]
    assert np.allclose(table(scores, "All rerankers").set_index("reranker")["tied"], condensed[rows.index])
    assert "unjudged documents left out" in " ".join(text.value for text in scores.sidebar.caption)


def test_bars_and_what_to_judge_are_of_the_rerankers_shown():
    run = "q Q0 {} 1 2 t\nq Q0 {} 2 1 t\n"
    whole = board(x_trec=run.format("a", "b"), y_trec=run.format("c", "d"), qrels_txt="q 0 a 1\n")
    label = cache.loaded_boards().add(whole).label
    choices = {"unjudged": "bounds", "judge_next": "true", "measure": "AP", "rerankers": ["x"]}
    ends = joint_bounds(whole.runs.arranged({"x": "x"}), "AP")["AP"].iloc[0]
    page = opened("leaderboard", data=label, section="Unjudged documents", **choices)
    row = table(page, "Unjudged documents").iloc[0]
    assert row[["lowest", "highest"]].to_list() == ends.to_list()
    assert table(page, "Judge next")["doc_id"].to_list() == ["b"]


def test_where_all_is_judged_nothing_asks_about_unjudged_documents():
    page = opened("leaderboard", unjudged="bounds")
    assert "highest" not in table(page, "All rerankers")
    assert "Unjudged documents" not in page.segmented_control(key="section").options
