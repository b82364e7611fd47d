"""A stored evaluation opened by its path on the server: its page, light and as on a phone in the dark."""

from pictures import judge_look
from playwright.sync_api import expect

from dashboard import cache
from metrics import evaluate
from metrics.scale.stored import Stored

BLUE = {"light": "rgb(0, 114, 178)", "dark": "rgb(90, 180, 240)"}


def test_the_page_of_a_path_follows_the_theme_fits_a_phone_and_is_accessible(new_page, folder):
    ties = ("input", "expected", "optimistic", "pessimistic")
    Stored.write(folder / "sample.parquet", [evaluate(cache.sample_board().runs, ["RR", "nDCG@10"], ties)])
    page = new_page("/large")
    page.get_by_label("Path on the server").fill("sample.parquet")
    page.get_by_label("Path on the server").press("Enter")
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(3)
    dot = page.locator(".js-plotly-plot").first.locator(".scatterlayer path.point").last
    expect(dot).to_have_css("fill", BLUE["light"])
    problems = judge_look(page, "large", "light") + judge_look(page, "large", "dark-phone")
    expect(dot).to_have_css("fill", BLUE["dark"])
    assert problems == []
