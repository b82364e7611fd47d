"""Every page, light, dark and as on a phone: judged by axe-core, and a picture for a person to look at."""

from pathlib import Path

import pytest
from barriers import barriers
from opening import DATA_PAGES
from pages import go
from playwright.sync_api import expect

SHOTS = Path(__file__).parent / "shots"
PHONE = {"viewport": {"width": 390, "height": 844}}


def wrong(page, name, look):
    """Take a picture; what scrolls sideways or keeps a reader out."""
    expect(page.get_by_test_id("stMetric")).to_have_count(4)
    main = page.get_by_test_id("stMain")
    wide = main.evaluate("one => one.scrollWidth - one.clientWidth")
    tall = page.get_by_test_id("stMainBlockContainer").evaluate("one => one.scrollHeight")
    usual = page.viewport_size
    page.set_viewport_size({"width": usual["width"], "height": min(tall, 5000)})
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}-{look}.png")
    found = barriers(page, f"{name}, {look}")
    page.set_viewport_size(usual)
    return found + [f"{name}, {look}: {wide} pixels scroll sideways"] * (wide > 1)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_no_page_scrolls_sideways_or_has_a_serious_barrier(new_page, look):
    page = new_page("/", color_scheme=look)
    found = []
    for name, title in DATA_PAGES.items():
        go(page, title)
        found += wrong(page, name, look)
    assert found == []


@pytest.mark.parametrize("name", DATA_PAGES)
def test_no_page_on_a_phone_scrolls_sideways_or_has_a_serious_barrier(new_page, name):
    page = new_page("/" if name == "leaderboard" else f"/{name}", **PHONE)
    assert wrong(page, name, "phone") == []


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_readmes_picture_is_drawn(new_page, look):
    assert wrong(new_page("/?measure=RR", color_scheme=look), "readme", look) == []
