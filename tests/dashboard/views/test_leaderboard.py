"""The Leaderboard: what is drawn of many rerankers, and what stands first."""

import re
from urllib.parse import parse_qs

import numpy as np
from boards import EXTREMES, board
from opening import FILES, charts, finding, opened, plain, table, texts

from dashboard import cache
from dashboard.visitor import BROWSER_KEY
from metrics import compare, evaluate, rank_intervals, swapped_orders


def names_drawn(page):
    """The names in the figure of places and scores, as it writes them."""
    return [name.removeprefix("<b>").removesuffix("</b>") for name in text_columns(page)[1]]


def text_columns(page):
    """The columns of text in the figure, from left to right."""
    traces = [trace for trace in charts(page)["place-and-score"]["data"] if trace.get("mode") == "text"]
    return [trace["text"] for trace in sorted(traces, key=lambda trace: trace["x"][0])]


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
    page.button(key="show-places-expand_more").click().run()
    assert page.query_params["places"] == "all"
    assert len(names_drawn(page)) == 30
    again = opened("leaderboard", data=label, places="all", named="RUN07")
    assert names_drawn(again) == list(table(again, "All rerankers")["reranker"]) == ["run07"]


def test_the_first_screen_has_the_verdict_rank_intervals_and_the_ranked_table():
    page = opened("leaderboard")
    assert finding(page).startswith("MiniLM grade 0-10 leads only because of its tie order: ")
    assert list(charts(page)) == ["place-and-score"]
    rows = table(page, "All rerankers")
    first = ["tied_rank", "reranker", "tied", "query_interval", "traditional", "gap", "verdict"]
    assert list(rows) == [*first, "bounds", "tie_ratio", "why"]
    grade = rows.set_index("reranker").loc["MiniLM grade 0-10"]
    assert grade[["query_interval", "verdict"]].to_list() == ["0.641 – 0.734", ["tie-inflated 12%"]]
    runs = cache.sample_board(cache.SAMPLE_LABEL).runs
    ranks = rank_intervals(evaluate(runs, "RR", "expected"), "RR")
    expected = [f"{row.lowest}–{row.highest}" for row in ranks.itertuples()]
    assert text_columns(page)[0] == expected
    assert names_drawn(page) == ranks["reranker"].tolist()


def test_the_link_to_a_list_names_its_gap_and_orders_and_opens_its_permutations():
    page = opened("query", data=cache.SIMULATED_LABEL, section="Documents")
    page.switch_page(FILES["leaderboard"]).run()
    (link,) = page.get("page_link")
    assert plain(link.proto.label) == "Why: query q098 of Claude (High Ties), gap +0.389, 72 orders"
    page.query_params = parse_qs(link.proto.query_string)
    page.switch_page(FILES["query"]).run()
    assert page.segmented_control(key="section").value == "Permutations"


def test_a_subset_on_screen_keeps_the_ranks_of_its_verdicts_on_the_whole_board():
    names = ["MiniLM int8", "MiniLM grade 0-10"]
    pairs = compare(evaluate(cache.sample_board(cache.SAMPLE_LABEL).runs, "RR", "expected"), "RR")
    pair = pairs[pairs[["baseline", "reranker"]].isin(names).all(axis=1)]
    swap = table(opened("leaderboard", rerankers=names, section="Pairs that swap"), "Pairs that swap")
    assert swap["p_adjusted"].tolist() == pair["p_adjusted"].tolist()
    assert text_columns(opened("leaderboard", rerankers=names))[0] == ["1", "2"], "p = 0.002 < 0.05"


def test_one_reranker_has_a_rank_and_no_interval():
    page = opened("leaderboard", rerankers=["BM25"])
    assert text_columns(page)[0] == ["1"]
    assert not [trace for trace in charts(page)["place-and-score"]["data"] if trace["type"] == "heatmap"]


