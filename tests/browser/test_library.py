"""What is uploaded stays: over a refresh, a restart of the server and another browser."""

import re

from pages import LIGHT_RUNS, go, settle, upload
from playwright.sync_api import expect

from dashboard import cache

RUN = "".join(f"q{q} Q0 d{d} 1 {d % 2} tag\n" for q in range(4) for d in range(5)).encode()
QRELS = "".join(f"q{q} 0 d{q} 1\n" for q in range(4)).encode()


def text_file(name, content):
    return {"name": name, "mimeType": "text/plain", "buffer": content}


def choose(page, name):
    settle(page)
    page.get_by_role("combobox", name="Board").click()
    page.get_by_role("option", name=name).click()


def shows(page, name, runs):
    settle(page)
    expect(page.get_by_role("combobox", name="Board")).to_have_value(re.compile(re.escape(name)))
    expect(page.get_by_test_id("stSidebar")).to_contain_text(f"{runs} reranker")


def test_an_upload_survives_a_refresh_a_restart_and_another_browser(new_page, restart, elsewhere):
    first = new_page(LIGHT_RUNS)
    upload(first, [text_file("llm.trec", RUN), text_file("qrels.txt", QRELS)])
    expect(first).to_have_url(re.compile(r"data=\w+$"))
    shows(first, "llm", 1)
    go(first, "Data")
    first.get_by_text("Name it to keep it. The link opens the board").click()
    first.get_by_role("textbox", name="Name", exact=True).fill("Demo of *Monday*")
    first.keyboard.press("Enter")
    expect(first).to_have_url(re.compile(r"data=\w+$"))
    shows(first, "Demo of *Monday*", 1)
    link = first.url
    first.close()
    restart()
    with elsewhere.new_page() as second:
        second.goto(link)
        shows(second, "Demo of *Monday*", 1)
        second.get_by_text("Add to this board").click()
        settle(second)
        upload(second, [text_file("other.trec", RUN.replace(b" 1 tag", b" 0.5 tag"))])
        settle(second, "Leaderboard")
        expect(second.get_by_test_id("stSidebar")).to_contain_text("2 rerankers")
        expect(second).to_have_url(re.compile(f"data={link.partition('data=')[2]}$"))
        choose(second, cache.SIMULATED_LABEL)  # what was dropped is not added to what is chosen
        shows(second, cache.SIMULATED_LABEL, len(cache.sample_board(cache.SIMULATED_LABEL).runs.rerankers))
        second.goto(link)
        shows(second, "Demo of *Monday*", 2)
