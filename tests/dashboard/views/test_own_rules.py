"""Measures that settle ties by their own rule: no page dismisses ties, each shows what they answer."""

import pytest
from boards import COARSE, QRELS, STRICT, TIED, board
from opening import charts, finding, opened, table, texts

from dashboard import cache

DISMISSALS = (
    *("do not matter", "hardly matter", "stable", "one value:", "costs nothing", "no order", "No tie order"),
    *(
        "Ties change no outcome",
        "as on average over all orders",
        "sorted or averaged",
        "the same rerankers are on the front",
    ),
    *("depends on tie order", "Traditional and tied values are the same"),
)


@pytest.fixture(scope="module")
def data():
    """Every document of one reranker ties, two and three of the other's."""
    tied = board(flat_trec=TIED, coarse_trec=COARSE, strict_trec=STRICT, qrels_txt=QRELS)
    return cache.loaded_boards().add(tied).label


def findings_of(data, page, **choices):
    """What a page says of rerankers one of whose measures has a rule for ties."""
    opened_page = opened(page, data=data, measure="TsRR", reranker="flat", **choices)
    lines = texts(opened_page, "markdown").split("\n")
    return [text for text in lines if not text.startswith("**coarse** scores")]


@pytest.mark.parametrize("page", ["leaderboard", "rerankers", "ties", "query"])
def test_a_page_names_the_own_tie_rule_and_dismisses_no_tie(data, page):
    findings = findings_of(data, page)
    assert any("settles ties by" in text for text in findings)
    assert [word for word in DISMISSALS for text in findings if word in text] == []


@pytest.mark.parametrize("section", ["Against the baseline", "Stability", "Trade-offs"])
def test_a_section_of_compare_says_so_and_dismisses_no_tie(data, section):
    findings = findings_of(data, "compare", section=section)
    assert any("settles ties by" in text for text in findings)
    assert [word for word in DISMISSALS for text in findings if word in text] == []


def test_a_link_to_a_measure_there_is_not_says_so_and_shows_the_usual_one():
    page = opened("ties", measure="TsXY")
    assert "There is no measure 'TsXY'" in texts(page, "warning")
    assert page.segmented_control(key="measure").value == "RR"
    assert not opened("ties", measure="TsRR").warning


def test_the_leaderboard_ranks_by_a_rule_of_its_own_without_a_slope(data):
    page = opened("leaderboard", data=data, measure="PRR")
    assert table(page, "All rerankers").set_index("reranker").loc["flat", "tied"] == pytest.approx(0.2)
    assert not charts(page)


def test_one_list_shows_the_orderings_of_the_measure_whose_ties_are_settled(data):
    page = opened("query", data=data, measure="taRR", reranker="flat", section="Worked values")
    rows = table(page, "Every measure of this list").set_index("measure")
    assert rows.loc["taRR", "tied"] == pytest.approx(1 / 3)
    assert rows.loc["RR", ["tied", "worst", "best"]].to_list() == pytest.approx([137 / 300, 0.2, 1])
    assert rows.loc["PRR"].drop("tied").isna().all()
    assert rows.loc["PRR", "tied"] == pytest.approx(0.2)
    assert "The values of RR over all 120 orders of this list are shown." in finding(page)
    page.segmented_control(key="section").set_value("Permutations").run()
    assert table(page, "The values of RR")["value"].to_list() == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])


def test_the_rerankers_page_shows_the_ties_of_the_measure_in_question(data):
    page = opened("rerankers", data=data, measure="GRAG-Hits@2")
    assert "Choose Hits@2 to see the effect of tie order" in finding(page)
