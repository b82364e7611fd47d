"""The Simulator in a browser: a list is edited in its table."""

import re
from urllib.parse import parse_qsl, urlsplit

from opening import metrics, opened
from pages import go, retype, settle
from playwright.sync_api import expect


def figure(page, label):
    return page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")


def write(page, row, old, new):
    """Type another score into a row of the table to edit; rows count from 1."""
    settle(page)
    grid = page.get_by_test_id("stDataFrame").first
    box = grid.bounding_box()
    page.mouse.click(box["x"] + 0.55 * box["width"], box["y"] + 34 * row + 17)
    expect(grid.locator("td[aria-selected=true]")).to_have_text(old)
    page.keyboard.press("Enter")
    retype(page, new)


def test_an_edited_score_recomputes_and_stays_in_the_link(new_page):
    page = new_page("/simulator?madequeries=30&data=Sample%3A+simulated+rerankers")
    expect(figure(page, "Tied RR")).to_have_text("0.6111")
    write(page, 4, "0.6", "0.8")
    expect(figure(page, "Tied RR")).to_have_text("0.5208")
    settle(page)
    expect(page).to_have_url(re.compile(r"rows=0\.8"))
    write(page, 2, "0.8", "0.9")
    expect(figure(page, "Tied RR")).to_have_text("1.0000")
    expect(page).to_have_url(re.compile(r"rows=.*0\.9"))
    by_link = opened("simulator", **dict(parse_qsl(urlsplit(page.url).query)))
    assert metrics(by_link)["Tied RR"] == "1.0000"
    go(page, "Data")
    go(page, "Simulator")
    expect(figure(page, "Tied RR")).to_have_text("1.0000")
