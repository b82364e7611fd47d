"""Ties vs gap: the scatter and its panels, other measures, tie sizes, and what all orders would cost."""

import pytest
from boards import EXTREMES, board
from opening import charts, finding, opened, table, texts

from dashboard import cache
from metrics.evaluation import AS_READ
from metrics.studies.gaps import ALL_LISTS, gaps


def axis_titles(figure):
    return {
        axis["title"].get("text")
        for axis in figure["layout"].values()
        if isinstance(axis, dict) and axis.get("title")
    }


def test_the_scatter_has_a_dot_for_each_list_with_a_gap_and_the_mean_of_absolute_gaps():
    page = opened("ties")
    assert finding(page).startswith("84% of the 982 lists with ties and a relevant document have equal")
    assert list(charts(page)) == ["gap-scatter"]
    figure = charts(page)["gap-scatter"]
    titles = axis_titles(figure)
    assert titles == {"RR gap", "tie ratio<br>1,445 of 1,600 lists have no gap and are not drawn"}
    names = [trace["name"] for trace in figure["data"]]
    assert names == ["MiniLM bfloat16", "MiniLM int8", "MiniLM two decimals", "MiniLM grade 0-10", "mean |gap|"]
    assert table(page, "Lists with the largest gap")["first_gap"].iloc[0] == pytest.approx(0.6857, abs=1e-4)


def test_panels_of_two_measures_show_absolute_gaps_and_the_address_keeps_both():
    page = opened("ties", data=cache.SIMULATED_LABEL, measure="nDCG@7", second="TsRR", section="More panels")
    assert list(charts(page)) == ["gap-panels"]
    assert {"| nDCG@7 − tied nDCG@7 |", "| TsRR − tied TsRR |"} <= axis_titles(charts(page)["gap-panels"])
    assert charts(opened("ties", **page.query_params)) == charts(page)


def test_every_measure_has_the_gaps_of_all_lists_in_its_row():
    page = opened("ties", data=cache.SIMULATED_LABEL, section="More panels")
    rows = table(page, "Gaps and correlations by measure").set_index("measure")
    evaluation = cache.evaluation(cache.sample_board(cache.SIMULATED_LABEL), AS_READ, cache.MEASURES)
    assert rows.index.to_list() == list(evaluation.measures)
    for measure in ("AP", "Hits@3"):
        sizes = gaps(evaluation, {"n": measure}, "input")["n_gap"].abs()
        assert rows.loc[measure, ["gap_mean", "gap_std", "gap_max"]].to_list() == pytest.approx(
            [sizes.mean(), sizes.std(), sizes.max()]
        )
    assert "SD: standard deviation over lists" in texts(page)


def test_ties_are_counted_by_size_and_by_reranker():
    page = opened("ties", data=cache.SIMULATED_LABEL, section="Tie sizes")
    (bars,) = charts(page)["tie-sizes"]["data"]
    board = cache.sample_board(cache.SIMULATED_LABEL)
    lists = cache.evaluation(board, AS_READ, cache.MEASURES).lists
    assert bars["x"][:3] == ["2", "3 to 4", "5 to 8"]
    assert sum(bars["y"]) == lists["n_tie_groups"].sum()
    rows = table(page, "Ties of each reranker").set_index("reranker")
    assert rows.index.to_list() == [ALL_LISTS, *board.runs.rerankers]
    assert rows.loc[ALL_LISTS, ["n", "with_ties"]].to_list() == [400, (lists["tie_ratio"] > 0).sum()]


def test_a_measure_with_its_own_rule_is_not_said_to_have_gaps():
    page = opened("ties", data=cache.SIMULATED_LABEL, measure="taRR")
    assert not page.exception
    assert "taRR settles ties by its own rule" in texts(page)


@pytest.mark.parametrize("name", ["no ties", "all tied", "one document", "long lists", "a query without rows"])
def test_the_ties_of_extreme_lists_are_told(name):
    label = cache.loaded_boards().add(EXTREMES[name]()).label
    page = opened("ties", data=label, section="Tie sizes")
    lists_with_ties = table(page, "Ties of each reranker")["with_ties"].sum()
    assert ("tie-sizes" in charts(page)) == (lists_with_ties > 0) == (name not in {"no ties", "one document"})
    assert "nan" not in texts(page)


def test_three_lists_that_vary_are_too_few_for_a_correlation():
    rows = "".join(
        f"a,q{query},d{place},{place // (query + 1)},{place % 2}\n" for query in range(3) for place in range(4)
    )
    three_lists = board(three_csv=f"model,qid,docid,score,rel\n{rows}")
    page = opened("ties", data=cache.loaded_boards().add(three_lists).label, section="More panels")
    assert "The tie ratio" not in finding(page)
    correlations = table(page, "Gaps and correlations by measure")[["r_ratio", "r_size"]]
    assert correlations.isna().all(axis=None)


def test_ties_without_a_gap_leave_nothing_to_draw():
    tied_last = "q0 Q0 d0 1 2 t\nq0 Q0 d1 2 1 t\nq0 Q0 d2 3 1 t\n"
    tied = board(a_trec=tied_last, qrels_txt="q0 0 d0 1\n")
    label = cache.loaded_boards().add(tied).label
    page = opened("ties", data=label)
    assert "There is nothing to draw: no list has a gap in RR." in [box.value for box in page.info]
    assert not page.get("plotly_chart")


def test_tables_begin_with_what_they_are_about():
    page = opened("ties", data=cache.SIMULATED_LABEL)
    assert list(page.dataframe[0].proto.column_order)[:3] == ["query_id", "first_gap", "reranker"]


def test_the_table_has_the_100_lists_with_the_largest_gaps_until_asked_for_all(downloads):
    page = opened("ties", data=cache.SIMULATED_LABEL)
    assert len(downloads["gaps"]()) == 400
    first = table(page, "Lists with the largest gap")
    assert "The first 100 of 400 rows; the CSV file contains all rows." in texts(page)
    page.button(key="show-largest-expand_more").click().run()
    every_list = table(page, "Lists with the largest gap")
    assert every_list["query_id"].head(100).to_list() == first["query_id"].to_list()
    assert [len(first), len(every_list)] == [100, 400]
    assert every_list["first_gap"].abs().is_monotonic_decreasing
    assert "of 400 rows" not in texts(page)


def test_the_gaps_are_of_the_measure_and_of_the_order_chosen(downloads):
    for choices in ({}, {"measure": "AP"}, {"order": "optimistic"}):
        page = opened("ties", data=cache.SIMULATED_LABEL, **choices)
        measure = choices.get("measure", "RR")
        mean = downloads["gaps"]()[f"{measure}_gap"].abs().mean()
        page.segmented_control(key="section").set_value("More panels").run()
        rows = table(page, "Gaps and correlations by measure").set_index("measure")
        assert rows.loc[measure, "gap_mean"] == pytest.approx(mean)


def test_a_list_is_opened_by_its_name_and_by_the_address():
    page = opened("ties", data=cache.SIMULATED_LABEL)
    choice = page.selectbox(key="list")
    assert len(choice.options) == 101
    largest = table(page, "Lists with the largest gap").iloc[0]
    name = f"{largest['query_id']} · {largest['reranker']}"
    choice.set_value(name).run()
    assert page.query_params["list"] == name
    assert list(charts(page)) == ["gap-scatter", "list-ladder"]
    assert list(charts(opened("ties", **page.query_params))) == ["gap-scatter", "list-ladder"]
