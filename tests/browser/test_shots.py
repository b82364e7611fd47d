"""Every page, light, dark and as on a phone: judged by axe-core, and a picture for a person to look at."""

from pathlib import Path

import pytest
from barriers import barriers
from playwright.sync_api import expect

SHOTS = Path(__file__).parent / "shots"
PAGES = {
    "readme": "/?measure=RR",
    "leaderboard": "/",
    "runs": "/runs",
    "ties": "/ties",
    "rerankers": "/rerankers",
    "query": "/query",
    "significance": "/significance",
    "tradeoffs": "/tradeoffs",
    "simulator": "/simulator",
    "report": "/report",
    "guide": "/guide",
}
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}},
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_page_is_drawn_without_sideways_scroll_and_without_serious_barriers(new_page, name, look):
    page = new_page(PAGES[name], **LOOKS[look])
    expect(page.get_by_test_id("stMetric")).to_have_count(4)
    main = page.get_by_test_id("stMain")
    wide = main.evaluate("one => one.scrollWidth - one.clientWidth")
    tall = page.get_by_test_id("stMainBlockContainer").evaluate("one => one.scrollHeight")
    page.set_viewport_size({"width": page.viewport_size["width"], "height": min(tall, 5000)})
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}-{look}.png")
    assert wide <= 1
    assert barriers(page, f"{name}, {look}") == []
