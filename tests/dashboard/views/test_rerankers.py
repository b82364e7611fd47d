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
    assert len(table(page, "Summary")) == 25
    kinds = [node.type for node in page.main]
    assert kinds.index("dataframe") < kinds.index("plotly_chart")
    assert set(charts(page)) == {"rerankers", "gap-multiples"}
    page.button(key="show-drawn-expand_more").click().run()
    assert n_drawn(page) == 25
    assert page.query_params["drawn"] == "all"
    assert n_drawn(opened("rerankers", data=many, drawn="all")) == 25


def test_parts_below_are_chosen_by_the_address_and_one_reranker_has_no_baseline(many):
    page = opened("rerankers", data=many, part="Against the baseline")
    assert set(charts(page)) == {"rerankers", "duels"}
    alone = opened("rerankers", data=many, rerankers=["r01"], part="MRR beside MAP")
    assert alone.segmented_control(key="part").options == ["Gap against tie ratio", "MRR beside MAP"]
    assert len(table(alone, "In words and times")) == 1


def test_who_copies_whom_is_told_of_the_rerankers_drawn_by_what_a_tie_means_as_the_address_says(many):
    page = opened("rerankers", data=many, part="Who copies whom", tied="nobody knows")
    assert set(charts(page)) == {"rerankers", "likeness"}
    pairs = table(page, "Pairs, most alike first")
    assert len(pairs) == 190
    assert pairs["similarity"].is_monotonic_decreasing
    assert any("same list" in text.value for text in page.markdown)
    assert any("Nobody knows the order" in text.value for text in page.caption)
