"""The Leaderboard: what is drawn of many rerankers, and what stands first."""

import numpy as np
from boards import EXTREMES, board
from opening import charts, metrics, opened, table

from dashboard import cache
from metrics import evaluate
from metrics.evaluation.holes import hole_table, joint_bounds
from metrics.studies.leaderboard.judging import plan_judging


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


def test_of_many_rerankers_twenty_are_drawn_the_next_and_all_on_request_which_the_address_keeps():
    label = thirty()
    page = opened("leaderboard", data=label)
    assert len(names_drawn(page)) == len(table(page, "All rerankers")) == 20
    first = names_drawn(page)
    page.button(key="show-places-arrow_forward").click().run()
    assert page.query_params["places"] == "21"
    assert len(names_drawn(page)) == len(table(page, "All rerankers")) == 10
    assert not set(names_drawn(page)) & set(first)
    assert "no reranker" in [card.delta for card in page.metric], "none has a gap of 0"
    page.button(key="show-places-expand_more").click().run()
    assert page.query_params["places"] == "all"
    assert len(names_drawn(page)) == 30
    again = opened("leaderboard", data=label, places="21", named="RUN07")
    assert names_drawn(again) == list(table(again, "All rerankers")["reranker"]) == ["run07"]


def test_orders_that_swap_stand_before_the_charts():
    page = opened("leaderboard")
    headings = [element.value for element in page.subheader]
    assert headings.index("Orders that swap") < headings.index("Place, traditional and tied")
    assert len(table(page, "Orders that swap")) == 5
    assert metrics(page)["Orders that swap"] == "9 of 28"
    rows = table(page, "All rerankers")
    assert list(rows["tier"]) == [1, 1, 1, 1, 1, 1, 2, 2]
    assert list(rows["ranks"][-2:]) == ["6–8", "1–8"]
    texts = [
        trace.get("text") for trace in charts(page)["place-and-score"]["data"] if trace.get("xaxis") == "x4"
    ]
    assert texts[-1] == ["1", "2"]


def test_what_nobody_judged_is_left_out_or_bounds_the_values_as_chosen_in_one_place():
    label = cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label
    page = opened("leaderboard", data=label, measure="nDCG@10")
    assert metrics(page)["Unjudged in the top 10"] == "80%"
    assert "highest" not in table(page, "All rerankers")
    page.segmented_control(key="_unjudged_on_page").set_value("bounds").run()
    assert page.query_params["unjudged"] == page.segmented_control(key="unjudged").value == "bounds"
    rows = table(page, "All rerankers").set_index("reranker")
    runs = EXTREMES["two rerankers with ties"]().runs
    expected = hole_table(runs, ["nDCG@10"], draws=2).set_index("reranker").loc[rows.index]
    assert np.allclose(rows[["lowest", "highest"]], expected[["lowest", "highest"]])
    assert np.allclose(rows["unjudged"], 100 * expected["unjudged"])
    assert np.allclose(rows["tied"], expected["tied"])
    page.toggle(key="judge_next").set_value(True).run()
    plan = plan_judging(runs, "nDCG@10")
    assert page.number_input(key="n_judge").value == len(plan.documents) < 50
    next_rows = table(page, "Judge next")
    assert next_rows["doc_id"].to_list() == plan.documents["doc_id"].to_list()
    assert np.allclose(next_rows["narrowing"], plan.documents["narrowing"])
    assert np.allclose(next_rows["closed"], 100 * plan.documents["closed"])
    assert page.query_params["judge_next"] == "true"
    assert "expectation" not in rows
    page.segmented_control(key="_unjudged_on_page").set_value("rate").run()
    assert "expectation" in table(page, "All rerankers")
    assert np.allclose(table(page, "All rerankers")["lowest"], rows["lowest"])
    page.segmented_control(key="unjudged").set_value("leave_out").run()
    assert not [toggle for toggle in page.toggle if toggle.key == "judge_next"]
    assert page.segmented_control(key="_unjudged_on_page").value == "leave_out"
    assert metrics(page)["Unjudged in the top 10"] == "80%"
    condensed = evaluate(runs, "nDCG@10", unjudged="leave_out").means("nDCG@10")["expected"]
    assert np.allclose(table(page, "All rerankers").set_index("reranker")["tied"], condensed[rows.index])
    assert "unjudged documents left out" in " ".join(text.value for text in page.sidebar.caption)


def test_bars_and_what_to_judge_are_of_the_rerankers_shown():
    run = "q Q0 {} 1 2 t\nq Q0 {} 2 1 t\n"
    whole = board(x_trec=run.format("a", "b"), y_trec=run.format("c", "d"), qrels_txt="q 0 a 1\n")
    label = cache.loaded_boards().add(whole).label
    choices = {"unjudged": "bounds", "judge_next": "true", "measure": "AP"}
    page = opened("leaderboard", data=label, rerankers=["x"], **choices)
    ends = joint_bounds(whole.runs.arranged({"x": "x"}), "AP")["AP"].iloc[0]
    row = table(page, "All rerankers").iloc[0]
    assert row[["lowest", "highest"]].to_list() == ends.to_list()
    assert table(page, "Judge next")["doc_id"].to_list() == ["b"]


def test_where_all_is_judged_nothing_asks_about_unjudged_documents():
    page = opened("leaderboard", unjudged="bounds")
    assert not [control for control in page.segmented_control if control.key == "_unjudged_on_page"]
    assert "highest" not in table(page, "All rerankers")
