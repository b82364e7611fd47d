"""What is uploaded stays: over a refresh, a restart of the server and another browser."""

import os
import re
from pathlib import Path

from pages import DESK, go, settle, upload
from playwright.sync_api import expect

RUN = "".join(f"q{q} Q0 d{d} 1 {d % 2} tag\n" for q in range(4) for d in range(5)).encode()
QRELS = "".join(f"q{q} 0 d{q} 1\n" for q in range(4)).encode()


def text_file(name, content):
    return {"name": name, "mimeType": "text/plain", "buffer": content}


def choose(page, name):
    page.get_by_role("combobox", name="Board").click()
    page.get_by_role("option", name=name).click()


def shows(page, name, runs):
    settle(page)
    expect(page.get_by_role("combobox", name="Board")).to_have_value(re.compile(re.escape(name)))
    expect(page.get_by_test_id("stSidebar")).to_contain_text(f"{runs} of {runs} reranker")


def test_an_upload_survives_a_refresh_a_restart_and_another_browser(new_page, restart, browser):
    first = new_page("/runs")
    upload(first, [text_file("llm.trec", RUN), text_file("qrels.txt", QRELS)])
    expect(first).to_have_url(re.compile(r"data=\w+&order=docid_desc$"))
    shows(first, "1 run, 4 queries", 1)
    first.reload()
    shows(first, "1 run, 4 queries", 1)
    first.get_by_role("textbox", name="Name", exact=True).fill("Demo of *Monday*")
    first.keyboard.press("Enter")
    expect(first).to_have_url(re.compile(r"data=\w+&order=docid_desc$"))
    shows(first, "Demo of *Monday*", 1)
    link = first.url
    first.close()
    restart()
    with browser.new_context(viewport=DESK, reduced_motion="reduce") as other_browser:
        second = other_browser.new_page()
        second.goto(link)
        shows(second, "Demo of *Monday*", 1)
        second.get_by_text("Add to what is loaded").click()
        settle(second)
        upload(second, [text_file("other.trec", RUN.replace(b" 1 tag", b" 0.5 tag"))])
        expect(second.get_by_test_id("stSidebar")).to_contain_text("2 of 2 rerankers")
        assert link.partition("data=")[2] == second.url.partition("data=")[2]
        third = other_browser.new_page()
        third.goto(link.replace("/runs", "/report"))
        shows(third, "Demo of *Monday*", 2)
        expect(third.frame_locator("iframe").locator("h1")).to_have_text("What ties do to 2 rerankers")
        choose(second, "Sample: docstring search")  # what lies in the field is not added to what is chosen
        shows(second, "Sample: docstring search", 8)


def parquet_names():
    """Parquet files of the library that the tests share."""
    return {path.name for path in Path(os.environ["TIESCOPE_HOME"]).glob("uploads/*/*")}


def test_a_deleted_board_comes_back_by_undo_and_a_session_only_upload_leaves_nothing(new_page):
    before, page = parquet_names(), new_page("/runs")
    page.get_by_text("This session only").click()
    upload(
        page,
        [
            text_file("llm.trec", RUN.replace(b"d", b"only-here-")),
            text_file("qrels.txt", QRELS + b"q4 0 x 1\n"),
        ],
    )
    shows(page, "1 run, 5 queries", 1)
    assert parquet_names() == before
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_role("button", name="Duplicate")).to_be_visible()
    settle(page)
    assert len(parquet_names() - before) == 2
    page.get_by_role("button", name="Delete", exact=True).first.click()
    expect(page.get_by_role("combobox", name="Board")).to_have_value(re.compile("Sample"))
    go(page, "Leaderboard")
    page.get_by_role("button", name="Undo").click()
    expect(page).to_have_url(re.compile(r"data=\w+&order=docid_desc$"))
    shows(page, "1 run, 5 queries", 1)
