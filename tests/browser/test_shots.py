"""Every page, light, dark and as on a phone: judged by axe-core, and a picture for a person to look at."""

from urllib.parse import urlencode

import pandas as pd
import pytest
from barriers import barriers
from opening import DATA_PAGES
from pages import go, settle, upload
from pictures import LOOKS, WATCH_CHARTS, judge_look
from playwright.sync_api import expect
from reports import TITLE, expect_handed_out

from dashboard import cache

FIRST = next(iter(DATA_PAGES))
LINK = "/?" + urlencode({"title": TITLE})
"""What the report of that page is called is in the link of every page."""
SECTIONS = {
    "leaderboard": ("Pairs that swap", "Other tools"),
    "compare": ("All pairs", "Stability", "Trade-offs"),
}
"""Sections that are judged whenever browser tests run; slow tests judge every section of every page."""
MARKUP = "<b>*x*</b>$1$ [a](b) :red[{}]\u202e %{{x}}"


def usual_sections(_, name):
    """Sections of a page that are always judged."""
    return SECTIONS.get(name.partition("-")[0], ())


def every_section(page, _):
    """All sections of a page but that it shows."""
    radios = page.get_by_test_id("stMain").locator(".st-key-section").get_by_role("radio", checked=False)
    return radios.all_inner_texts()


def problems_of_pages(page, look, find_sections=usual_sections):
    """What each page has in a look; the visitor is on the first."""
    problems = judge_look(page, FIRST, look) + problems_of_sections(page, FIRST, look, find_sections)
    for name, title in list(DATA_PAGES.items())[1:]:
        go(page, title)
        if name == "share":
            expect_handed_out(page)
        problems += judge_look(page, name, look) + problems_of_sections(page, name, look, find_sections)
    return problems


def problems_of_sections(page, name, look, find_sections=usual_sections):
    """What the sections of a page have in a look that it does not open on."""
    problems, control = [], page.get_by_test_id("stMain").locator(".st-key-section")
    for section in find_sections(page, name):
        radio = control.get_by_role("radio", name=section, exact=True)
        radio.click()
        expect(radio).to_be_checked()
        problems += judge_look(page, f"{name}-{section}", look, is_section=True)
    return problems


def problems_of_popovers(page, scheme):
    """What keeps a reader out of what opens over the page."""
    problems, body = [], page.get_by_test_id("stPopoverBody")
    for name in ("More", "Settings"):
        named = page.get_by_text(name, exact=True)
        page.get_by_test_id("stPopoverButton").filter(has=named).first.click()
        expect(body).to_be_visible()
        problems += barriers(page, f"{name}, {scheme}", within="[data-testid=stPopoverBody]")
        page.keyboard.press("Escape")
        expect(body).to_have_count(0)
    return problems


@pytest.fixture
def marked_up(tmp_path):
    """The sample's first forty queries, every name of a reranker, a query and a document with markup in it."""
    rows = pd.read_parquet(cache.SAMPLES[cache.SAMPLE_LABEL])
    rows = rows[rows["query_id"].isin(rows["query_id"].unique()[:40])].drop(columns="target_id")
    rows["reranker"] = rows["reranker"].map(MARKUP.format)
    rows["query_id"] = "=q<i>" + rows["query_id"]
    rows["doc_id"] = rows["doc_id"] + "<img src=x onerror=alert(1)>"
    path = tmp_path / "<b>marked up.csv"
    rows.to_csv(path, index=False)
    return path


def test_light_pages_fit_are_accessible_and_draw_charts_once(
    new_page,
):
    page = new_page("/guide" + LINK[1:])
    page.evaluate(WATCH_CHARTS)
    go(page, DATA_PAGES[FIRST])
    problems = problems_of_popovers(page, "light") + judge_look(page, FIRST, "phone")
    problems += problems_of_pages(page, "light")
    assert problems + page.evaluate("drawnAgain") == []


def test_nor_in_the_dark_on_a_phone_where_names_are_markup_which_never_runs(new_page, marked_up):
    page = new_page("/", color_scheme="dark")
    problems = problems_of_popovers(page, "dark")
    problems += judge_look(page, FIRST, "dark")
    go(page, "Data")
    upload(page, marked_up)
    settle(page, "Leaderboard")
    for name, title in DATA_PAGES.items():
        go(page, title)
        expect(page.get_by_test_id("stSidebar")).to_contain_text("8 rerankers")
        if name == "audit":
            page.get_by_role("button", name="Audit an example table with mistakes").click()
        assert page.locator("img[src=x]").count() == 0
        assert page.locator("main script").count() == 0
        problems += judge_look(page, f"{name}-marked-up", "dark-phone")
        problems += problems_of_sections(page, f"{name}-marked-up", "dark-phone")
    assert problems == []


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_no_page_or_section_of_the_sample_does_so_in_any_theme_at_any_width(new_page, look):
    page = new_page(LINK)
    assert problems_of_pages(page, look, every_section) == []
