"""The HTML report, opened from disk without a network; and what the Report page hands out."""

import re
from datetime import date

import pytest
from axe_playwright_python.sync_playwright import Axe
from barriers import GRAVE
from boards import HOSTILE, board
from pages import settle, upload
from playwright.sync_api import expect
from repository import SAMPLE

from dashboard.charts.report import draw_charts
from metrics import read_table
from metrics.report import report

DAY = date(2026, 1, 30)
DOT = {"light": "rgb(0, 114, 178)", "dark": "rgb(90, 180, 240)"}


@pytest.fixture
def alone(browser):
    """Open files from disk, each without a network; nothing may be asked for and nothing go wrong."""
    contexts, asked, wrong = [], [], []

    def open_file(path, **options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda one: asked.append(one.url))
        page.on("console", lambda one: wrong.append(one.text) if one.type in ("error", "warning") else None)
        page.on("pageerror", lambda one: wrong.append(str(one)))
        page.goto(path.as_uri())
        asked.remove(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert asked == []
    assert wrong == []


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    one = report(read_table(SAMPLE / "llm_rerankers.csv"))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(one.html(DAY, draw_charts(one)), encoding="utf-8")
    return path


def charts(page):
    """Charts of a page, once each is drawn."""
    found = page.locator(".chart")
    for one in found.all():
        expect(one.locator(".main-svg").first).to_be_visible()
    return found


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_file_opens_from_disk_with_its_charts_asks_for_nothing_and_has_no_serious_barrier(
    alone, file, look
):
    page = alone(file, color_scheme=look)
    expect(charts(page)).to_have_count(8)
    dot = page.locator("#chart-scores .scatterlayer path.point").last
    expect(dot).to_have_css("fill", DOT[look])
    found = [one for one in Axe().run(page).response["violations"] if one["impact"] in GRAVE]
    assert [(one["id"], node["html"]) for one in found for node in one["nodes"]] == []


def test_its_charts_follow_the_theme_and_tell_values_under_the_pointer(alone, file):
    page = alone(file, color_scheme="light")
    dot = page.locator("#chart-scores .scatterlayer path.point").last
    expect(dot).to_have_css("fill", DOT["light"])
    page.emulate_media(color_scheme="dark")
    expect(dot).to_have_css("fill", DOT["dark"])
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 - 2, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#chart-scores .hovertext")).to_contain_text("tied 0.4840")


def test_it_fits_a_phone_and_prints_every_chart(alone, file):
    page = alone(file, viewport={"width": 390, "height": 844})
    charts(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.pdf().startswith(b"%PDF")


def test_names_in_it_never_run(alone, tmp_path):
    bad = HOSTILE.replace("<b>*x*</b>", "</script><script>window.ran = 1</script><b>*x*</b>")
    one = report(board(table_csv=bad).runs)
    path = tmp_path / "hostile.html"
    path.write_text(one.html(DAY, draw_charts(one)), encoding="utf-8")
    page = alone(path)
    charts(page)
    assert page.evaluate("window.ran") is None
    assert page.locator("img").count() == 0


def test_the_page_hands_out_the_file_it_previews_and_every_other(new_page, alone, tmp_path):
    page = new_page("/report?title=For+you")
    frame = page.frame_locator("iframe[title='Preview of the report']")
    expect(frame.locator("h1")).to_have_text("For you")
    expect(charts(frame)).to_have_count(8)
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML").click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    expect(charts(alone(path))).to_have_count(8)
    starts = {
        "Markdown": b"# For you",
        "LaTeX": b"% For you",
        "CSV": b"reranker,query_id",
        "Parquet": b"PAR1",
    }
    for name, start in starts.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=name).first.click()
        assert download.value.path().read_bytes().startswith(start)


def test_an_uploaded_run_is_reported_under_the_address_shown(new_page, tmp_path):
    path = tmp_path / "hostile.csv"
    path.write_text(HOSTILE)
    page = new_page("/runs")
    upload(page, path)
    expect(page.get_by_text("2 runs for")).to_be_visible()
    expect(page).to_have_url(re.compile("data="))
    page.goto(page.url.replace("/runs", "/report"))
    settle(page)
    expect(page.frame_locator("iframe").locator("h1")).to_have_text("What ties do to 2 rerankers")
