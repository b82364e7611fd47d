"""An upload of a page that is reloaded before the upload is shown."""

from pages import LIGHT_RUNS, settle, upload
from playwright.sync_api import expect

ANSWERS = "query_id,doc_id,score,relevance\nq,a,Error code: 429,1\nq,b,2,0\n"


def test_an_upload_that_was_not_shown_before_a_reload_is_offered_again(new_page, write):
    page = new_page(LIGHT_RUNS)
    upload(page, [write("answers.csv", ANSWERS)])
    expect(page.get_by_test_id("stAlert")).to_contain_text("is not a number")
    page.reload()
    settle(page)
    expect(page.get_by_text("The page was closed before it showed your upload of answers.csv.")).to_be_visible()
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("is not a number")
    page.get_by_role("button", name="Put them last").click()
    expect(page.get_by_text("1 run for 1 query")).to_be_visible()
    expect(page.get_by_text("The page was closed")).to_have_count(0)