def test_on_a_phone_names_stand_above_bounds_without_a_slope():
    page = opened("leaderboard")
    assert "Sample data" in next(node.value for node in page.main if node.type == "markdown")
    page.session_state[BROWSER_KEY] = {"is_narrow": True}
    page.run()
    figure = charts(page)["place-and-score"]
    assert {trace.get("xaxis", "x") for trace in figure["data"]} == {"x"}
    names = [note["text"] for note in figure["layout"]["annotations"]]
    assert names[:8] == table(page, "All rerankers")["reranker"].tolist()
    texts_beside = [re.sub("<[^>]*>", "", text).partition(" · ")[2] for text in names[8:]]
    assert texts_beside == [
        *("rank 1–7, was #3", "rank 1–7", "rank 1–7, was #5", "rank 1–7, was #5"),
        *("rank 1–7, was #4", "rank 1–8, was #7", "rank 6–8, was #1", "rank 1–8"),
    ]
    assert "Sample data" in next(node.value for node in page.main if node.type == "markdown")


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
    assert page.segmented_control(key="section").options == [
        "Scores",
        "All measures",
        "Pairs that swap",
        "Other tools",
    ]
    page.segmented_control(key="section").set_value("Pairs that swap").run()
    assert len(table(page, "Pairs that swap")) == 5
    page.segmented_control(key="section").set_value("Other tools").run()
    assert list(charts(page)) == ["tools"]
    assert page.query_params["section"] == "Other tools"


def test_many_queries_without_a_relevant_document_are_left_out_by_a_click():
    rows = "".join(f"q{query},d,{query},{int(query == 1)}\n" for query in range(1, 5))
    label = cache.loaded_boards().add(board(a_csv="query_id,doc_id,score,relevance\n" + rows)).label
    page = opened("leaderboard", data=label)
    assert "3 of 4 queries have no relevant document, counted as 0." in texts(page)
    page.button(key="skip-empty").click().run()
    assert page.query_params["empty"] == "skip"
    assert "3 of 4 queries have no relevant document, left out." in texts(page)
    assert table(page, "All rerankers")["tied"].to_list() == [1.0]
    page.button(key="skip-empty").click().run()
    assert "empty" not in page.query_params


def test_one_query_of_few_without_a_relevant_document_is_said_in_the_singular():
    rows = "".join(f"q{query},d,{query},{int(query > 1)}\n" for query in range(1, 4))
    label = cache.loaded_boards().add(board(a_csv="query_id,doc_id,score,relevance\n" + rows)).label
    page = opened("leaderboard", data=label)
    assert "1 of 3 queries has no relevant document, counted as 0." in texts(page)


def unjudged_page(of, **choices):
    """The section of unjudged documents of a board."""
    label = cache.loaded_boards().add(of).label
    return opened("leaderboard", data=label, measure="nDCG@10", section="Unjudged documents", **choices)


def test_unjudged_documents_have_three_scenarios_whatever_the_settings_say():
    of = EXTREMES["two rerankers with ties"]()
    evaluation = evaluate(of.runs, ["nDCG@10", "Judged@10"], "expected")
    for setting in ("nonrelevant", "leave_out"):
        page = unjudged_page(of, unjudged=setting)
        assert "80% of the documents in the top 10 are unjudged" in texts(page)
        rows = table(page, "Three scenarios of tied nDCG@10").set_index("reranker")
        assert np.allclose(rows["as_judged"], evaluation.means("nDCG@10")["expected"][rows.index])
        assert np.allclose(rows["judged"], evaluation.means("Judged@10")["expected"][rows.index])


def test_a_setting_leaves_unjudged_documents_out_of_all_scores():
    of = EXTREMES["two rerankers with ties"]()
    page = unjudged_page(of)
    page.segmented_control(key="section").set_value("Scores").run()
    page.segmented_control(key="unjudged").set_value("leave_out").run()
    rows = table(page, "All rerankers").set_index("reranker")
    condensed = evaluate(of.runs, "nDCG@10", "expected", unjudged="leave_out").means("nDCG@10")["expected"]
    assert np.allclose(rows["tied"], condensed[rows.index])
    assert "unjudged documents left out" in " ".join(text.value for text in page.sidebar.caption)


