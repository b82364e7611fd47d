"""The table of the library in a real browser: ticking rows, which AppTest cannot."""

import re
from contextlib import closing

import pytest
from boards import COARSE, QRELS, STRICT, board
from pages import settle
from playwright.sync_api import expect

from dashboard.library.store import Library


def tick(page, text):
    """Tick the only row that a search for a text leaves."""
    page.get_by_role("textbox", name="Find").fill(f"{text}.trec")
    page.get_by_role("textbox", name="Find").press("Enter")
    expect(page.get_by_text(re.compile(r"^1 of \d+ uploads"))).to_be_visible()
    settle(page)
    table = page.get_by_test_id("stDataFrame").filter(has_text=f"{text}.trec").last
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    page.mouse.click(box["x"] + 16, box["y"] + 52)
    settle(page)


@pytest.fixture
def this_week():
    """Address of a board in the library of the server, which has a run of last week as well."""
    with closing(Library.open()) as library:
        library.keep(board(lastweek_trec=STRICT + "q0 Q0 week 9 0 t\n", qrels_txt=QRELS))
        record = library.keep(board(thisweek_trec=COARSE + "q0 Q0 week 9 0 t\n", qrels_txt=QRELS))
    return f"/data?section=Library&data={record.id}"


def test_last_weeks_run_is_found_ticked_and_added_to_this_board(new_page, this_week):
    page = new_page(this_week)
    page.get_by_role("radio", name="All", exact=True).click()
    settle(page)
    tick(page, "lastweek")
    expect(page.get_by_text("1 ticked")).to_be_visible()
    page.get_by_role("textbox", name="Find").fill("thisweek.trec")
    page.get_by_role("textbox", name="Find").press("Enter")
    expect(page.get_by_text(re.compile(r"^2 of \d+ uploads"))).to_be_visible()
    expect(page.get_by_text("1 ticked")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Add to this board").click()
    expect(page.get_by_text("Added lastweek.trec to this board, which now has 2 rerankers.")).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_contain_text("2 of 2 rerankers")
    expect(page.get_by_text("1 ticked")).to_have_count(0)
