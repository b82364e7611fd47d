"""The browser's way back and forward leads through pages with the choices they had."""

import re

from pages import go, settle
from playwright.sync_api import expect


def expect_radio(page, name):
    return expect(page.get_by_role("radio", name=name, exact=True).first)


def test_back_and_forward_bring_each_page_with_its_choice(new_page):
    page = new_page("/")
    page.get_by_role("radio", name="Hits@3").click()
    expect(page).to_have_url(re.compile("measure=Hits%403"))
    go(page, "Rerankers")
    page.get_by_role("radio", name="AP", exact=True).first.click()
    expect(page).to_have_url(re.compile("rerankers.*measure=AP"))

    page.go_back()
    expect_radio(page, "Hits@3").to_be_checked()
    expect(page.locator("h1")).to_have_text("Leaderboard")
    settle(page)
    expect_radio(page, "Hits@3").to_be_checked()

    page.go_forward()
    expect(page.locator("h1")).to_have_text("Rerankers")
    settle(page)
    expect_radio(page, "AP").to_be_checked()
