"""The table of the library in a real browser: ticking rows, which AppTest cannot."""

from contextlib import closing

import pytest
from boards import COARSE, QRELS, STRICT, board
from pages import settle
from playwright.sync_api import expect

from dashboard.library.store import Library


@pytest.fixture
def this_week():
    """Address of a board in the library of the server, which has a run of last week as well."""
    qrels = QRELS + "week 0 d1 1\n"  # that no other test has uploaded before
    with closing(Library.open()) as library:
        library.keep(board(lastweek_trec=STRICT + "q0 Q0 week 9 0 t\n", qrels_txt=qrels))
        record = library.keep(board(thisweek_trec=COARSE + "q0 Q0 week 9 0 t\n", qrels_txt=qrels))
    return f"/data?section=Library&data={record.id}"


def test_last_weeks_run_is_ticked_and_added_to_this_board(new_page, this_week):
    page = new_page(this_week)
    table = page.get_by_test_id("stDataFrame").filter(has_text="lastweek.trec").last
    table.scroll_into_view_if_needed()
    box, row = table.bounding_box(), 3  # below this week's run and the judgments
    page.mouse.click(box["x"] + 16, box["y"] + 17 + 35 * row)
    expect(page.get_by_text("1 ticked")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Add to this board").click()
    settle(page, "Leaderboard")
    expect(page.get_by_test_id("stSidebar")).to_contain_text("2 rerankers")
    expect(page.locator("table[role=grid]").first).to_contain_text("lastweek")
