"""The Runs page in a browser: a run is renamed in its table, others are added and taken out."""

from boards import COARSE, QRELS, STRICT
from pages import LIGHT_RUNS, go, retype, settle, upload
from playwright.sync_api import expect


def table(page):
    return page.locator("table[role=grid]")


def test_runs_are_renamed_added_and_removed_but_needed_judgments_stay(new_page, write):
    page = new_page(LIGHT_RUNS)
    upload(page, [write("strict.trec", STRICT), write("qrels.txt", QRELS)])
    settle(page, "Leaderboard")
    go(page, "Data")
    expect(page.get_by_text("1 run and judgments")).to_be_visible()
    page.get_by_role("radio", name="Rerankers").click()
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

    go(page, "Data")
    page.get_by_role("radio", name="Files").click()
    settle(page)
    page.get_by_text("Add to this board").click()
    settle(page)
    upload(page, write("coarse.trec", COARSE))
    settle(page, "Leaderboard")
    page.get_by_role("button", name="Check").click()
    settle(page, "Data")
    expect(page.get_by_text("2 runs and judgments")).to_be_visible()
    remove = page.get_by_test_id("stMain").get_by_role("button").filter(has_text="Remove")
    remove.first.click()
    expect(page.get_by_text("1 run and judgments")).to_be_visible()
    settle(page)
    remove.last.click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("Nothing was changed")
    expect(page.get_by_text("1 run and judgments")).to_be_visible()
