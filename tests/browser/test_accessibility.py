"""What opens over a page is free of serious barriers; the pages themselves are judged in test_shots.py."""

import pytest
from barriers import barriers
from playwright.sync_api import expect


@pytest.mark.parametrize("look", ["light", "dark"])
def test_what_opens_over_a_page_has_no_serious_barrier(new_page, look):
    page, found = new_page("/", color_scheme=look), []
    body = page.get_by_test_id("stPopoverBody")
    for name in ("More", "Filter", "Scoring"):
        page.get_by_role("button", name=name).first.click()
        expect(body).to_be_visible()
        found += barriers(page, f"{name}, {look}")
        page.keyboard.press("Escape")
        expect(body).to_have_count(0)
    assert found == []
