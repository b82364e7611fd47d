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
    return len(charts(page)["rerankers"]["layout"]["yaxis"]["ticktext"])


def test_charts_show_the_first_twenty_rerankers_and_all_on_request_by_the_address(many):
    page = opened("rerankers", data=many)
    assert n_drawn(page) == 20
    page.button(key="show-drawn-expand_more").click().run()
    assert n_drawn(page) == 25
    assert page.query_params["drawn"] == "all"
    again = opened("rerankers", data=many, drawn="all")
    assert n_drawn(again) == 25
    again.segmented_control(key="section").set_value("Summary").run()
    assert len(table(again, "Summary")) == 25


@pytest.mark.parametrize(
    ("section", "chart"),
    [
        ("Scores", "rerankers"),
        ("Gap against tie ratio", "gap-multiples"),
        ("Against the baseline", "duels"),
        ("Who copies whom", "likeness"),
    ],
)
def test_every_section_with_a_chart_offers_the_rerankers_it_leaves_out(many, section, chart):
    page = opened("rerankers", data=many, section=section)
    first_traces = charts(page)[chart]["data"]
    page.button(key="show-drawn-expand_more").click().run()
    assert charts(page)[chart]["data"] != first_traces


def test_one_reranker_is_compared_with_nobody(many):
    alone = opened("rerankers", data=many, rerankers=["r01"], section="MRR beside MAP")
    sections = ["Scores", "Summary", "Gap against tie ratio", "MRR beside MAP"]
    assert alone.segmented_control(key="section").options == sections
    assert len(table(alone, "In words and times")) == 1


def test_who_copies_whom_is_told_of_the_rerankers_drawn_by_what_a_tie_means_as_the_address_says(many):
    page = opened("rerankers", data=many, section="Who copies whom", tied="nobody knows")
    assert set(charts(page)) == {"likeness"}
    pairs = table(page, "Pairs, most alike first")
    assert len(pairs) == 190
    assert pairs["similarity"].is_monotonic_decreasing
    assert any("same list" in text.value for text in page.markdown)
    assert any("Nobody knows the order" in text.value for text in page.caption)
