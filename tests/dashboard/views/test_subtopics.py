"""alpha_nDCG in the app: offered where judgments have subtopics, with its tied and traditional values."""

import pytest
from boards import QRELS, TIED, board
from opening import DATA_PAGES, opened, table, texts

from dashboard import cache
from metrics import evaluate

JUDGED = [(query, doc) for query, _, doc, grade in map(str.split, QRELS.splitlines()) if grade != "0"]
DIVERSITY = "".join(f"{query} {subtopic} {doc} 1\n" for query, doc in JUDGED for subtopic in "12")
NAME = "alpha_nDCG(0.5)@10"


@pytest.fixture(scope="module")
def shown():
    return board(one_trec=TIED, qrels_txt=DIVERSITY)


@pytest.fixture(scope="module")
def data(shown):
    return cache.loaded_boards().add(shown).label


@pytest.mark.parametrize("page", ["leaderboard", "rerankers", "query", "compare", "share", "present", "ties"])
def test_a_page_shows_the_tied_and_the_traditional_value_and_says_why_no_more(shown, data, page):
    opened_page = opened(page, data=data, measure="alpha_nDCG@10", first="alpha_nDCG@10", order="docid_desc")
    assert "Its best case, worst case" in texts(opened_page, "info")
    row = table(opened_page, f"Mean {NAME}").iloc[0]
    means = evaluate(shown.runs, NAME, ["expected", "docid_desc"]).means(NAME).iloc[0]
    assert row[["tied", "traditional"]].to_list() == pytest.approx(means.to_list())


@pytest.mark.parametrize("page", DATA_PAGES)
def test_every_page_opens_while_the_measure_is_chosen_elsewhere(data, page):
    opened(page, data=data, second="alpha_nDCG@10", **({} if page == "ties" else {"first": "alpha_nDCG@5"}))


def test_it_is_offered_only_where_judgments_have_subtopics(data):
    with_subtopics = opened("leaderboard", data=data).selectbox(key="_other").options
    plain = cache.loaded_boards().add(board(two_trec=TIED, qrels_txt=QRELS)).label
    without = opened("leaderboard", data=plain, measure="alpha_nDCG@10")
    assert {*with_subtopics} - {*without.selectbox(key="_other").options} == {"alpha_nDCG"}
    assert "Its best case, worst case" not in texts(without, "info")
