"""A stored evaluation opened by the command: its page, light and as on a phone in the dark."""

import pytest
from pages import settle
from pictures import judge_look
from playwright.sync_api import expect
from servers import TIESCOPE, free_port, running

from dashboard import cache
from metrics import evaluate
from metrics.scale.stored import Stored

BLUE = {"light": "rgb(0, 114, 178)", "dark": "rgb(90, 180, 240)"}


@pytest.fixture
def page(profile, tmp_path):
    """The first page of an app that the command opened with a stored evaluation."""
    ties, port = ("input", "expected", "optimistic", "pessimistic"), free_port()
    runs, address = cache.sample_board().runs, f"http://127.0.0.1:{port}"
    file = Stored.write(tmp_path / "sample.parquet", [evaluate(runs, ["RR", "nDCG@10"], ties)]).path
    command = [*TIESCOPE, "app", str(file), "--port", str(port)]
    with running(command, f"{address}/_stcore/health", tmp_path), profile.new_page() as page:
        page.goto(address)
        settle(page)
        yield page


def test_the_page_of_a_stored_evaluation_follows_the_theme_fits_a_phone_and_is_accessible(page):
    problems = []
    page.on("pageerror", lambda error: problems.append(f"uncaught: {error}"))
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(3)
    dot = page.locator(".js-plotly-plot").first.locator(".scatterlayer path.point").last
    expect(dot).to_have_css("fill", BLUE["light"])
    problems += judge_look(page, "large", "light") + judge_look(page, "large", "dark-phone")
    expect(dot).to_have_css("fill", BLUE["dark"])
    assert problems == []
