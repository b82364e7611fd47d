"""The Rerankers page: what it draws first where there are many, and what on request."""

import pytest
from boards import QRELS, board
from opening import charts, opened, table

from dashboard import cache

RUNS = {
    f"r{number:02d}_trec": "".join(
        f"q{query} Q0 d{document} 1 {(document * (number + 1) + query) % (2 + number % 4)} t\n"
        for query in range(4)
        for document in range(6)
    )
    for number in range(25)
}


@pytest.fixture(scope="module")
def many():
    """Twenty-five rerankers that tie more or less."""
    return cache.loaded_boards().add(board(**RUNS, qrels_txt=QRELS)).label


def n_drawn(page):
    return len(charts(page)["reranker-rows"]["layout"]["yaxis"]["ticktext"])


def test_charts_show_the_first_twenty_rerankers_and_all_on_request_by_the_address(many):
    page = opened("rerankers", data=many)
    assert n_drawn(page) == 20
    page.button(key="show-drawn-expand_more").click().run()
    assert n_drawn(page) == 25
    assert page.query_params["drawn"] == "all"
    again = opened("rerankers", data=many, drawn="all")
    assert n_drawn(again) == 25
    again.segmented_control(key="section").set_value("Summary table").run()
    assert len(table(again, "Summary table")) == 25


@pytest.mark.parametrize(
    ("section", "chart"),
    [
        ("Scores", "reranker-rows"),
        ("Gap against tie ratio", "gap-multiples"),
        ("Query groups", "duels"),
    ],
)
def test_every_section_with_a_chart_offers_the_rerankers_it_leaves_out(many, section, chart):
    page = opened("rerankers", data=many, section=section)
    first_traces = charts(page)[chart]["data"]
    page.button(key="show-drawn-expand_more").click().run()
    assert charts(page)[chart]["data"] != first_traces


def test_one_reranker_is_compared_with_nobody(many):
    alone = opened("rerankers", data=many, rerankers=["r01"], section="Summary table")
    sections = ["Scores", "Summary table", "Gap against tie ratio"]
    assert alone.segmented_control(key="section").options == sections
    assert len(table(alone, "Summary table")) == 1


def test_rerankers_are_sorted_by_the_mean_gap_that_is_drawn():
    page = opened("rerankers", data=cache.SIMULATED_LABEL, sort="gap", section="Summary table")
    assert table(page, "Summary table")["first_gap_mean"].is_monotonic_decreasing


def test_the_address_opens_a_reranker_with_gaps_and_similar_rankings():
    name = "Claude (High Ties)"
    page = opened("rerankers", data=cache.SIMULATED_LABEL)
    assert list(charts(page)) == ["reranker-rows"]
    page.selectbox(key="opened").set_value(name).run()
    assert page.query_params["opened"] == name
    assert list(charts(page)) == ["reranker-rows", "own-gaps"]
    lists = table(page, "Lists with the largest gap")
    assert len(lists) == 10
    assert lists["first_gap"].abs().is_monotonic_decreasing
    similar = table(page, "Similar rankings")
    assert name not in similar["other"].to_list()
    assert similar["similarity"].is_monotonic_decreasing


def test_a_reranker_without_a_gap_is_opened_without_a_chart():
    page = opened("rerankers", opened="TF-IDF")
    assert list(charts(page)) == ["reranker-rows"]
    assert len(table(page, "Similar rankings")) == 7


def test_query_groups_are_drawn_where_the_files_name_them(downloads):
    page = opened("rerankers", section="Query groups")
    assert list(charts(page)) == ["groups", "duels"]
    names = list(table(page, "Won, equal, lost")["reranker"])
    assert (names[0], names[-1]) == ("MiniLM int8", "TF-IDF")  # best tied score first, as the page is sorted
    rows = downloads["groups"]()
    assert rows.groupby("reranker", sort=False)["n"].sum().eq(200).all()
    assert list(charts(opened("rerankers", data=cache.SIMULATED_LABEL, section="Query groups"))) == ["duels"]
