"""Ties vs gap: any two measures, the notebook's summary, and what its orders would cost."""

import pytest
from boards import EXTREMES, board
from opening import charts, finding, has_four_cards, metrics, opened, table, texts

from dashboard import cache
from metrics.studies.gaps.gap import gaps
from metrics.studies.gaps.gap_summary import ALL_LISTS


def test_the_panels_and_the_summary_are_of_any_two_measures():
    page = opened("ties", data=cache.SIMULATED_LABEL, first="nDCG@7", second="TsRR")
    assert page.selectbox(key="first").value == "nDCG@7"
    titles = {note["text"] for note in charts(page)["gap-panels"]["layout"]["annotations"]}
    assert {"Gap in nDCG@7", "Gap in TsRR"} <= titles
    page.segmented_control(key="section").set_value("Summary").run()
    board = cache.sample_board(cache.SIMULATED_LABEL)
    lists = gaps(cache.evaluation(board, measures=("nDCG@7",)), {"n": "nDCG@7"}, "input")
    rows = table(page, "Summary").set_index("reranker")
    assert rows.index.to_list() == [ALL_LISTS, *board.runs.rerankers]
    assert rows.loc[ALL_LISTS, "first_gap_mean"] == pytest.approx(lists["n_gap"].abs().mean())
    assert rows.loc[ALL_LISTS, ["n", "with_ties"]].to_list() == [400, (lists["tie_ratio"] > 0).sum()]
    assert "SD: standard deviation over lists" in texts(page)


def test_a_measure_with_its_own_rule_is_not_said_to_have_gaps():
    page = opened("ties", data=cache.SIMULATED_LABEL)
    page.selectbox(key="_other_first").set_value("taRR").run()
    page.button(key="_other_first_use").click().run()
    assert not page.exception
    assert page.selectbox(key="first").value == "taRR"
    assert "taRR settles ties by its own rule" in texts(page)


def test_more_orderings_than_a_number_of_64_bits_holds_are_written():
    page = opened("ties", section="Cost of every order")
    written = table(page, "Orderings of each reranker")["written"]
    assert any(text.startswith("about 10") and len(text) < 14 for text in written)


def test_what_every_order_would_cost_is_told_of_the_lists_shown_and_of_the_notebooks_cases():
    page = opened("ties", data=cache.SIMULATED_LABEL, section="Cost of every order", tierelevant="2")
    board = cache.sample_board(cache.SIMULATED_LABEL)
    logs = cache.evaluation(board).lists["log10_orderings"]
    n_tractable = (logs <= 4).sum()
    assert metrics(page)["Can be enumerated"] == f"{n_tractable / 400:.0%}"
    assert metrics(page)["Orderings in all"] == "about 10¹⁴"
    rows = table(page, "Orderings of each reranker").set_index("reranker")
    assert rows.index.to_list() == [ALL_LISTS, *board.runs.rerankers]
    assert rows.loc[ALL_LISTS, ["n", "tractable"]].to_list() == [400, n_tractable]
    assert rows.loc["GPT-4 (Low Ties)", "written"] == "69,150"
    cases = table(page, "The notebook's five cases").set_index("case")
    assert cases["orderings"].to_list() == [4, 72, 120, 40_320, 3_456]
    assert cases.loc["Very large tie", ["tractable", "draws"]].to_list() == [False, "4,032"]
    costs = table(page, "A tie of so many documents").set_index("size")
    assert costs.loc[5, ["orderings", "every_pattern", "draws", "terms"]].to_list() == ["120", "10", 1_000, 4]
    assert "measured once by tests/benchmarks/tie_costs.py" in texts(page)


@pytest.mark.parametrize("name", ["no ties", "all tied", "one document", "long lists", "a query without rows"])
def test_the_cost_of_every_order_is_told_of_extreme_lists(name):
    label = cache.loaded_boards().add(EXTREMES[name]()).label
    page = opened("ties", data=label, section="Cost of every order", tierelevant="100")
    assert has_four_cards(page)
    assert "nan" not in texts(page)


