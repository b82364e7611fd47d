"""Every page, light, dark and as on a phone: judged by axe-core, and a picture for a person to look at."""

import pytest
from barriers import barriers
from opening import DATA_PAGES
from pages import go
from pictures import EVERY_LOOK, LOOKS, judge_looks
from playwright.sync_api import expect


def problems_of_pages(page, looks):
    problems = judge_looks(page, "leaderboard", EVERY_LOOK)
    for name, title in list(DATA_PAGES.items())[1:]:
        go(page, title)
        problems += judge_looks(page, name, looks)
    return problems


def test_no_page_scrolls_sideways_or_has_a_serious_barrier_light_dark_or_on_a_phone(new_page):
    assert problems_of_pages(new_page("/"), LOOKS) == []


@pytest.mark.slow
def test_no_page_does_so_in_any_theme_at_any_width(new_page, request):
    if request.config.option.markexpr != "slow":
        pytest.skip("every page, four looks: pytest -m slow tests/browser")
    assert problems_of_pages(new_page("/"), EVERY_LOOK) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_opens_over_a_page_has_no_serious_barrier(new_page, scheme):
    page, problems = new_page("/", color_scheme=scheme), []
    body = page.get_by_test_id("stPopoverBody")
    for name in ("More", "Filter", "Scoring"):
        page.get_by_role("button", name=name).first.click()
        expect(body).to_be_visible()
        problems += barriers(page, f"{name}, {scheme}", within="[data-testid=stPopoverBody]")
        page.keyboard.press("Escape")
        expect(body).to_have_count(0)
    assert problems == []
