"""The HTML report, opened from disk without a network."""

from datetime import date

import pytest
from barriers import barriers
from boards import HOSTILE, board
from playwright.sync_api import expect
from reports import charts
from repository import SAMPLE

from dashboard.charts.report import draw_charts
from metrics import read_table
from metrics.report import report

DAY = date(2026, 1, 30)
CUT_TABLES = """() => [...document.querySelectorAll(".scroll:has(table)")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1).map((element) => element.ariaLabel)"""
DOT = {"light": "rgb(0, 114, 178)", "dark": "rgb(90, 180, 240)"}


@pytest.fixture(scope="module")
def offline(browser):
    """A profile without a network: what one page has compiled, the next has."""
    with browser.new_context(offline=True, reduced_motion="reduce") as context:
        yield context


@pytest.fixture
def open_offline(offline):
    """Open files from disk, without a network; nothing may be asked for and nothing go wrong."""
    requests, problems = [], []

    def note_warning(message):
        if message.type in ("error", "warning"):
            problems.append(message.text)

    def open_file(path, color_scheme="light"):
        page = offline.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", note_warning)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.emulate_media(color_scheme=color_scheme)
        page.goto(path.as_uri())
        requests.remove(path.as_uri())
        return page

    yield open_file
    assert requests == []
    assert problems == []


@pytest.fixture(scope="session")
def report_file(tmp_path_factory):
    sample_report = report(read_table(SAMPLE / "llm_rerankers.csv"), preset="full")
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(sample_report.html(DAY, draw_charts(sample_report)), encoding="utf-8")
    return path


def test_the_file_works_offline_in_any_theme_on_a_phone_and_in_print(open_offline, report_file):
    page = open_offline(report_file)
    expect(charts(page)).to_have_count(5)
    dot = page.locator("#chart-leaderboard .scatterlayer path.point").last
    expect(dot).to_have_css("fill", DOT["light"])
    assert barriers(page, "report, light") == []
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 - 2, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#chart-leaderboard .hovertext")).to_contain_text("tied 0.4840")
    page.set_viewport_size({"width": 1200, "height": 900})
    assert page.locator(".appendix").bounding_box()["y"] + page.evaluate("scrollY") < 2 * 900
    assert page.evaluate(CUT_TABLES) == []
    page.emulate_media(color_scheme="dark")
    expect(dot).to_have_css("fill", DOT["dark"])
    charts(page)
    assert barriers(page, "report, dark") == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.pdf().startswith(b"%PDF")


def test_a_short_report_draws_its_chart_with_the_basic_script(open_offline, tmp_path):
    short = report(read_table(SAMPLE / "llm_rerankers.csv"))
    path = tmp_path / "short.html"
    path.write_text(short.html(DAY, draw_charts(short)), encoding="utf-8")
    page = open_offline(path)
    expect(charts(page)).to_have_count(1)
    expect(page.locator("#chart-leaderboard .scatterlayer path.point").last).to_have_css("fill", DOT["light"])


def test_names_in_it_never_run(open_offline, tmp_path):
    bad = HOSTILE.replace("<b>*x*</b>", "</script><script>window.ran = 1</script><b>*x*</b>")
    hostile_report = report(board(table_csv=bad).runs, preset="full")
    path = tmp_path / "hostile.html"
    path.write_text(hostile_report.html(DAY, draw_charts(hostile_report)), encoding="utf-8")
    page = open_offline(path)
    charts(page)
    assert page.evaluate("window.ran") is None
    assert page.locator("img").count() == 0