def test_three_lists_that_vary_are_too_few_for_a_correlation():
    rows = "".join(
        f"a,q{query},d{place},{place // (query + 1)},{place % 2}\n" for query in range(3) for place in range(4)
    )
    three_lists = board(three_csv=f"model,qid,docid,score,rel\n{rows}")
    page = opened("ties", data=cache.loaded_boards().add(three_lists).label, section="Summary")
    assert "The tie ratio" not in finding(page)
    correlations = table(page, "Summary")[["first_r_ratio", "first_r_size", "second_r_ratio"]]
    assert correlations.isna().all(axis=None)


def test_ties_without_a_gap_leave_nothing_to_draw_and_tables_begin_with_what_they_are_about():
    tied_last = "q0 Q0 d0 1 2 t\nq0 Q0 d1 2 1 t\nq0 Q0 d2 3 1 t\n"
    tied = board(a_trec=tied_last, qrels_txt="q0 0 d0 1\n")
    label = cache.loaded_boards().add(tied).label
    page = opened("ties", data=label)
    assert "No list has a gap in RR or Hits@3: there is nothing to draw." in [box.value for box in page.info]
    assert not page.get("plotly_chart")
    summary, largest = (
        list(opened("ties", data=label, section=section).dataframe[0].proto.column_order)
        for section in ("Summary", "Largest gaps")
    )
    assert summary[:4] == ["reranker", "tie_ratio", "first_gap_mean", "first_gap_max"]
    assert largest[:3] == ["query_id", "first_gap", "reranker"]


def test_what_the_likeliest_grade_throws_away_is_shown_of_files_with_probabilities_alone():
    rows = "q,a,0.1,0.9,0\nq,b,0,1,1\n"
    graded = board(
        llm_csv=f"query_id,doc_id,p_0,p_1,relevance\n{rows}",
        flat_csv="query_id,doc_id,score,relevance\nq,a,1,0\nq,b,1,1\n",
    )
    page = opened("ties", data=cache.loaded_boards().add(graded).label, section="Summary")
    losses = table(page, "What the likeliest grade throws away")
    assert losses["reranker"].to_list() == ["llm"]
    assert losses[["argmax", "expected", "gain"]].to_numpy().tolist() == [[0.75, 1, 0.25]]
    assert "tied RR is 1.000 in place of 0.750: +0.250" in texts(page).replace("*", "")


def test_a_hundred_lists_with_the_largest_gaps_are_in_the_table_until_all_are_asked_for(downloads):
    page = opened("ties", data=cache.SIMULATED_LABEL, section="Largest gaps")
    assert len(downloads["gaps"]()) == 400
    first = table(page, "Lists with the largest gap")
    assert "The first 100 of 400 rows; the CSV has them all." in texts(page)
    page.button(key="show-largest-expand_more").click().run()
    every_list = table(page, "Lists with the largest gap")
    assert every_list["query_id"].head(100).to_list() == first["query_id"].to_list()
    assert [len(first), len(every_list)] == [100, 400]
    assert every_list["first_gap"].abs().is_monotonic_decreasing
    assert "of 400 rows" not in texts(page)


def test_the_summary_is_of_the_lists_chosen():
    page = opened("ties", data=cache.SAMPLE_LABEL, section="Summary")
    every_list = table(page, "Summary").set_index("reranker").loc[ALL_LISTS, ["n", "with_ties"]]
    assert every_list["with_ties"] < every_list["n"]
    page.segmented_control(key="lists").set_value("with ties").run()
    tied = table(page, "Summary").set_index("reranker").loc[ALL_LISTS, ["n", "with_ties"]]
    assert tied.to_list() == [every_list["with_ties"]] * 2


def test_the_summary_is_of_the_measures_and_of_the_order_chosen(downloads):
    for choices in ({}, {"first": "AP"}, {"second": "AP"}, {"order": "optimistic"}):
        page = opened("ties", data=cache.SIMULATED_LABEL, section="Largest gaps", **choices)
        first, second = (page.selectbox(key=key).value for key in ("first", "second"))
        means = downloads["gaps"]()[[f"{first}_gap", f"{second}_gap"]].abs().mean()
        page.segmented_control(key="section").set_value("Summary").run()
        row = table(page, "Summary").set_index("reranker").loc[ALL_LISTS]
        assert row[["first_gap_mean", "second_gap_mean"]].to_list() == pytest.approx(means.to_list())