def test_as_many_unjudged_documents_are_listed_and_written_as_chosen(downloads):
    page = unjudged_page(EXTREMES["two rerankers with ties"]())
    every = table(page, "Unjudged documents in the top 10")
    page.number_input(key="n_judge").set_value(2).run()
    assert page.query_params["n_judge"] == "2"
    assert table(page, "Unjudged documents in the top 10").equals(every.head(2))
    (form,) = [downloads[name]() for name in downloads if name.startswith("unjudged-2-")]
    lines = [f"{row.query_id} 0 {row.doc_id} ?" for row in every.head(2).itertuples()]
    assert [*form.columns, *form.iloc[:, 0]] == lines


def test_scenarios_and_unjudged_documents_are_of_the_rerankers_shown():
    run = "q Q0 {} 1 2 t\nq Q0 {} 2 1 t\n"
    of = board(x_trec=run.format("a", "b"), y_trec=run.format("c", "d"), qrels_txt="q 0 a 1\n")
    page = unjudged_page(of, rerankers=["x"])
    assert table(page, "Three scenarios of tied nDCG@10")["reranker"].to_list() == ["x"]
    assert table(page, "Unjudged documents in the top 10")["doc_id"].to_list() == ["b"]


def test_the_scores_name_the_share_of_unjudged_documents_and_open_their_section():
    label = cache.loaded_boards().add(EXTREMES["two rerankers with ties"]()).label
    page = opened("leaderboard", data=label, measure="nDCG@10")
    assert "80% of the documents in the top 10 are unjudged" in texts(page)
    page.button(key="open-unjudged").click().run()
    assert page.query_params["section"] == "Unjudged documents"


def test_where_all_is_judged_nothing_asks_about_unjudged_documents():
    page = opened("leaderboard")
    assert "Unjudged documents" not in page.segmented_control(key="section").options
    assert "are unjudged" not in texts(page)


def measures_page(**query):
    """The section of all measures: the page, and the HTML of its table."""
    page = opened("leaderboard", section="All measures", **query)
    (text,) = [node.proto.body for node in page.get("html") if '<div class="measures"' in node.proto.body]
    return page, text


def rows_of(text):
    """The names of the rows of a table in HTML."""
    return re.findall(r'scope="row" title="([^"]+)"', text)


def test_all_measures_have_letters_and_intervals_on_hover_and_the_best_is_bold():
    page, text = measures_page()
    heads = re.findall(r'scope="col">([^<]+)<', text)
    assert heads == [
        "Reranker",
        "MTRR",
        "tied MAP",
        "tied nDCG@10",
        "tied R@10",
        "TMHits@10",
        "Tie ratio",
        "RR gap",
    ]
    assert '"95% over queries 0.691 to 0.791 (Student\'s t)"' in text.replace("&#x27;", "'")
    assert '<b>0.741</b><sup style="width: 2ch">a</sup>' in text
    assert finding(page).startswith("MiniLM grade 0-10 leads only because of its tie order: ")
    assert "Rerankers that share a letter do not differ significantly (sign flips" in texts(page)


def test_rows_are_sorted_by_a_measure_found_by_name_and_pinned_and_the_address_keeps_it():
    _, text = measures_page(sorted_by="TMHits@10", pinned=["BM25"])
    assert rows_of(text)[:2] == ["BM25", "MiniLM grade 0-10"]
    page, text = measures_page(data=thirty(), named="RUN07", pinned=["run03"])
    assert rows_of(text) == ["run03", "run07"]
    assert page.query_params["pinned"] == "run03"


def test_the_table_of_measures_is_copied_with_whole_names_for_papers(downloads):
    page, _ = measures_page(measure="P@10")
    markdown, latex = [code.value for code in page.code if "MiniLM int8" in code.value][-2:]
    assert "| MiniLM int8 | **0.741**<sup>a</sup> |" in markdown
    assert "tied P@10" in markdown
    assert "\\caption{Tied means, the best in bold." in latex
    assert "corrected for 28 pairs" in latex
    assert [text for text in texts(page, "caption").splitlines() if text in ("Markdown", "LaTeX")] == [
        "Markdown",
        "LaTeX",
    ]
    rows = downloads["measures"]().set_index("reranker")
    assert rows.loc["MiniLM int8", "RR_letters"] == "a"
    assert {"P@10_tied", "P@10_low", "P@10_high", "tie_ratio", "gap"} <= set(rows)
