"""The Leaderboard: what is drawn of many rerankers, and what stands first."""

from boards import board
from opening import charts, metrics, opened, table

from dashboard import cache


def names_drawn(page):
    """The names in the figure of places and scores, as it writes them."""
    figure = charts(page)["place-and-score"]
    (names,) = [trace["text"] for trace in figure["data"] if trace.get("mode") == "text"]
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
    assert "no reranker" in " ".join(text.value for text in page.markdown), "none has a gap of 0"
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
