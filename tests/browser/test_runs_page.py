"""The Runs page: what is in the way is said, mended where it is said, and nothing loaded is lost."""

import re

import pytest
from boards import COARSE, QRELS, STRICT
from pages import go, retype, settle, upload
from playwright.sync_api import expect

TABLE = "model;topic;passage_id;punkte;secs\n" + "".join(
    f"llm;q{query};d{document};{(query + document) % 3};0.{document}\n"
    for query in range(4)
    for document in range(5)
)


def table(page):
    return page.locator("table[role=grid]")


def choose(page, label, option):
    settle(page)
    box = page.get_by_role("combobox", name=label, exact=True).first
    box.scroll_into_view_if_needed()
    box.click()
    page.get_by_role("option", name=option, exact=True).click()
    settle(page)


def test_a_column_no_name_tells_is_chosen_where_it_is_missed(new_page, write):
    page = new_page("/runs")
    upload(page, [write("llm.csv", TABLE), write("qrels.txt", QRELS)])
    expect(page.get_by_test_id("stAlert")).to_contain_text("no score column")
    expect(page.get_by_role("combobox", name="query_id").first).to_have_value("topic")
    choose(page, "score", "punkte")
    expect(page.get_by_text("1 run and judgments")).to_be_visible()
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    expect(table(page).filter(has_text="score ← punkte")).to_have_count(1)


def test_a_column_of_a_loaded_file_can_be_changed(new_page, write):
    page = new_page("/runs")
    upload(page, [write("llm.csv", TABLE.replace("punkte", "score")), write("qrels.txt", QRELS)])
    expect(page).to_have_url(re.compile("data="))
    before = page.url
    choose(page, "score", "secs")
    expect(table(page).filter(has_text="score ← secs")).to_have_count(1)
    expect(page).to_have_url(before)  # that of the board, whatever is on it


@pytest.mark.parametrize(
    ("button", "kept_row"), [("Keep first", "the first"), ("Keep highest", "the highest score")]
)
def test_repeated_documents_are_settled_by_a_button(new_page, write, button, kept_row):
    page = new_page("/runs")
    upload(page, [write("coarse.trec", COARSE + "q0 Q0 d1 9 7 tag\n"), write("qrels.txt", QRELS)])
    expect(page.get_by_test_id("stAlert")).to_contain_text("listed twice")
    page.get_by_role("button", name=button).click()
    expect(page.get_by_text("1 run and judgments")).to_be_visible()
    page.get_by_text("For the record: ").click()
    expect(page.get_by_text(f"{kept_row} is kept")).to_be_visible()


def test_a_run_is_renamed_on_every_page_others_are_added_and_taken_out_but_no_judgments_needed(new_page, write):
    page = new_page("/runs")
    upload(page, [write("strict.trec", STRICT), write("qrels.txt", QRELS)])
    expect(page.get_by_text("1 run and judgments")).to_be_visible()
    settle(page)
    editor = page.get_by_test_id("stDataFrame").filter(has_text="Order").first
    editor.scroll_into_view_if_needed()
    box = editor.bounding_box()
    page.mouse.dblclick(box["x"] + box["width"] * 0.42, box["y"] + 52)
    retype(page, "my reranker")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("button", name="Apply")).to_be_disabled()
    settle(page)
    go(page, "Leaderboard")
    expect(table(page).first).to_contain_text("my reranker")

    go(page, "Runs")
    page.get_by_text("Add to what is loaded").click()
    settle(page)
    upload(page, write("coarse.trec", COARSE))
    expect(page.get_by_text("2 runs and judgments")).to_be_visible()
    remove = page.get_by_test_id("stMain").get_by_role("button").filter(has_text="Remove")
    remove.first.click()
    expect(page.get_by_text("1 run and judgments")).to_be_visible()
    remove.last.click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("Nothing was changed")
    expect(page.get_by_text("1 run and judgments")).to_be_visible()


def test_rows_can_be_pasted(new_page):
    page = new_page("/runs")
    page.get_by_role("button", name="Paste").click()
    page.get_by_role("textbox", name="Rows").fill("query_id,doc_id,score,relevance\nq,a,1,1\nq,b,1,0\n")
    page.get_by_role("textbox", name="Rows").press("Control+Enter")
    expect(page.get_by_text("1 run for 1 query")).to_be_visible()
